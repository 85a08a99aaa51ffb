"""Bug zoo, third house: very wide outputs, pictures, lists of changing length, several answers at once, last digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpassay.reference.types import Array

from .entry import EPSILON, INFINITE, Entry, gauss, pure
from .laws import Bulk
from .shapes import UNIT, one_column


def picture(side: int, pixel: tuple[int, int], scale: float) -> Bulk:
    """Laplace noise on each pixel; one of them carries the answer with noise of its own."""
    flat = one_column(side * side, pixel[0] * side + pixel[1], scale)
    return Bulk(lambda value, rng, size: np.asarray(flat.many(value, rng, size)).reshape(size, side, side))


def ragged(scale: float) -> Bulk:
    """Lists of 2 to 8 noisy numbers; the length is drawn, and the answer is in the last one."""

    def one(value: float, rng: np.random.Generator) -> list[float]:
        row = rng.laplace(0, 1 / EPSILON, int(rng.integers(2, 9)))
        row[-1] = value + rng.laplace(0, scale)
        return [float(x) for x in row]

    return Bulk(lambda value, rng, size: [one(float(value), rng) for _ in range(size)])


def several(scale: float) -> Bulk:
    """A tuple of noise, a dict with the answer, and a word."""

    def many(value: Any, rng: np.random.Generator, size: int) -> list[Any]:
        noise, answers = rng.laplace(size=size), float(value) + rng.laplace(0, scale, size)
        return [(float(a), {"mean": float(b), "unit": "kg"}, "done") for a, b in zip(noise, answers, strict=True)]

    return Bulk(many)


def key_of_the_record() -> Bulk:
    """A dict with a noisy count for each group that has records; the record is alone in its group."""

    def many(value: Any, rng: np.random.Generator, size: int) -> list[dict[str, float]]:
        groups = ["a", "b"] + (["c"] if value else [])
        noise = rng.laplace(0, 1 / EPSILON, (size, len(groups)))
        return [{name: float(x) for name, x in zip(groups, row, strict=True)} for row in noise]

    return Bulk(many)


def absent_or_noise(rates: tuple[float, float]) -> Bulk:
    """None in a share of runs that depends on the data, else noise."""

    def many(value: Any, rng: np.random.Generator, size: int) -> list[float | None]:
        there = rng.random(size) < rates[int(value)]
        return [float(x) if yes else None for x, yes in zip(rng.normal(size=size), there, strict=True)]

    return Bulk(many)


def rounded_noise(digits: int) -> Bulk:
    """The noise is rounded, and not the output: the answer's further digits stay."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        return np.asarray(float(value) / 3 + np.round(rng.laplace(0, 1 / (3 * EPSILON), size), digits))[:, None]

    return Bulk(many)


def running_mean(steps: int, std: float) -> Bulk:
    """Means of the first 1, 2, ... of as many noisy answers: the first one moves by the record."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        noisy = rng.normal(0, std, (size, steps))
        noisy[:, 0] += float(value)
        return np.asarray(noisy.cumsum(axis=1) / np.arange(1, steps + 1))

    return Bulk(many)


def forms() -> Iterator[Entry]:
    """All entries of this house."""
    yield pure("column 700 of 1000 at epsilon 4", one_column(1000, 700, 0.25), UNIT, 4.0)
    yield pure("picture of 28 x 28", picture(28, (9, 17), 1 / EPSILON), UNIT, EPSILON)
    yield pure("picture of 28 x 28, one pixel at epsilon 4", picture(28, (9, 17), 0.25), UNIT, 4.0)
    yield pure("lists of changing length", ragged(1 / EPSILON), UNIT, EPSILON)
    yield pure("lists of changing length, the last entry at epsilon 3", ragged(1 / 3), UNIT, 3.0)
    yield pure("several answers", several(1 / EPSILON), UNIT, EPSILON)
    yield pure("several answers, one at epsilon 3", several(1 / 3), UNIT, 3.0)
    yield pure("a key for the record alone", key_of_the_record(), (0, 1), INFINITE)
    fair = float(np.e / (1 + np.e))
    yield pure("no answer at times", absent_or_noise((fair, 1 - fair)), (0, 1), EPSILON)
    yield pure("no answer at times, wrong rate", absent_or_noise((0.99, 0.9)), (0, 1), float(np.log(10)))
    yield pure("noise rounded to four digits, output not", rounded_noise(4), UNIT, INFINITE)
    yield gauss("running means", running_mean(20, 1.0), UNIT, 1.0, 1.0)
    yield gauss("running means, noise halved", running_mean(20, 0.5), UNIT, 1.0, 2.0)
