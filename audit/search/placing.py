"""The lines of the code that a finding is about: what its example shows when it is run again, watched.

Evidence, never a name: the call of the tape where the sides differ, the line that made the number which differs or is
too small, the last line that both sides ran before they parted, the line that returned an output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from dpassay.audit.lockstep.watch import Call, Number, Side, Spot, Watch, parting
from dpassay.audit.lockstep.worlds import SIDES
from dpassay.reference.equality import same
from dpassay.reference.findings import Kind
from dpassay.reference.transcript import Batch

from .witness import Made, Witness

_OF_QUERIES = (Kind.SENSITIVITY_EXCEEDED, Kind.UNDECLARED_BATCH, Kind.BARE_RELEASE)
_ARGUMENTS = {  # of a call of the tape, which differ between the sides
    Kind.NOISE_SCALE: ("noise scale", ("std", "scale")),
    Kind.CLAIMED_SENSITIVITY: ("sensitivity", ("sensitivity",)),
    Kind.BATCH_SIZE: ("batch size", ("size", "rate")),
    Kind.REVEALED_VALUE: ("value", ("value",)),
}
Numbers = tuple[tuple[str, Number], ...]  # each with what it is called
_DRAWS = ("batch", "poisson", "fresh")


@dataclass(frozen=True)
class _Seen:
    """What a first look shows: a call of the tape with its batch, or where the sides part; numbers to look for."""

    call: Call | None = None
    numbers: Numbers = ()
    parts: Spot | None = None
    draw: Call | None = None
    pair: int = 0


def placed(witness: Witness, begins: Sequence[FunctionType], again: Callable[[Watch], None]) -> Witness:
    """The witness with the lines that made what it shows, the most telling first.

    Args:
        begins: the first functions of the algorithm; those in their folders are its own.
        again: runs the example, schedule and all, under a watch.
    """
    if not begins:
        return witness
    homes = {Path(one.__code__.co_filename).resolve().parent for one in begins}
    codes = {one.__code__ for one in begins}
    first = Watch(homes, codes)
    again(first)
    if len(first.sides) < len(SIDES):
        return witness
    seen = _seen(witness, first.sides, begins)
    second = first
    if seen.numbers:
        second = Watch(homes, codes, [number for _, number in seen.numbers])
        again(second)
    if len(second.sides) != len(first.sides):  # the run is no function of its data
        return witness
    made = tuple(_made(witness.finding.kind, seen, second))
    told = first.returned if witness.finding.kind is Kind.OUTPUT else (one.text for one in made[-1:])
    return replace(witness, line=witness.line or "; ".join(map(str, told)), made=made)


def _seen(witness: Witness, sides: Sequence[Side], begins: Sequence[FunctionType]) -> _Seen:
    kind, half = witness.finding.kind, len(sides) // 2
    pairs = list(zip(sides[:half], sides[half:], strict=False))
    if kind in (Kind.CALL, Kind.EARLY_END):
        return _Seen(parts=next(filter(None, (_parted(*pair) for pair in pairs)), None))
    if kind is Kind.OUTPUT:
        differ = witness.here is not None and witness.there is not None
        return _Seen(numbers=(("output", (witness.here, witness.there)),) if differ else (), pair=half - 1)
    if kind is Kind.OVER_BUDGET:
        return _of_budget(sides[half - 1].calls, sides[-1].calls, begins, half - 1)
    calls = [
        (one, other, pair)
        for pair, (here, there) in enumerate(pairs)
        for one, other in zip(here.calls, there.calls, strict=False)
        if one.label == witness.finding.label
    ]
    return _of_calls(kind, calls) if calls else _Seen()


def _of_calls(kind: Kind, calls: Sequence[tuple[Call, Call, int]]) -> _Seen:
    """The calls of one label on both sides: the query that moves the most, or an argument that differs."""
    if kind in _OF_QUERIES:
        one, other, pair = max(calls, key=lambda both: _moved(both[0], both[1]))
        found = _query_of(one, other)
        sensitivity = one.asked.get("sensitivity")
        if kind is Kind.SENSITIVITY_EXCEEDED and sensitivity:
            found = (*found, ("sensitivity", (float(sensitivity), None)))
        return _Seen(one, found, pair=pair)
    role, names = _ARGUMENTS.get(kind, ("", ()))
    for one, other, pair in calls:
        for name in names:
            here, there = one.asked.get(name), other.asked.get(name)
            if isinstance(here, float | int | np.ndarray) and not same(here, there):
                return _Seen(one, ((role, (here, there)),), pair=pair)
    return _Seen(calls[0][0])


def _of_budget(here: Sequence[Call], there: Sequence[Call], begins: Sequence[FunctionType], pair: int) -> _Seen:
    """The noise of the releases that spend the most; of plain code, which declares nothing, what it is added to too."""
    one, other = next(iter(_costliest(here, there)), (None, None))
    if one is None or other is None:
        return _Seen()
    if one.spot is not None:
        return _Seen(one, _of_noise(one, one.asked.get("sensitivity")), draw=_drawn(one, here), pair=pair)
    one = replace(one, spot=_of_label(one, begins))
    return _Seen(one, (*_of_noise(one, None), *_query_of(one, other)), pair=pair)


def _made(kind: Kind, seen: _Seen, watch: Watch) -> Iterator[Made]:
    known: dict[Spot, str] = {}
    if seen.parts:
        known[seen.parts] = "the last line of both sides"
    for place, (role, number) in enumerate(seen.numbers):
        if role == "noise scale" and "makes the noise multiplier" in known.values():
            continue
        for spot, words in _makers(place, role, number, seen, watch):
            known.setdefault(spot, words)
    if kind is Kind.OUTPUT:
        for spot in watch.returned:
            known.setdefault(spot, "returns it")
    for call in (seen.draw, seen.call):
        if call and call.spot:
            known.setdefault(call.spot, "draws its batch" if call.name in _DRAWS else "releases it")
    for spot, words in known.items():
        yield Made(words, str(spot), spot.file, spot.number)


def _makers(place: int, role: str, number: Number, seen: _Seen, watch: Watch) -> Iterator[tuple[Spot, str]]:
    """The lines that make a number, and what the first of them called last."""
    half = len(watch.sides) // 2
    if number[1] is not None:
        spots = watch.made(place, watch.sides[seen.pair], watch.sides[seen.pair + half])
        spots += [watch.inner[one] for one in spots[:1] if one in watch.inner]
    else:
        held = watch.assigned(place, seen.call) if seen.call else None
        spots = [held] if held else []
        if seen.call is None or not seen.call.stack or not float(number[0]).is_integer():
            spots += watch.made(place, None, None)[-1:]  # too many variables hold whole numbers
    for one in spots:
        yield one, f"makes the {role}" if one is spots[0] else "on the way"


def _parted(one: Side, other: Side) -> Spot | None:
    """The last line of both, where their calls or their ends differ."""
    common = 0
    for first, second in zip(one.calls, other.calls, strict=False):
        if (first.label, first.name) != (second.label, second.name):
            break
        common += 1
    ends = [side.calls[common].lines if common < len(side.calls) else side.lines for side in (one, other)]
    return parting(*ends)


def _drawn(call: Call, calls: Sequence[Call]) -> Call | None:
    """The draw of the batch that a release is of, if it is of one."""
    batch = call.asked.get("batch")
    draws = [one for one in calls if one.name in _DRAWS]
    return draws[batch.draw] if isinstance(batch, Batch) and batch.draw < len(draws) else None


def _query(call: Call) -> Any:
    query = call.asked.get("query", getattr(call.asked.get("law"), "query", None))
    return None if query is None else np.asarray(query, dtype=float)


def _moved(one: Call, other: Call) -> float:
    """How far a query is moved, over what is declared."""
    here, there = _query(one), _query(other)
    if here is None or there is None or here.shape != there.shape:
        return 0.0
    return float(np.linalg.norm(np.ravel(here - there))) / (one.asked.get("sensitivity") or 1.0)


def _query_of(one: Call, other: Call) -> Numbers:
    return (("query", (_query(one), _query(other))),) if _moved(one, other) > 0 else ()


def _costliest(here: Sequence[Call], there: Sequence[Call]) -> list[tuple[Call, Call]]:
    """The calls of the label whose releases spend the most: the sum of squared sensitivities over noise.

    Where nobody declares a sensitivity, it is the movement that counts.
    """
    asked = [both for both in zip(here, there, strict=False) if "sensitivity" in both[0].asked]
    costs: dict[str, float] = {}
    for one, other in asked:
        scale, sensitivity = _scale(one), one.asked["sensitivity"] or _moved(one, other)
        if sensitivity and scale is not None:
            costs[one.label] = costs.get(one.label, 0.0) + ((sensitivity / scale) ** 2 if scale else math.inf)
    worst = max(costs, key=lambda label: costs[label], default=None)
    return [both for both in asked if both[0].label == worst]


def _of_label(call: Call, begins: Sequence[FunctionType]) -> Spot | None:
    """Of plain code a label is the line that releases."""
    name, _, number = call.label.rpartition(":")
    code = begins[0].__code__
    good = number.isdecimal() and Path(code.co_filename).name == name
    return Spot(code.co_filename, int(number), code.co_name) if good else None


def _scale(call: Call) -> float | None:
    found = call.asked.get("std", call.asked.get("scale", getattr(call.asked.get("law"), "scale", None)))
    return float(found) if isinstance(found, float | int | np.floating) else None


def _of_noise(call: Call, sensitivity: float | None) -> Numbers:
    """The multiplier that the noise is made of, else its scale."""
    scale = _scale(call)
    if not scale or not math.isfinite(scale):
        return ()
    found: Numbers = (("noise scale", (scale, None)),)
    return (("noise multiplier", (scale / float(sensitivity), None)), *found) if sensitivity else found
