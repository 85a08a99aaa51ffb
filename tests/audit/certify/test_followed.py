"""What hides from a followed run: errors that are caught, texts, types, and released numbers that decide unseen."""

from __future__ import annotations

import copy
import math
import random

import numpy as np
import pytest

from dpassay.audit.certify.certificate import certify
from dpassay.reference import Space

WHERE = Space.matrix(n=(4,), d=(3,))


def epsilon(run):
    """Infinite where the certificate is open."""
    found = certify(run, WHERE, delta=1e-9, any_length=True)
    return np.inf if found.epsilon is None else found.epsilon


def caught(total):
    try:
        return 1.0 if total[0] > 3 else 0.0
    except Exception:
        return 2.0


class Slotted:
    __slots__ = ("__dict__", "total")

    def __init__(self, total):
        self.total = total


PRIVATE = {
    "an error that is caught": caught,
    "a text": lambda total: str(total[0]),
    "a text with a format": lambda total: f"{total[0]:.3f}",
    "bytes": lambda total: total.tobytes(),
    "an attribute without a rule": lambda total: hasattr(total, "ctypes"),
    "the type of an array": lambda total: total if isinstance(total, np.ndarray) else 0.0,
    "the type of a number": lambda total: total[0] if isinstance(total[0], float) else 0.0,
    "the key of a dictionary": lambda total: {total[0]: 1},
    "an error that is returned": lambda total: ValueError(total),
    "a slot": Slotted,
    "an array for the sum": lambda total: [found := np.zeros(()), total.sum(out=found)][0],
    "the answer of a dictionary": lambda total: {0.0: 1}.get(total[0], 2),
    "how many different ones": lambda total: len({int(one) for one in total}),
}


@pytest.mark.parametrize("look", PRIVATE.values(), ids=PRIVATE)
def test_private_data_that_hide_end_the_certificate(look):
    def run(rows, rng):
        total = np.clip(rows, 0, 1).sum(axis=0)
        return total + rng.laplace(scale=1000.0, size=3), look(total)

    assert epsilon(run) == np.inf


FAR = [0.0, 0.0, 1e6]


def cholesky(noisy):
    try:
        return np.linalg.cholesky(np.diag(noisy)).size == 0
    except np.linalg.LinAlgError:
        return False


def seldom(number):
    """Where no run on drawn or extreme values comes to."""
    return (number > 1e6) & (number < 1e6 + 1)


def written(noisy):
    array = np.zeros(3)
    part = array[:2]
    array[0] = noisy[0]
    return seldom(part[0])


def in_place(noisy):
    array = np.zeros(3)
    array += noisy
    return seldom(array[0])


RARE = {
    "a plain array of it": lambda noisy: seldom(np.asarray(noisy)[0]),
    "a copy": lambda noisy: seldom(np.array([noisy, noisy])[0, 0]),
    "written into an array": written,
    "added in place": in_place,
    "an answer of NumPy": lambda noisy: np.array_equal(seldom(noisy), [True] * 3),
    "how many": lambda noisy: len(noisy[seldom(noisy)]) > 0,
    "places": lambda noisy: np.where(seldom(noisy))[0].size > 0,
    "a place": lambda noisy: int(np.argmax([noisy[0], 1e6])) == 1,
    "a method": lambda noisy: (noisy - FAR).argmax() == 2,
    "a text": lambda noisy: f"{noisy[0]:.0e}" == "1e+06",
    "a failure": cholesky,
    "in": lambda noisy: True in seldom(noisy),
    "a set": lambda noisy: np.argmax(noisy - FAR) in {2},
}


def test_a_stand_in_has_the_type_of_what_it_stands_for():
    def run(rows, rng):
        total, noise, batch = np.clip(rows, 0, 1).sum(axis=0), rng.normal(size=3), rng.choice(4, 2, replace=False)
        noisy = total + rng.laplace(scale=1.0, size=3)
        arrays = (rows, total, noise, batch, noisy, noisy > 0, rng.random(4), np.zeros(3))
        numbers = (total[0], noisy[0], rng.normal(), noisy.sum())
        right = all(isinstance(one, np.ndarray) for one in arrays) and all(isinstance(one, float) for one in numbers)
        return noisy if right and np.isscalar(noisy[0]) and not any(map(np.isscalar, arrays)) else total

    assert epsilon(run) == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("look", RARE.values(), ids=RARE)
