"""The status of every lemma and theorem, from the rows that decide its steps and the statements that it uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from .cited import named, named_by_id
from .claim import Result, Row, Saves, Severity, Verdict
from .derivations import PARTS, SAYS, USES
from .joint import joint
from .ledger import load_rows
from .statements import STATEMENTS

SHOWN = ("Theorem", "Lemma", "Corollary", "Proposition", "Claim", "Remark", "Table")
SIDES = (Severity.PRIVACY, Severity.UTILITY)
_MILD = (Saves.READING, Saves.CONDITION)


class Status(StrEnum):
    """What becomes of a statement; from the worst to the best."""

    FALSE = "false"
    UNSUPPORTED = "unsupported"
    CONDITIONAL = "holds under"
    PROVED = "proved here"
    OPEN = "not decided"


@dataclass(frozen=True)
class Standing:
    """One side (privacy or utility) of a statement.

    ``failing`` are the rows that decide the status, the statement's own first; ``through`` is the statement that it
    uses and from which the status comes; ``under`` are the readings and conditions that are needed.
    """

    status: Status
    failing: tuple[Result, ...] = ()
    through: str = ""
    under: tuple[str, ...] = ()
    excluded: str = ""


@cache
def _steps(paper: str) -> Mapping[str, tuple[str, ...]]:
    """Statement -> ids of the rows that decide its steps."""
    rows: list[Row] = load_rows([paper])
    about = {row.id: _about(row) for row in rows}
    parts = PARTS.get(paper, {})
    return {
        name: tuple(
            row.id
            for row in rows
            if name in about[row.id] or row.id.split("/", 1)[1].startswith(tuple(parts.get(name, ())) or ("?",))
        )
        for name in STATEMENTS[paper]
    }


def _about(row: Row) -> set[str]:
    """Statements that a row is a step of: those it cites, but not those that it is held against or used with."""
    place = row.cite.place.split(" against ")[0].split(" with ")[0]
    return named(place) | {named_by_id(row.id)}


def standing(paper: str, name: str, side: Severity, results: Mapping[str, Result]) -> Standing:
    """The status of one side of a statement, from results by id."""
    return _standing(paper, name, side, results, frozenset())


def _standing(paper: str, name: str, side: Severity, results: Mapping[str, Result], above: frozenset[str]) -> Standing:
    own = [results[i] for i in _steps(paper).get(name, ()) if i in results and not results[i].row.ours]
    failing = [r for r in own if r.failed and r.row.severity is side]
    broken = [r for r in failing if r.saved_by not in _MILD]
    says = SAYS.get(paper, frozenset())
    stated = [r for r in broken if r.row.id.split("/", 1)[1] in says]
    if stated:
        return Standing(Status.FALSE, (*stated, *(r for r in broken if r not in stated)))
    if broken:
        return Standing(Status.UNSUPPORTED, tuple(broken))
    excluded = _excluded(paper, failing)
    if excluded:
        return Standing(Status.UNSUPPORTED, tuple(failing), excluded=excluded)
    under = tuple(f"{r.row.saving.kind} {r.row.id.split('/', 1)[1]}: {r.row.saving.text}" for r in failing)
    below = [
        (used, _standing(paper, used, side, results, above | {name}))
        for used in USES.get(paper, {}).get(name, ())
        if used not in above
    ]
    for used, found in below:
        if found.status in (Status.FALSE, Status.UNSUPPORTED):
            return Standing(Status.UNSUPPORTED, found.failing, through=used, under=under, excluded=found.excluded)
    under += tuple(text for _, found in below for text in found.under)
    passing = [r for r in own if r.verdict in (Verdict.PROVED, Verdict.CHECKED) and _counts(r.row, side)]
    if under:
        return Standing(Status.CONDITIONAL, tuple(failing), under=tuple(dict.fromkeys(under)))
    if passing or any(found.status is Status.PROVED for _, found in below):
        return Standing(Status.PROVED)
    return Standing(Status.OPEN)


def _counts(row: Row, side: Severity) -> bool:
    return row.severity is side or (side is Severity.UTILITY and row.severity is Severity.COSMETIC)


def _excluded(paper: str, failing: Sequence[Result]) -> str:
    """Savings among these that cannot be had at once, or an empty text."""
    ids = {result.row.id for result in failing}
    found = (one for one in joint(paper).conflicts if ids.issuperset(one.rows))
    return next((f"{' and '.join(one.rows)}: {one.why}" for one in found), "")


def table(paper: str, results: Iterable[Result], kinds: Sequence[str] = SHOWN) -> list[str]:
    """Markdown: each statement of a paper with the status of its two sides and the first failing step."""
    lines = [
        "| statement | privacy | utility | first failing step | what is right |",
        "|---|---|---|---|---|",
    ]
    return lines + [f"| {' | '.join(cells)} |" for cells in cells_of(paper, results, kinds)]


def cells_of(
    paper: str, results: Iterable[Result], kinds: Sequence[str] = SHOWN
) -> list[tuple[str, str, str, str, str]]:
    """The cells of :func:`table`, in Markdown: statement, privacy, utility, first failing step, what is right."""
    known = {result.row.id: result for result in results}
    found = []
    for name in STATEMENTS[paper]:
        if not name.startswith(tuple(kinds)):
            continue
        sides = [standing(paper, name, side, known) for side in SIDES]
        if all(side.status is Status.OPEN for side in sides):
            continue
        found.append((name, word(sides[0]), word(sides[1]), *_first(sides)))
    return found


def word(found: Standing) -> str:
    """A status in a word, in Markdown."""
    if found.status is Status.OPEN:
        return "-"
    if found.status is Status.CONDITIONAL:
        return f"holds under {_count(found.under)}"
    through = f" (through {found.through})" if found.through else ""
    return f"**{found.status}**{through}" if found.status in (Status.FALSE, Status.UNSUPPORTED) else str(found.status)


def _count(under: Sequence[str]) -> str:
    kinds = [text.split(" ", 1)[0] for text in under]
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items())


def _first(sides: Sequence[Standing]) -> tuple[str, str]:
    for found in sides:
        if found.excluded:
            return f"savings that exclude each other: {found.excluded}", "-"
        if found.failing and found.status in (Status.FALSE, Status.UNSUPPORTED):
            worst = max(found.failing, key=lambda result: result.finding.excess)  # the first, where none has a price
            row, excess = worst.row, worst.finding.excess
            shown = f" ({excess:.3g} times the claimed epsilon)" if 1 < excess < 1e6 else ""
            return f"`{row.id.split('/', 1)[1]}`{shown}", (row.corrected or row.saving.text or "-").replace("|", "\\|")
    for found in sides:
        if found.under:
            return "-", found.under[0].replace("|", "\\|")
    return "-", "-"


def as_data(results: Iterable[Result]) -> dict[str, Any]:
    """Status of every statement with a status, as plain data."""
    known = {result.row.id: result for result in results}
    papers = dict.fromkeys(result.row.cite.paper for result in known.values())
    return {
        paper: {
            name: {side.name.lower(): standing(paper, name, side, known).status.value for side in SIDES}
            for name in STATEMENTS[paper]
            if name.startswith(SHOWN)
        }
        for paper in papers
    }


def steps_of(paper: str, name: str) -> tuple[str, ...]:
    """Ids of the rows that decide steps of a statement."""
    return _steps(paper).get(name, ())


def supports(row: Row) -> list[str]:
    """Statements of which a row decides a step."""
    return [name for name, ids in _steps(row.cite.paper).items() if row.id in ids]


def below(paper: str, name: str) -> list[str]:
    """A statement and everything that it rests on, itself first."""
    found: list[str] = []
    todo = [name]
    while todo:
        one = todo.pop(0)
        if one not in found:
            found.append(one)
            todo += USES.get(paper, {}).get(one, ())
    return found


def rows_below(paper: str, name: str) -> list[Row]:
    """Rows that decide a statement or anything that it rests on."""
    wanted = {row_id for one in below(paper, name) for row_id in _steps(paper).get(one, ())}
    return [row for row in load_rows([paper]) if row.id in wanted]
