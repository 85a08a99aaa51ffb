import numpy as np
import pytest

from dpassay.audit.blackbox import floating_point
from dpassay.audit.blackbox.outputs import draw
from dpassay.audit.results import Verdict
from dpassay.audit.zoo import laws as zoo_laws
from dpassay.reference.guarantee import approx_dp, gdp


def _verdicts(mechanism, claim, seed=0, samples=6000):
    rng = np.random.default_rng(seed)
    p, q = (draw(mechanism, data, samples, rng) for data in (0.0, 1.0))
    results = [floating_point.float_grid(p, q, claim, rng), floating_point.repeated_noise(p, q)]
    return {result.method: result for result in results}


def test_naive_laplace_fails_on_its_grid():
    """6,000 outputs a side (seed 0): p-value below 1e-6; the real-valued mechanism is fine."""
    found = _verdicts(zoo_laws.laplace_noise(1.0), approx_dp(1.0))
    assert found["grid of the floats"].p_value < 1e-6
    assert found["grid of the floats"].evidence["cause"] == "floats"
    assert found["repeated noise"].verdict is not Verdict.VIOLATED


def test_naive_gaussian_fails_on_its_grid():
    found = _verdicts(zoo_laws.gaussian_noise(1.0), gdp(1.0))
    assert found["grid of the floats"].verdict is Verdict.VIOLATED
    assert found["grid of the floats"].evidence["cause"] == "floats"


def test_a_sampler_on_a_coarse_grid_passes():
    """Rounding to 2^-10 removes the signature: 3 seeds, level 5 % each, at most one alarm of each test."""
    mechanism = zoo_laws.on_a_grid(zoo_laws.laplace_noise(1.0), 2.0**-10)
    alarms = {"grid of the floats": 0, "repeated noise": 0}
    for seed in range(3):
        found = _verdicts(mechanism, approx_dp(1.0), seed=seed, samples=2000)
        for method in alarms:
            alarms[method] += found[method].verdict is Verdict.VIOLATED
    assert max(alarms.values()) <= 1 and alarms["repeated noise"] == 0


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


NOISE = np.random.default_rng(5).normal(size=20_000)


@pytest.mark.parametrize(
    "outputs",
    [
        NOISE,
        NOISE.astype(np.float32),
        np.round(NOISE, 6),
        1e9 + NOISE,
        np.clip(NOISE, -1.0, 1.0),
        np.maximum(NOISE, 0.0),
        np.column_stack([NOISE, NOISE > 0]).astype(np.float32),
        np.sign(NOISE),
    ],
    ids=["doubles", "single precision", "six digits", "large answer", "clipped", "rectified", "two columns", "signs"],
)
def test_fresh_noise_that_was_written_coarsely_is_not_accused(outputs):
    """All but the first repeat among 20,000 honest draws, for want of digits or because they were clipped (seed 5)."""
    result = floating_point.repeated_noise(outputs[:10_000], outputs[10_000:])
    assert result.verdict is not Verdict.VIOLATED


@pytest.mark.parametrize("coarse", [lambda noise: noise, lambda noise: noise.astype(np.float32)])
def test_a_small_seed_space_repeats_itself(coarse):
    """Red case: 30 outputs a side from 64 seeds repeat, and neither 53 nor 24 bits explain it."""
    noise = coarse(NOISE[np.random.default_rng(6).integers(0, 64, 60)])
    result = floating_point.repeated_noise(noise[:30], noise[30:])
    assert result.verdict is Verdict.VIOLATED and result.evidence["repeats"] > 5
    assert floating_point.repeated_noise(noise[:1], noise[:1]).verdict is Verdict.VIOLATED
