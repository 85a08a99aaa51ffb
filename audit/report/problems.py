"""What is wrong with a row, one record a finding: JUnit, SARIF, Markdown and annotations are made of this one list."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from dpassay.audit.exit_codes import FAILED, INCONCLUSIVE
from dpassay.audit.plain import number
from dpassay.audit.row import Row
from dpassay.audit.verdict import UNDERACCOUNTED, Verdict, over_budget
from dpassay.reference.errors import printable
from dpassay.reference.files import parse_toml
from dpassay.reference.findings import Kind

#: what rules and verdicts mean, as data of the package
_TOLD = files(__package__).joinpath("templates", "sentences.toml").read_text(encoding="utf-8")
SENTENCES = parse_toml(_TOLD, "sentences.toml")
CHANGED = "changed"  # rule of what is worse than in the lock file
REQUIRED = "not as required"  # rule of a row without the verdict that was required
_ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")  # where the checkout of a job lies


class Level(StrEnum):
    """How much a problem counts, worst first; the words of SARIF."""

    ERROR = "error"  # the row fails by it
    WARNING = "warning"  # nothing is decided, or a declaration is off
    NOTE = "note"  # the reading of the paper declares it


class Spot(NamedTuple):
    """A line of source, and what it does with what was found.

    The file is relative to the working directory where that is possible.
    """

    file: str
    line: int
    role: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f" ({self.role})" if self.role else "")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with one row."""

    rule: str  # a kind of finding (`reference/findings.py`), or one of the other rules of `sarif.py`
    level: Level
    message: str  # one line, control characters spelled out
    label: str = ""  # of the release that it is about, as it is; empty: it is about the whole run
    spots: tuple[Spot, ...] = ()  # its lines in the source, the most telling first

    @property
    def name(self) -> str:
        """Rule and label, as a row names what was not declared."""
        return f"{self.rule} ({self.label})" if self.label else self.rule

    @property
    def place(self) -> str:
        """``file:line``, or empty."""
        return f"{self.spots[0].file}:{self.spots[0].line}" if self.spots else ""

    @property
    def places(self) -> str:
        """Every line with what it does; or empty."""
        return ", ".join(map(str, self.spots))


class Unchecked(NamedTuple):
    """A claim that could not be checked: ``why`` names file, claim, field and value, or what was raised where."""

    name: str
    why: str


def problems(row: Row, strict: bool = False) -> list[Problem]:
    """Everything that is wrong with a row, worst first; if strict, what a printed reading declares counts as well."""
    found = {one.name: one for one in _findings(row)}
    news = set(row.undeclared)
    judged = []
    for one in found.values():  # not declared, or declared findings count as well
        level = Level.ERROR if strict or one.name in news else Level.NOTE
        judged.append(one if one.level is Level.WARNING else replace(one, level=level))
    if row.verdict_shown != row.verdict:
        judged = [replace(one, message=f"{one.message} (as read)") for one in judged]
    text = ", ".join(printable(name) for name in row.missing)
    if text:
        level = Level.ERROR if row.effort.full else Level.WARNING
        judged.append(Problem("not shown", level, f"declared by this reading, but not shown: {text}"))
    judged += [Problem(CHANGED, Level.ERROR, printable(one)) for one in row.changes]
    if row.lacks_required:
        why = f": {row.certificate[0]}" if row.certificate else ""
        text = printable(f"the verdict is {row.verdict}, {row.required} is required{why}")
        judged.append(Problem(REQUIRED, Level.ERROR, text))
    judged += [Problem("raised", Level.WARNING, printable(f"raised: {one}")) for one in row.raised]
    if row.verdict == Verdict.INCONCLUSIVE:
        why = f"nothing was decided: {row.why or 'the audit had too little power'}"
        judged.append(Problem("inconclusive", Level.WARNING, printable(why)))
    begins = spots_of(row).get("", ())
    judged = [one if one.spots else replace(one, spots=begins) for one in judged]
    if row.severity == "warning":  # a claim that does not count
        judged = [replace(one, level=Level.WARNING) if one.level is Level.ERROR else one for one in judged]
    return sorted(judged, key=lambda one: list(Level).index(one.level))


def _findings(row: Row) -> Iterator[Problem]:
    """The findings, then what is said of the whole run."""
    places = spots_of(row)
    first = places.get("") or next(iter(places.values()), ())
    for one in row.findings:
        if one.kind.of_the_run:
            continue
        level = Level.WARNING if one.kind.bookkeeping or one.given_secrets else Level.ERROR
        message = printable(f"{one.kind.value} at {one.label!r}: {one.what}")
        problem = Problem(one.kind.value, level, message, one.label)
        yield replace(problem, spots=places.get(problem.name, first))
    for kind, text in of_the_run(row):
        yield Problem(kind.value, Level.ERROR, printable(text), spots=places.get(kind.value, first))


