"""Bug zoo, second house: outputs that are wide, nested, texts or of changing length, and noise of other shapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpassay.reference.types import Array

from .entry import EPSILON, INFINITE, Entry, gauss, pure
from .laws import Bulk, discrete_laplace, exponential_mechanism, laplace_noise

Sampler = Callable[[float, np.random.Generator, int], Any]
UNIT = (0.0, 1.0)


def one_column(width: int, column: int, scale: float) -> Bulk:
    """Laplace noise of scale 1 / epsilon in all columns but one, which carries the answer with noise of its own."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        table = rng.laplace(0, 1 / EPSILON, (size, width))
        table[:, column] = value + scale * rng.laplace(size=size)
        return table

    return Bulk(many)


def _tree(leaves: int) -> Array:
    """Which node of a binary tree covers which leaf, shape (nodes, leaves), leaves first."""
    rows, span = [], 1
    while span <= leaves:
        rows += [[first <= leaf < first + span for leaf in range(leaves)] for first in range(0, leaves, span)]
        span *= 2
    return np.array(rows, dtype=float)


def _prefixes(leaves: int) -> Array:
    """Which nodes add up to which prefix sum, shape (leaves, nodes): the binary digits of its length."""
    tree = _tree(leaves)
    rows = np.zeros((leaves, len(tree)))
    for length in range(1, leaves + 1):
        start = 0
        for bit in reversed(range(leaves.bit_length())):
            if length >> bit & 1:
                offset = sum(leaves >> level for level in range(bit))
                rows[length - 1, offset + start // 2**bit] = 1
                start += 2**bit
    return rows


def prefix_sums(leaves: int, std: float, bare: int | None) -> Bulk:
    """Prefix sums from noisy nodes of a tree; the node of leaf `bare` gets no noise. The data: which leaf has a one."""
    tree, sums = _tree(leaves), _prefixes(leaves)

    def many(leaf: Any, rng: np.random.Generator, size: int) -> Array:
        noise = rng.normal(0, std, (size, len(tree)))
        if bare is not None:
            noise[:, bare] = 0.0
        answer = np.zeros(leaves) if leaf is None else np.eye(leaves)[int(leaf)]
        return np.asarray((tree @ answer + noise) @ sums.T)

    return Bulk(many)


def prefix_mu(leaves: int, std: float, leaf: int) -> float:
    """Exact mu of all prefix sums when one leaf changes by one."""
    sums = _prefixes(leaves)
    moved = sums @ _tree(leaves)[:, leaf]
    return float(np.sqrt(moved @ np.linalg.solve(sums @ sums.T, moved)) / std)


def written(scale: float, form: str) -> Bulk:
    """A Laplace answer as "text", "json" text, or a "nested" dict."""

    def one(x: float) -> Any:
        if form == "text":
            return f"The mean is {x:.4f}, with noise."
        document = {"status": "ok", "result": {"mean": x, "unit": "kg"}}
        return json.dumps(document) if form == "json" else document

    return Bulk(lambda value, rng, size: [one(float(x)) for x in value + rng.laplace(0, scale, size)])


def optional_field(rates: tuple[float, float]) -> Bulk:
    """A dict whose field "note" is there in a share of runs that depends on the data."""

    def many(value: Any, rng: np.random.Generator, size: int) -> list[dict[str, Any]]:
        there = rng.random(size) < rates[int(value)]
        return [
            {"x": float(x), **({"note": None} if yes else {})}
            for x, yes in zip(rng.normal(size=size), there, strict=True)
        ]

    return Bulk(many)


def number_of_entries() -> Bulk:
    """A list of noise, one entry a record."""
    return Bulk(lambda records, rng, size: [rng.laplace(size=5 + int(records)).tolist() for _ in range(size)])


def vector(shift: float, width: int, std: float, laplace: bool) -> Bulk:
    """All of `width` answers move by `shift`; noise is drawn for each."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        noise = rng.laplace(0, std, (size, width)) if laplace else rng.normal(0, std, (size, width))
        return np.asarray(float(value) * shift + noise)

    return Bulk(many)


def drawn(sampler: Sampler) -> Bulk:
    """A mechanism of one number."""
    return Bulk(lambda value, rng, size: np.asarray(sampler(float(value), rng, size), dtype=float)[:, None])


def _positive_laplace(value: float, rng: np.random.Generator, size: int) -> Array:
    """Laplace noise drawn again until the output is positive (by inversion)."""
    lost = 0.5 * np.exp(-value)
    u = lost + (1 - lost) * rng.random(size)
    return np.asarray(value - np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5)))


def _rare_signal(value: float, rng: np.random.Generator, size: int) -> Array:
    """Laplace noise, and in three runs of a thousand another place that shows the side."""
    signal = rng.random(size) < 0.003
    return np.where(signal, 1000 + 20 * value + rng.normal(size=size), value + rng.laplace(0, 1 / EPSILON, size))


def categories(keep: float, count: int) -> Bulk:
    """Randomised response over several categories."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        other = (int(value) + rng.integers(1, count, size)) % count
        return np.where(rng.random(size) < keep, int(value), other).astype(float)[:, None]

    return Bulk(many)


def zero_sum(width: int) -> Bulk:
    """Laplace noise on each bin, centred so that 'the total stays right': the total is exact."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        noise = rng.laplace(0, 2 / EPSILON, (size, width))
        noise -= noise.mean(axis=1, keepdims=True)
        noise[:, 0] += float(value)
        return noise

    return Bulk(many)


def shared_noise(width: int, first: int, second: int) -> Bulk:
    """Two of the columns carry the same noise; the answer is in one of them."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        table = rng.laplace(0, 1 / EPSILON, (size, width))
        table[:, second] = table[:, first] + float(value)
        return table

    return Bulk(many)


def _wide() -> Iterator[Entry]:
    yield pure("64 columns", one_column(64, 37, 1 / EPSILON), UNIT, EPSILON)
    yield pure("column 5 of 64 exact", one_column(64, 5, 0.0), UNIT, INFINITE)
    yield pure("column 37 of 64 exact", one_column(64, 37, 0.0), UNIT, INFINITE)
    yield pure("column 200 of 300 at epsilon 5", one_column(300, 200, 0.2), UNIT, 5.0)
    yield pure("image of 8 x 8, one pixel at epsilon 3", one_column(64, 43, 1 / 3), UNIT, 3.0)
    yield pure("histogram of 100 bins", one_column(100, 60, 1 / EPSILON), UNIT, EPSILON)
    for column in (3, 30, 60):
        yield pure(f"histogram of 100 bins, bin {column} at epsilon 20", one_column(100, column, 0.05), UNIT, 20.0)
    for leaves in (16, 32, 64):
        bare, std = leaves // 2 + 2, float(np.sqrt(leaves.bit_length()))
        mechanism = prefix_sums(leaves, std, bare)
        yield gauss(f"{leaves} prefix sums, one leaf bare", mechanism, (None, bare), 1.0, INFINITE)
    std = float(np.sqrt(6))
    yield gauss("32 prefix sums", prefix_sums(32, std, None), (None, 18), 1.0, prefix_mu(32, std, 18))
    yield gauss("gaussian in 30 columns", vector(1 / np.sqrt(30), 30, 1.0, False), UNIT, 1.0, 1.0)
    yield gauss(
        "gaussian in 30 columns, noise a third too small", vector(1 / np.sqrt(30), 30, 2 / 3, False), UNIT, 1.0, 1.5
    )
    yield pure("two answers, epsilon halved", vector(1.0, 2, 2 / EPSILON, True), UNIT, EPSILON)
    yield pure("two answers, epsilon spent twice", vector(1.0, 2, 1 / EPSILON, True), UNIT, 2 * EPSILON)
    yield pure("ten answers, sensitivity of one", vector(1.0, 10, 1 / EPSILON, True), UNIT, 10 * EPSILON)
    yield pure("noise that adds up to zero", zero_sum(20), UNIT, INFINITE)
    yield pure("the same noise in two of ten columns", shared_noise(10, 2, 9), UNIT, INFINITE)


def _texts() -> Iterator[Entry]:
    for form, name in (("text", "text"), ("json", "JSON text"), ("nested", "nested dict")):
        yield pure(f"laplace as {name}", written(1 / EPSILON, form), UNIT, EPSILON)
        yield pure(f"laplace at epsilon 4 as {name}", written(0.25, form), UNIT, 4.0)
    fair = float(np.e / (1 + np.e))
    yield pure("optional field", optional_field((fair, 1 - fair)), UNIT, EPSILON)
    yield pure("optional field, wrong rate", optional_field((0.9, 0.3)), UNIT, float(np.log(7)))
    yield pure("one entry a record", number_of_entries(), UNIT, INFINITE)


def _noises() -> Iterator[Entry]:
    yield pure(
        "laplace, rounded and clipped",
        drawn(lambda v, r, n: np.clip(np.round(v + r.laplace(size=n), 1), -2, 3)),
        UNIT,
        EPSILON,
    )
    yield pure("laplace, drawn again until positive", drawn(_positive_laplace), UNIT, 1 + float(np.log(2 - np.exp(-1))))
    yield pure("uniform noise", drawn(lambda v, r, n: v + r.uniform(-5, 5, n)), UNIT, INFINITE)
    yield pure("discrete laplace at epsilon 1.5", discrete_laplace(1.5), (3, 4), 1.5)
    keep = float(np.e / (np.e + 9))
    yield pure("ten categories", categories(keep, 10), (2, 7), EPSILON)
    yield pure("ten categories, wrong rate", categories(0.4, 10), (2, 7), float(np.log(6)))
    scores = (np.array([1.0, 0, 0, 0, 0]), np.array([0.0, 1, 1, 1, 1]))
    logs = [one - np.log(np.exp(2 * EPSILON * one).sum()) / (2 * EPSILON) for one in scores]
    truth = float(2 * EPSILON * np.abs(logs[0] - logs[1]).max())
    yield pure("exponential mechanism, sensitivity forgotten", exponential_mechanism(4 * EPSILON), scores, truth)
    yield pure("rare signal, 0.3 % of runs", drawn(_rare_signal), UNIT, INFINITE)
    yield pure("rounds until a noisy stop", drawn(lambda v, r, n: r.geometric(0.1 + 0.2 * v, n)), UNIT, INFINITE)
    yield pure("spread of the noise depends on the data", drawn(lambda v, r, n: r.normal(0, 1 + v, n)), UNIT, INFINITE)
    yield gauss("gaussian in one column of 20, noise halved", one_of_gaussian(20, 13, 0.5), UNIT, 1.0, 2.0)
    yield pure("laplace, noise 30 % too small", laplace_noise(0.7 / EPSILON), UNIT, EPSILON / 0.7)


def one_of_gaussian(width: int, column: int, std: float) -> Bulk:
    """Gaussian noise of deviation 1 in all columns but one."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        table = rng.normal(size=(size, width))
        table[:, column] = float(value) + std * table[:, column]
        return table

    return Bulk(many)


def shapes() -> list[Entry]:
    """All entries of this house."""
    return [*_wide(), *_texts(), *_noises()]
