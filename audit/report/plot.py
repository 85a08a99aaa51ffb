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

from .pages import Line

_BROKEN, _FINE, _UPPER = "#b3261e", "#1b6e3c", "#555555"
_EDGE = 2000.0  # where "infinite" is drawn, as a multiple of the claim
_LEAST = 0.04  # the left edge


def draw(lines: Sequence[Line]) -> str:
    """The audit table as SVG; the same lines give the same text (with the same matplotlib)."""
    settings = {"svg.hashsalt": "dpassay", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"}
    with rc_context(settings):
        figure = Figure(figsize=(9.2, 0.235 * len(lines) + 1.1), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for height, line in enumerate(reversed(lines)):
            accounted = _place(line.accounted / line.claimed)
            axes.hlines(height, 1, accounted, color=_UPPER, lw=0.8, alpha=0.5)
            marker, size, width = ("|", 9, 2) if line.bounded else ("x", 5, 1)
            axes.plot(accounted, height, marker, color=_UPPER, ms=size, mew=width)
            if not math.isnan(line.realised):
                colour = _BROKEN if line.verdict.failed else _FINE
                axes.plot(_place(line.realised / line.claimed), height, "o", color=colour, ms=5)
        axes.axvline(1.0, color="black", lw=1)
        axes.set_yticks(range(len(lines)), [line.key for line in reversed(lines)], fontsize=7.5)
        axes.set_ylim(-0.8, len(lines) - 0.2)
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
        figure.savefig(text, format="svg", metadata={"Date": None, "Description": fingerprint(lines)})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def fingerprint(lines: Sequence[Line]) -> str:
    """What the plot was made of; it stands in the file, so that a test sees a plot of other numbers."""
    shown = json.dumps([line.cells[:7] for line in lines])
    return f"rows {hashlib.sha256(shown.encode()).hexdigest()[:16]}"


def _place(ratio: float) -> float:
    return min(max(ratio, _LEAST * 1.1), _EDGE)
