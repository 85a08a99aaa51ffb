"""What the page shows, as records that the templates only lay out."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from markupsafe import Markup

from dpassay.audit.plain import json_text, number
from dpassay.audit.row import Row
from dpassay.audit.search.witness import witness_of
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import installed_version
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable
from dpassay.reference.papers import PAPERS

from .figures import Curves, curves_of, delta_figure, trade_off_figure
from .source import Listing, listings

MEANING: Mapping[Verdict, str] = {
    Verdict.VIOLATED: "more epsilon is realised than claimed, at the stated confidence",
    Verdict.LEAKS: "something private reaches the outside beside the releases",
    Verdict.OVERSHOOTS: "a query moves by more than it declares, so that what is accounted bounds nothing",
    Verdict.OVER_BUDGET: "the releases add up to more than claimed",
    Verdict.TIGHT: "nothing of that, and the lower bound reaches 90 % of the claim",
    Verdict.CONSISTENT: "nothing of that, by an audit that would have seen a claim 10 % too small",
    Verdict.INCONCLUSIVE: "not refuted, and nothing says that a violation would have been seen",
}
_LONGEST = 4000  # letters of a witness as data; a longer one is found beside the report


@dataclass(frozen=True)
class Release:
    """One label of the timeline, as text."""

    label: str
    law: str
    count: str
    scale: str
    sensitivity: str
    moved: str
    participation: str


@dataclass(frozen=True)
class Example:
    """A witness: what a person reads, and the data that replays it."""

    lines: tuple[str, ...]
    data: str


@dataclass(frozen=True)
class RowView:
    """One row: the record and what is made of it."""

    row: Row
    id: str
    paper: str
    name: str
    numbers: Mapping[str, str]
    figures: tuple[Markup, ...]
    points: tuple[tuple[str, ...], ...]
    curve_note: str
    releases: tuple[Release, ...]
    witnesses: tuple[Example, ...]
    listings: tuple[Listing, ...]
    whole: int
    about: tuple[tuple[str, str], ...]
    repairs: tuple[str, ...]
    completions: tuple[str, ...]

    @property
    def failed(self) -> bool:
        """Does its claim not stand?"""
        return Verdict(self.row.verdict).failed

    @property
    def slug(self) -> str:
        """The verdict as the name of a class."""
        return self.row.verdict.replace(" ", "-")

    @property
    def words(self) -> str:
        """What a search looks in."""
        row = self.row
        parts = [row.key, row.data, row.why, row.verdict, *row.findings, *(one.label for one in self.releases)]
        return printable(" ".join(parts)).lower()


@dataclass(frozen=True)
class Statement:
    """A theorem or lemma with what becomes of it."""

    paper: str
    name: str
    privacy: str
    utility: str
    step: str
    right: str


@dataclass(frozen=True)
class LedgerRow:
    """One statement of a paper that a checker decided."""

    id: str
    place: str
    statement: str
    verdict: str
    severity: str
    evidence: str
    saved: str

    @property
    def paper(self) -> str:
        """The key of its paper."""
        return self.id.partition("/")[0]


@dataclass(frozen=True)
class Ledger:
    """What the proof ledger says of the papers of the report."""

    statements: tuple[Statement, ...] = ()
    rows: tuple[LedgerRow, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class View:
    """The whole page."""

    rows: tuple[RowView, ...]
    source: str
    counts: tuple[tuple[str, int, str], ...]
    ledger: Ledger = Ledger()
    reproduced: tuple[Any, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


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
    views = tuple(_row_view(place, row, cases.get(row.key)) for place, row in enumerate(rows, 1))
    return View(views, printable(source), tiles, versions=versions())


def versions() -> dict[str, str]:
    """What the page was written with: no more is known of the machine that made the report."""
    found = {"dpassay": installed_version(), "Python": platform.python_version()}
    for name in ("numpy", "scipy", "dp-accounting", "hypothesis"):
        found[name] = metadata.version(name)
    return found | {"system": f"{platform.system()} {platform.machine()}"}


def paper_of(row: Row) -> str:
    """The part of a key that filters go by."""
    return row.algorithm.partition("/")[0] if row.reading != "own" and "/" in row.algorithm else "own"


def _row_view(place: int, row: Row, case: Case | None) -> RowView:
    found = curves_of(row)
    name = f"row-{place}"
    paper = paper_of(row)
    shown, whole = listings(row, case)
    return RowView(
        row=row,
        id=name,
        paper=paper,
        name=printable(row.algorithm),
        numbers=_numbers(row),
        figures=(delta_figure(row, found, name), trade_off_figure(row, found, name)) if found else (),
        points=_points(found),
        curve_note=_curve_note(row, found),
        releases=tuple(_release(row, one) for one in row.releases),
        witnesses=tuple(_example(row, one) for one in row.witnesses),
        listings=tuple(shown),
        whole=whole,
        about=tuple((name, printable(value)) for name, value in _about(row, case) if value),
        repairs=_repairs(row),
        completions=case.completions if case else (),
    )


def _numbers(row: Row) -> dict[str, str]:
    how = "" if row.realised is None or row.realised_by == "likelihood" else f" ({printable(row.realised_by)})"
    return {
        "claimed": number(row.claimed),
        "accounted": number(row.accounted) + ("" if row.upper_bound else " (no bound)"),
        "realised": number(row.realised) + how,
        "delta": f"{row.delta:.3g}",
    }


def _points(found: Curves | None) -> tuple[tuple[str, ...], ...]:
    if found is None:
        return ()
    columns = [found.epsilons, found.accounted]
    columns += [found.realised, found.pointwise, found.hits] if found.realised.size else []
    return tuple(tuple(f"{value:.3g}" for value in values) for values in zip(*columns, strict=True))


def _curve_note(row: Row, found: Curves | None) -> str:
    if found is None:
        return "The report holds no curves of this row."
    if not found.realised.size:
        return (
            "The runs of this audit show no curve: their losses are those of an adversary who also sees secrets of the "
            "algorithm, which decides nothing."
        )
    return (
        f"realised: lower bounds from {row.runs} runs; with {row.confidence:.0%} confidence all of them hold together, "
        f"and the steps between them too. pointwise: each by itself, at the same confidence. Points of the second "
        f"figure: tests that an adversary has, again all together. The dot at the claimed delta is the bound of the "
        f"verdict, with a confidence of its own."
    )


def _release(row: Row, one: Mapping[str, Any]) -> Release:
    label = str(one.get("label", ""))
    shares = [share for share in (row.movements.get(label), row.shares.get(label)) if share is not None]
    return Release(
        label=printable(label),
        law=printable(str(one.get("law", ""))),
        count=printable(str(one.get("count", ""))),
        scale=_span(one.get("scale")),
        sensitivity=_span(one.get("sensitivity")) or "none declared",
        moved=f"{max(shares):.0%}" if shares else "-",
        participation=printable(str(one.get("participation", ""))),
    )


def _span(values: Any) -> str:
    """``0.5`` or ``0.1 to 0.5``; a file of others may hold anything."""
    if not isinstance(values, list) or not 1 <= len(values) <= 2:
        return ""
    try:
        texts = [number(value) for value in values]
    except (TypeError, ValueError):
        return ""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _example(row: Row, data: Mapping[str, Any]) -> Example:
    witness = witness_of(data, f"{row.key}: witness")
    text = json_text(witness.as_dict())
    return Example(tuple(witness.lines()), text if len(text) <= _LONGEST else "")


def _about(row: Row, case: Case | None) -> list[tuple[str, str]]:
    paper = PAPERS.get(row.algorithm.partition("/")[0])
    found = [("what", case.title if case else ""), ("in the paper", str(case.cite) if case else "")]
    found += [("paper", paper.citation if paper else "")]
    facts = ", ".join(f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
                      for name, value in row.facts.items())  # fmt: skip
    found += [("variant", row.variant), ("data", row.data), ("neighbours", row.relation), ("constants", facts)]
    found += [("accounting", row.accounting), ("ledger", row.proved if row.proved != "-" else "")]
    found += [("effort", f"{row.runs} runs, {row.pilot} of the pilot, {row.examples} examples of the search")]
    found += [("confidence", f"{row.confidence:.0%}"), ("seed", str(row.seed)), ("power", number(row.power))]
    found += [("seconds", f"{row.seconds:.1f}"), ("code", row.code), ("sequence of releases", row.sequence)]
    return found


def _repairs(row: Row) -> tuple[str, ...]:
    """What the repaired readings of the same algorithm change; of any reading of it."""
    texts = [text for case in CASES if case.id == row.algorithm and case.repairs for text in case.repairs]
    return tuple(dict.fromkeys(texts))


def slug(text: str) -> str:
    """Letters and digits only: for names of classes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
