"""A figure of matplotlib as SVG that may stand in a page: named, small, in the page's colours, ids of its own.

Colours are drawn with stand-ins and become the page's variables, so that a figure follows light and dark.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager

from markupsafe import Markup, escape
from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from dpassay.reference.errors import printable

INK, QUIET, CLAIM, UPPER, SHOWN, BAD = "#010101", "#020202", "#030303", "#040404", "#050505", "#060606"
_VARIABLES: Mapping[str, str] = {
    INK: "var(--ink)",
    QUIET: "var(--line)",
    CLAIM: "var(--claim)",
    UPPER: "var(--upper)",
    SHOWN: "var(--shown)",
    BAD: "var(--bad)",
}
_STYLE = {
    "svg.fonttype": "none",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": QUIET,
    "grid.linewidth": 0.6,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "legend.frameon": False,
    "path.simplify": True,
}


def new_figure() -> Figure:
    """A figure without a window."""
    figure = Figure(figsize=(4.6, 3.3))
    FigureCanvasSVG(figure)
    return figure


def style() -> AbstractContextManager[None]:
    """What a figure must be drawn in."""
    found: AbstractContextManager[None] = rc_context(_STYLE)
    return found


def inline(figure: Figure, name: str, title: str, description: str) -> Markup:
    """The figure as an element of a page, with a title and a description for those who do not see it.

    Args:
        name: unique in the page; ids begin with its hash. The same figure and name give the same text.
    """
    mark = "f" + hashlib.sha256(name.encode()).hexdigest()[:8]
    stream = io.StringIO()
    with rc_context({**_STYLE, "svg.hashsalt": mark}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = stream.getvalue()
    box = re.search(r'viewBox="([\d. ]+)"', text)
    assert box is not None  # matplotlib always writes one
    body = text[text.index(">", box.end()) + 1 : text.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style[^>]*>.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = _own_ids(body, mark)
    body = re.sub(r' d="([^"]*)"', lambda found: f' d="{_shorter(found[1])}"', body)
    body = re.sub(r" *font-family: [^;\"]*;?", "", body)
    for stand_in, variable in _VARIABLES.items():
        body = body.replace(stand_in, variable)
    body = re.sub(r"\s*\n\s*", "\n", body).strip()
    head = (
        f'<svg role="img" aria-labelledby="{mark}t {mark}d" viewBox="{box.group(1)}" xmlns="http://www.w3.org/2000/svg"'
        f' xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<title id="{mark}t">{escape(printable(title))}</title>'
        f'<desc id="{mark}d">{escape(printable(description))}</desc>'
    )
    return Markup(head + body + "</svg>")


def _shorter(path: str) -> str:
    """A path with one decimal, on one line: a tenth of a point is finer than a screen."""
    return " ".join(re.sub(r"(\d+\.\d)\d+", r"\1", path).split())


def _own_ids(body: str, mark: str) -> str:
    """Ids that something refers to get the figure's mark; the others go."""
    used = set(re.findall(r"url\(#([^)]+)\)", body)) | set(re.findall(r'href="#([^"]+)"', body))
    body = re.sub(r' id="([^"]+)"', lambda found: f' id="{mark}{found[1]}"' if found[1] in used else "", body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{mark}\1)", body)
    return re.sub(r'href="#([^"]+)"', rf'href="#{mark}\1"', body)
