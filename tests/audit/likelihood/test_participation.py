"""The likelihood audit for each way in which a record can take part, against an epsilon computed without it.

delta = 1e-5, 1,000 runs, 95 %: at most the exact epsilon, at least 0.95 of it. The exact values come from closed forms,
from quadrature, or from dp-accounting; none of them sees the tape.
"""

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.optimize import brentq
from scipy.stats import norm

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.results import SoundBound
from dpassay.audit.zoo.laws import SparseVector, pattern_probabilities
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.case import bind
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses

DELTA = 1e-5
STEP = 1e-4  # grid of the reference PLDs, pessimistic: adds at most steps times this


def _realised(run, pair, seed=0, runs=1000):
    bound, losses = audit_likelihood(LockstepSampler(run, pair, checks=10), DELTA, runs=runs, pilot=400, seed=seed)
    assert isinstance(bound, SoundBound) and not losses.findings, losses.findings
    return bound.epsilon


def _pair(n, others, here, there):
    problem = LinearLosses(np.full((n, 1), float(others)))
    return Pair(problem.replace(0, np.array([float(here)])), problem.replace(0, np.array([float(there)])), 0)


def _sgd(steps, multiplier, batch=None, poisson=False):
    return bind(dp_sgd.run, dp_sgd.with_multiplier(steps, 0.1, 1.0, multiplier, batch, poisson))


@pytest.mark.slow
def test_batches_without_replacement():
    """Batches of 10 in 40, all others opposite: the pair (1-q) N(0) + q N(2) against N(0), composed eight times."""
    one = pld.from_gaussian_mechanism(4.0 / 2, value_discretization_interval=STEP, sampling_prob=0.25)
    exact = float(one.self_compose(8).get_epsilon_for_delta(DELTA))
    assert 0.95 * exact < _realised(_sgd(8, 4.0, 10), _pair(40, -1, 1, -1)) <= exact


@pytest.mark.slow
def test_poisson_batches():
    """A record or none at rate 0.25, others silent: (1-q) N(0) + q N(1) against N(0), composed eight times."""
    one = pld.from_gaussian_mechanism(2.0, value_discretization_interval=STEP, sampling_prob=0.25)
    exact = float(one.self_compose(8).get_epsilon_for_delta(DELTA))
    assert 0.95 * exact < _realised(_sgd(8, 2.0, 10, True), _pair(40, 0, 1, 0)) <= exact


def _one_pass(problem, tape, order="random"):
    for _ in range(2):
        batch = tape.fresh("block", problem.n, problem.n // 2, order=order)
        total = problem.gradients(np.zeros(1), batch.indices).sum(axis=0)
        tape.gaussian("sum", total, std=0.7, sensitivity=1.0, batch=batch)


def _mixture_of_two(mu):
    """Epsilon of (N((mu,0)) + N((0,mu))) / 2 against N(0) in the plane, both directions, by quadrature."""
    x = np.linspace(-9, 9 + mu, 3001)
    density, ratio = norm.pdf(x), np.exp(mu * x - mu**2 / 2)
    area = np.outer(density, density) * (x[1] - x[0]) ** 2
    mixed = (ratio[:, None] + ratio[None, :]) / 2

    def excess(epsilon):
        ways = (mixed - np.exp(epsilon), 1 - np.exp(epsilon) * mixed)
        return max(float((area * np.maximum(way, 0)).sum()) for way in ways) - DELTA

    return float(brentq(excess, 0.1, 40.0, xtol=1e-6))


@pytest.mark.slow
def test_at_most_once_in_secret_order():
    """Two disjoint batches in random order; the record's sum moves by one in the batch that it falls into."""
    exact = _mixture_of_two(1 / 0.7)
    assert exact < gdp_epsilon(1 / 0.7, DELTA)
    assert 0.95 * exact < _realised(_one_pass, _pair(6, 0, 1, 0)) <= exact * (1 + 1e-4)


def test_at_most_once_in_known_order():
    exact = gdp_epsilon(1 / 0.7, DELTA)
    found = _realised(lambda problem, tape: _one_pass(problem, tape, "index"), _pair(6, 0, 1, 0))
    assert 0.95 * exact < found <= exact


@pytest.mark.slow
def test_tree():
    """The first of seven values is in three of the seven nodes, (1,1), (1,2) and (1,4): mu = sqrt(3) * 2 / 4."""

    def run(problem, tape):
        tree = TreeSum(tape, "tree", std=4.0)
        for i in range(7):
            tree.add(problem.rows[i], sensitivity=2.0)

    exact = gdp_epsilon(np.sqrt(3) * 2 / 4, DELTA)
    assert 0.95 * exact < _realised(run, _pair(7, 0, 1, -1)) <= exact


@pytest.mark.slow
def test_sparse_vector():
    """Six queries, half of them up and half down by one: exact by integration over the threshold's noise."""
    here, there = [0.0] * 6, [1.0] * 3 + [-1.0] * 3
    law = SparseVector(2.0, 4.0, 1)
    p, q = pattern_probabilities(law, here), pattern_probabilities(law, there)

    def excess(epsilon):
        ways = ((p, q), (q, p))
        return max(sum(max(0.0, a[k] - np.exp(epsilon) * b[k]) for k in a) for a, b in ways) - DELTA

    exact = float(brentq(excess, 0.0, 5.0))

    def run(problem, tape):
        scales = {"threshold_scale": 2.0, "query_scale": 4.0}
        moved = problem.rows[0, 0] > 0
        return tape.above_threshold("svt", there if moved else here, threshold=0.0, sensitivity=1.0, **scales)

    assert 0.95 * exact < _realised(run, _pair(2, 0, 0, 1)) <= exact * (1 + 1e-3)


@pytest.mark.slow
def test_a_mixture_of_all():
    """Full batch Gaussian, sampled Gaussian and Laplace releases in one run: their PLDs composed."""

    def run(problem, tape):
        everyone = np.arange(problem.n)
        for _ in range(3):
            total = float(problem.gradients(np.zeros(1), everyone).sum())
            tape.gaussian("full", total, std=6.0, sensitivity=2.0)
            batch = tape.batch("batch", problem.n, 5)
            part = float(problem.gradients(np.zeros(1), batch.indices).sum())
            tape.gaussian("sampled", part, std=2.5, sensitivity=2.0, batch=batch)
            tape.laplace("laplace", total, scale=8.0, sensitivity=2.0)

    grid = {"value_discretization_interval": STEP}
    total = pld.from_gaussian_mechanism(3.0, **grid).self_compose(3)
    total = total.compose(pld.from_gaussian_mechanism(2.5 / 2, sampling_prob=0.25, **grid).self_compose(3))
    total = total.compose(pld.from_laplace_mechanism(4.0, **grid).self_compose(3))
    exact = float(total.get_epsilon_for_delta(DELTA))
    assert 0.95 * exact < _realised(run, _pair(20, -1, 1, -1)) <= exact


def test_a_bound_above_the_exact_epsilon_would_be_noticed():
    """Red case: the same audit of a run with less noise exceeds the epsilon of the schedule that it claims."""
    assert _realised(_sgd(4, 3.0), _pair(5, -1, 1, -1), runs=150) > gdp_epsilon(1.0, DELTA)
