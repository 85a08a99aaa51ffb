import numpy as np
import pytest

from dpassay.audit import floating_point
from dpassay.audit.blackbox import zoo_laws
from dpassay.audit.results import Verdict
from dpassay.audit.scores.curve import approx_dp, gdp
from dpassay.reference.errors import BadInput


def _verdicts(mechanism, claim, laplace=None, seed=0, samples=6000):
    rng = np.random.default_rng(seed)
    results = floating_point.audit_floats(mechanism, (0.0, 1.0), claim, samples, rng, laplace)
    return {result.method: result for result in results}


def test_naive_laplace_fails_on_its_grid_and_its_support():
    """6,000 outputs a side (seed 0): both p-values below 1e-6; the real-valued mechanism is fine."""
    found = _verdicts(zoo_laws.laplace_noise(1.0), approx_dp(1.0), laplace=(0.0, 1.0))
    assert found["grid of the floats"].p_value < 1e-6 and found["support holes"].p_value < 1e-6
    assert found["grid of the floats"].evidence["cause"] == "floats"
    assert found["repeated noise"].verdict is not Verdict.VIOLATED


def test_naive_gaussian_fails_on_its_grid():
    found = _verdicts(zoo_laws.gaussian_noise(1.0), gdp(1.0))
    assert found["grid of the floats"].verdict is Verdict.VIOLATED
    assert found["grid of the floats"].evidence["cause"] == "floats"


def test_a_sampler_on_a_coarse_grid_passes():
    """Rounding to 2^-10 removes the signature: 5 seeds, level 5 % each, at most one alarm."""
    mechanism = zoo_laws.on_a_grid(zoo_laws.laplace_noise(1.0), 2.0**-10)
    alarms = 0
    for seed in range(5):
        found = _verdicts(mechanism, approx_dp(1.0), seed=seed, samples=2000)
        alarms += found["grid of the floats"].verdict is Verdict.VIOLATED
    assert alarms <= 1


def test_a_broken_mechanism_is_not_blamed_on_the_floats():
    found = _verdicts(zoo_laws.laplace_noise(0.3), approx_dp(1.0))
    assert found["grid of the floats"].evidence == {
        **found["grid of the floats"].evidence,
        "real_numbers": "violated",
        "cause": "mechanism",
    }


def test_seed_reuse_is_seen():
    found = _verdicts(zoo_laws.same_seed(1.0), gdp(1.0), samples=200)
    assert found["repeated noise"].verdict is Verdict.VIOLATED


def test_numpy_laplace_samples_are_attainable_and_shifted_ones_often_not():
    noise = np.random.default_rng(1).laplace(0, 2.0, 2000)
    assert floating_point.laplace_attainable(noise, 2.0).all()
    assert floating_point.laplace_attainable((1.0 + noise) - 0.0, 2.0).mean() < 0.9


def test_a_small_seed_space_is_searched():
    answers = [np.zeros(2), np.ones(2)]
    output = answers[1] + np.random.default_rng(4321).normal(size=2)
    noise = lambda rng: rng.normal(size=2)  # noqa: E731
    assert floating_point.seeds_found(output, answers, noise, range(5000)) == [(4321, 1)]
    assert floating_point.seeds_found(output + 1e-9, answers, noise, range(5000)) == []


def test_bad_scale():
    with pytest.raises(BadInput, match="scale"):
        floating_point.laplace_attainable([0.1], 0.0)
