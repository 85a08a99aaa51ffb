"""The page: templates filled with what :mod:`.view` made, style and script inside, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound
from markupsafe import Markup

from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import versions
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable

from .records import MEANING, View, visible
from .rows import row_view


class _Package(BaseLoader):
    """Templates beside this module; read as data of the package, so that a zipped one works too."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, None]:
        return read(template), template, None


def read(name: str) -> str:
    """A file of ``templates/``."""
    found = files(__package__).joinpath("templates", name)
    if not found.is_file():
        raise TemplateNotFound(name)
    return found.read_text(encoding="utf-8")


def render(view: View) -> str:
    """One HTML document; the same view gives the same text.

    Every text is escaped. A policy in the head of the page allows no request at all, and no script but the page's own,
    by its hash.
    """
    script = read("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("report.html")
        .render(view=view, style=Markup(read("report.css")), script=Markup(script), digest=digest)
    )


@cache
def _environment() -> Environment:
    """Compiles each template once."""
    environment = Environment(
        loader=_Package(),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"printable": printable, "slug": slug}
    return environment


def view_of(rows: Sequence[Row], source: str) -> View:
    """The rows of a report as the page shows them.

    Args:
        source: the name of the report's file.

    Raises:
        BadInput: a witness of the report is none; the row and the field are named.
    """
    cases = {case.key: case for case in CASES}
    counts = Counter(row.verdict for row in rows)
    tiles = tuple((one.value, counts[one.value], MEANING[one]) for one in Verdict if counts[one.value])
    views = tuple(row_view(place, row, cases.get(row.key)) for place, row in enumerate(rows, 1))
    return View(views, printable(source), tiles, environments=environments(rows))


def environments(rows: Sequence[Row]) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """What rows were made with, each sort of environment once, and what wrote the page where that is another."""
    found: dict[str, tuple[Mapping[str, str], int]] = {}
    for row in rows:
        if row.versions:
            name = repr(sorted(row.versions.items()))
            found[name] = (row.versions, found.get(name, ({}, 0))[1] + 1)
    here = versions()
    shown: list[tuple[str, Mapping[str, str]]] = [
        (f"{count} row{'s' * (count != 1)}", what) for what, count in found.values()
    ]
    return tuple(shown if here in [what for what, _ in found.values()] else [*shown, ("this page", here)])


def slug(text: str) -> str:
    """Letters and digits only: for names of classes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
