"""Proposals are what they say: densities that sum to one, samples that follow them, states weighted by the past."""

import broken
import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import logsumexp
from scipy.stats import kstest

from dpassay.audit.lockstep.records import Group, HiddenStates
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.lockstep.tilting import Tilt, Tilts, proposal
from dpassay.audit.lockstep.worlds import Place
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.neighbours import Pair
from dpassay.reference.transcript import Draw

TILTS = Tilts([Tilt(), Tilt(1.0), Tilt(3.0, 2.0), Tilt(0.0, -4.0), Tilt(-0.3, 1.0)])
PRIOR = np.log([0.9, 0.1])


def gaussians(*means, std=0.7):
    return [Gaussian(np.array(mean), std) for mean in means]


def laplaces(*means):
    return [Laplace(np.array(mean), 0.7) for mean in means]


def alone(here, there):
    return here, there, Group([0], np.zeros(1), np.zeros(1), np.array([True]))


def two(here, there, log_there=PRIOR):
    return here, there, Group([0, 1], PRIOR, log_there, np.array([False, True]))


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
    plan, x, log_here = proposal(*states, TILTS), np.linspace(-20, 20, 2_501), states[-1].log_here
    densities = np.exp([plan.logs(value).proposals for value in x])
    here = np.exp([np.logaddexp.reduce(log_here + plan.logs(value).here) for value in x[::25]])
    assert np.allclose(densities[::25, 0], here, rtol=1e-10), "the first tilt is none"
    masses = np.cumsum(densities, axis=0) * (x[1] - x[0])
    assert masses[-1] == pytest.approx(1, abs=2e-4)
    rng = np.random.default_rng(0)
    for tilt in range(len(TILTS)):
        drawn = [plan.sample(rng, tilt) for _ in range(400)]
        cdf = lambda at, tilt=tilt: np.interp(at, x, masses[:, tilt])  # noqa: E731
        assert kstest(drawn, cdf).pvalue > 1e-4


def test_finite_outcomes_are_normalised_and_those_of_the_double_integral():
    """P(index 1 of 2) by quadrature over both noises of the comparison that decides, the third in closed form."""
    sides = ([AboveThreshold(queries, 0.5, 1.0, 2.0)] for queries in ([0.0, 1.0], [1.0, 0.0]))
    plan = proposal(*alone(*sides), TILTS)
    logs = [plan.logs(value) for value in (0, 1, None)]
    assert np.exp([one.proposals for one in logs]).sum(axis=0) == pytest.approx(1, abs=1e-12)
    assert np.exp([one.here[0] for one in logs]).sum() == pytest.approx(1, abs=1e-12)

    def both(noise, z):  # query 0 stays below, query 1 = 1 + noise is above
        below = 0.5 + z
        first = 0.5 * np.exp(below / 2) if below < 0 else 1 - 0.5 * np.exp(-below / 2)
        return first * np.exp(-abs(z)) / 2 * np.exp(-abs(noise) / 2) / 4

    def above(low, high):
        return sum(
            dblquad(both, a, b, lambda z: max(low, z - 0.5), lambda z: max(high, z - 0.5), epsabs=1e-10)[0]
            for a, b in ((-40, -0.5), (-0.5, 0), (0, 0.5), (0.5, 40))
        )

    assert np.exp(logs[1].here[0]) == pytest.approx(above(-80, 0) + above(0, 80), abs=1e-7)


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
        assert found.loss == pytest.approx(by_hand, rel=1e-9, abs=1e-9)
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
        assert found.loss == pytest.approx(by_hand, rel=1e-9, abs=1e-9)


def test_other_records_that_differ_make_the_mixture_inexact():
    """The condition of the mixture is checked: with unequal other records the loss is labelled."""
    rows = np.random.default_rng(0).normal(size=(8, 2))
    pair = Pair(np.vstack([np.ones((1, 2)), rows[1:]]), rows, 0)
    found = [lockstep(broken.sampled, pair, [seed]).inexact for seed in range(20)]
    assert any("which other records" in why for why in found)


def test_the_check_world_is_held_against_the_world_that_has_the_target_where_it_has_it():
    """In none of the fresh batches so far: the first world; in the second batch: the third world."""
    states = HiddenStates([Place("D", "at", k) for k in (None, 0, 1, 2)])
    draws = [Draw(k, "f", "fresh", 12, 4, rate) for k, rate in enumerate((1 / 3, 1 / 2, 1.0))]
    assert states.drawn(draws[0]) == 0
    assert states.check_world((0,), {0: False}) == 0
    assert states.drawn(draws[1]) == 1
    for having in ({0: False, 1: True}, {0: False, 1: True, 2: False}):
        assert states.check_world((0,), having) == states.check_world((1,), having) == 2
        assert states.check_world((), having) == 3
    assert states.drawn(draws[2]) == 2
    assert states.holding((1,)).tolist() == [False, False, True, False]
    assert states.holding((0, 2)).tolist() == [False, True, False, True]
    with pytest.raises(BadInput, match="fresh batches = 4: more than in the probing run"):
        states.drawn(Draw(3, "f", "fresh", 12, 4, 1.0))


def test_a_sampled_batch_has_two_states_and_no_number_among_fresh_ones():
    states = HiddenStates([Place("D", "out"), Place("D", "in")])
    draws = [Draw(k, "b", "poisson", 12, None, rate) for k, rate in enumerate((0.25, 0.5))]
    assert [states.drawn(draw) for draw in draws] == [-1, -1]
    assert states.drawn(Draw(2, "i", "fresh", 12, 4, 1 / 3, hidden=False)) == -1
    one = states.group((0,))
    assert one.worlds == [0, 1] and np.exp(one.log_here) == pytest.approx([0.75, 0.25])
    assert np.exp(one.log_there) == pytest.approx([0.75, 0.25]) and one.has_target.tolist() == [False, True]
    assert np.exp(states.group((1,)).log_here) == pytest.approx([0.5, 0.5])
    assert states.group((0, 1)) is None and states.group((7,)) is None
    full = states.group(())
    assert full.worlds == [1] and full.has_target.tolist() == [True] and full.log_here.tolist() == [0.0]
    for drawn, where in ((False, 0), (True, 1)):
        assert states.check_world((0,), {0: drawn}) == where
    assert states.check_world((1,), {}) == 1 and states.holding((0,)).tolist() == [False, True]
    for bad, places in (("fresh", ["out", "in"]), ("poisson", ["full"])):
        with pytest.raises(BadInput, match="batch = 'b': of a kind that the probing run did not draw"):
            HiddenStates([Place("D", role) for role in places]).drawn(Draw(0, "b", bad, 12, 4, 0.5))
