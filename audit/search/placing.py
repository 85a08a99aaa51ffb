"""The lines of the code that a finding is about: what its example shows when it is run again, watched.

Evidence, never a name: the call of the tape where the sides differ, the line that made the number which differs or is
too small, the last line that both sides ran before they parted, the line that returned an output.
"""

from __future__ import annotations

import math
from collections import Counter
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
_DRAWS = ("batch", "poisson", "fresh")


@dataclass(frozen=True)
class _Seen:
    """What a first look shows: a call of the tape with its batch, or where the sides part; numbers to look for."""

    call: Call | None = None
    numbers: tuple[tuple[str, Number], ...] = ()
    parts: Spot | None = None
    raised: Spot | None = None
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
    line = witness.line
    if witness.finding.kind is Kind.OUTPUT and not line:
        line = "; ".join(map(str, first.returned))
    elif not line and seen.call and seen.call.spot:
        line = str(seen.call.spot)
    return replace(witness, line=line, made=made)


def _seen(witness: Witness, sides: Sequence[Side], begins: Sequence[FunctionType]) -> _Seen:
    kind, label, half = witness.finding.kind, witness.finding.label, len(sides) // 2
    pairs = list(zip(sides[:half], sides[half:], strict=False))
    if kind in (Kind.CALL, Kind.EARLY_END):
        return next((found for pair in pairs if (found := _parted(*pair)).parts), _Seen())
    if kind is Kind.OUTPUT:
        differ = witness.here is not None and witness.there is not None
        numbers = (("output", Number(witness.here, witness.there)),) if differ else ()
        return _Seen(numbers=numbers, pair=half - 1)
    if kind is Kind.OVER_BUDGET:
        calls = sides[half - 1].calls
        call = _costliest(calls, sides[-1].calls)
        if call is None:
            return _Seen()
        if call.spot is not None:
            return _Seen(call, numbers=_of_noise(call), draw=_drawn(call, calls))
        other = next(one for one in sides[-1].calls if one.label == call.label)  # plain code, that declares nothing
        moved = (("query", Number(_query(call), _query(other))),) if _moved(call, other) else ()
        numbers = (*_of_noise(replace(call, asked=call.asked | {"sensitivity": None})), *moved)
        return _Seen(replace(call, spot=_of_label(call, begins)), numbers=numbers, pair=half - 1)
    calls = [
        (*both, number)
        for number, (one, other) in enumerate(pairs)
        for both in zip(one.calls, other.calls, strict=False)
        if both[0].label == label
    ]
    if not calls:
        return _Seen()
    if kind in _OF_QUERIES:
        one, other, pair = max(calls, key=lambda both: _moved(both[0], both[1]))
        numbers = (("query", Number(*map(_query, (one, other)))),) if _moved(one, other) > 0 else ()
        sensitivity = one.asked.get("sensitivity")
        if kind is Kind.SENSITIVITY_EXCEEDED and sensitivity:
            numbers += (("sensitivity", Number(float(sensitivity))),)
        return _Seen(one, numbers=numbers, pair=pair)
    role, names = _ARGUMENTS.get(kind, ("", ()))
    for one, other, pair in calls:
        for name in names:
            here, there = one.asked.get(name), other.asked.get(name)
            if isinstance(here, float | int | np.ndarray) and not same(here, there):
                return _Seen(one, numbers=((role, Number(here, there)),), pair=pair)
    return _Seen(calls[0][0])


def _made(kind: Kind, seen: _Seen, watch: Watch) -> Iterator[Made]:
    known: dict[Spot, str] = {}
    if seen.raised:
        known[seen.raised] = "raises"
    if seen.parts:
        known.setdefault(seen.parts, "the last line of both sides")
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
    if number.there is not None:
        spots = watch.made(place, watch.sides[seen.pair], watch.sides[seen.pair + half])
        spots += [watch.inner[one] for one in spots[:1] if one in watch.inner]
    else:
        held = watch.assigned(place, seen.call) if seen.call else None
        spots = [held] if held else []
        if seen.call is None or not seen.call.stack or not float(number.here).is_integer():
            spots += watch.made(place, None, None)[-1:]  # too many variables hold whole numbers
    for one in spots:
        yield one, f"makes the {role}" if one is spots[0] else "on the way"


def _parted(one: Side, other: Side) -> _Seen:
    """The last line of both, where their calls or their ends differ, and where an error ended one of them."""
    common = 0
    for first, second in zip(one.calls, other.calls, strict=False):
        if (first.label, first.name) != (second.label, second.name):
            break
        common += 1
    ended = [side for side in (one, other) if common == len(side.calls)]
    ends = [side.lines if side in ended else side.calls[common].lines for side in (one, other)]
    return _Seen(parts=parting(*ends), raised=next((side.raised for side in ended if side.raised), None))


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


def _costliest(calls: Sequence[Call], there: Sequence[Call]) -> Call | None:
    """The first call of the label whose releases spend the most: the sum of squared sensitivities over noise.

    Where nobody declares a sensitivity, it is the movement that counts.
    """
    spent: Counter[str] = Counter()
    for one, other in zip(calls, there, strict=False):
        scale, sensitivity = _scale(one), one.asked.get("sensitivity") or _moved(one, other)
        if sensitivity and scale is not None:
            spent[one.label] += (sensitivity / scale) ** 2 if scale else math.inf
    worst = max(spent, key=lambda label: spent[label], default=None)
    return next((call for call in calls if call.label == worst and "sensitivity" in call.asked), None)


def _of_label(call: Call, begins: Sequence[FunctionType]) -> Spot | None:
    """Of plain code a label is the line that releases."""
    name, _, number = call.label.rpartition(":")
    code = begins[0].__code__
    good = number.isdecimal() and Path(code.co_filename).name == name
    return Spot(code.co_filename, int(number), code.co_name) if good else None


def _scale(call: Call) -> float | None:
    found = call.asked.get("std", call.asked.get("scale", getattr(call.asked.get("law"), "scale", None)))
    return float(found) if isinstance(found, float | int | np.floating) else None


def _of_noise(call: Call) -> tuple[tuple[str, Number], ...]:
    """The multiplier that the noise is made of, else its scale."""
    scale, sensitivity = _scale(call), call.asked.get("sensitivity")
    if not scale or not math.isfinite(scale):
        return ()
    found = (("noise multiplier", Number(float(scale / sensitivity))),) if sensitivity else ()
    return (*found, ("noise scale", Number(float(scale))))
