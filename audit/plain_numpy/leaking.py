"""What a few runs of plain code on a pair show beside the releases, and what draws taken for public may hide of it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import Tape

if TYPE_CHECKING:
    from .mechanism import PlainMechanism

_WORLDS = 4  # in which what counts as public has other values: of two coins one in two is the same
_TRIES = 3  # runs on a pair that look for a leak
_OFTEN = 12  # likewise, where a coin may have to fall another way first


def masked(run: PlainMechanism, pair: Pair[Any], seed: int) -> set[tuple[Kind, str]]:
    """What differs between runs on the same data with other values of what counts as public: that may hide it."""
    if not (run.public or run.alone):
        return set()
    found: set[tuple[Kind, str]] = set()

    def apart(both: Any, tape: Tape) -> Any:
        return run(both[0], tape, both[1])

    for data in (pair.here, pair.there):
        twins = (Pair((data, 0), (data, k), pair.target) for k in range(_WORLDS))
        same_values, *others = (leaking(apart, one, seed, _OFTEN) for one in twins)
        found |= set().union(*others) - same_values
    return found


def leaking(run: Any, pair: Pair[Any], seed: int, tries: int = _TRIES) -> set[tuple[Kind, str]]:
    """Kind and label of what a few runs on the pair show."""
    found: set[tuple[Kind, str]] = set()
    for number in range(tries):
        with contextlib.suppress(Exception):  # as in the trial runs
            seen = lockstep(run, pair, [seed, number], check=False).findings
            found |= {(one.kind, one.label) for one in seen if one.kind.leaks}
    return found
