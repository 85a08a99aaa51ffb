"""Proposals are what they say: densities that sum to one, samples that follow them, states weighted by the past."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import kstest

from dpassay.audit.lockstep.records import Group
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.lockstep.tilting import Tilt, Tilts, proposal
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.neighbours import Pair

TILTS = Tilts([Tilt(), Tilt(1.0), Tilt(3.0, 2.0), Tilt(0.0, -4.0), Tilt(-0.3, 1.0)])
PRIOR = np.log([0.9, 0.1])


def gaussians(*means, std=0.7):
    return [Gaussian(np.array(mean), std) for mean in means]


def laplaces(*means):
    return [Laplace(np.array(mean), 0.7) for mean in means]


def alone(here, there):
    return here, there, Group([0], np.zeros((2, 1)), np.array([True]))


def two(here, there, log_there=PRIOR):
    return here, there, Group([0, 1], np.array([PRIOR, log_there]), np.array([False, True]))


DENSITIES = {
    "gaussian": alone(gaussians(1.0), gaussians(0.0)),
    "two states": two(gaussians(0.2, 1.5), gaussians(0.2, -0.5), np.log([0.7, 0.3])),
    "other noise there": alone(gaussians(1.0), gaussians(0.0, std=0.2)),
    "laplace": alone(laplaces(1.0), laplaces(0.0)),
    "laplace, the other way": alone(laplaces(-1.0), laplaces(0.5)),
    "laplace, no move": alone(laplaces(1.0), laplaces(1.0)),
    "laplace, two states": two(laplaces(0.2, 1.5), laplaces(0.2, -0.5)),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("states", DENSITIES.values(), ids=DENSITIES.keys())
def test_densities_integrate_to_one_and_samples_follow_them(states):
    plan, x, log_here = proposal(*states, TILTS), np.linspace(-20, 20, 2_501), states[-1].logs[0]
    densities = np.exp([plan.logs(value)[1] for value in x])
    here = np.exp([np.logaddexp.reduce(log_here + plan.logs(value)[0][0]) for value in x[::25]])
    assert np.allclose(densities[::25, 0], here, rtol=1e-10), "the first tilt is none"
    masses = np.cumsum(densities, axis=0) * (x[1] - x[0])
    assert masses[-1] == pytest.approx(1, abs=2e-4)
    rng = np.random.default_rng(0)
    for tilt in range(len(TILTS)):
        drawn = [plan.sample(rng, tilt) for _ in range(400)]
        cdf = lambda at, tilt=tilt: np.interp(at, x, masses[:, tilt])  # noqa: E731
        assert kstest(drawn, cdf).pvalue > 1e-4


# Batches that nobody sees: the loss is that of the mixture over them, and where it is not it says so.
def log(mean, values, std=1.0):
    return -np.sum((values - mean) ** 2) / (2 * std**2)


def test_two_releases_of_one_batch_share_its_state():
    """Batch a, batch b, b again, a again: by hand, one mixture for each batch, whatever the order of the releases."""
    n, size, std = 8, 2, 0.8

    def run(rows, tape):
        a, b = tape.batch("a", n, size), tape.batch("b", n, size)
        return [
            tape.gaussian("g", rows[one.indices].sum(), std=std, sensitivity=2.0, batch=one) for one in (a, b, b, a)
        ]

    def mixture(mean, values):
        parts = np.log(1 - size / n) + log(0.0, values, std), np.log(size / n) + log(mean, values, std)
        return np.logaddexp(*parts)

    target = np.eye(n)[3]
    for seed in range(40):
        found = lockstep(run, Pair(target, -target, 3), [seed], tilts=TILTS, tilt=seed % len(TILTS))
        x = np.array(found.output)
        by_hand = sum(mixture(1.0, values) - mixture(-1.0, values) for values in (x[[0, 3]], x[[1, 2]]))
        assert found.loss == pytest.approx(by_hand, rel=1e-9, abs=1e-9) and not found.inexact
        assert found.log_weights[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("size", [4, 3])
def test_at_most_once_is_a_mixture_over_the_batch_it_meets(size):
    """Two fresh batches of eight records, of three each the target may be in none: the mean over where it is."""

    def run(rows, tape):
        batches = (tape.fresh(name, 8, size) for name in "ab")
        return [tape.gaussian("g", rows[one.indices].sum(), std=1.0, sensitivity=2.0, batch=one) for one in batches]

    alike = -np.ones(8)
    for seed in range(50):
        found = lockstep(run, Pair(alike + 2 * np.eye(8)[3], alike, 3), [seed])
        x, y = found.output
        without = log(-size, x) + log(-size, y)
        parts = log(2 - size, x) + log(-size, y), log(-size, x) + log(2 - size, y), without
        by_hand = logsumexp(parts, b=[size / 8, size / 8, 1 - size / 4]) - without
        assert found.loss == pytest.approx(by_hand, rel=1e-9, abs=1e-9) and not found.inexact
