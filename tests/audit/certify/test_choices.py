"""One of many that is released: the place of the largest noisy number, a draw by private weights."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.audit.certify.certificate import certify
from dpassay.reference import Space

GRID = np.linspace(0, 1, 11)


def noisy(counts, rng):
    return counts + rng.laplace(scale=2.0, size=3)


def both(counts, rng):
    found = noisy(counts, rng)
    return np.argmax(found), found.max()


def drawn(weights, rng, values=3):
    return rng.choice(values, p=weights / weights.sum())


def median(counts, rng):
    """Its utility moves by 3 / 4 where all counts move by 1."""
    return drawn(np.exp(-np.abs(counts.mean() - 4 * GRID)), rng, GRID)


def twice(counts, rng):
    noise = rng.gumbel(scale=2.0, size=3)
    return np.argmax(counts + noise), np.argmax(2 * counts + noise)


PRICES = {  # what each count moves by is 1; infinite: no rule
    "largest": (lambda counts, rng: np.argmax(noisy(counts, rng)), 1.0),
    "smallest": (lambda counts, rng: noisy(counts, rng).argmin(), 1.0),
    "numbers": (noisy, 1.5),
    "largest and its number": (both, 1.5),
    "Gumbel": (lambda counts, rng: np.argmax(counts + rng.gumbel(scale=2.0, size=3)), 1.0),
    "Gumbel, the numbers": (lambda counts, rng: counts + rng.gumbel(scale=2.0, size=3), math.inf),
    "Gumbel, taken away": (lambda counts, rng: np.argmax(counts - rng.gumbel(scale=2.0, size=3)), math.inf),
    "Gumbel, turned": (lambda counts, rng: np.argmax(counts + -2 * rng.gumbel(size=3)), math.inf),
    "Gumbel, the smallest": (lambda counts, rng: np.argmin(counts + rng.gumbel(scale=2.0, size=3)), math.inf),
    "Gumbel, twice": (twice, math.inf),
    "exponential": (lambda counts, rng: drawn(np.exp(counts / 2), rng), 1.0),
    "exponential, stable": (lambda counts, rng: drawn(np.exp((counts - counts.max()) / 2), rng), 1.0),
    "exponential of twice": (lambda counts, rng: drawn(np.exp(counts), rng), 2.0),
    "exponential, a value": (median, 2.0),
    "weights that are none": (lambda counts, rng: drawn(counts + 1, rng), math.inf),
    "weights plus counts": (lambda counts, rng: drawn(np.exp(counts / 2) + counts, rng), math.inf),
}


@pytest.mark.parametrize(("run", "price"), PRICES.values(), ids=PRICES)
def test_a_choice_costs_twice_what_a_number_moves_by(run, price):
    where = Space.matrix(n=(4,), d=(3,))
    found = certify(lambda rows, rng: run(np.clip(rows, 0, 1).sum(axis=0), rng), where, delta=1e-12, any_length=True)
    assert (math.inf if found.epsilon is None else found.epsilon) == pytest.approx(price, rel=1e-6)
