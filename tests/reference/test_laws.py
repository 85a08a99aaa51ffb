"""Laws answer for themselves: distance, cost, tilt; and a law of one's own is one file."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpassay.audit.assaying.assay import Effort, assay
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.laws import above_threshold
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.between import TruncatedGeometric
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
    found = assay(run, Pair(1.0, 0.0, 0), claim, effort=Effort(runs=300, pilot=100, examples=20))
    assert found.verdict == ("violated" if width == 1.0 else "inconclusive")
    assert "no accounting is known for the law" in found.account.gap or found.account.unknown
    assert record(lambda tape: run(1.0, tape), 0).releases[0].law.cost(1.0) is None


def test_one_above_threshold_release_asks_no_more_than_its_cost_covers():
    endless = AboveThreshold(itertools.repeat(-1e9), 0.0, 1.0, 1.0)
    with pytest.raises(BadInput, match="100,000 at most"):
        endless.sample(np.random.default_rng(0))


def test_laws_are_values_that_nobody_changes_and_each_is_only_itself():
    for make in (
        lambda: Laplace(ONE, 1.0),
        lambda: TruncatedGeometric(np.array(1.0), 1.0, 0, 4),
        lambda: Gaussian(ONE, 1.0),
    ):
        law = make()
        with pytest.raises(dataclasses.FrozenInstanceError):
            law.scale = 0.5
        assert law == law and law != make() and len({law, make()}) == 2
    assert AboveThreshold(ONE, 0.0, 1.0, 1.0) != AboveThreshold(ONE, 0.0, 1.0, 1.0)


@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
def test_a_tilted_laplace_law_draws_what_its_density_says(shift):
    """Two coordinates that move apart in opposite directions, and one that does not move; 1,500 draws (seed 0)."""
    law, other = Laplace(np.array([0.0, 2.0, 1.0]), 2.0), Laplace(np.array([3.0, 0.0, 1.0]), 7.0)
    tilted, rng = law.tilted(other, shift), np.random.default_rng(0)
    draws, total = np.array([tilted.sample(rng) for _ in range(1500)]), 0.0
    x = np.linspace(-30, 30, 1201)
    for k in range(3):
        single, apart = Laplace(law.query[k], 2.0), Laplace(other.query[k], 2.0)
        logs = np.array([single.tilted(apart, shift).log_density(v) for v in x])
        by_hand = -((1 + shift) * np.abs(x - law.query[k]) - shift * np.abs(x - other.query[k])) / 2
        mass = np.exp(by_hand) / np.exp(by_hand).sum()
        assert np.exp(logs) * (x[1] - x[0]) == pytest.approx(mass, rel=2e-3)
        assert stats.kstest(draws[:, k], lambda v, m=mass: np.interp(v, x + 0.025, np.cumsum(m))).pvalue > 1e-3
        total += single.tilted(apart, shift).log_density(draws[0, k])
    assert tilted.log_density(draws[0]) == pytest.approx(total)
    assert law.tilted(Gaussian(ONE, 1.0), shift) is None


def test_what_is_public_of_an_above_threshold_release():
    """Its queries are not: two laws that differ in them alone are the same to an observer."""
    law = AboveThreshold([0.5, 1.0], 0.0, 1.0, 2.0)
    assert law.public_difference(AboveThreshold([9.0, 1.0], 0.0, 1.0, 2.0)) is None
    for other, name in (
        (AboveThreshold([0.5], 0.0, 1.0, 2.0), "number of queries"),
        (AboveThreshold([0.5, 1.0], 0.1, 1.0, 2.0), "threshold"),
        (AboveThreshold([0.5, 1.0], 0.0, 1.1, 2.0), "threshold_scale"),
        (AboveThreshold([0.5, 1.0], 0.0, 1.0, 2.1), "query_scale"),
        (AboveThreshold([0.5, 1.0], 0.0, 1.0, 2.0, None, 0.5), "falls"),
    ):
        found = law.public_difference(other)
        assert found is not None and found.name == name and found.comparable is (name != "number of queries")
    other = law.public_difference(Laplace(ONE, 1.0))
    assert other is not None and not other.comparable and "Laplace" in str(other)


def test_an_above_threshold_law_draws_what_its_probabilities_say():
    """4,000 draws (seed 0); with a threshold of its own for each query the later ones would come out more often."""
    law, rng = AboveThreshold([-1.0] * 4, 0.0, 2.0, 0.5), np.random.default_rng(0)
    drawn = [law.sample(rng) for _ in range(4000)]
    counts = [drawn.count(value) for value in law.outcomes().support]
    assert stats.chisquare(counts, 4000 * np.exp(law.outcomes().log_probabilities)).pvalue > 1e-3


def test_above_threshold_in_pieces_and_at_its_limits(monkeypatch):
    law = AboveThreshold([0.5, -1.0, 2.0], 0.0, 1.0, 0.7)
    whole = law.outcomes().log_probabilities
    assert law.is_finite and np.exp(whole).sum() == pytest.approx(1.0)
    assert [law.nth(k) for k in range(-1, 5)] == [None, 0, 1, 2, None, 0]
    pieces = []
    plain = above_threshold._given
    monkeypatch.setattr(above_threshold, "_given", lambda z, *rest: pieces.append(z.size) or plain(z, *rest))
    for block, most in ((1, 1), (4 * 50, 50), (10**6, 10**6)):
        monkeypatch.setattr(above_threshold, "_BLOCK", block)
        pieces.clear()
        again = AboveThreshold([0.5, -1.0, 2.0], 0.0, 1.0, 0.7).outcomes().log_probabilities
        assert again == pytest.approx(whole, abs=1e-13) and max(pieces) <= most
    cells = sum(pieces) * 4
    monkeypatch.setattr(above_threshold, "_MOST_CELLS", cells)
    assert AboveThreshold([0.5, -1.0, 2.0], 0.0, 1.0, 0.7).log_density(None) == pytest.approx(whole[-1])
    monkeypatch.setattr(above_threshold, "_MOST_CELLS", cells - 1)
    with pytest.raises(BadInput, match="takes too long to compute"):
        AboveThreshold([0.5, -1.0, 2.0], 0.0, 1.0, 0.7).log_density(None)
    monkeypatch.undo()
    with pytest.raises(BadInput, match="takes too long"):  # 3e9 cells: a minute is for a third of them
        AboveThreshold(np.linspace(-7, 7, 10_000), 0.0, 1.0, 1.0).log_density(None)
    for count in (-1, above_threshold.MOST_QUERIES + 1):
        with pytest.raises(BadInput, match="count"):
            AboveThreshold(iter([0.0]), 0.0, 1.0, 1.0, count)
    for falls in (0.0, -0.5, 1.5):
        with pytest.raises(BadInput, match="falls"):
            AboveThreshold([0.0], 0.0, 1.0, 1.0, None, falls)
    assert AboveThreshold([0.0, 1.0], 0.0, 1.0, 1.0).count == 2
    assert AboveThreshold(iter([0.0, 1.0]), 0.0, 1.0, 1.0).count is None
    assert AboveThreshold(iter([0.0, 1.0]), 0.0, 1.0, 1.0, 7).count == 7
