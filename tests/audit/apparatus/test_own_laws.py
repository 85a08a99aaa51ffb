"""A law must draw what its density says: right laws pass under every seed, laws that cheat are found."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from dpassay.audit.apparatus.laws import _second_moment, wrong_draws
from dpassay.audit.assaying.assay import assay
from dpassay.audit.row import Effort
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Kind
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.neighbours import Pair

QUERY = np.arange(5.0)


class Narrower(Gaussian):
    """Its density is not that of its scale, and what it draws is right for its scale."""

    def log_density(self, value):
        return Gaussian(self.query, 0.5 * self.std).log_density(value)


class HalfTheNoise(Gaussian):
    def sample(self, rng):
        return self.query + 0.5 * self.std * rng.standard_normal(self.query.shape)


class FirstNumberOnly(Gaussian):
    def sample(self, rng):
        return self.query + self.std * rng.standard_normal() * (np.arange(self.query.size) == 0)


class OneNoiseForAll(Gaussian):
    def sample(self, rng):
        return self.query + self.std * rng.standard_normal()


class NoTurns(Gaussian):
    def sample(self, rng):
        turns = (-1.0) ** np.arange(self.query.size)
        noise = rng.standard_normal(self.query.shape)
        return self.query + self.std * (noise - turns * np.mean(turns * noise))


class NoLaplace(Laplace):
    def sample(self, rng):
        return self.query.copy()


class NoNoise(AboveThreshold):
    def sample(self, rng):
        return next((i for i, query in enumerate(self.all_queries()) if query >= self.threshold), None)


def found(law, seed=0):
    return list(wrong_draws(law, seed))


@pytest.mark.parametrize(
    "law",
    [
        HalfTheNoise(QUERY, 2.0),
        FirstNumberOnly(QUERY, 2.0),
        OneNoiseForAll(QUERY, 2.0),
        NoTurns(np.zeros(100), 2.0),
        HalfTheNoise(1e6, 1.0),
        HalfTheNoise(np.zeros(1000), 1.0),
        NoLaplace(QUERY, 2.0),
        Narrower(QUERY, 2.0),
        NoNoise([0.1, -1.0, 2.0], 0.0, 1.0, 2.0),
    ],
    ids=lambda law: type(law).__name__,
)
def test_a_law_that_draws_something_else_is_found(law):
    """Seeds 0 to 4; each is found with probability above 0.99."""
    for seed in range(5):
        assert len(found(law, seed)) == 1


@pytest.mark.parametrize(
    "law",
    [
        Gaussian(QUERY, 2.0),
        Gaussian(3.0, 0.1),
        Gaussian(np.zeros(0), 1.0),
        Gaussian(1e9, 1e-3),
        Gaussian(QUERY, 0.0),
        Laplace(QUERY, 0.5),
        Laplace(2.0, 4.0),
        AboveThreshold([0.1, -1.0, 2.0], 0.0, 1.0, 2.0),
    ],
    ids=lambda law: type(law).__name__,
)
def test_a_right_law_is_not_accused(law):
    """Seeds 0 to 9; by chance one mean in 1e8 is as far off."""
    assert [one for seed in range(10) for one in found(law, seed)] == []


def test_a_law_that_is_too_large_for_its_noise_or_too_long_is_left_alone():
    assert found(HalfTheNoise(1e6 + 0.5, 1.0)) == found(HalfTheNoise(np.zeros(1001), 1.0)) == []


@pytest.mark.parametrize("law", [Gaussian(0.0, 0.5), Laplace(0.0, 0.5)], ids=lambda law: type(law).__name__)
def test_the_second_moment_of_a_ratio_is_its_integral(law):
    """By quadrature, to the two numbers of a shift one after the other."""

    def integral(shift):
        edges = [-20.0, 0.0, shift, 20.0]
        ratio = lambda x: np.exp(2 * law.log_density(x - shift) - law.log_density(x))  # noqa: E731
        return sum(quad(ratio, *ends)[0] for ends in pairwise(edges))

    assert _second_moment(law, np.array([0.3])) == pytest.approx(integral(0.3), rel=1e-6)
    assert _second_moment(law, np.array([0.3, 0.1])) == pytest.approx(integral(0.3) * integral(0.1), rel=1e-6)


def test_an_audit_reports_it_with_the_function_that_draws():
    def run(problem, tape):
        return tape.release("mean", FirstNumberOnly(np.zeros(3) + problem, 9.0), sensitivity=1.0)

    pair, effort = Pair(0.0, 0.1, 0, ""), Effort(runs=20, pilot=50, examples=3)
    (finding,) = assay(run, pair, PrivacyClaim(1.0, 1e-5), effort=effort).findings
    assert finding.kind is Kind.APPARATUS and finding.label.startswith("FirstNumberOnly.sample (")
    assert "test_own_laws.py:" in finding.label
    assert finding.detail == "the values that it draws are not those of its density"
