"""Accounting: closed forms, dp-accounting, the notes' measured table, and what must not be accountable."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from dpassay.reference.accounting.cost import account
from dpassay.reference.accounting.dp_events import dp_event_of, rdp_epsilon
from dpassay.reference.accounting.gdp import gaussian_std, gdp_delta, gdp_epsilon, gdp_mu, zcdp_epsilon, zcdp_rho
from dpassay.reference.accounting.sampled import sampled_delta
from dpassay.reference.errors import BadInput
from dpassay.reference.tape import LiveTape

DELTA = 1e-5


def transcript(*sizes, **more):
    tape = LiveTape(0)
    for size in sizes:
        tape.gaussian("g", 0.0, std=1 / size, sensitivity=1.0, **more)
    return tape.transcript


def sampled(rate, mu, steps, poisson=False, n=1000):
    tape = LiveTape(0)
    for k in range(steps):
        batch = tape.poisson(f"b{k}", n, rate) if poisson else tape.batch(f"b{k}", n, round(rate * n))
        tape.gaussian("g", 0.0, std=1 / mu, sensitivity=1.0, batch=batch)
    return tape.transcript


@given(st.lists(st.floats(0.05, 1.5), min_size=1, max_size=8))
@settings(max_examples=50)
def test_gaussian_composition_is_gdp(sizes):
    """To 1e-6 against the exact formula."""
    mu = math.sqrt(sum(size**2 for size in sizes))
    assert account(transcript(*sizes)).epsilon(DELTA) == pytest.approx(gdp_epsilon(mu, DELTA), rel=1e-6, abs=1e-6)


def test_gdp_epsilon_against_the_hockey_stick_by_quadrature():
    for mu in (0.3, 1.0, 2.5):
        epsilon = gdp_epsilon(mu, DELTA)
        cut = epsilon / mu + mu / 2
        mass = quad(lambda x, mu=mu, e=epsilon: norm.pdf(x, mu) - math.exp(e) * norm.pdf(x), cut, cut + 40)[0]
        assert mass == pytest.approx(DELTA, rel=1e-6)


@given(st.floats(0.01, 20), st.floats(1e-12, 0.4))
@settings(max_examples=100)
def test_inverses(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    assert gdp_delta(epsilon, mu) == pytest.approx(delta, rel=1e-6)
    assert zcdp_epsilon(zcdp_rho(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-9)


@given(st.floats(0.05, 5), st.floats(1.01, 3), st.floats(1e-9, 1e-2))
@settings(max_examples=60)
def test_more_noise_is_more_private(mu, factor, delta):
    assert gdp_epsilon(mu / factor, delta) <= gdp_epsilon(mu, delta)
    assert gdp_epsilon(mu, delta * factor) <= gdp_epsilon(mu, delta)


@given(st.floats(0.1, 4), st.integers(1, 50))
@settings(max_examples=40)
def test_calibrated_noise_uses_the_budget_exactly(epsilon, releases):
    std = gaussian_std(epsilon, DELTA, 2.0, releases)
    tape = LiveTape(0)
    for _ in range(releases):
        tape.gaussian("g", 0.0, std=std, sensitivity=2.0)
    assert account(tape.transcript).epsilon(DELTA) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("poisson", [False, True])
def test_one_sampled_release_is_the_pair_in_closed_form(poisson):
    found = account(sampled(0.1, 1.0, 1, poisson=poisson))
    for epsilon in (0.05, 0.2, 0.4):
        exact = float(sampled_delta(np.array([epsilon]), 0.1, 1.0, "poisson" if poisson else "without-replacement")[0])
        assert found.delta(epsilon) == pytest.approx(exact, rel=0.01)
        assert found.delta(epsilon) >= exact * (1 - 1e-9), "an upper bound"


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement"])
@pytest.mark.parametrize("mu", [0.2, 1.0, 4 / 3, 3.0])
def test_sampled_pair_against_quadrature(sampling, mu):
    """The hockey-stick of the mixtures, integrated; one epsilon at a time equals the whole curve at once."""
    q, (up, down) = 0.2, (mu / 2, -mu / 2) if sampling == "poisson" else (mu, 0.0)

    def excess(x, epsilon, one, other):
        first = (1 - q) * norm.pdf(x) + q * norm.pdf(x, one)
        second = (1 - q) * norm.pdf(x) + q * norm.pdf(x, other)
        return np.maximum(first - math.exp(epsilon) * second, 0.0)

    epsilons = np.array([-0.3, 0.1, 0.5, 1.0, 2.0])
    x = np.linspace(-12, 15, 100_001)
    curve = sampled_delta(epsilons, q, mu, sampling)
    for epsilon, delta in zip(epsilons, curve, strict=True):
        pairs = [(up, down)] if sampling == "poisson" else [(up, down), (down, up)]
        exact = max(np.trapezoid(excess(x, epsilon, *pair), x) for pair in pairs)
        assert delta == pytest.approx(exact, rel=1e-5, abs=1e-12)
        assert sampled_delta(np.array([epsilon]), q, mu, sampling)[0] == pytest.approx(delta, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("poisson", [False, True])
def test_large_moves_stay_accountable(poisson):
    """Sampling never costs more than taking part in every step."""
    assert account(sampled(0.2, 2.0, 4, poisson=poisson)).epsilon(DELTA) <= gdp_epsilon(4.0, DELTA)


def test_fixed_size_batches_cover_both_directions():
    """The envelope is above either direction alone, and composing one direction shows less."""
    found = account(sampled(0.1, 0.5, 100))
    assert found.one_direction(DELTA) < found.epsilon(DELTA)
    assert account(transcript(1.0)).one_direction(DELTA) is None


def test_sampling_amplifies():
    assert account(sampled(0.1, 0.5, 20)).epsilon(DELTA) < account(transcript(*[0.5] * 20)).epsilon(DELTA) / 2


def test_sampling_everybody_is_no_sampling():
    assert account(sampled(1.0, 0.5, 4)).epsilon(DELTA) == pytest.approx(gdp_epsilon(1.0, DELTA), rel=1e-9)


def test_add_remove_halves_the_move():
    assert account(transcript(1.0), "add-remove").epsilon(DELTA) == pytest.approx(gdp_epsilon(0.5, DELTA))


def test_rdp_is_an_upper_bound_on_the_exact_value():
    for sizes in ((0.5,), (0.3, 0.4, 1.0)):
        tape = transcript(*sizes)
        assert account(tape).epsilon(DELTA) <= rdp_epsilon(tape, DELTA) <= 1.5 * account(tape).epsilon(DELTA)
    assert "Gaussian" in str(dp_event_of(transcript(1.0)))


def test_fresh_batches_do_not_add_up_but_their_worst_counts():
    def fresh(*mus):
        tape = LiveTape(0)
        for k, mu in enumerate(mus):
            batch = tape.fresh(f"f{k}", 100, 20)
            tape.gaussian("g", 0.0, std=1 / mu, sensitivity=1.0, batch=batch)
        return account(tape.transcript).epsilon(DELTA)

    assert fresh(0.5, 0.5, 0.5) == pytest.approx(fresh(0.5))
    assert fresh(0.5, 0.9, 0.1) == pytest.approx(gdp_epsilon(0.9, DELTA))


def test_a_release_without_noise_has_no_epsilon():
    tape = LiveTape(0)
    tape.gaussian("bare", 0.0, std=0.0, sensitivity=1.0)
    found = account(tape.transcript)
    assert found.epsilon(DELTA) == math.inf and "bare" in found.method and found.delta(3.0) == 1.0


def test_a_release_without_sensitivity_has_no_epsilon():
    tape = LiveTape(0)
    tape.gaussian("unknown", 0.0, std=1.0, sensitivity=None)
    assert account(tape.transcript).epsilon(DELTA) == math.inf


def test_laplace_and_above_threshold_are_pure():
    tape = LiveTape(0)
    tape.laplace("l", 0.0, scale=2.0, sensitivity=1.0)
    assert account(tape.transcript).epsilon(1e-12) == pytest.approx(0.5, abs=2e-3)
    tape = LiveTape(0)
    scales = {"threshold_scale": 2.0, "query_scale": 4.0}
    tape.above_threshold("s", iter([0.0]), threshold=1.0, **scales, sensitivity=1.0)
    assert account(tape.transcript).epsilon(1e-12) == pytest.approx(1.0, abs=2e-3)
    tape = LiveTape(0)
    tape.above_threshold("s", [0.0], threshold=1.0, **scales, sensitivity=1.0)
    assert account(tape.transcript).epsilon(1e-12) == pytest.approx(0.25, abs=2e-3), "one test is a Laplace release"


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan])
def test_impossible_delta(delta):
    with pytest.raises(BadInput, match="delta"):
        account(transcript(1.0)).epsilon(delta)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan])
def test_impossible_epsilon(epsilon):
    with pytest.raises(BadInput, match="epsilon"):
        gdp_mu(epsilon, DELTA)
