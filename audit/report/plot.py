"""The plot of the audit table: what is accounted and what is realised, as multiples of what is claimed."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from .pages import key_of

_BROKEN, _FINE, _UPPER = "#b3261e", "#1b6e3c", "#555555"
_EDGE = 2000.0  # where "infinite" is drawn, as a multiple of the claim
_NO_BOUND = "no bound"  # said in the cell: something leaves beside the releases
_LEAST = 0.04  # the left edge


def draw(rows: Sequence[Sequence[str]]) -> str:
    """The rows of the audit table as SVG; the same rows give the same text (with the same matplotlib)."""
    settings = {"svg.hashsalt": "dpassay", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"}
    with rc_context(settings):
        figure = Figure(figsize=(9.2, 0.235 * len(rows) + 1.1), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for height, row in enumerate(reversed(rows)):
            claimed, accounted, realised = (_value(cell) for cell in row[2:5])
            colour = _BROKEN if row[5].startswith("**") else _FINE
            axes.hlines(height, 1, _place(accounted / claimed), color=_UPPER, lw=0.8, alpha=0.5)
            if _NO_BOUND in row[3]:
                axes.plot(_place(accounted / claimed), height, "x", color=_UPPER, ms=5, mew=1)
            else:
                axes.plot(_place(accounted / claimed), height, "|", color=_UPPER, ms=9, mew=2)
            if not math.isnan(realised):
                axes.plot(_place(realised / claimed), height, "o", color=colour, ms=5)
        axes.axvline(1.0, color="black", lw=1)
        axes.set_yticks(range(len(rows)), [key_of(row) for row in reversed(rows)], fontsize=7.5)
        axes.set_ylim(-0.8, len(rows) - 0.2)
        axes.set_xscale("log")
        axes.set_xlim(_LEAST, _EDGE * 1.6)
        axes.set_xticks([0.1, 1, 10, 100, _EDGE], ["0.1", "1", "10", "100", "infinite"])
        axes.minorticks_off()
        axes.set_xlabel(
            "epsilon as a multiple of the claim: realised at 95 % confidence (dot),\n"
            "accounted (bar; a cross where it bounds nothing)"
        )
        axes.set_title("A dot to the right of the line refutes the claim", fontsize=10, loc="left")
        axes.grid(axis="x", alpha=0.25)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Description": fingerprint(rows)})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def fingerprint(rows: Sequence[Sequence[str]]) -> str:
    """What the plot was made of; it stands in the file, so that a test sees a plot of other numbers."""
    shown = json.dumps([list(row[:6]) for row in rows])
    return f"rows {hashlib.sha256(shown.encode()).hexdigest()[:16]}"


def _value(cell: str) -> float:
    word = cell.split(" ")[0]
    return math.nan if word in ("-", "?") else float(word)


def _place(ratio: float) -> float:
    return min(max(ratio, _LEAST * 1.1), _EDGE)
