"""The likelihood audit for each way in which a record can take part, against an epsilon computed without it.

delta = 1e-5, 1,000 runs, 95 %: at most the exact epsilon, at least 0.95 of it (0.9 with 300 runs, in what is quick).
The exact values come from closed forms or from dp-accounting; none of them sees the tape.
"""

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.results import SoundBound
from dpassay.reference import account, record
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.case import bind
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses
from tests.zoo.laws import mixture_epsilon

DELTA = 1e-5
GRID = {"value_discretization_interval": 1e-4}  # of the reference PLDs, pessimistic: adds at most steps times this


def _realised(run, pair, runs, pilot):
    bound, losses = audit_likelihood(LockstepSampler(run, pair, checks=10), DELTA, runs=runs, pilot=pilot)
    assert isinstance(bound, SoundBound) and not losses.findings, losses.findings
    return bound.epsilon


def _pair(n, others, here, there):
    problem = LinearLosses(np.full((n, 1), float(others)))
    return Pair(problem.replace(0, np.array([float(here)])), problem.replace(0, np.array([float(there)])), 0)


def _sgd(steps, multiplier, batch=None, poisson=False):
    return bind(dp_sgd.run, dp_sgd.with_multiplier(steps, 0.1, 1.0, multiplier, batch, poisson))


def _composed(*parts):
    """Epsilon of some PLDs, each so many times."""
    total = pld.identity()
    for part, times in parts:
        total = total.compose(part.self_compose(times))
    return float(total.get_epsilon_for_delta(DELTA))


def batches_without_replacement():
    """Batches of 10 in 40, all others opposite: the pair (1-q) N(0) + q N(2) against N(0), composed eight times."""
    one = pld.from_gaussian_mechanism(4.0 / 2, sampling_prob=0.25, **GRID)
    return _composed((one, 8)), _sgd(8, 4.0, 10), _pair(40, -1, 1, -1)


def poisson_batches():
    """A record or none at rate 0.25, others silent: (1-q) N(0) + q N(1) against N(0), composed twice."""
    one = pld.from_gaussian_mechanism(2.0, sampling_prob=0.25, **GRID)
    return _composed((one, 2)), _sgd(2, 2.0, 10, True), _pair(40, 0, 1, 0)


def at_most_once_in_known_order():
    """The sum moves by one in the block that has the record."""

    def run(problem, tape):
        for _ in range(2):
            batch = tape.fresh("block", problem.n, problem.n // 2, order="index")
            total = problem.gradients(np.zeros(1), batch.indices).sum(axis=0)
            tape.gaussian("sum", total, std=0.7, sensitivity=1.0, batch=batch)

    return gdp_epsilon(1 / 0.7, DELTA), run, _pair(6, 0, 1, 0)


def tree():
    """The first of seven values is in three of the seven nodes, (1,1), (1,2) and (1,4): mu = sqrt(3) * 2 / 4."""

    def run(problem, tape):
        tree = TreeSum(tape, "tree", std=4.0)
        for i in range(7):
            tree.add(problem.rows[i], sensitivity=2.0)

    return gdp_epsilon(np.sqrt(3) * 2 / 4, DELTA), run, _pair(7, 0, 1, -1)


def laplace():
    """(1, 0)-DP: the exact value at delta is 1 + 2 log(1 - delta) or so."""

    def run(problem, tape):
        tape.laplace("l", float(problem.rows.sum()), scale=1.0, sensitivity=1.0)

    return 1 + 2 * math.log1p(-DELTA), run, _pair(1, 0, 1, 0)


FAST = (poisson_batches, at_most_once_in_known_order, laplace)
SLOW = (batches_without_replacement, tree)


@pytest.mark.parametrize("way", [*FAST, *(pytest.param(way, marks=pytest.mark.slow) for way in SLOW)])
def test_at_most_the_exact_epsilon_and_close_to_it(way):
    (exact, run, pair), (runs, pilot, share) = way(), (300, 200, 0.9) if way in FAST else (1000, 400, 0.95)
    assert share * exact < _realised(run, pair, runs, pilot) <= exact


def test_a_bound_above_the_exact_epsilon_would_be_noticed():
    """Red case: the same audit of a run with less noise exceeds the epsilon of the schedule that it claims."""
    assert _realised(_sgd(4, 3.0), _pair(5, -1, 1, -1), 150, 200) > gdp_epsilon(1.0, DELTA)


def test_the_accountant_charges_a_batch_without_replacement_what_it_costs():
    """One release, where the closed form is exact: neither half the rate nor a Poisson batch's pair costs as much."""

    def run(tape):
        return tape.gaussian("g", 0.0, std=1.0, sensitivity=2.0, batch=tape.batch("b", 40, 10))

    assert account(record(run, seed=0)).epsilon(DELTA) == pytest.approx(mixture_epsilon(0.25, 2.0, DELTA), rel=1e-3)
