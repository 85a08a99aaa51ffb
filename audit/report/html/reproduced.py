"""Pages of reproduced experiments, as part of the report: Markdown to HTML, with their pictures inside."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from dpassay.reference.errors import require
from dpassay.reference.files import is_folder, read_bytes, read_text

from .records import visible

_LARGEST = 2 * 2**20  # bytes of one picture
_KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
_SINKS = 3  # a heading of a page stands below the report's own


@dataclass(frozen=True)
class Page:
    """One reproduced paper."""

    paper: str
    body: Markup


def pages(folder: Path, papers: Iterable[str]) -> list[Page]:
    """The pages ``PAPER.md`` of a folder, for those papers that have one.

    Raises:
        BadInput: the folder is none, or a page cannot be read.
    """
    require(is_folder(folder), "--reproductions", str(folder), "is not a folder")
    found = [(paper, folder / f"{paper}.md") for paper in papers]
    return [Page(paper, rendered(path)) for paper, path in found if path.is_file()]


def rendered(path: Path) -> Markup:
    """One page; HTML in its text is shown as text, links to other files are text, pictures are taken in."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(str(visible(read_text(path, "page"))))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + _SINKS)}"
        if token.type == "th_open":
            token.attrSet("scope", "col")
        _take_in(token.children or [], path.parent)
    text = parser.renderer.render(tokens, parser.options, {})
    scrolled = '<div class="wide" role="region" aria-label="table" tabindex="0"><table>'
    return Markup(text.replace("<table>", scrolled).replace("</table>", "</table></div>"))


def _take_in(tokens: Sequence[Token], folder: Path) -> None:
    """Pictures become part of the page; links to files that do not come with it become plain text."""
    kept: list[bool] = []
    for token in tokens:
        if token.type == "image":
            _take_in_picture(token, folder)
        elif token.type == "link_open":
            kept.append(str(token.attrGet("href") or "").startswith(("https://", "http://")))
            token.attrSet("rel", "noopener noreferrer")
            token.tag, token.attrs = ("a", token.attrs) if kept[-1] else ("span", {})
        elif token.type == "link_close" and not kept.pop():
            token.tag = "span"


def _take_in_picture(token: Token, folder: Path) -> None:
    source = str(token.attrGet("src") or "")
    path = folder / source
    try:
        beside = "/" not in source and path.is_file() and path.resolve().parent == folder.resolve()
    except (OSError, ValueError):  # no name that a file can have
        beside = False
    if not beside or path.suffix not in _KINDS:
        token.type, token.content = "text", f"[picture: {token.content}]"
        return
    data = base64.b64encode(read_bytes(path, "picture", _LARGEST)).decode()
    token.attrSet("src", f"data:{_KINDS[path.suffix]};base64,{data}")
