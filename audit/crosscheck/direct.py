"""What the numbers of a difference say by themselves: the sign, a constant factor, a shift, a term that is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpassay.reference.types import Array

from .differences import OF_A_DRAW, Difference, Part, noise_of
from .families import series
from .kinds import Kind
from .rounding import numbers
from .shown import Seen, Shown

CLOSE = 1e-6  # relative: ratios of planted factors are exact to rounding
SINGLE = 2.0**-18  # relative size of what single precision loses
NOISE = {"std", "scale", "query_scale", "threshold_scale", "rate"}  # of the exponential mechanism: one over its noise
Data = Mapping[str, Any]


def direct(vector: Data, answers: Data, found: Sequence[Difference]) -> list[Shown]:
    """Kinds that the differing fields show, the most telling first; empty where numbers alone do not say."""
    first = found[0]
    simple = _simple(vector, answers, first)
    if simple is not None:
        return [simple]
    said: list[Shown] = []
    at_step = [one for one in found if one.step == first.step]
    names = {one.name for one in at_step}
    if names & NOISE and not names & {"query", "queries", "utilities"}:
        said += _sensitivity_first(at_step) or _scales(vector, found)
    elif names == {"sensitivity"}:
        said.append(Shown(Kind.SENSITIVITY, Seen.RATIO, ratio=first.ratio))
    if names & {"query", "queries"}:
        said += list(_query(vector, answers, found))
    if first.part is Part.OUTPUT:
        said += _output(vector, answers)
    return said


def _simple(vector: Data, answers: Data, first: Difference) -> Shown | None:
    """What the first field says by being another one."""
    told: dict[str, Any] = {"expected": first.expected, "got": first.got}
    match first.part:
        case Part.CALL:
            return _moved_call(vector, first)
        case Part.COUNT:
            return Shown(Kind.CALLS, Seen.OTHER_COUNT, **told)
        case Part.CLAIM:
            return Shown(Kind.CLAIM, Seen.OTHER_VALUE, **told)
    if first.name == "law":
        return Shown(Kind.LAW, Seen.OTHER_VALUE, **told)
    drawn = first.name in OF_A_DRAW and vector["events"][first.step]["event"] == "draw"
    if first.name == "batches" or drawn:
        return Shown(Kind.BATCH, Seen.OTHER_FIELD, first.name, **told)
    if first.length is not None:
        kind = Kind.OUTPUT if first.part is Part.OUTPUT else Kind.SHAPE
        return Shown(kind, Seen.OTHER_LENGTH, expected=first.length[0], got=first.length[1])
    return None


def _moved_call(vector: Data, first: Difference) -> Shown:
    """Where the vector has the call that was made."""
    places = [step for step, event in enumerate(vector["events"]) if f"{event['event']} {event['label']}" == first.got]
    later = [step for step in places if step > first.step]
    told: dict[str, Any] = {"expected": first.expected, "got": first.got}
    if later and later[0] == first.step + 1 and vector["events"][first.step]["event"] == "draw":
        return Shown(Kind.CALLS, Seen.DRAW_LEFT_OUT, **told)
    if later:
        return Shown(Kind.CALLS, Seen.CALL_OF_LATER, **told, step=later[0])
    if places:
        return Shown(Kind.CALLS, Seen.CALL_OF_BEFORE, **told, step=places[-1])
    return Shown(Kind.CALLS, Seen.OTHER_CALL, **told)


def _scales(vector: Data, found: Sequence[Difference]) -> list[Shown]:
    one = next(one for one in found if one.name in NOISE and one.step == found[0].step)
    expected, got = float(one.expected), float(one.got) if isinstance(one.got, int | float) else math.nan
    if got == 0:
        same = (other for other in found if (series(other.label), other.name) == (series(one.label), one.name))
        if any(isinstance(other.got, int | float) and other.got > 0 for other in same):
            return [Shown(Kind.NOISE_SCALE, Seen.NO_NOISE_AT_FIRST)]
        return [Shown(Kind.UN_NOISED, Seen.NO_NOISE)]
    squared = one.name == "std" and expected
    if squared and math.isclose(got, expected**2, rel_tol=CLOSE) and not math.isclose(expected, 1.0, rel_tol=1e-3):
        return [Shown(Kind.NOISE_SCALE, Seen.VARIANCE)]
    if squared and math.isclose(got, expected**0.5, rel_tol=CLOSE):
        return [Shown(Kind.NOISE_SCALE, Seen.ROOT)]
    if _near_zero(got, expected):
        return [Shown(Kind.UN_NOISED, Seen.RATIO, ratio=one.ratio)]
    return [Shown(Kind.NOISE_SCALE, Seen.RATIO, ratio=one.ratio, sizes=_named(vector, one.ratio))]


def _sensitivity_first(found: Sequence[Difference]) -> list[Shown]:
    """Another sensitivity, and noise that is off by the same ratio: it follows from it."""
    ratios = [one.ratio for one in found if one.name == "sensitivity"]
    noise = [one.ratio for one in found if one.name in NOISE]
    if not ratios or any(one is None or not math.isclose(one, ratios[0] or 0.0, rel_tol=CLOSE) for one in noise):
        return []
    return [Shown(Kind.SENSITIVITY, Seen.NOISE_FOLLOWS, ratio=ratios[0])]


def _near_zero(got: float, expected: float) -> bool:
    return abs(got) < 1e-6 * abs(expected)


def _query(vector: Data, answers: Data, found: Sequence[Difference]) -> Iterator[Shown]:
    """The pairs of queries with the label of the first that differs."""
    first = found[0]
    field = "queries" if first.name == "queries" else "query"
    pairs = list(_pairs(vector, answers, first.label, field))
    here = np.concatenate([np.ravel(one) for one, _ in pairs]) if pairs else np.zeros(0)
    there = np.concatenate([np.ravel(other) for _, other in pairs]) if pairs else np.zeros(0)
    if not here.size:
        return
    size = float(np.max(np.abs(here), initial=0.0))
    worst = float(np.max(np.abs(here - there)))
    noise = noise_of(vector["events"][first.step])
    if worst <= SINGLE * max(size, 1e-300):
        seen = Seen.ROUNDED if noise else Seen.ROUNDED_ALONE
        yield Shown(Kind.PRECISION, seen, got=worst, ratio=float(f"{worst / noise:.2g}") if noise else None)
        return
    big = np.abs(here) > 1e-9 * size
    ratios = there[big] / here[big]
    if (
        ratios.size
        and np.ptp(ratios) <= CLOSE * np.abs(ratios).max()
        and np.abs(there[~big]).max(initial=0.0) <= 1e-6 * size
    ):
        yield from _constant(vector, float(ratios[0]), int(big.sum()))
    elif ratios.size and np.all(np.isclose(np.abs(ratios), 1.0, rtol=CLOSE)):
        yield Shown(Kind.SIGN, Seen.SOME_SIGNS)
    yield from _shifted(vector, answers, first, field)
    yield from _term(vector, first, here, there, pairs)


def _constant(vector: Data, ratio: float, count: int) -> Iterator[Shown]:
    if math.isclose(ratio, -1.0, rel_tol=CLOSE):
        yield Shown(Kind.SIGN, Seen.EVERY_SIGN)
    elif count > 1 and ratio:
        seen = Seen.ENTRIES_AND_SIGN if ratio < 0 else Seen.EVERY_ENTRY
        yield Shown(Kind.FACTOR, seen, ratio=ratio, sizes=_named(vector, ratio))


def _pairs(vector: Data, answers: Data, label: str, field: str) -> Iterator[tuple[Array, Array]]:
    """Queries of this label on both sides, as far as they can be set beside one another."""
    theirs = [event for event in answers["events"] if event["event"] != "secret"]
    ours = [event for event in vector["events"] if event["event"] != "secret"]
    for one, other in zip(ours, theirs, strict=False):
        if (one["event"], one["label"]) != (other["event"], other["label"]):
            return
        if one["label"] == label and one.get(field) is not None and other.get(field) is not None:
            a, b = np.array(numbers(one[field])), np.array(numbers(other[field]))
            if a.shape == b.shape and np.isfinite(a).all() and np.isfinite(b).all():
                yield a, b


def _shifted(vector: Data, answers: Data, first: Difference, field: str) -> Iterator[Shown]:
    """The query of another step, or the entries in another order."""
    theirs = [event for event in answers["events"] if event["event"] != "secret"]
    ours = [(step, event) for step, event in enumerate(vector["events"]) if event["event"] != "secret"]
    position = next(place for place, (step, _) in enumerate(ours) if step == first.step)
    got = np.array(numbers(theirs[position].get(field)))
    here = np.array(numbers(vector["events"][first.step][field]))
    if got.size > 1 and got.shape == here.shape:
        if any(_alike(np.roll(here, shift), got) for shift in range(1, got.size)):
            yield Shown(Kind.INDEX_SHIFT, Seen.MOVED_ALONG)
            return
        if _alike(np.sort(here), np.sort(got)):
            yield Shown(Kind.INDEX_SHIFT, Seen.REORDERED if len(np.unique(here)) > 2 else Seen.EXCHANGED)
            return
    for step, event in ours:
        other = np.array(numbers(event.get(field))) if event.get(field) is not None else np.zeros(0)
        same = step != first.step and event["label"] == first.label and other.shape == got.shape
        if same and np.abs(got).max(initial=0.0) > 0 and _alike(other, got):
            yield Shown(Kind.INDEX_SHIFT, Seen.QUERY_OF_STEP, step=step)
            return


def _term(
    vector: Data, first: Difference, here: Array, there: Array, pairs: Sequence[tuple[Array, Array]]
) -> Iterator[Shown]:
    """What is missing is a multiple of something released or asked before."""
    gap = pairs[-1][0] - pairs[-1][1] if len(pairs) > 1 else here[: len(pairs[0][0])] - there[: len(pairs[0][0])]
    if gap.size < 2 or not np.abs(gap).max():
        return
    for step, event in enumerate(vector["events"][: first.step]):
        for name in ("value", "query"):
            past = np.array(numbers(event.get(name))) if event.get(name) is not None else np.zeros(0)
            if past.shape == gap.shape and np.abs(past).max() > 0 and _parallel(gap, past):
                yield Shown(Kind.MISSING_TERM, Seen.MULTIPLE_MISSING, name, got=event["label"], step=step)
                return


def _output(vector: Data, answers: Data) -> list[Shown]:
    here, there = np.array(numbers(vector["output"])), np.array(numbers(answers["output"]))
    if here.shape == there.shape and here.size and np.isfinite(here).all() and np.isfinite(there).all():
        big = np.abs(here) > 0
        ratios = there[big] / here[big]
        if ratios.size and np.allclose(ratios, -1.0, rtol=CLOSE):
            return [Shown(Kind.SIGN, Seen.OUTPUT_SIGN)]
        if ratios.size > 1 and np.ptp(ratios) <= CLOSE * np.abs(ratios).max():
            return [Shown(Kind.FACTOR, Seen.OUTPUT_FACTOR, ratio=float(ratios[0]))]
    return []


def _alike(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=CLOSE, atol=1e-12 * float(np.abs(one).max(initial=0.0))))


def _parallel(one: Array, other: Array) -> bool:
    cosine = float(one @ other) / (float(np.linalg.norm(one)) * float(np.linalg.norm(other)))
    return abs(abs(cosine) - 1.0) < 1e-9


def _named(vector: Data, ratio: float | None) -> tuple[str, ...]:
    """The sizes that a factor may come from."""
    if ratio is None or ratio == 0:
        return ()
    sizes = {f"{name}": float(value) for name, value in _sizes(vector).items() if value > 1}
    names = {
        "2": 2.0, "1/2": 0.5, "sqrt(2)": 2**0.5, "1/sqrt(2)": 0.5**0.5,
        **sizes, **{f"1/{name}": 1 / value for name, value in sizes.items()},
        **{f"sqrt({name})": value**0.5 for name, value in sizes.items()},
        **{f"1/sqrt({name})": value**-0.5 for name, value in sizes.items()},
        **{f"{a}/{b}": sizes[a] / sizes[b] for a in sizes for b in sizes if sizes[a] != sizes[b]},
    }  # fmt: skip
    found = [name for name, value in names.items() if math.isclose(abs(ratio), value, rel_tol=CLOSE)]
    return tuple(found[:3])


def _sizes(vector: Data) -> dict[str, int]:
    told = dict(vector.get("sizes", {}))
    for part in (vector["problem"], vector["schedule"]):
        for name, value in {**part, **part.get("derived", {})}.items() if isinstance(part, Mapping) else ():
            if isinstance(value, int) and not isinstance(value, bool):
                told.setdefault(name, value)
    return told
