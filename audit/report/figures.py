"""The figure of a row: delta(epsilon) as claimed, accounted and realised.

It is SVG of matplotlib that may stand in a page: small, with a title, with ids of its own. Colours are drawn with
stand-ins and become the page's variables, so that a figure follows light and dark.
"""

import hashlib
import io
import math
import re
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from dpassay.audit.plain import number
from dpassay.audit.row import Row
from dpassay.reference.arrays import Array
from dpassay.reference.errors import printable

INK, QUIET, CLAIM, UPPER, SHOWN, BAD = "#010101", "#020202", "#030303", "#040404", "#050505", "#060606"
_VARIABLES = {INK: "ink", QUIET: "line", CLAIM: "claim", UPPER: "upper", SHOWN: "shown", BAD: "bad"}
_DECIMALS = re.compile(r"(?<=\.\d)\d+")
_STYLE = {
    "svg.fonttype": "none",
    "font.size": 9,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": QUIET,
    "grid.linewidth": 0.6,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "legend.frameon": False,
    "path.simplify": True,
}


def inline(figure: Figure, name: str, title: str, description: str) -> Markup:
    """The figure as an element of a page, with a title and a description for those who do not see it.

    The name is unique in the page: ids begin with its hash. The same figure and name give the same text.
    """
    mark = "f" + hashlib.sha256(name.encode()).hexdigest()[:8]
    stream = io.StringIO()
    with rc_context({**_STYLE, "svg.hashsalt": mark}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = stream.getvalue()
    box = re.search(r'viewBox="([\d. ]+)"', text)
    assert box is not None  # matplotlib always writes one
    body = text[text.index(">", box.end()) + 1 : text.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = _own_ids(body, mark)
    # paths with one decimal, on one line: a tenth of a point is finer than a screen
    body = re.sub(r' d="([^"]*)"', lambda one: f' d="{" ".join(_DECIMALS.sub("", one[1]).split())}"', body)
    body = re.sub(r" *font-family: [^;\"]*;?", "", body)
    for stand_in, variable in _VARIABLES.items():
        body = body.replace(stand_in, f"var(--{variable})")
    body = re.sub(r"\s*\n\s*", "\n", body).strip()
    head = (
        f'<svg role="img" aria-labelledby="{mark}t {mark}d" viewBox="{box.group(1)}" xmlns="http://www.w3.org/2000/svg"'
        f' xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<title id="{mark}t">{escape(printable(title))}</title>'
        f'<desc id="{mark}d">{escape(printable(description))}</desc>'
    )
    return Markup(head + body + "</svg>")


def _own_ids(body: str, mark: str) -> str:
    """Ids that something refers to get the figure's mark; the others go."""
    used = set(re.findall(r"url\(#([^)]+)\)", body)) | set(re.findall(r'href="#([^"]+)"', body))
    body = re.sub(r' id="([^"]+)"', lambda found: f' id="{mark}{found[1]}"' if found[1] in used else "", body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{mark}\1)", body)
    return re.sub(r'href="#([^"]+)"', rf'href="#{mark}\1"', body)


_CURVES = ("epsilons", "accounted", "realised", "pointwise", "true positives")
_LEAST = 1e-100  # of a claim whose curves are drawn: the axis is linear below it, logarithmic above, without overflow


@dataclass(frozen=True)
class Curves:
    """What a row says at each epsilon; the band is empty where the audit's runs decide nothing."""

    epsilons: Array
    accounted: Array
    realised: Array
    pointwise: Array
    hits: Array


def curves_of(row: Row) -> Curves | None:
    """The curves of a row; None where it has none, or where they make no sense (a file of somebody else)."""
    found = Curves(*(np.array(row.curves.get(name, []), dtype=float) for name in _CURVES))
    epsilons, band = found.epsilons, (found.realised, found.pointwise, found.hits)
    sizes = {one.size for one in band}
    if epsilons.size < 2 or found.accounted.size != epsilons.size or sizes not in ({0}, {epsilons.size}):
        return None
    rising = bool(np.all(np.diff(epsilons) > 0)) and epsilons[0] >= 0 and epsilons[-1] <= 1e6
    deltas = np.concatenate([found.accounted, *band])
    claimed = _LEAST < row.claimed < 1e6 and row.delta > 0
    return found if rising and claimed and bool(np.all((deltas >= 0) & (deltas <= 1))) else None


def delta_figure(row: Row, found: Curves, name: str) -> Markup:
    """delta against epsilon: the claim, what is accounted, and what is shown."""
    floor = max(1e-300, min(1e-9, row.delta / 1e3))
    with rc_context(_STYLE):
        figure = Figure(figsize=(4.6, 3.3))
        FigureCanvasSVG(figure)  # without a window
        axes = figure.add_axes((0.13, 0.12, 0.84, 0.72))
        epsilons = found.epsilons
        fine = np.linspace(0.0, epsilons[-1], 200)
        least = np.exp(row.claimed) - np.exp(np.minimum(fine, row.claimed))
        most = row.delta + (1 - row.delta) * least / (1 + np.exp(row.claimed))  # of the extremal mechanism
        axes.plot(fine, np.where(fine < row.claimed, most, row.delta), "--", color=CLAIM, lw=1.4, label="claimed")
        upper = "accounted" if row.upper_bound else "accounted (no bound)"
        axes.plot(epsilons, np.maximum(found.accounted, floor / 10), color=UPPER, lw=1.4, label=upper)
        if found.realised.size:
            band = np.maximum(found.realised, floor / 10)
            axes.fill_between(epsilons, floor / 10, band, step="pre", color=SHOWN, alpha=0.25, lw=0, label="realised")
            axes.step(epsilons, band, where="pre", color=SHOWN, lw=1.2)
            axes.plot(epsilons, np.maximum(found.pointwise, floor / 10), ":", color=SHOWN, lw=1.2, label="pointwise")
        if row.realised is not None and row.realised <= epsilons[-1]:
            colour = BAD if row.realised > row.claimed else SHOWN
            axes.plot(row.realised, row.delta, "o", color=colour, ms=5, label="the verdict's bound")
        elif row.realised is not None:
            far = f"realised >= {number(row.realised)}, right of the plot"
            text = "realised: infinite" if math.isinf(row.realised) else far
            axes.annotate(text, (0.03, 0.3), xycoords="axes fraction", va="top", color=BAD, fontsize=9)
        if epsilons[-1] > 3 * row.claimed:
            axes.set_xscale("symlog", linthresh=2 * row.claimed, linscale=2)
            factor = 2 if epsilons[-1] < 20 * row.claimed else 10
            beyond = (2 * row.claimed * factor**power for power in range(1, 10))
            ticks = [0, row.claimed, 2 * row.claimed, *(one for one in beyond if one <= epsilons[-1])]
            axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
            axes.minorticks_off()
        axes.set_xlim(0, epsilons[-1])
        _powers(axes, floor)
        axes.set_xlabel("epsilon", labelpad=2)
        axes.set_ylabel("delta", labelpad=2)
        axes.grid(True)
        place = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1.0)}  # above the axes, where it hides nothing
        axes.legend(fontsize=8, ncols=2, borderaxespad=0.2, columnspacing=1.2, **place)
        title = f"delta against epsilon of {row.key}"
        return inline(figure, name, title, _words(row, found))


def _powers(axes: Axes, floor: float) -> None:
    axes.set_yscale("log")
    axes.set_ylim(floor, 2.0)
    lowest = math.ceil(math.log10(floor))
    exponents = [power for power in range(0, lowest - 1, -1) if (power - lowest) % 2 == 0 or power == 0]
    axes.set_yticks([10.0**power for power in exponents], ["1" if not power else f"1e{power}" for power in exponents])
    axes.minorticks_off()


def _words(row: Row, found: Curves) -> str:
    text = f"Claimed: epsilon {number(row.claimed)} at delta {row.delta:g}. Accounted at this delta: "
    text += f"epsilon {number(row.accounted)}" + ("" if row.upper_bound else ", which bounds nothing here") + ". "
    if row.realised is not None:
        text += f"Realised: at least epsilon {number(row.realised)}. "
    if not found.realised.size:
        return text + "The runs of this audit give no curve."
    middle = len(found.epsilons) // 3
    return text + (
        f"At epsilon {number(found.epsilons[middle])} the accounted delta is {found.accounted[middle]:.2g} and the "
        f"realised one at least {found.realised[middle]:.2g}. The table below has all numbers."
    )
