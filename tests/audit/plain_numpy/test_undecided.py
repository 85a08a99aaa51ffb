"""Right code that nothing here decides is refused with what to do, and its wrong twin is still accused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.audit import Effort, assay
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.reference import Pair, PrivacyClaim
from dpassay.reference.space import Space

CLAIM = PrivacyClaim(1.0, 1e-5)
QUICK = Effort(runs=100, pilot=100, examples=30)


# -- a scale that follows the data ---------------------------------------------------------------------------------
def median(rows, rng, smooth=True):
    """Nissim, Raskhodnikova and Smith 2007: Laplace noise of twice the smooth sensitivity, (1, 1e-5)."""
    x = np.sort(np.clip(rows[:, 0], -1, 1))
    n = len(x)
    padded = np.concatenate([np.full(n + 1, -1.0), x, np.full(n + 1, 1.0)])
    middle, rate = n + 1 + n // 2, 1 / (2 * math.log(2e5))
    local = [
        max(padded[min(middle + t, len(padded) - 1)] - padded[max(middle + t - k - 1, 0)] for t in range(k + 2))
        for k in range(n + 1 if smooth else 1)
    ]
    return padded[middle] + 2 * max(math.exp(-k * rate) * one for k, one in enumerate(local)) * rng.laplace()


def of_the_local_sensitivity(rows, rng):
    return median(rows, rng, smooth=False)


def of_the_largest(rows, rng):
    return rows[:, 0].sum() + rng.laplace(scale=0.01 + 2 * np.abs(rows[:, 0]).max())


ONE = Pair(np.zeros((1, 1)), np.ones((1, 1)), 0)
THREE = Pair(np.array([[0.0], [0.0], [0.0]]), np.array([[1.0], [0.0], [0.0]]), 0)


def test_a_scale_that_follows_the_data_is_not_by_itself_a_fault():
    with pytest.raises(NotUnderstood, match=r"test_undecided.py:\d+.*has a scale that follows the data.*show 0\.\d"):
        assay(median, ONE, CLAIM, effort=QUICK)


@pytest.mark.parametrize(("mechanism", "pair"), [(of_the_local_sensitivity, THREE), (of_the_largest, ONE)])
def test_losses_show_what_such_a_scale_gives_away(mechanism, pair):
    assert assay(mechanism, pair, CLAIM, effort=QUICK).verdict.failed


# -- finitely many outcomes, too many ways ---------------------------------------------------------------------------
def response(rows, rng, epsilon=1.0, k=4):
    """k-ary randomised response with a coin and another value: four ways for each record."""
    truth = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    found = np.zeros(k)
    for bin_ in np.clip(((rows[:, 0] + 1) / 2 * k).astype(int), 0, k - 1):
        other = bin_
        if rng.random() >= truth:
            other = rng.integers(0, k - 1)
            other += other >= bin_
        found[other] += 1
    return found


def louder(rows, rng):
    return response(rows, rng, epsilon=1.4)


@pytest.mark.more
def test_too_many_ways_are_refused_with_what_to_try():
    with pytest.raises(NotUnderstood, match="tells neighbours apart; if it is secret, try fewer records"):
        assay(response, Space.matrix(n=(1, 7), d=(1,)), CLAIM, effort=Effort(runs=50, pilot=50, examples=12))


@pytest.mark.more
def test_what_to_try_decides():
    few = Space.matrix(n=(1, 2), d=(1,))
    assert not assay(response, few, CLAIM, effort=QUICK).verdict.failed
    assert assay(louder, few, CLAIM, effort=QUICK).verdict.failed
