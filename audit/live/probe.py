"""A first look at a program: has it an outcome, and is that a function of data and tape, whatever runs beside it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpassay.audit.running.programs import ProgramBroken, ProgramEnded
from dpassay.reference.equality import same
from dpassay.reference.laws.law import Law
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.tape import LiveTape
from dpassay.reference.transcript import Release, Transcript

BESIDE = 20  # runs in the midst of one; with secret batches not every one has the record that differs


def probe(mechanism: Run[Any], pair: Pair[Any], name: str) -> None:
    """A program that ends early whatever the data are has no outcome to judge; nor has one that remembers.

    Args:
        mechanism: the program with its schedule bound in; it raises what it raises.
        name: the command, for messages.

    Raises:
        ProgramBroken: it ends early on both sides, or the same data and tape do not give the same run again: after a
            run on other data, or with one in its midst. In lockstep its processes stand in the midst of their cases
            together, and what they share (a file with a fixed name) would make neighbours look alike.
    """
    runs = [_run(mechanism, problem) for problem in (pair.here, pair.there, pair.here)]
    ends = [output for _, output in runs if isinstance(output, ProgramEnded)]
    if len(ends) == len(runs):
        raise ProgramBroken(name, ends[0].how)
    different = _difference(runs[0], runs[2])
    if different:
        why = f"is no function of data and tape: run again, {different} is another; it remembers, or draws by itself"
        raise ProgramBroken(name, why)
    beside = _run(mechanism, pair.here, _Beside(lambda seed: _run(mechanism, pair.there, LiveTape(seed))))
    different = _difference(runs[0], beside)
    if different:
        why = f"is no function of data and tape: with runs on other data in its midst, {different} is another"
        raise ProgramBroken(name, f"{why}; its processes share something, a file perhaps")


class _Beside(LiveTape):
    """A live tape that runs something else before it answers a release."""

    def __init__(self, other: Callable[[int], Any]):
        super().__init__(0)
        self._other, self._count = other, 0

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        self._count += 1
        if self._count <= BESIDE:
            self._other(self._count)
        return super()._released(label, law, sensitivity, draws)


def _run(mechanism: Run[Any], problem: Any, tape: LiveTape | None = None) -> tuple[Transcript, Any]:
    tape = tape or LiveTape(0)
    try:
        return tape.transcript, mechanism(problem, tape)
    except ProgramBroken:
        raise
    except Exception as error:
        return tape.transcript, error


def _difference(one: tuple[Transcript, Any], other: tuple[Transcript, Any]) -> str:
    """What of a run is not as it was; empty if nothing is."""
    for a, b in zip(one[0].events, other[0].events, strict=False):
        if type(a) is not type(b) or a.label != b.label:
            return f"call {a.label!r}"
        if isinstance(a, Release) and isinstance(b, Release) and not _alike(a, b):
            return f"release {a.label!r}"
    if len(one[0].events) != len(other[0].events):
        return "the number of calls"
    failed = isinstance(one[1], Exception) or isinstance(other[1], Exception)
    alike = type(one[1]) is type(other[1]) if failed else same(one[1], other[1])
    return "" if alike else "the output"


def _alike(one: Release, other: Release) -> bool:
    """The same law with the same query (of AboveThreshold: the same queries, as far as they were needed)."""
    if one.law.public_difference(other.law) is not None or one.sensitivity != other.sensitivity:
        return False
    return one.law.agrees(other.law) and (one.law.query is not None or one.law.distance(other.law) == 0)
