"""The report as one HTML file: no network, no fonts or scripts from elsewhere, everything escaped."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from dpassay.audit.plain import json_text, number
from dpassay.audit.report.explain import replay_command
from dpassay.audit.report.problems import SENTENCES, numbers, problems
from dpassay.audit.row import Row
from dpassay.audit.search.witness import witness_of
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import versions
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable
from dpassay.reference.papers import PAPERS

from .figures import curves_of, delta_figure

MEANING: Mapping[str, str] = SENTENCES["verdicts"]


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
    by its hash. ``source`` names the report's file; the statements of its papers are summed up in ``note``.
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
    how: dict[str, Any] = {"autoescape": True, "undefined": StrictUndefined, "finalize": visible}
    environment = Environment(loader=FunctionLoader(_read), trim_blocks=True, lstrip_blocks=True, **how)
    slug = lambda text: re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")  # noqa: E731 - for names of classes
    environment.filters |= {"printable": printable, "slug": slug}
    return environment


def environments(rows: Sequence[Row]) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """What rows were made with, each sort of environment once, and what wrote the page where that is another."""
    here, made = versions(), [row.versions for row in rows if row.versions]
    each = [one for place, one in enumerate(made) if one not in made[:place]]
    shown = [(f"{made.count(one)} row{'s' * (made.count(one) != 1)}", one) for one in each]
    return tuple(shown if here in made else [*shown, ("this page", here)])


def visible(value: object) -> object:
    """Text with control characters, lone surrogates and marks of direction spelled out; spaces and line ends stay.

    What is no text, and what is marked as safe already, is returned as it is.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(letter if letter.isprintable() or letter in "\n " else ascii(letter)[1:-1] for letter in value)


# -- a row, as a record that the templates only lay out
_ROUNDING = 1e-6  # a query that moves by all that it declares may do so up to the last bits
_SAID = ("inconclusive", "raised")  # elsewhere on the page
_LONGEST = 4000  # letters of a witness as data; a longer one is found beside the report


def paper_of(row: Row) -> str:
    """The part of a key that filters go by."""
    return row.algorithm.partition("/")[0] if row.reading != "own" and "/" in row.algorithm else "own"


def row_view(place: int, row: Row, case: Case | None) -> dict[str, Any]:
    """A row, the ``place``-th of its page; ``case`` is its entry of the catalogue, if it has one."""
    found, name = curves_of(row), f"row-{place}"
    columns = [one for one in vars(found).values() if one.size] if found is not None else []
    how = "" if row.realised is None or row.realised_by == "likelihood" else f" ({printable(row.realised_by)})"
    releases = [_release(row, one) for one in row.releases]
    words = [row.key, row.data, row.why, row.verdict, *map(str, row.findings), *(one["label"] for one in releases)]
    known: dict[str, list[str]] = {}  # by line of source; a loop comes by more than once
    for place_of, _, value in (text.partition(": ") for text in row.certificate):
        if place_of in row.source:
            known.setdefault(place_of, []).append(printable(value))
    return {
        "row": row,
        "id": name,
        "paper": paper_of(row),
        "name": printable(row.algorithm),
        "failed": Verdict(row.verdict).failed,
        "words": printable(" ".join(words)).lower(),  # what a search looks in
        "numbers": {
            **numbers(row),
            "certified": row.certified_shown,
            "realised": row.shown(row.realised) + how,
            "delta": f"{row.delta:.3g}",
        },
        "figure": delta_figure(row, found, name) if found else "",
        "points": [[f"{value:.3g}" for value in values] for values in zip(*columns, strict=True)],
        "releases": releases,
        "findings": [(one.message, one.places) for one in problems(row) if one.rule not in _SAID],
        "witnesses": [_example(row, one) for one in row.witnesses],
        "premises": [printable(text) for text in row.certificate if text.partition(": ")[0] not in row.source],
        "known": [(printable(one), printable(row.source[one]), known[one]) for one in sorted(known, key=_in_order)],
        "about": [(name, printable(value)) for name, value in _about(row, case) if value],
        # what the repaired readings of the same algorithm change
        "repairs": dict.fromkeys(text for case in CASES if case.id == row.algorithm for text in case.repairs or ()),
        "completions": case.completions if case else (),
    }


def _release(row: Row, one: Mapping[str, Any]) -> dict[str, Any]:
    """One label of the timeline, as text."""
    label = str(one.get("label", ""))
    shares = [share for share in (row.movements.get(label), row.shares.get(label)) if share is not None]
    return {
        "label": printable(label),
        **{name: printable(str(one.get(name, ""))) for name in ("law", "count", "participation")},
        "scale": _span(one.get("scale")),
        "sensitivity": _span(one.get("sensitivity")) or "none declared",
        "moved": "-" if not shares else f"{max(shares):.0%}" if max(shares) < 2 else f"{max(shares):.3g} times",
        "exceeded": max(shares, default=0.0) > 1 + _ROUNDING,
    }


def _span(values: Any) -> str:
    """``0.5`` or ``0.1 to 0.5``; a file of others may hold anything."""
    if not isinstance(values, list) or not 1 <= len(values) <= 2:
        return ""
    try:
        texts = [number(value) for value in values]
    except (TypeError, ValueError):
        return ""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _example(row: Row, data: Mapping[str, Any]) -> tuple[list[str], str, str]:
    """A witness: what a person reads, the data that replays it, and how."""
    witness = witness_of(data, f"{row.key}: witness")
    text = json_text(witness.as_dict())
    again = printable(replay_command(witness, "witness.json"))
    return list(witness.lines()), text if len(text) <= _LONGEST else "", again


def _in_order(place: str) -> tuple[str, int]:
    """Of lines in files, for sorting."""
    file, _, digits = place.rpartition(":")
    return file, int(digits) if digits.isdecimal() and len(digits) < 10 else 0


def _about(row: Row, case: Case | None) -> list[tuple[str, str]]:
    paper = PAPERS.get(row.algorithm.partition("/")[0])
    found = [("what", case.title if case else ""), ("in the paper", str(case.cite) if case else "")]
    found += [("paper", paper.citation if paper else "")]
    facts = ", ".join(f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
                      for name, value in row.facts.items())  # fmt: skip
    found += [("variant", row.variant), ("data", row.data), ("neighbours", row.relation), ("constants", facts)]
    found += [("accounting", row.accounting), ("ledger", row.proved if row.proved != "-" else "")]
    made = f" ({row.stopped} were made)" if row.stopped else ""
    found += [("effort", f"{row.runs} runs{made}, {row.pilot} of the pilot, {row.examples} examples of the search")]
    found += [("confidence", f"{row.confidence:.0%}"), ("seed", str(row.seed)), ("power", number(row.power))]
    found += [("seconds", f"{row.seconds:.1f}"), ("code", row.code), ("sequence of releases", row.sequence)]
    return found
