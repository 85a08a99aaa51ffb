"""Laws answer for themselves: distance, cost, tilt; and a law of one's own is one file."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpassay.audit.assay import Effort, assay
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Cost, Law, as_released, noise_difference
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.tape import record

ONE, OTHER = np.array([0.0, 0.0]), np.array([3.0, -4.0])


def test_distances_are_in_the_norm_of_the_noise():
    assert Gaussian(ONE, 1.0).distance(Gaussian(OTHER, 1.0)) == 5.0
    assert Laplace(ONE, 1.0).distance(Laplace(OTHER, 1.0)) == 7.0
    assert AboveThreshold(ONE, 0.0, 1.0, 1.0).distance(AboveThreshold(OTHER, 0.0, 1.0, 1.0)) == 4.0


def test_costs():
    assert Gaussian(ONE, 2.0).cost(1.0) == Cost("gaussian", 0.5)
    assert Gaussian(ONE, 0.0).cost(1.0).size == math.inf and Gaussian(ONE, 0.0).is_bare
    assert Laplace(np.array(0.0), 2.0).cost(1.0) == Cost("laplace", 0.5)
    assert Laplace(ONE, 2.0).cost(1.0) == Cost("pure", 0.5)
    assert AboveThreshold(iter(ONE), 0.0, 2.0, 4.0).cost(1.0) == Cost("above-threshold", 1.0, 0.25)
    assert AboveThreshold(ONE, 0.0, 2.0, 4.0).cost(1.0) == Cost("above-threshold", 1.0, 0.25, queries=2)
    assert Categorical((0, 1), np.log([0.5, 0.5])).cost(1.0) is None


@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
def test_a_tilted_laplace_law_is_a_density(shift):
    """Against p (p / q)^shift integrated on a grid, from -60 to 60 scales."""
    law, other = Laplace(np.array(0.0), 1.0), Laplace(np.array(1.5), 1.0)
    x = np.linspace(-60, 60, 240_001)
    logs = np.array([(1 + shift) * law.log_density(v) - shift * other.log_density(v) for v in x[::40]])
    tilted = law.tilted(other, shift)
    ours = np.array([tilted.log_density(v) for v in x[::40]])
    np.testing.assert_allclose(ours - ours[3000], logs - logs[3000], atol=1e-9)
    assert np.sum(np.exp(ours)) * (x[40] - x[0]) == pytest.approx(1.0, abs=1e-3)


def test_tilted_finite_laws():
    law, other = Categorical((0, 1), np.log([0.2, 0.8])), Categorical((0, 1), np.log([0.5, 0.5]))
    found = np.exp(law.tilted(other, 1.0).log_probabilities)
    np.testing.assert_allclose(found, np.array([0.08, 1.28]) / 1.36)
    assert Gaussian(ONE, 1.0).tilted(Gaussian(OTHER, 1.0), 1.0) is None


class Uniform(Law):
    """``query + U(-scale, scale)``: a law that the package does not have."""

    def __init__(self, query, scale):
        self.query, self.scale = np.asarray(query, float), scale

    def sample(self, rng):
        return as_released(self.query + rng.uniform(-self.scale, self.scale, self.query.shape))

    def log_density(self, value):
        inside = np.all(np.abs(np.asarray(value) - self.query) <= self.scale)
        return -self.query.size * math.log(2 * self.scale) if inside else -math.inf

    def public_difference(self, other):
        return noise_difference(self, other, "scale")


@pytest.mark.parametrize("width", [1.0, 1e7])
def test_a_law_of_ones_own_is_one_file(width):
    """delta at any epsilon is half the distance over the width: 0.5 refutes every claim, 5e-8 stays below 1e-5."""

    def run(x, tape):
        return tape.release("u", Uniform(x, width), sensitivity=None)

    claim = PrivacyClaim(1.0, 1e-5, Cite("dwork2014", "Definition 2.4"))
    found = assay(run, Pair(1.0, 0.0, 0), claim, effort=Effort(runs=300, pilot=100))
    assert found.verdict == ("violated" if width == 1.0 else "inconclusive")
    assert "no accounting is known for the law" in found.account.gap or found.account.unknown
    assert record(lambda tape: run(1.0, tape), 0).releases[0].law.cost(1.0) is None


def test_one_above_threshold_release_asks_no_more_than_its_cost_covers():
    endless = AboveThreshold(itertools.repeat(-1e9), 0.0, 1.0, 1.0)
    with pytest.raises(BadInput, match="100,000 at most"):
        endless.sample(np.random.default_rng(0))
