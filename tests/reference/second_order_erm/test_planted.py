"""Planted bugs in OPT and OPT-LS: the likelihood audit shows more than is claimed; without the bug it does not."""

import dataclasses
import math

import numpy as np
import pytest

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.case import bind
from dpassay.reference.laws.above_threshold import AboveThreshold, Categorical
from dpassay.reference.neighbours import Pair
from dpassay.reference.second_order_erm.cases import CASES

DELTA = 1e-5


def shown(run, pair, claimed):
    """Epsilon that 100 runs show with confidence 99 % (seed 1): a false alarm has probability at most 1 %."""
    bound, losses = audit_likelihood(
        LockstepSampler(run, pair), DELTA, claimed=claimed, confidence=0.99, runs=100, pilot=60, seed=1
    )
    assert not losses.inexact
    return bound.epsilon


def schedule_of(name):
    instance = next(case for case in CASES if case.key == f"second_order_erm/{name}:worst@repaired").build()
    return instance.run, instance.schedule, instance.pair


def one_sided(schedule):
    """The weight of one record, without the one that takes its place; where batches are m of n, the factor n / m."""
    halved = {name: value / 2 for name, value in vars(schedule.sensitivity).items()}
    return dataclasses.replace(schedule, sensitivity=type(schedule.sensitivity)(**halved))


def gradients_only(schedule):
    """A budget that forgets that an iteration releases a Hessian, too."""
    return dataclasses.replace(schedule, noise=dataclasses.replace(schedule.noise, releases_per_step=1))


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("opt", gradients_only),
        ("opt", None),
        ("opt_ls", one_sided),
        ("opt_b", one_sided),
    ],
)
def test_planted_bug_is_shown_and_the_honest_schedule_is_not_accused(name, planted):
    run, schedule, pair = schedule_of(name)
    found = shown(bind(run, planted(schedule) if planted else schedule), pair, 1.0)
    assert (found > 1.0) == (planted is not None)


class FreshThreshold(AboveThreshold):
    """Planted: every query is compared with a noisy threshold of its own."""

    def sample(self, rng):
        queries = self.all_queries()
        noise = rng.laplace(0, self.query_scale, len(queries)) - rng.laplace(0, self.threshold_scale, len(queries))
        above = np.flatnonzero(queries + noise >= self.threshold)
        return int(above[0]) if len(above) else None

    def outcomes(self):
        z = np.linspace(-40, 40, 8_001)  # in scales of the threshold's noise; steps of 1e-2: errors below 1e-4
        density = np.exp(-np.abs(z))
        different, which = np.unique(self.all_queries(), return_inverse=True)
        x = (different[:, None] - self.threshold - z * self.threshold_scale) / self.query_scale
        one = np.where(x < 0, 0.5 * np.exp(-np.abs(x)), 1 - 0.5 * np.exp(-np.abs(x))) @ (density / density.sum())
        above = one[which]
        stay = np.concatenate([[0.0], np.cumsum(np.log1p(-above))])
        return Categorical((*range(len(above)), None), np.concatenate([np.log(above) + stay[:-1], stay[-1:]]))


@pytest.mark.some(1)
@pytest.mark.parametrize(("law", "caught"), [(FreshThreshold, True), (AboveThreshold, False)])
def test_fresh_threshold_for_each_query_is_shown(law, caught):
    """30 queries far below the threshold, all moved by their sensitivity, lambda = 2: the search claims 1/2."""
    lam = 2.0

    def run(level, tape):
        return tape.release("line search", law([level] * 30, 0.0, 2 * lam, 4 * lam), sensitivity=1.0)

    found = shown(run, Pair(-12.0, -11.0, 0), 1 / lam)
    assert (found > 1 / lam) == caught


@pytest.mark.parametrize("full_square", [False, True])
def test_noise_on_the_full_square_is_shown_where_the_triangle_was_calibrated(full_square):
    """A spread rank-one change, noise calibrated to its upper triangle, which is what the printed noise allows.

    Planted: i.i.d. noise on all d^2 entries, averaged with its transpose: only std / sqrt(2) is left off the diagonal.
    """
    d, mu = 6, 0.3
    rows, columns = np.triu_indices(d)
    change = np.full((d, d), 1 / d)[rows, columns]
    std, off = np.linalg.norm(change) / mu, rows != columns

    def run(sign, tape):
        query = sign * change / 2
        diagonal = tape.gaussian("diagonal", query[~off], std=std, sensitivity=None)
        thin = math.sqrt(2) if full_square else 1.0
        return diagonal, tape.gaussian("off the diagonal", query[off], std=std / thin, sensitivity=None)

    claimed = gdp_epsilon(mu, DELTA)
    assert (shown(run, Pair(-1.0, 1.0, 0), claimed) > claimed) == full_square
