"""What the numbers of a difference say by themselves: the sign, a constant factor, a shift, a term that is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpassay.reference.types import Array

from .differences import OF_A_DRAW, Difference, noise_of
from .kinds import Kind
from .rounding import numbers

CLOSE = 1e-6  # relative: ratios of planted factors are exact to rounding
REORDERED = "the entries are in another order"  # three and more: no chance
SINGLE = 2.0**-18  # relative size of what single precision loses
NOISE = {"std", "scale", "query_scale", "threshold_scale", "rate"}  # of the exponential mechanism: one over its noise
Data = Mapping[str, Any]
Said = tuple[Kind, str]


def direct(vector: Data, answers: Data, found: Sequence[Difference]) -> list[Said]:
    """Kinds that the differing fields show, the most telling first; empty where numbers alone do not say."""
    first = found[0]
    simple = _simple(vector, answers, first)
    if simple is not None:
        return [simple]
    said: list[Said] = []
    at_step = [one for one in found if one.step == first.step]
    names = {one.name for one in at_step}
    if names & NOISE and not names & {"query", "queries", "utilities"}:
        said += _sensitivity_first(at_step) or _scales(vector, at_step)
    elif names == {"sensitivity"}:
        said.append((Kind.SENSITIVITY, f"ratio {_ratio(first)}"))
    if names & {"query", "queries"}:
        said += list(_query(vector, answers, found))
    if first.name == "output":
        said += _output(vector, answers)
    return said


def _simple(vector: Data, answers: Data, first: Difference) -> Said | None:
    """What the name of the first field says."""
    if first.name == "call":
        return Kind.CALLS, f"{first.got!r} where {first.expected!r} is expected{_moved_call(vector, first)}"
    if first.name == "number of events":
        return Kind.CALLS, f"{first.got} events, {first.expected} expected"
    if first.name == "law":
        return Kind.LAW, f"{first.got} for {first.expected}"
    drawn = first.name in OF_A_DRAW and vector["events"][first.step]["event"] == "draw"
    if first.name == "batches" or drawn:
        return Kind.BATCH, f"{first.name} {first.got} for {first.expected}"
    if first.name.startswith("claim"):
        return Kind.CLAIM, f"{first.got} for {first.expected}"
    if first.length is not None:
        return Kind.SHAPE, f"{first.length[1]} numbers for {first.length[0]}"
    return None


def _moved_call(vector: Data, first: Difference) -> str:
    """Where the vector has the call that was made."""
    places = [step for step, event in enumerate(vector["events"]) if f"{event['event']} {event['label']}" == first.got]
    later = [step for step in places if step > first.step]
    if later:
        return f": the vector has it at step {later[0]}"
    return f": the vector had it at step {places[-1]} for the last time" if places else ""


def _scales(vector: Data, found: Sequence[Difference]) -> list[Said]:
    one = next(one for one in found if one.name in NOISE)
    expected, got = float(one.expected), float(one.got) if isinstance(one.got, int | float) else math.nan
    if got == 0:
        return [(Kind.UN_NOISED, "no noise")]
    words, squared = "", one.name == "std" and expected
    if squared and math.isclose(got, expected**2, rel_tol=CLOSE) and not math.isclose(expected, 1.0, rel_tol=1e-3):
        words = "the variance where the standard deviation belongs"
    elif squared and math.isclose(got, expected**0.5, rel_tol=CLOSE):
        words = "the root of the standard deviation"
    elif _near_zero(got, expected):
        return [(Kind.UN_NOISED, f"ratio {_ratio(one)}")]
    return [(Kind.NOISE_SCALE, words or f"ratio {_ratio(one)}{_named(vector, one.ratio)}")]


def _sensitivity_first(found: Sequence[Difference]) -> list[Said]:
    """Another sensitivity, and noise that is off by the same ratio: it follows from it."""
    ratios = [one.ratio for one in found if one.name == "sensitivity"]
    noise = [one.ratio for one in found if one.name in NOISE]
    if not ratios or any(one is None or not math.isclose(one, ratios[0] or 0.0, rel_tol=CLOSE) for one in noise):
        return []
    return [(Kind.SENSITIVITY, f"ratio {ratios[0]:.6g}; the noise is computed from it, and off by the same ratio")]


def _near_zero(got: float, expected: float) -> bool:
    return abs(got) < 1e-6 * abs(expected)


def _query(vector: Data, answers: Data, found: Sequence[Difference]) -> Iterator[Said]:
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
        yield (
            Kind.PRECISION,
            f"off by at most {worst:.2g}, {worst / noise:.2g} of the noise" if noise else f"{worst:.2g}",
        )
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
        yield Kind.SIGN, "the sign of some entries"
    yield from _shifted(vector, answers, first, field)
    yield from _term(vector, first, here, there, pairs)


def _constant(vector: Data, ratio: float, count: int) -> Iterator[Said]:
    if math.isclose(ratio, -1.0, rel_tol=CLOSE):
        yield Kind.SIGN, "every entry has the other sign"
    elif count > 1 and ratio:
        sign = "and the sign " if ratio < 0 else ""
        yield Kind.FACTOR, f"every entry {sign}is off by the factor {ratio:.6g}{_named(vector, ratio)}"


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


def _shifted(vector: Data, answers: Data, first: Difference, field: str) -> Iterator[Said]:
    """The query of another step, or the entries in another order."""
    theirs = [event for event in answers["events"] if event["event"] != "secret"]
    ours = [(step, event) for step, event in enumerate(vector["events"]) if event["event"] != "secret"]
    position = next(place for place, (step, _) in enumerate(ours) if step == first.step)
    got = np.array(numbers(theirs[position].get(field)))
    here = np.array(numbers(vector["events"][first.step][field]))
    if got.size > 1 and got.shape == here.shape:
        if any(_alike(np.roll(here, shift), got) for shift in range(1, got.size)):
            yield Kind.INDEX_SHIFT, "the entries are moved along"
            return
        if _alike(np.sort(here), np.sort(got)):
            yield Kind.INDEX_SHIFT, REORDERED if len(np.unique(here)) > 2 else "two entries are exchanged"
            return
    for step, event in ours:
        other = np.array(numbers(event.get(field))) if event.get(field) is not None else np.zeros(0)
        same = step != first.step and event["label"] == first.label and other.shape == got.shape
        if same and np.abs(got).max(initial=0.0) > 0 and _alike(other, got):
            yield Kind.INDEX_SHIFT, f"the query of step {step}"
            return


def _term(
    vector: Data, first: Difference, here: Array, there: Array, pairs: Sequence[tuple[Array, Array]]
) -> Iterator[Said]:
    """What is missing is a multiple of something released or asked before."""
    gap = pairs[-1][0] - pairs[-1][1] if len(pairs) > 1 else here[: len(pairs[0][0])] - there[: len(pairs[0][0])]
    if gap.size < 2 or not np.abs(gap).max():
        return
    for event in vector["events"][: first.step]:
        for name in ("value", "query"):
            past = np.array(numbers(event.get(name))) if event.get(name) is not None else np.zeros(0)
            if past.shape == gap.shape and np.abs(past).max() > 0 and _parallel(gap, past):
                yield Kind.MISSING_TERM, f"what is missing is a multiple of the {name} of {event['label']!r}"
                return


def _output(vector: Data, answers: Data) -> list[Said]:
    here, there = np.array(numbers(vector["output"])), np.array(numbers(answers["output"]))
    if here.shape == there.shape and here.size and np.isfinite(here).all() and np.isfinite(there).all():
        big = np.abs(here) > 0
        ratios = there[big] / here[big]
        if ratios.size and np.allclose(ratios, -1.0, rtol=CLOSE):
            return [(Kind.SIGN, "the output has the other sign")]
        if ratios.size > 1 and np.ptp(ratios) <= CLOSE * np.abs(ratios).max():
            return [(Kind.FACTOR, f"the output is off by the factor {ratios[0]:.6g}")]
    return []


def _alike(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=CLOSE, atol=1e-12 * float(np.abs(one).max(initial=0.0))))


def _parallel(one: Array, other: Array) -> bool:
    cosine = float(one @ other) / (float(np.linalg.norm(one)) * float(np.linalg.norm(other)))
    return abs(abs(cosine) - 1.0) < 1e-9


def _ratio(one: Difference) -> str:
    return "unknown" if one.ratio is None else f"{one.ratio:.6g}"


def _named(vector: Data, ratio: float | None) -> str:
    """The sizes that a factor may come from."""
    if ratio is None or ratio == 0:
        return ""
    sizes = {f"{name}": float(value) for name, value in _sizes(vector).items() if value > 1}
    names = {
        "2": 2.0, "1/2": 0.5, "sqrt(2)": 2**0.5, "1/sqrt(2)": 0.5**0.5,
        **sizes, **{f"1/{name}": 1 / value for name, value in sizes.items()},
        **{f"sqrt({name})": value**0.5 for name, value in sizes.items()},
        **{f"1/sqrt({name})": value**-0.5 for name, value in sizes.items()},
        **{f"{a}/{b}": sizes[a] / sizes[b] for a in sizes for b in sizes if sizes[a] != sizes[b]},
    }  # fmt: skip
    found = [name for name, value in names.items() if math.isclose(abs(ratio), value, rel_tol=CLOSE)]
    return f" ({' or '.join(found[:3])})" if found else ""


def _sizes(vector: Data) -> dict[str, int]:
    told = dict(vector.get("sizes", {}))
    for part in (vector["problem"], vector["schedule"]):
        for name, value in {**part, **part.get("derived", {})}.items() if isinstance(part, Mapping) else ():
            if isinstance(value, int) and not isinstance(value, bool):
                told.setdefault(name, value)
    return told
