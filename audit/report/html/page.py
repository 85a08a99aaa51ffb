"""The report as one HTML file: no network, no fonts or scripts from elsewhere, everything escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import versions
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable

from .rows import row_view

MEANING: Mapping[Verdict, str] = {
    Verdict.VIOLATED: "more epsilon is realised than claimed, at the stated confidence",
    Verdict.LEAKS: "something private reaches the outside beside the releases",
    Verdict.OVERSHOOTS: "what is accounted bounds nothing: a query moves by more than it declares, or more is realised",
    Verdict.OVER_BUDGET: "the releases add up to more than claimed",
    Verdict.CERTIFIED: "nothing of that, and by the code itself no two neighbours can show more than is claimed",
    Verdict.TIGHT: "nothing of that, and the lower bound reaches 90 % of the claim",
    Verdict.CONSISTENT: "nothing of that, by an audit able to refute a claim 10 % below what this pair carries",
    Verdict.INCONCLUSIVE: "not refuted, and nothing says that a violation would have been seen",
}


class StatementView(NamedTuple):
    """A theorem or lemma with what becomes of it: ``chain`` is a picture, ``steps`` its lines as text."""

    paper: str
    name: str
    group: str
    label: str
    title: str
    sentence: str
    chain: str
    steps: Sequence[tuple[str, str, str]] = ()  # id, what it says, what was decided
    command: str = ""


def page(rows: Sequence[Row], source: str, statements: Sequence[StatementView] = (), note: str = "") -> str:
    """One HTML document; the same rows give the same text.

    Every text is escaped. A policy in the head of the page allows no request at all, and no script but the page's own,
    by its hash.

    Args:
        source: the name of the report's file.
        statements: of the papers of the rows; ``note`` sums them up.

    Raises:
        BadInput: a witness of the report is none; the row and the field are named.
    """
    cases = {case.key: case for case in CASES}
    counts = Counter(row.verdict for row in rows)
    view = {
        "rows": [row_view(place, row, cases.get(row.key)) for place, row in enumerate(rows, 1)],
        "source": printable(source),
        "counts": [(one.value, counts[one.value], MEANING[one]) for one in Verdict if counts[one.value]],
        "ledger": {"statements": statements, "note": note},
        "environments": environments(rows),
    }
    script = _read("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().get_template("report.html")
    return template.render(view=view, style=Markup(_read("report.css")), script=Markup(script), digest=digest)


def _read(name: str) -> str:
    """A file of ``templates/``, as data of the package, so that a zipped one works too."""
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    """Compiles each template once."""
    environment = Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    slug = lambda text: re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")  # noqa: E731 - for names of classes
    environment.filters |= {"printable": printable, "slug": slug}
    return environment


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


def visible(value: object) -> object:
    """Text with control characters, lone surrogates and marks of direction spelled out; spaces and line ends stay.

    What is no text, and what is marked as safe already, is returned as it is.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(letter if letter.isprintable() or letter in "\n " else ascii(letter)[1:-1] for letter in value)
