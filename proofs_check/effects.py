"""What a failing row costs: the statements whose privacy or utility falls by it alone, read off the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from .claim import Finding, Result, Row, Saves, Severity, Verdict
from .corrections import Correction, State, corrections
from .derivations import SAYS
from .graph import SHOWN, SIDES, Status, below, standing, supports
from .ledger import as_data
from .statements import STATEMENTS


class Weight(StrEnum):
    """What a failing row does to the statements that rest on it; from the worst to nothing."""

    PRIVACY_FALLS = "privacy falls"
    UTILITY_FALLS = "utility falls"
    PRIVACY_UNDER = "privacy holds under it"
    UTILITY_UNDER = "utility holds under it"
    NOTHING = "nothing falls"


ORDER = tuple(Weight)
_FALLS = {Severity.PRIVACY: Weight.PRIVACY_FALLS, Severity.UTILITY: Weight.UTILITY_FALLS}
_UNDER = {Severity.PRIVACY: Weight.PRIVACY_UNDER, Severity.UTILITY: Weight.UTILITY_UNDER}
_FALLEN = (Status.FALSE, Status.UNSUPPORTED)
MILD = (Saves.READING, Saves.CONDITION)
_FIRST = ("Theorem", "Corollary", "Proposition")


@dataclass(frozen=True)
class Effect:
    """A weight, and the statements that it speaks of: theorems first, then in the paper's order."""

    weight: Weight
    statements: tuple[str, ...] = ()
    by: str = ""

    def __str__(self) -> str:
        """``privacy falls: Theorem 3.17``, or ``privacy holds under its condition: Theorem 1``."""
        return f"{self.words}: {self.statements[0]}" if self.statements else self.words

    @property
    def all(self) -> str:
        """The same with every statement."""
        return f"{self.words}: {', '.join(self.statements)}" if self.statements else self.words

    @property
    def words(self) -> str:
        """The same without statements."""
        return str(self.weight).replace("under it", f"under its {self.by}")


_DEFINED = "a definition: the noises that the theorems use have rows of their own"
_ASSUMED = "an assumption: the steps that use it have rows of their own"
_CITED = "a cited theorem that is misprinted: the proofs use it as it stands in its source"
_MEASURED = "about the experiments: no statement rests on it"
SETTLED: Mapping[str, str] = {
    "minimax_sosp/def3/gaussian_mechanism": _DEFINED,
    "second_order_erm/defB1/double_sensitivity": _DEFINED,
    "dro/def3/gaussian_mechanism": _DEFINED,
    "output_perturbation/def2/gaussian_mechanism": _DEFINED,
    "dro/assumption3/non_negative": _ASSUMED,
    "dro/assumption3/excludes_the_minimiser": _ASSUMED,
    "adaptive_batch/thm25/counterexample": _CITED,
    "second_order_erm/thmB7/same_epsilon": _CITED,
    "second_order_erm/eq28/safe_side": "an approximation that the text offers beside its theorem",
    "dro/sec5/delta_below_1_over_n": _MEASURED,
    "dro/sec5/refresh_batch": _MEASURED,
    "dp_ftrl/appD/depth": "of dp_ftrl no numbered statement but its algorithm is listed",
    "dp_ftrl/appD/noise": "of dp_ftrl no numbered statement but its algorithm is listed",
}
"""Rows whose author and the graph differ (:func:`disagreements`; some of them pass), and why that may stay."""


def effect(result: Result) -> Effect:
    """What a failing row costs if every other row is left out of account.

    A row that its author calls a slip costs nothing only while its corrected statement does not stay open
    (:func:`unsettled`), and one that the paper does not claim itself costs nothing.
    """
    row, by = result.row, str(result.saved_by or "")
    alone = {row.id: result}
    for side in SIDES if result.failed else ():
        found = {name: standing(row.cite.paper, name, side, alone).status for name in _resting(row)}
        fallen = tuple(name for name, status in found.items() if status in _FALLEN)
        if fallen:
            return Effect(_FALLS[side], fallen)
        under = tuple(name for name, status in found.items() if status is Status.CONDITIONAL)
        if under:
            return Effect(_UNDER[side], under, by)
    return Effect(Weight.NOTHING)


def at_stake(row: Row) -> Effect:
    """What the row would cost if it failed and nothing saved it."""
    return effect(Result(row, Finding(Verdict.REFUTED, "")))


def _resting(row: Row) -> tuple[str, ...]:
    """Statements that rest on a row, theorems first."""
    steps, found = set(supports(row)), _above(row.cite.paper)
    names = [name for name, under in found.items() if steps & under]
    return tuple(sorted(names, key=lambda name: not name.startswith(_FIRST)))


@cache
def _above(paper: str) -> Mapping[str, frozenset[str]]:
    """Each statement of the tables with everything that it rests on, itself included."""
    return {name: frozenset(below(paper, name)) for name in STATEMENTS[paper] if name.startswith(SHOWN)}


def disagreements(results: Sequence[Result]) -> dict[str, str]:
    """Failing rows whose author and the graph differ, by id, with what the graph says.

    Of three kinds: the author names privacy or utility, and no statement falls or needs a saving by it; or the author
    calls it a slip, no reading or condition saves it, and it is the statement itself, or its corrected statement is
    open.
    """
    decided = corrections(results)
    found = {}
    for result in results:
        row = result.row
        if not result.failed or row.ours:
            continue
        if row.severity is not Severity.COSMETIC:
            if effect(result).weight is Weight.NOTHING:
                found[row.id] = "no statement of the tables rests on it"
        elif is_statement(row) and result.saved_by not in MILD:
            found[row.id] = "the statement itself fails"
        elif unsettled(result, decided.get(row.id)):
            found[row.id] = "a slip whose corrected statement is open"
    return found


def settled_lines(results: Sequence[Result]) -> list[str]:
    """Markdown: the failing rows whose author and the graph differ, what the graph says, and why that may stay."""
    lines = ["| row | what its author says | what the graph says | why it stays |", "|---|---|---|---|"]
    known = {result.row.id: result.row for result in results}
    for row_id, told in disagreements(results).items():
        lines.append(f"| `{row_id}` | {known[row_id].severity} | {told} | {SETTLED.get(row_id, 'open')} |")
    return lines


def is_statement(row: Row) -> bool:
    """The row is a numbered statement itself, not a step of its proof."""
    return row.id.split("/", 1)[1] in SAYS.get(row.cite.paper, frozenset())


def unsettled(result: Result, corrected: Correction | None) -> bool:
    """Nothing keeps the step of a failing row: no reading or condition, and no corrected statement that is decided."""
    if result.saved_by in MILD:
        return False
    return corrected is None or corrected.state is State.OPEN


def effects_line(results: Sequence[Result]) -> str:
    """One line: how many failing rows let a statement fall by themselves, and how many cost nothing."""
    counts = Counter(effect(result).weight for result in results if result.failed)
    told = {
        Weight.PRIVACY_FALLS: "the privacy of a statement falls by {} of them alone",
        Weight.UTILITY_FALLS: "the utility by {}",
        Weight.PRIVACY_UNDER: "privacy holds under the reading or condition of {}",
        Weight.UTILITY_UNDER: "utility under that of {}",
        Weight.NOTHING: "and by {} nothing falls",
    }
    return f"{sum(counts.values())} rows fail: " + ", ".join(words.format(counts[w]) for w, words in told.items())


def data_of(result: Result) -> dict[str, Any]:
    """A result as plain JSON data, with what it costs."""
    found = effect(result)
    return {**as_data(result), "effect": {"weight": str(found.weight), "statements": list(found.statements)}}
