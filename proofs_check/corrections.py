"""What stands under ``corrected``: how many of these statements are decided, how, and which are open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .claim import Result, Undecidable, Verdict


class State(StrEnum):
    """Where a corrected statement is decided, or that it is not."""

    OWN = "as claims of their own"
    SAVED = "by what saves the row"
    ELSEWHERE = "in another row"
    UNDECIDABLE = "undecidable"
    OPEN = "open"


DECIDED = (State.OWN, State.SAVED, State.ELSEWHERE)
ASKED = {
    Undecidable.REQUEST: "ask which of several things is meant",
    Undecidable.WITHDRAWN: "withdraw a statement without another in its place",
    Undecidable.DATA: "be decided by runs or records that the paper does not give",
    Undecidable.ARGUMENT: "be decided by a proof that nobody has given",
}


@dataclass(frozen=True)
class Correction:
    """The state of one corrected statement.

    ``why`` says what decides it, or why it is open; ``spot``: it was looked at on few points.
    """

    state: State
    why: str
    spot: bool = False


def correction(result: Result, known: Mapping[str, Result]) -> Correction | None:
    """How the corrected statement of a failing row is decided; None where there is none.

    Args:
        result: the row.
        known: results by id, in which the row that ``corrected_by`` names is looked up.
    """
    row = result.row
    if not (result.failed and row.corrected):
        return None
    if row.undecidable is not None:
        return Correction(State.UNDECIDABLE, str(row.undecidable))
    if row.corrected_by:
        return _elsewhere(row.corrected_by, known)
    return _own(result)


def _own(result: Result) -> Correction:
    found, sharpness = result.corrected, result.corrected_sharpness
    if found is None:
        return Correction(State.OPEN, "no claim decides it")
    if not found.passes:
        return Correction(State.OPEN, f"{found.verdict}: {found.evidence}")
    if sharpness is None or sharpness.hollow:
        return Correction(State.OPEN, f"its claim decides nothing: {sharpness.hollow if sharpness else 'no mutants'}")
    saved = result.row.corrects is result.row.saving.claim
    return Correction(State.SAVED if saved else State.OWN, str(found.verdict), found.verdict is Verdict.SPOT_CHECKED)


def _elsewhere(row_id: str, known: Mapping[str, Result]) -> Correction:
    """That row's own statement, if it passes; else its corrected claim."""
    if row_id not in known:
        return Correction(State.OPEN, f"{row_id} was not decided with it")
    other = known[row_id]
    if other.finding.passes and other.verdict is not Verdict.EMPTY:
        return Correction(State.ELSEWHERE, row_id, other.verdict is Verdict.SPOT_CHECKED)
    there = _own(other) if other.failed and other.row.corrects is not None else None
    if there is None or there.state not in DECIDED:
        return Correction(State.OPEN, f"{row_id} does not decide it either")
    return Correction(State.ELSEWHERE, row_id, there.spot)


def corrections(results: Sequence[Result]) -> dict[str, Correction]:
    """The state of every corrected statement, by the id of its row."""
    known = {result.row.id: result for result in results}
    found = {row_id: correction(result, known) for row_id, result in known.items()}
    return {row_id: state for row_id, state in found.items() if state is not None}


def corrected_share(results: Sequence[Result]) -> str:
    """One line: so many of the corrected statements are decided, and how; those that cannot be; those that are open."""
    found = corrections(results)
    states = Counter(one.state for one in found.values())
    decided = sum(states[state] for state in DECIDED)
    spot = sum(one.spot for one in found.values())
    how = ", ".join(f"{states[state]} {state}" for state in DECIDED if states[state])
    line = f"{decided} of {len(found)} corrected statements are decided" + (f" ({how})" if how else "")
    line += f", {spot} of them on few points" if spot else ""
    asked = Counter(one.why for one in found.values() if one.state is State.UNDECIDABLE)
    if asked:
        told = ", ".join(f"{asked[kind]} to {words}" for kind, words in ASKED.items() if asked[kind])
        line += f"; no claims: {told}"
    return f"{line}; open: {states[State.OPEN]}"


def open_lines(results: Sequence[Result]) -> list[str]:
    """``id  corrected text  (why nothing decides it)`` for each that is open."""
    known = {result.row.id: result for result in results}
    return [
        f"{row_id:<44} {known[row_id].row.corrected}  ({one.why})"
        for row_id, one in corrections(results).items()
        if one.state is State.OPEN
    ]
