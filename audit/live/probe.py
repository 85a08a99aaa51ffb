"""A first look at a program: has it an outcome, and is that a function of data and tape?"""

from __future__ import annotations

from typing import Any

from dpassay.reference.equality import same
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.tape import LiveTape
from dpassay.reference.transcript import Release, Transcript

from .errors import ProgramBroken, ProgramEnded


def probe(mechanism: Run[Any], pair: Pair[Any], name: str) -> None:
    """A program that ends early whatever the data are has no outcome to judge; nor has one that remembers.

    Args:
        mechanism: the program with its schedule bound in; it raises what it raises.
        name: the command, for messages.

    Raises:
        ProgramBroken: it ends early on both sides, or the same data and tape do not give the same run again.
    """
    runs = [_run(mechanism, problem) for problem in (pair.here, pair.there, pair.here)]
    ends = [output for _, output in runs if isinstance(output, ProgramEnded)]
    if len(ends) == len(runs):
        raise ProgramBroken(name, str(ends[0]).removeprefix("the program "))
    different = _difference(runs[0], runs[2])
    if different:
        why = f"is no function of data and tape: run again, {different} is another; it remembers, or draws by itself"
        raise ProgramBroken(name, why)


def _run(mechanism: Run[Any], problem: Any) -> tuple[Transcript, Any]:
    tape = LiveTape(0)
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
