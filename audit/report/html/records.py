"""What the page shows, as records that the templates only lay out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.reference.errors import printable

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


@dataclass(frozen=True)
class Line:
    """One line of source: its number in the file, its text, and whether it was left out."""

    number: int
    text: str
    missed: bool


@dataclass(frozen=True)
class Listing:
    """One function: where it stands, and its lines."""

    file: str
    name: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Release:
    """One label of the timeline, as text."""

    label: str
    law: str
    count: str
    scale: str
    sensitivity: str
    moved: str
    exceeded: bool
    participation: str


@dataclass(frozen=True)
class Example:
    """A witness: what a person reads, and the data that replays it."""

    lines: tuple[str, ...]
    data: str
    again: str


@dataclass(frozen=True)
class Known:
    """A line of source with what a certificate knows of each value that is made there."""

    place: str
    source: str
    values: tuple[str, ...]


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
    findings: tuple[tuple[str, str], ...]
    witnesses: tuple[Example, ...]
    premises: tuple[str, ...]
    known: tuple[Known, ...]
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
        found = [*map(str, row.findings), *(one.label for one in self.releases)]
        return printable(" ".join([row.key, row.data, row.why, row.verdict, *found])).lower()


@dataclass(frozen=True)
class StatementView:
    """A theorem or lemma with what becomes of it: ``chain`` is a picture, ``steps`` its lines as text."""

    paper: str
    name: str
    group: str
    label: str
    title: str
    sentence: str
    chain: Any
    steps: tuple[tuple[str, str, str], ...] = ()  # id, what it says, what was decided
    command: str = ""


@dataclass(frozen=True)
class Ledger:
    """What becomes of the statements of the papers of the report."""

    statements: tuple[StatementView, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class View:
    """The whole page."""

    rows: tuple[RowView, ...]
    source: str
    counts: tuple[tuple[str, int, str], ...]
    ledger: Ledger = Ledger()
    environments: tuple[tuple[str, Mapping[str, str]], ...] = ()


def visible(value: object) -> object:
    """Text with control characters, lone surrogates and marks of direction spelled out; spaces and line ends stay.

    What is no text, and what is marked as safe already, is returned as it is.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(letter if letter.isprintable() or letter in "\n " else ascii(letter)[1:-1] for letter in value)
