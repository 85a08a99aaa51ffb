import numpy as np

from dpassay.audit.blackbox.detect import float_grid
from dpassay.audit.blackbox.outputs import draw
from dpassay.audit.results import Verdict
from dpassay.audit.zoo import laws as zoo_laws
from dpassay.reference.guarantee import approx_dp, gdp


def _judged(mechanism, claim, seed=0, samples=6000):
    rng = np.random.default_rng(seed)
    p, q = (draw(mechanism, data, samples, rng) for data in (0.0, 1.0))
    return float_grid(p, q, claim, rng)


def test_naive_laplace_fails_on_its_grid():
    """6,000 outputs a side (seed 0): p-value below 1e-6; the real-valued mechanism is fine."""
    found = _judged(zoo_laws.laplace_noise(1.0), approx_dp(1.0))
    assert found.p_value < 1e-6
    assert found.evidence["cause"] == "floats"


def test_naive_gaussian_fails_on_its_grid():
    found = _judged(zoo_laws.gaussian_noise(1.0), gdp(1.0))
    assert found.verdict is Verdict.VIOLATED
    assert found.evidence["cause"] == "floats"


def test_a_sampler_on_a_coarse_grid_passes():
    """Rounding to 2^-10 removes the signature: 3 seeds, level 5 % each, at most one alarm."""
    mechanism = zoo_laws.on_a_grid(zoo_laws.laplace_noise(1.0), 2.0**-10)
    found = [_judged(mechanism, approx_dp(1.0), seed=seed, samples=2000) for seed in range(3)]
    assert sum(one.verdict is Verdict.VIOLATED for one in found) <= 1


def test_a_broken_mechanism_is_not_blamed_on_the_floats():
    found = _judged(zoo_laws.laplace_noise(0.3), approx_dp(1.0))
    assert (found.evidence["real_numbers"], found.evidence["cause"]) == ("violated", "mechanism")
