"""Before plain code is accused: does the accusation hang on something that the code never said?

The reading takes more for seen than people may see, and some draws for known. Where what was found may come of that
alone, the code is neither accused nor acquitted: the error names the line and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from dpassay.audit.verdict import Verdict
from dpassay.reference.equality import same
from dpassay.reference.findings import Kind
from dpassay.reference.laws.law import Law
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape, ScriptedTape, Tape

from .mechanism import PlainMechanism, leaking, recorded
from .places import WAY_OUT, Doubtful

if TYPE_CHECKING:
    from dpassay.audit.evidence.assay import Assay

_WORLDS = 4  # in which what counts as public has other values: of two coins one in two is the same
_OFTEN = 12  # runs in which a coin may have to fall another way first
_TRIALS = 5  # runs that are looked at
_FEW = "try few records (--space with Space.matrix(n=(1, 2)), where every way through the code is followed), or "

Leaks = set[tuple[Kind, str]]


def refuse_doubtful(
    run: PlainMechanism, found: Assay, pairs: Sequence[Pair[Any]], seed: int, audit: Callable[[Pair[Any]], Assay]
) -> None:
    """Refuse to accuse where all that was found, on these pairs, may come of what the code never said.

    Raises:
        Doubtful: naming the lines.
    """
    leaks = {(one.kind, one.label) for one in found.findings if one.kind.leaks}
    if not leaks:
        _of_numbers(run, pairs, seed)
    elif any(kind is not Kind.NOISE_SCALE for kind, _ in leaks):
        _of_leaks(run, leaks, pairs, seed)
    elif not any(one.verdict is Verdict.VIOLATED for one in (found, *map(audit, pairs[:3]))):
        what = "has a scale that follows the data, as with smooth sensitivity; what that costs is not known here"
        lines = {line for _, line in leaks}
        raise _doubt("noise", lines, f"{what}, and losses on the pairs that were found are small;")


def _doubt(field: str, lines: Iterable[str], what: str) -> Doubtful:
    return Doubtful(field, ", ".join(sorted(lines)), f"{what} {WAY_OUT}")


def _of_numbers(run: PlainMechanism, pairs: Sequence[Pair[Any]], seed: int) -> None:
    """The releases add up to too much: are there more of them than anybody sees?"""
    among = [line for line, of_records in run.noticed.public.items() if of_records]
    if among:
        what = (
            "chooses among the records with replacement, by weights, one by one or in an order, which has no law here"
        )
        raise _doubt("draw", among, f"{what}, so nothing is amplified by it; draw with replace=False, or")
    compared = run.noticed.compared
    for pair in pairs[:_TRIALS] if compared else ():
        runs = [recorded(run, pair.here, seed + number).releases for number in range(_OFTEN)]
        if len({sum(any(line in one.label for line in compared) for one in releases) for releases in runs}) > 1:
            what = "is compared, more often in some runs than in others, as by code that draws again"
            raise _doubt("noise", compared, f"{what}: all of it counts as seen, and then it costs too much;")


def _of_leaks(run: PlainMechanism, leaks: Leaks, pairs: Sequence[Pair[Any]], seed: int) -> None:
    """Something leaves beside the releases: would a draw that counts as known, or noise drawn anew, have hidden it?"""
    draws = {*run.noticed.public, *run.noticed.alone}
    hidden: Leaks = {(Kind.PUBLIC_VALUE, line) for line in draws}
    for data in [data for pair in pairs for data in (pair.here, pair.there)] if draws else ():
        hidden |= _masked(run, data, seed)
    if hidden and leaks <= hidden and not run.noticed.shared_out:
        what = "is counted as known to the adversary, and then something tells neighbours apart; if it is secret,"
        raise _doubt("draw", draws, what + (f" {_FEW}" if any(run.finite_on([pair]) for pair in pairs) else ""))
    if run.noticed.again and all(_numbers(run(pair.here, LiveTape(seed))) <= run.noticed.drawn for pair in pairs):
        what = "is added to data more than once, and the first sum counts as seen (objective perturbation is private"
        what += " at the exact minimiser only, which no run shows); draw it anew, or"
        raise _doubt("noise", run.noticed.again, what)
    added = copy(run)
    added.whole_numbers = True
    if leaks <= set().union(*(leaking(run, pair, seed) - leaking(added, pair, seed) for pair in pairs)):
        lines = {one.label for pair in pairs for one in recorded(run, pair.here, seed).releases}
        what = "is released before more data are added to the sum: add them before the noise, or"
        raise _doubt("noise", lines, what)
    ends = {label for kind, label in leaks if kind in (Kind.CALL, Kind.EARLY_END)}
    if ends and all(kind in (Kind.CALL, Kind.EARLY_END, Kind.OUTPUT) for kind, _ in leaks):
        both = [(one.here, one.there) for one in pairs] + [(one.there, one.here) for one in pairs]
        if all(_agree(run, *data, seed + number) for data in both for number in range(_TRIALS)):
            what = "is drawn more often for one of two neighbours than for the other, but their outputs agree;"
            raise _doubt("noise", ends, what)


def _masked(run: PlainMechanism, data: Any, seed: int) -> Leaks:
    """What differs between runs on the same data with other values of what counts as public: that may hide it."""

    def in_a_world(both: Any, tape: Tape) -> Any:
        return run(both[0], tape, both[1])

    same_values, *others = (
        leaking(in_a_world, Pair((data, 0), (data, world), 0), seed, _OFTEN) for world in range(_WORLDS)
    )
    return set().union(*others) - same_values


def _numbers(output: Any) -> int:
    """How many numbers an output holds."""
    if isinstance(output, dict):
        return sum(map(_numbers, output.values()))
    return sum(map(_numbers, output)) if isinstance(output, list | tuple) else int(np.size(output))


def _agree(run: PlainMechanism, one: Any, other: Any, seed: int) -> bool:
    """Is the output on the other data the same, given the values released on the one as far as they go?"""
    transcript = recorded(run, one, seed)
    left = list(transcript.releases)

    def answer(label: str, law: Law, step: int) -> Any:
        return left.pop(0).value if left and left[0].label == label else None

    try:
        return same(run(other, ScriptedTape(answer, seed)), transcript.output)
    except Exception:  # code of others, or values that it cannot have
        return False
