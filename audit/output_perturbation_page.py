"""The plot and the page of `dpassay reproduce output_perturbation`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dpassay.audit.reproduction import Options, Report

Results = dict[str, list[tuple[float, float]]]  # method -> (mean, standard error) for each epsilon
Panel = tuple[str, float, float, Results]  # score, its value without privacy and without knowledge, results

INTRODUCTION = """# Reproduction of `output_perturbation`

The paper prints no experiments. This page runs its algorithms on real data, as printed and repaired, against the
solution without privacy and against the methods that its Table 1 and Section 3 compare with.
"""


def write_plot(key: str, title: str, epsilons: tuple[float, ...], panels: list[Panel], folder: Path) -> Path:
    """One panel per score over epsilon; returns the path of the PNG."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (score, optimum, trivial, results) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        for number, (name, cells) in enumerate(results.items()):
            means, errors = np.array(cells).T
            style = "--" if "printed" in name else "-" if "," in name else ":"
            marker = "osv^Dx+*"[number % 8]
            axes.errorbar(epsilons, means, errors, marker=marker, markersize=4, capsize=2, ls=style, label=name)
        axes.axhline(optimum, color="black", linewidth=1, label="not private")
        axes.axhline(trivial, color="gray", linewidth=1, ls="--", label="knows nothing")
        axes.set_xscale("log")
        axes.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
        axes.minorticks_off()
        axes.set_xlabel("epsilon")
        axes.set_title(score, fontsize=9)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside right center")
    figure.suptitle(title, fontsize=10)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"output_perturbation_{key}.png"
    figure.savefig(path, dpi=80, metadata={"Software": None})
    return path


def write_page(report: Report, options: Options, repetitions: int) -> Path:
    """The tables, plots and notes as one Markdown page beside the plots."""
    quick = " --quick" if options.quick else ""
    lines = [
        INTRODUCTION,
        f"Written by `dpassay reproduce output_perturbation{quick} --seed {options.seed} --runs {repetitions} "
        f"--output docs/reproductions`.\n",
    ]
    plots = [file for file in report.files if file.suffix == ".png"]
    per_plot = len(report.tables) // len(plots)
    for number, table in enumerate(report.tables):
        if number % per_plot == 0:
            plot = plots[number // per_plot]
            lines.append(f"## {table.title.split(':')[0]}\n\n![scores over epsilon]({plot.name})\n")
        lines.append(f"**{table.title.split(': ')[1]}**\n")
        lines.append("| " + " | ".join(table.columns) + " |\n" + "|---" * len(table.columns) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in table.rows]
        lines.append("")
    lines.append("## Notes\n")
    lines += [f"- {note}" for note in report.notes]
    path = options.output / "output_perturbation.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
