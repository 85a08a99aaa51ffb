"""The plots of `dpassay reproduce output_perturbation`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

Results = dict[str, list[tuple[float, float]]]  # method -> (mean, standard error) for each epsilon
Panel = tuple[
    str, float, float, Results, Sequence[str]
]  # score, its value without privacy and knowledge, results, lines


def write_plot(key: str, title: str, epsilons: tuple[float, ...], panels: Sequence[Panel], folder: Path) -> Path:
    """One panel per score over epsilon; returns the path of the PNG."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (score, optimum, trivial, results, lines) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        for number, (name, cells) in enumerate(results.items()):
            means, errors = np.array(cells).T
            marker = "osv^Dx+*"[number % 8]
            axes.errorbar(epsilons, means, errors, marker=marker, markersize=4, capsize=2, ls=lines[number], label=name)
        axes.axhline(optimum, color="black", linewidth=1, label="not private")
        axes.axhline(trivial, color="gray", linewidth=1, ls="--", label="knows nothing")
        axes.set_xscale("log")
        axes.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
        axes.minorticks_off()
        axes.set_xlabel("epsilon")
        axes.set_title(score, fontsize=9)
        axes.margins(y=0.08)  # "not private" is the outermost line: keep it off the frame
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside right center")
    figure.suptitle(f"{title}: mean and standard error", fontsize=10)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"output_perturbation_{key}.png"
    figure.savefig(path, dpi=80, metadata={"Software": None})
    return path