def test_a_release_that_hangs_on_released_numbers_counts(look):
    """The other way costs 10: whoever follows the common way alone certifies 0.003."""

    def run(rows, rng):
        total = np.clip(rows, 0, 1).sum(axis=0)
        noisy = total + rng.laplace(scale=1000.0, size=3)
        return (noisy, total[0] + rng.laplace(scale=0.1)) if look(noisy) else noisy

    assert epsilon(run) >= 10 * (1 - 1e-6)


def test_a_released_place_is_followed_in_each_way():
    def run(rows, rng):
        total = np.clip(rows, 0, 1).sum(axis=0)
        best = int(np.argmax(total + rng.laplace(scale=1000.0, size=3)))
        return ["a", "b", "c"][best], total[best] + rng.laplace(scale=[1.0, 1.0, 0.1][best])

    assert epsilon(run) == pytest.approx(10 + 3 / 1000, rel=1e-3)


def count(rows):
    return np.clip(rows[:, 0], 0, 1).sum()


def by(what):
    """After a release that costs 1 / 100, with a number that is 1000 where hardly any run comes to, else 1."""

    def run(rows, rng):
        noisy = count(rows) + rng.laplace(scale=100.0)
        return noisy, what(rows, rng, np.where(np.abs(noisy - 5000) < 1, 1000.0, 1.0))

    return run


def added_in_place(rows, rng):
    mean = np.clip(count(rows), 0, 1) * np.ones(3)
    kept = mean
    mean += rng.laplace(scale=1000.0, size=3)
    return kept * count(rows) + rng.laplace(scale=100.0, size=3)


def record(rows, rng, place):
    return np.clip(rows[place][..., 0], 0, 1).sum() + rng.laplace(scale=1.0)


COSTS = {  # at least
    "copied noise": (lambda x, rng: count(x) + copy.deepcopy(rng.laplace(scale=0.1)), 10),
    "a generator that can be set back": (lambda x, rng: count(x) + bool(rng.bit_generator) * rng.laplace(), math.inf),
    "one of some one-sided noise": (lambda x, rng: (x[:, 0] > 0).sum() + rng.geometric(0.5, size=3)[0], math.inf),
    "a seed": (lambda x, rng: count(x) + [random.seed(0), random.gauss(0, 100.0)][1], 10),
    "another name of what noise is added to": (added_in_place, 10),
    "one draw in a sum": (lambda x, rng: x[0] + (rng.normal(size=3) + rng.normal(size=1)[[0, 0, 0]]), math.inf),
    "an end": (by(lambda x, rng, c: np.clip(x[:, 0], min=0, max=c).sum() + rng.laplace(scale=100.0)), 10),
    "in a list": (by(lambda x, rng, c: np.array([count(x), c]) * count(x) + rng.laplace(scale=400.0, size=2)), 2.5),
    "a scale": (by(lambda x, rng, c: count(x) + rng.laplace(scale=100.0 / c)), 10),
    "a draw": (lambda x, rng: rng.choice([1, 1000], p=[0.9999, 1e-4]) * count(x) + rng.laplace(scale=100.0), 10),
    "any record, five times": (lambda x, rng: [record(x, rng, rng.integers(30)) for _ in range(5)], 5),
    "random orders": (lambda x, rng: [record(x, rng, rng.permutation(30)[:1]) for _ in range(5)], 5),
    "places drawn twice": (lambda x, rng: record(x, rng, rng.integers(30, size=2)), 2),
}


@pytest.mark.parametrize(("run", "least"), COSTS.values(), ids=COSTS)
def test_what_seldom_happens_counts(run, least):
    found = certify(run, Space.matrix(n=(30,), d=(3,)), delta=1e-9, any_length=True).epsilon
    assert found is None or found >= least * (1 - 1e-6)
