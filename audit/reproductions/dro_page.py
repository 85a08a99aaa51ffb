"""The plot and the page of ``dpassay reproduce dro``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dpassay.audit.published.ceilings import largest_auc
from dpassay.audit.published.dro import EPSILONS, TABLE_2

from .dro_tables import PAPER_NAMES, Cells, mean_and_half_width
from .report import Options, Report, notes_of

CEILING = "largest AUC of any attack, one distribution"
COLOURS = {"Double-SPIDER": "tab:blue", "Recursive-SPIDER": "tab:orange"}


def write_plot(found: Cells, folder: Path) -> Path:
    """AUC over epsilon, one panel per style; returns the path of the PNG."""
    styles = list(dict.fromkeys(cell.style for cell, _ in found))
    figure = Figure(figsize=(10, 6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(styles), sharey=True, squeeze=False)[0]
    for axes, style in zip(panels, styles, strict=True):
        _panel(axes, style, [one for one in found if one[0].style == style and one[0].shadows])
    panels[0].set_ylabel("AUC of membership inference")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=2)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "dro_membership.png"
    figure.savefig(path, dpi=80, metadata={"Software": None})
    return path


def _panel(axes: Axes, style: str, found: Cells) -> None:
    for family, colour in COLOURS.items():
        cells = [(cell.epsilon, content) for cell, content in found if cell.method == f"{family}, repaired"]
        epsilons = [epsilon for epsilon, _ in cells]
        best = [max(float(np.mean(values)) for values in content["aucs"].values()) for _, content in cells]
        axes.plot(epsilons, best, "o-", color=colour, label=f"{family}, repaired: strongest attack, one distribution")
        shift, halves = np.transpose([mean_and_half_width(content["shifted"]) for _, content in cells])
        label = f"{family}, repaired: confidence, balanced non-members, 95 % interval"
        axes.errorbar(epsilons, shift, halves, fmt="s--", capsize=3, elinewidth=0.8, color=colour, label=label)
        if style == "CIFAR10-ST":
            printed = [mean for mean, _ in TABLE_2[PAPER_NAMES[family]]]
            axes.plot(EPSILONS, printed, "x:", color=colour, label=f"{family}: printed in Table 2 (real CIFAR10-ST)")
    free = [content for cell, content in found if cell.method == "non-private"]
    if free:
        strongest = max(float(np.mean(values)) for values in free[0]["aucs"].values())
        axes.axhline(strongest, color="gray", lw=1, label="non-private: strongest attack, one distribution")
        axes.axhline(float(np.mean(free[0]["detector"])), color="gray", lw=1, ls="--", label="label alone, no model")
    grid = np.geomspace(0.1, 10.0, 100)
    axes.plot(grid, [largest_auc(float(e), 0.0) for e in grid], color="black", label=CEILING)
    axes.set_xscale("log")
    axes.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS])
    axes.minorticks_off()
    axes.set_xlabel("claimed epsilon")
    axes.tick_params(axis="x", labelsize=8)
    axes.set_title(style, fontsize=10)
    axes.set_ylim(0.4, 1.02)


def write_page(report: Report, options: Options) -> Path:
    """The tables, the plot and the notes as one Markdown page beside the plot."""
    quick = " --quick" if options.quick else ""
    runs = f" --runs {options.runs}" if options.runs else ""
    data = " --data FOLDER" if options.data else ""
    command = f"dpassay reproduce dro{quick} --seed {options.seed}{runs}{data} --output docs/reproductions"
    lines = [*notes_of("dro_introduction"), f"Written by `{command}`.\n"]
    lines += [f"![AUC over epsilon]({file.name})\n" for file in report.files if file.suffix == ".png"]
    lines.append("## What it shows, and notes\n")
    lines += [f"- {note}" for note in report.notes]
    for table in report.tables:
        lines.append(f"\n## {table.title}\n")
        lines.append("| " + " | ".join(table.columns) + " |\n" + "|---" * len(table.columns) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in table.rows]
    path = options.output / "dro.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
