"""What the numbers of a first difference say by arithmetic alone: a sign, a factor, a square, a shift, no noise.

Only what holds for every entry is said, and nothing of why. No run of anything is needed.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array

from .differences import SCALES, Data, Difference, Part, event_there, noise_of
from .rounding import UNIT32, numbers

CLOSE = 1e-6  # relative: a factor of a formula is exact to rounding
SINGLE = 64 * UNIT32  # relative size of what single precision loses in a few operations
SMALL = {"2": 2.0, "1/2": 0.5, "sqrt(2)": 2**0.5, "1/sqrt(2)": 0.5**0.5}


def facts(vector: Data, given: Data, found: Sequence[Difference]) -> list[str]:
    """What holds of the numbers of the first difference, in words; empty where nothing does.

    Args:
        found: all differences, the first one first.
    """
    first = found[0]
    if first.part in (Part.CALL, Part.COUNT):
        return []
    if first.part is Part.OUTPUT:
        here, there = _array(vector["output"]), _array(given["output"])
    else:
        theirs = event_there(vector, given, first.step)
        if not theirs:
            return []
        here, there = _array(vector["events"][first.step].get(first.name)), _array(theirs.get(first.name))
    if here.shape != there.shape or not here.size or not (np.isfinite(here).all() and np.isfinite(there).all()):
        return []
    said = list(_scale(vector, found, float(here[0]), float(there[0]))) if first.name in SCALES else []
    said = said or list(_rounded(vector, first, here, there)) or list(_multiple(vector, here, there))
    return said or [*_order(here, there), *_elsewhere(vector, first, there)]


def _scale(vector: Data, found: Sequence[Difference], expected: float, got: float) -> Iterator[str]:
    """Of a noise scale."""
    if got == 0:
        yield "yours is 0: no noise"
        return
    told_apart = not math.isclose(expected, 1.0, rel_tol=1e-3)  # from its own square
    if told_apart and math.isclose(got, expected**2, rel_tol=CLOSE):
        yield "yours is the square of the reference's: a variance for a standard deviation"
    elif told_apart and math.isclose(got, abs(expected) ** 0.5, rel_tol=CLOSE):
        yield "yours is the square root of the reference's"
    else:
        yield from _multiple(vector, np.array([expected]), np.array([got]))
        same = [one.ratio for one in found if (one.step, one.name) == (found[0].step, "sensitivity") and one.ratio]
        if same and expected and math.isclose(same[0], got / expected, rel_tol=CLOSE):
            yield "your sensitivity is off by the same factor"


def _multiple(vector: Data, here: Array, there: Array) -> Iterator[str]:
    """One factor for all entries, or other signs."""
    size = float(np.max(np.abs(here)))
    big = np.abs(here) > 1e-9 * size
    if not big.any() or np.abs(there[~big]).max(initial=0.0) > 1e-6 * size:
        return
    ratios = there[big] / here[big]
    many, ratio = f" in all {big.sum()} entries" if big.sum() > 1 else "", float(ratios[0])
    if np.ptp(ratios) <= CLOSE * np.abs(ratios).max() and not math.isclose(ratio, 1.0, rel_tol=CLOSE):
        names = _names(vector, ratio)
        if math.isclose(ratio, -1.0, rel_tol=CLOSE):
            yield f"yours has the other sign{many}"
        elif ratio == 0:
            yield f"yours is 0{many}"
        elif many or names:  # of one number the ratio says it already
            yield f"yours is {ratio:.6g} times the reference's{many}{names}"
    elif np.allclose(np.abs(ratios), 1.0, rtol=CLOSE) and not np.allclose(ratios, 1.0, rtol=CLOSE):
        yield f"yours has the other sign in {int((ratios < 0).sum())} of {big.sum()} entries"


def _rounded(vector: Data, first: Difference, here: Array, there: Array) -> Iterator[str]:
    """So little that single precision may explain it."""
    size, worst = float(np.max(np.abs(here))), float(np.max(np.abs(here - there)))
    if 0 < worst <= SINGLE * size:
        noise = noise_of(vector["events"][first.step]) if first.step >= 0 else 0.0
        beside = f", {worst / noise:.2g} of the noise" if noise else ""
        yield f"off by {worst / size:.2g} of the largest entry{beside} (single precision rounds by {UNIT32:.2g})"


def _order(here: Array, there: Array) -> Iterator[str]:
    """The same entries at other places, or all moved by the same amount."""
    if here.size < 2:
        return
    if _alike(np.sort(here), np.sort(there)):
        moved = [by for by in range(1, here.size) if _alike(np.roll(here, by), there)]
        yield f"the same entries, moved along by {moved[0]}" if moved else "the same entries in another order"
    elif np.ptp(there - here) <= CLOSE * np.abs(there - here).max():
        yield f"yours is the reference's plus {float((there - here)[0]):.6g} in all {here.size} entries"


def _elsewhere(vector: Data, first: Difference, there: Array) -> Iterator[str]:
    """The number of another step."""
    if not there.any():
        return
    for step, event in enumerate(vector["events"]):
        for name in ("query", "value", "queries", "std", "sensitivity"):
            other = _array(event.get(name))
            if (step, name) != (first.step, first.name) and other.shape == there.shape and _alike(other, there):
                yield f"yours is the {name} of {event['label']!r} at step {step}"
                return


def _names(vector: Data, ratio: float) -> str:
    """The sizes of the vector that a factor may be made of."""
    sizes: dict[str, float] = {}
    for part in (vector.get("sizes"), vector["problem"], vector["schedule"]):
        for name, one in {**part, **part.get("derived", {})}.items() if isinstance(part, Mapping) else ():
            if type(one) is int and one > 1:
                sizes.setdefault(name, float(one))
    names = {
        **SMALL, **sizes, **{f"1/{name}": 1 / size for name, size in sizes.items()},
        **{f"sqrt({name})": size**0.5 for name, size in sizes.items()},
        **{f"1/sqrt({name})": size**-0.5 for name, size in sizes.items()},
        **{f"{a}/{b}": sizes[a] / sizes[b] for a in sizes for b in sizes if sizes[a] != sizes[b]},
    }  # fmt: skip
    found = [name for name, size in names.items() if math.isclose(abs(ratio), size, rel_tol=CLOSE)]
    return f" ({' or '.join(found[:3])})" if found else ""


def _array(value: Any) -> Array:
    return np.array(numbers(value))


def _alike(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=CLOSE, atol=1e-12 * float(np.abs(one).max(initial=0.0))))
