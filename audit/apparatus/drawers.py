"""How records are drawn, against what the tape says of it: how often each, and each two, and which come again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy

from dpassay.reference.arrays import Bools, Indices
from dpassay.reference.tape import LiveTape
from dpassay.reference.transcript import Draw

from .uniform import LEAST, surprise

_DRAWS, _FEWEST, _CELLS = 1500, 200, 2_000_000  # of one kind; records times draws
_PAIRS = 200


def wrong_batches(draw: Draw, seed: int) -> Iterator[str]:
    """What is wrong with sampled batches (fixed size, or Poisson), many on one tape."""
    tape = LiveTape(seed)
    count = int(np.clip(_CELLS // draw.n, _FEWEST, _DRAWS))
    fixed = draw.kind == "without-replacement"
    size, rate = draw.size or 0, draw.rate
    batches = [
        (tape.batch("x", draw.n, size) if fixed else tape.poisson("x", draw.n, rate)).indices for _ in range(count)
    ]
    yield from _malformed(batches, draw.n)
    members = _members(batches, draw.n)
    if fixed and any(len(one) != size for one in batches):
        yield f"a batch has not {size} records"
    pair = size * (size - 1) / max(1, draw.n * (draw.n - 1)) if fixed else rate**2
    yield from _frequencies(members, rate, pair, seed)
    lengths = members.sum(axis=1)
    if not fixed and _other_spread(lengths, draw.n * rate * (1 - rate)):
        yield f"the sizes of Poisson batches have the variance {np.var(lengths):.3g}"
    common = np.sum(members[:-1:2] & members[1::2], axis=1)
    law: Any = scipy.stats.hypergeom(draw.n, size, size) if fixed else scipy.stats.binom(draw.n, rate**2)
    if (law.var() == 0 and np.any(common != law.mean())) or _other_mean(common, law.mean(), law.var()):
        yield f"a batch and the next one share {np.mean(common):.3g} records, and should {law.mean():.3g}"


def wrong_pass(draws: Sequence[Draw], seed: int) -> Iterator[str]:
    """What is wrong with fresh batches: a pass of these sizes, over many tapes."""
    n, hidden = draws[0].n, draws[0].hidden
    count = int(np.clip(_CELLS // (20 * n), 100, 600)) if hidden else 2
    passes = []
    for number in range(count):
        tape = LiveTape(np.random.SeedSequence([seed, number]))
        order = "random" if hidden else "index"
        passes.append([tape.fresh("x", n, one.size or 0, order=order).indices for one in draws])
    for batches in passes:
        yield from _malformed(batches, n)
        used = np.concatenate(batches)
        if len(np.unique(used)) < len(used):
            yield f"of {len(used)} records in fresh batches {len(used) - len(np.unique(used))} were there before"
            return
        if not hidden and not np.array_equal(used, np.arange(len(used))):
            yield "the order is not that of the list"
            return
    if hidden:
        for place in sorted({0, len(draws) // 2, len(draws) - 1}):
            size = draws[place].size or 0
            pair = size * (size - 1) / max(1, n * (n - 1))
            yield from _frequencies(_members([one[place] for one in passes], n), size / n, pair, seed)


def _malformed(batches: Sequence[Indices], n: int) -> Iterator[str]:
    for one in batches:
        if len(np.unique(one)) < len(one):
            yield f"a record is {len(one) - len(np.unique(one)) + 1} times in one batch"
            return
        if len(one) and not (one.min() >= 0 and one.max() < n):
            yield f"a number of a record is not in 0..{n - 1}"
            return


def _members(batches: Sequence[Indices], n: int) -> Bools:
    found = np.zeros((len(batches), n), dtype=bool)
    for number, one in enumerate(batches):
        found[number, one[(one >= 0) & (one < n)]] = True
    return found


def _frequencies(members: Bools, rate: float, pair: float, seed: int) -> Iterator[str]:
    draws, n = members.shape
    counts = members.sum(axis=0)
    extremes = np.array([counts.min(), counts.max()])
    if surprise(extremes, draws, rate) < LEAST:
        yield f"records are in {extremes[0]} to {extremes[1]} of {draws} batches, and should be in {draws * rate:.4g}"
        return
    rng = np.random.default_rng([seed, 5])
    first = np.concatenate([np.arange(n), rng.integers(0, n, _PAIRS)])
    second = np.concatenate([(np.arange(n) + 1) % n, rng.integers(0, n, _PAIRS)])
    first, second = first[first != second], second[first != second]
    both = np.sum(members[:, first] & members[:, second], axis=0)
    if both.size and surprise(np.array([both.min(), both.max()]), draws, pair) < LEAST:
        yield f"two records are together in {both.min()} to {both.max()} of {draws} batches, not in {draws * pair:.4g}"


_FAR = 10.0  # standard errors: sums of bounded terms, whose tails are a little longer than normal ones


def _other_mean(values: Indices, mean: float, variance: float) -> bool:
    return bool(abs(np.mean(values) - mean) > _FAR * np.sqrt(variance / len(values)) + _FAR / len(values))


def _other_spread(values: Indices, variance: float) -> bool:
    """By the variance of a sample variance, of a binomial law."""
    fourth = 3 * variance**2 + variance
    return bool(abs(np.var(values) - variance) > _FAR * np.sqrt(fourth / len(values)))