def of_the_run(row: Row) -> Iterator[tuple[Kind, str]]:
    """What is wrong with the whole of it."""
    shown = [one["finding"]["detail"] for one in row.witnesses if one["finding"]["kind"] == Kind.OVER_BUDGET.value]
    if over_budget(row.accounted, row.claimed):
        more = f"{row.shown(row.accounted)}, claimed {number(row.claimed, row.accounted)} at delta {row.delta:g}"
        shown = [f"the releases add up to epsilon {more}"]
    yield from ((Kind.OVER_BUDGET, text) for text in shown[:1])
    if Kind.UNDERACCOUNTED.value in row.undeclared:
        more = f"{number(row.accounted, row.realised)} accounted: {UNDERACCOUNTED}"
        yield Kind.UNDERACCOUNTED, f"epsilon >= {number(row.realised, row.accounted)} is realised, {more}"
    if row.verdict == Verdict.VIOLATED:
        realised = f"epsilon >= {row.shown(row.realised)} is realised at delta {row.delta:g}"
        surely = f"({row.realised_by}, confidence {row.confidence:.0%}), claimed {number(row.claimed, row.realised)}"
        yield Kind.VIOLATED, f"{realised} {surely}"


def spots_of(row: Row) -> dict[str, tuple[Spot, ...]]:
    """Name of a problem to its lines, most telling first; every writer of reports reads this one."""
    found: dict[str, tuple[Spot, ...]] = {}
    for one in row.places:
        spot = Spot(relative(str(one["file"])), int(one["line"]), printable(str(one.get("role", ""))))
        found[str(one["finding"])] = (*found.get(str(one["finding"]), ()), spot)
    return found


def relative(file: str) -> str:
    """A path as a viewer of the repository wants it: from the root that CI names, else from the working directory."""
    path, here = Path(file), Path.cwd().resolve()
    full = here / path
    for root in (*(Path(os.path.realpath(os.environ[name])) for name in _ROOTS if os.environ.get(name)), here):
        with suppress(OSError, ValueError):  # no file can have that name
            if full.is_relative_to(root) and (path.is_absolute() or full.exists()):
                return printable(full.relative_to(root).as_posix())
    return printable(path.as_posix())


def outcome(row: Row, strict: bool) -> str:
    """``failed``, ``inconclusive`` or ``passed``: what the exit code says of a row, in a word."""
    return {FAILED: "failed", INCONCLUSIVE: "inconclusive"}.get(row.exit_code(strict), "passed")


def row_title(row: Row) -> str:
    """Key and claim in one line."""
    return printable(f"{row.key}: epsilon {number(row.claimed)}, delta {row.delta:g}, {row.relation}")


def numbers(row: Row) -> dict[str, str]:
    """The numbers of a row as a person reads them."""
    return {
        "claimed": number(row.claimed),
        "certified": row.certified_shown or "-",
        "accounted": row.shown(row.accounted) + ("" if row.upper_bound else " (no bound)"),
        "realised >=": row.shown(row.realised),
        "power": number(row.power),
    }


def summary_line(rows: Sequence[Row], strict: bool = False, unchecked: Sequence[Unchecked] = ()) -> str:
    """An audit in one line: which rows are not as they should be, what is wrong first, and what has no row."""
    outcomes = [outcome(row, strict) for row in rows]
    failed = [row for row, said in zip(rows, outcomes, strict=True) if said == "failed"]
    parts = []
    if failed:
        firsts = []
        for row in failed[:3]:
            found = problems(row, strict)
            name = found[0].name if found else row.verdict
            name += f" at {found[0].place}" if found and row.reading == "own" and found[0].place else ""
            firsts.append(printable(f"{row.key}: {name}{', as read' if row.verdict_shown != row.verdict else ''}"))
        named = "; ".join(firsts)
        more = f"; and {len(failed) - 3} more" if len(failed) > 3 else ""
        parts.append(f"{len(failed)} failed ({named}{more})")
    parts += [f"{outcomes.count(said)} {said}" for said in ("inconclusive", "passed") if said in outcomes]
    if unchecked:
        named = ", ".join(printable(one.name) for one in unchecked[:3])
        parts.append(f"{len(unchecked)} could not be checked ({named})")
        outcomes.append("not checked")
    word = next((said.upper() for said in ("failed", "not checked", "inconclusive") if said in outcomes), "PASSED")
    return f"{word}: {len(rows)} row{'s' * (len(rows) != 1)}: {', '.join(parts) or 'nothing to do'}"
