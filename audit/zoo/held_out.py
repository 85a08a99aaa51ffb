"""Bug zoo, fourth house: written before the audit saw them, to tell what it finds that it was not made for.

At first sight, with 1,000 outputs a side, 6 of the 8 bugs were found in all of three seeds (the bins in one of them,
the times in none); with 10,000 all, in one seed; no alarm on the 4 others. Records of lists are told by what
identifies them since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpassay.reference.types import Array

from .entry import EPSILON, INFINITE, Entry, pure
from .laws import Bulk
from .shapes import UNIT

EPOCH, DAY = 1_760_000_000.0, 86_400.0  # seconds


def mirrored_pixel(side: int, pixels: tuple[int, int]) -> Bulk:
    """A noisy picture; the noise of the pixel with the answer stands in another pixel, with the other sign."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        flat = rng.laplace(0, 1 / EPSILON, (size, side * side))
        flat[:, pixels[1]] = -flat[:, pixels[0]]
        flat[:, pixels[0]] += float(value)
        return flat.reshape(size, side, side)

    return Bulk(many)


def blurred(side: int) -> Bulk:
    """A noisy picture, blurred afterwards by a kernel that can be undone (for an odd side)."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        picture = rng.laplace(0, 1 / EPSILON, (size, side, side))
        picture[:, side // 2, side // 3] += float(value)
        for axis in (1, 2):
            picture = 0.5 * picture + 0.25 * (np.roll(picture, 1, axis) + np.roll(picture, -1, axis))
        return picture

    return Bulk(many)


def csv_line(fields: int, answer: int, scale: float) -> Bulk:
    """A line of numbers, divided by semicolons, with a name in front."""

    def many(value: Any, rng: np.random.Generator, size: int) -> list[str]:
        table = rng.laplace(0, 1 / EPSILON, (size, fields))
        table[:, answer] = float(value) + rng.laplace(0, scale, size)
        return ["store 7;" + ";".join(f"{x:.3f}" for x in row) for row in table]

    return Bulk(many)


def bins_in_any_order(bins: int, answer: int, scale: float) -> Bulk:
    """JSON text: a list of bins, each with its number and its noisy count, in random order."""

    def one(value: float, rng: np.random.Generator) -> str:
        counts = rng.laplace(0, 1 / EPSILON, bins)
        counts[answer] = value + rng.laplace(0, scale)
        return json.dumps([{"bin": int(k), "count": round(float(counts[k]), 4)} for k in rng.permutation(bins)])

    return Bulk(lambda value, rng, size: [one(float(value), rng) for _ in range(size)])


def words(stops: tuple[float, float]) -> Bulk:
    """Random words until a stop, whose rate depends on the data."""
    known = np.array(["ash", "beech", "cedar", "elm", "fir"])

    def many(value: Any, rng: np.random.Generator, size: int) -> list[str]:
        lengths = rng.geometric(stops[int(value)], size)
        return [" ".join(known[rng.integers(0, known.size, length)]) for length in lengths]

    return Bulk(many)


def undefined_at_times(rates: tuple[float, float]) -> Bulk:
    """Three numbers, noise alone; the second is NaN in a share of runs that depends on the data."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        table = rng.normal(size=(size, 3))
        table[rng.random(size) < rates[int(value)], 1] = np.nan
        return table

    return Bulk(many)


def times(slower: float, answer: bool) -> Bulk:
    """Seconds since 1970 of a start and of an end; how long it took may depend on the data. Then a noisy answer."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        start = EPOCH + DAY * rng.random(size)
        took = 0.1 + rng.exponential(0.05 * (1 + slower * float(value)), size)
        noisy = float(value) * answer + rng.laplace(0, 1 / EPSILON, size)
        return np.stack([start, start + took, noisy], axis=1)

    return Bulk(many)


def ranking(digits: int, by_truth: bool) -> Bulk:
    """Text: two noisy counts, the larger one first; where they are tied, the one that is truly larger, or the first."""

    def many(value: Any, rng: np.random.Generator, size: int) -> list[str]:
        truly = {"a": 4.0 + float(value), "b": 4.5}
        found = []
        for noise in rng.laplace(0, 1 / EPSILON, (size, 2)):
            noisy = {name: round(count + x, digits) for (name, count), x in zip(truly.items(), noise, strict=True)}
            order = sorted((-noisy[name], -truly[name] if by_truth else 0.0, name) for name in noisy)
            found.append(", ".join(f"{name} {noisy[name]:.{digits}f}" for _, _, name in order))
        return found

    return Bulk(many)


def flags(count: int, flag: int, keep: float) -> Bulk:
    """Many coins, one of which answers by randomised response."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        table = rng.integers(0, 2, (size, count)).astype(float)
        kept = rng.random(size) < keep
        table[:, flag] = np.where(kept, int(value), 1 - int(value))
        return table

    return Bulk(many)


def journal() -> Bulk:
    """A dict with a journal of changing length, whose entries may be missing, and a noisy answer."""

    def one(value: float, rng: np.random.Generator) -> dict[str, Any]:
        entries = [None if rng.random() < 0.2 else float(x) for x in rng.normal(size=rng.geometric(0.3))]
        return {"journal": entries, "answer": float(value + rng.laplace(0, 1 / EPSILON))}

    return Bulk(lambda value, rng, size: [one(float(value), rng) for _ in range(size)])


def held_out() -> Iterator[Entry]:
    """All entries of this house."""
    yield pure("picture of 12 x 12, the noise of a pixel mirrored", mirrored_pixel(12, (40, 99)), UNIT, INFINITE)
    yield pure("line of eight numbers, one at epsilon 4", csv_line(8, 5, 0.25), UNIT, 4.0)
    yield pure("JSON bins in any order, one at epsilon 4", bins_in_any_order(12, 7, 0.25), UNIT, 4.0)
    yield pure("words until a stop that depends on the data", words((0.3, 0.5)), (0, 1), INFINITE)
    yield pure("undefined at times, wrong rate", undefined_at_times((0.05, 0.3)), (0, 1), float(np.log(6)))
    yield pure("times of start and end, the data decide how long", times(0.5, False), UNIT, INFINITE)
    yield pure("ranking as text, ties broken by the truth", ranking(0, True), UNIT, INFINITE)
    yield pure("400 flags, one at epsilon 3", flags(400, 123, float(1 / (1 + np.exp(-3)))), (0, 1), 3.0)
    yield pure("picture of 11 x 11, blurred", blurred(11), UNIT, EPSILON)
    yield pure("times and a noisy answer", times(0.0, True), UNIT, EPSILON)
    yield pure("ranking as text", ranking(3, False), UNIT, EPSILON)
    yield pure("dict with a journal", journal(), UNIT, EPSILON)
