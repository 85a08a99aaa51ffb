"""Curves and their composition against 60 digits and more: never on the unsound side, and hardly on the other."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpassay.reference.accounting.above_threshold import response_delta
from dpassay.reference.accounting.compose import Composed, TooLong, connected
from dpassay.reference.accounting.cost import Account
from dpassay.reference.accounting.gdp import gdp_delta, gdp_deltas, gdp_epsilon, gdp_mu, zcdp_rho
from dpassay.reference.accounting.parts import (
    Part,
    composed,
    curve,
    delta_of,
    end_of,
    epsilon_of,
    laplace_delta,
    mu_of,
    renyi_delta,
    renyi_epsilon,
)
from dpassay.reference.accounting.sampled import sampled_curve
from dpassay.reference.errors import BadInput

rates = st.floats(-9, 0).map(lambda power: 10.0**power)
mus = st.floats(-6, 2).map(lambda power: 10.0**power)
positive = st.floats(-9, 2.3).map(lambda power: 10.0**power)  # epsilons
epsilons = positive | st.just(0.0)
deltas = st.floats(-300, -0.001).map(lambda power: 10.0**power)
CLOSE = 1e-11  # relative; the roundings that are added up reach 6e-12
places = st.floats(-3, 12)  # along a curve: how many deviations epsilon is from the middle


def phi(z):
    return mpmath.erfc(-z / mpmath.sqrt(2)) / 2


def stick(epsilon, up, down, q):
    """``(1-q) N(0) + q N(up)`` against ``(1-q) N(0) + q N(down)``, up > down: P - e^eps P' beyond where they are equal.

    The loss increases; the cut is found by bisection.
    """
    with mpmath.workdps(70):
        e, q, up, down = (mpmath.mpf(one) for one in (epsilon, q, up, down))

        def log_of(x, move):
            return mpmath.log(1 - q + q * mpmath.exp(move * x - move**2 / 2))

        low, high = mpmath.mpf(-400), mpmath.mpf(400)
        for _ in range(240):
            middle = (low + high) / 2
            if log_of(middle, up) - log_of(middle, down) < e:
                low = middle
            else:
                high = middle

        def mass(move):
            return (1 - q) * phi(-low) + q * phi(move - low)

        return max(mpmath.mpf(0), mass(up) - mpmath.exp(e) * mass(down))


def against_null(epsilon, q, mu, backward):
    """The cut in closed form."""
    with mpmath.workdps(120):
        a, q, mu = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(q), mpmath.mpf(mu)
        level = (a - 1 + q) / q if not backward else (1 / a - 1 + q) / q
        if level <= 0:
            return max(mpmath.mpf(0), 1 - a) if backward else 1 - a
        cut = mpmath.log(level) / mu + mu / 2
        if backward:  # N(0) where the mixture is small
            return max(mpmath.mpf(0), phi(cut) - a * ((1 - q) * phi(cut) + q * phi(cut - mu)))
        return max(mpmath.mpf(0), (1 - q) * phi(-cut) + q * phi(mu - cut) - a * phi(-cut))


def fair(found, truth, relative=1e-9, absolute=1e-15):
    """Not below, and hardly above."""
    return truth <= found <= truth * (1 + relative) + mpmath.mpf(absolute)


def sampled_delta(epsilon, q, mu, sampling="without-replacement", relation="replace-one"):
    return float(sampled_curve(np.array([epsilon]), q, mu, sampling, relation)[0])


@settings(max_examples=40)
@given(rates, mus, places)
def test_tails_of_sampled_releases_keep_their_digits(q, mu, deviations):
    """Where delta goes from q to 1e-300."""
    inner = max(1e-6, mu * mu / 2 + 3 * deviations * mu)
    epsilon = math.log1p(q * math.expm1(min(inner, 600.0)))
    found, truth = sampled_delta(epsilon, q, mu), against_null(epsilon, q, mu, False)
    assert truth <= found
    # the grid of floats of epsilon itself moves delta by so much
    assert found <= truth * (1 + 1e-9 + 1e-14 * inner / mu * max(1.0, 3 * deviations) / q) + mpmath.mpf(1e-300) or (
        found <= against_null(epsilon, q, mu, True) * (1 + 1e-9)
    )


@settings(max_examples=10)
@given(rates, mus, epsilons)
@example(1e-9, 1e-3, 1e-13)
def test_poisson_batches_are_rounded_up(q, mu, epsilon):
    with mpmath.workdps(70):
        truth = stick(epsilon, mu / 2, -mu / 2, q)
    assert fair(sampled_delta(epsilon, q, mu, "poisson"), truth, 1e-9, 1e-11)


@settings(max_examples=60)
@given(epsilons, st.floats(-9, 2.8).map(lambda power: 10.0**power))
def test_pure_and_laplace_curves_are_rounded_up(epsilon, size):
    with mpmath.workdps(120):
        e, s = mpmath.mpf(epsilon), mpmath.mpf(size)
        pure = max(mpmath.mpf(0), (mpmath.exp(s) - mpmath.exp(e)) / (1 + mpmath.exp(s)))
        laplace = max(mpmath.mpf(0), 1 - mpmath.exp((e - s) / 2))
    assert fair(float(response_delta(np.array([epsilon]), size)[0]), pure, 1e-14, 0)
    assert fair(float(laplace_delta(np.array([epsilon]), size)[0]), laplace, 1e-14, 0)


@settings(max_examples=50)
@given(rates.filter(lambda rate: rate < 1), st.floats(-12, 2.8).map(lambda power: 10.0**power))
@example(1e-9, 1e-6)
def test_a_pure_epsilon_amplified_is_rounded_up(q, size):
    with mpmath.workdps(60):
        truth = mpmath.log1p(mpmath.mpf(q) * mpmath.expm1(mpmath.mpf(size)))
    assert fair(Part("pure", size, q).pure_epsilon, truth, 1e-11, 0)


@given(st.lists(st.tuples(mus, st.integers(1, 10**7)), min_size=1, max_size=5))
def test_a_mu_of_many_parts_is_rounded_up(sizes):
    with mpmath.workdps(60):
        truth = mpmath.sqrt(mpmath.fsum(count * mpmath.mpf(mu) ** 2 for mu, count in sizes))
    assert fair(mu_of((Part("gaussian", mu), count) for mu, count in sizes), truth, 1e-14, 0)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_grid_ends_where_neither_direction_has_more(relation):
    """Under add-remove the direction of the absent record ends at log(1 / (1 - rate)), long before the other."""
    part = Part("sampled", 1.0, 0.3, "poisson")
    for least in (1e-9, 1e-30):
        end = end_of(part, relation, least)
        for backward in (False, True):
            assert curve(part, relation, np.array([end]), backward)[0] <= least
        assert max(curve(part, relation, np.array([0.98 * end]), way)[0] for way in (False, True)) > least


@settings(max_examples=60)
@given(rates, mus, epsilons)
@example(1.0, 1.0, 0.5)
@example(0.3, 1.0, 0.2)
@example(0.1, 0.8, 0.0)
@example(1e-9, 100.0, 200.0)
def test_each_direction_of_poisson_batches_by_itself(q, mu, epsilon):
    """With the record against without it, and back, which ends at log(1 / (1 - q)); fixed sizes have the larger one."""
    for backward in (False, True):
        found = sampled_curve(np.array([epsilon]), q, mu, "poisson", "add-remove", backward)[0]
        assert fair(float(found), against_null(epsilon, q, mu / 2, backward))
    assert sampled_curve(np.array([epsilon]), q, mu, "without-replacement", "replace-one")[0] == max(
        sampled_curve(np.array([epsilon]), q, 2 * mu, "poisson", "add-remove", way)[0] for way in (False, True)
    )


@pytest.mark.more
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_sampled_release_that_nothing_bounds_costs_more_than_any_claim():
    assert Account(((Part("sampled", 1e120, 0.05, "poisson"), 80),)).epsilon(1e-5) > 1e200


def test_what_a_sampled_release_may_not_be():
    with pytest.raises(BadInput, match="relation = 'add-remove': fixed-size batches have no add-remove neighbours"):
        sampled_delta(1.0, 0.1, 1.0, "without-replacement", "add-remove")


def exact(epsilon, mu):
    """delta(epsilon) of mu-GDP."""
    return against_null(epsilon, 1.0, mu, False)


@settings(max_examples=50)
@given(epsilons, mus, st.floats(-6, 37))
def test_a_delta_is_rounded_up(epsilon, mu, deviations):
    """At an epsilon of either sign, and along the curve down to the smallest number."""
    for one in (epsilon, -epsilon, max(0.0, mu * mu / 2 + mu * deviations)):
        found, truth = gdp_delta(one, mu), min(exact(one, mu), 1)
        assert found <= 1 and fair(found, truth, CLOSE, 1e-300)


@settings(max_examples=50)
@given(mus, deltas)
def test_an_epsilon_is_rounded_up(mu, delta):
    found = gdp_epsilon(mu, delta)
    assert math.isfinite(found) and exact(found, mu) <= delta
    lower = found * (1 - 1e-9) - 1e-12 * mu
    assert lower <= 0 or exact(lower, mu) > delta


@settings(max_examples=50)
@given(positive, deltas)
def test_a_mu_is_rounded_down(epsilon, delta):
    found = gdp_mu(epsilon, delta)
    assert 0 < found < math.inf and exact(epsilon, found) <= delta
    assert exact(epsilon, found * (1 + 1e-9)) > delta


@settings(max_examples=50)
@given(positive, deltas)
def test_a_rho_is_rounded_down(epsilon, delta):
    with mpmath.workdps(60):
        log = -mpmath.log(delta)
        rho = (mpmath.sqrt(epsilon + log) - mpmath.sqrt(log)) ** 2
        assert rho * (1 - mpmath.mpf(1e-14)) <= zcdp_rho(epsilon, delta) <= rho


def test_many_releases_of_next_to_nothing_at_a_delta_of_next_to_nothing():
    parts = ((Part("pure", 1e-6), 10_000),)
    assert gdp_epsilon(1e-4, 1e-300) * 0.98 < epsilon_of(parts, "replace-one", 1e-300) < 0.004
    both = (*parts, (Part("sampled", 0.5, 0.1), 3))
    assert math.isfinite(epsilon_of(both, "replace-one", 1e-300))
    assert delta_of(parts, "replace-one", 0.0100001) == 0.0


@pytest.mark.parametrize("kind", ["laplace", "pure", "sampled"])
@pytest.mark.parametrize(("size", "count"), [(0.5, 8), (0.1, 300), (2.0, 3)])
def test_renyi_divergences_bound_what_the_grid_finds(kind, size, count):
    """The grid is pessimistic by less than a hundredth here, the orders by up to a fifth."""
    parts, grid = ((Part(kind, size), count),), composed(((Part(kind, size), count),), "replace-one", 1e-20)[0]
    shown = renyi_epsilon(parts, 1e-5)
    assert 0.99 < shown / grid.epsilon(1e-5) < 1.25
    for epsilon in (0.0, shown / 2, shown):
        assert 0.99 * grid.delta(epsilon) < renyi_delta(parts, epsilon) <= 1.0


@pytest.mark.parametrize(("epsilon", "mu"), [(1e300, 1e-3), (1e200, 1.0), (50.0, 1e-200), (3000.0, 2.0)])
def test_beyond_what_a_float_can_hold_a_delta_is_next_to_nothing(epsilon, mu):
    assert gdp_delta(epsilon, mu) == 1e-320


def test_nothing_released_and_everything():
    for epsilon, delta in ((0.0, 0.0), (2.0, 0.0), (-2.0, -math.expm1(-2.0)), (math.inf, 0.0), (-math.inf, 1.0)):
        assert gdp_delta(epsilon, 0.0) == delta
    assert gdp_delta(-math.inf, 0.0) == gdp_delta(-800.0, math.inf) == gdp_delta(5.0, math.inf) == 1.0
    assert gdp_delta(math.inf, math.inf) == 0.0
    assert gdp_epsilon(math.inf, 0.5) == math.inf and gdp_epsilon(0.0, 0.5) == 0.0
    assert gdp_epsilon(0.1, 0.9) == 0.0 < gdp_epsilon(0.1, 0.01)
    for delta in (0.0, 1.0, -0.1, 1.1):
        with pytest.raises(BadInput, match="delta"):
            gdp_epsilon(1.0, delta)
    for refused in (gdp_epsilon, lambda mu, epsilon: gdp_delta(epsilon, mu)):
        with pytest.raises(BadInput, match="mu"):
            refused(-0.1, 0.5)


def responses(size, count, epsilon):
    """delta of ``count`` randomised responses, exactly: sums of binomial probabilities, from the first that counts."""
    with mpmath.workdps(60):
        e0, e = mpmath.mpf(size), mpmath.mpf(epsilon)
        rate = 1 / (1 + mpmath.exp(-e0))
        k = max(0, int(mpmath.ceil((e / e0 + count) / 2)))
        term, total = mpmath.binomial(count, k) * rate**k * (1 - rate) ** (count - k), mpmath.mpf(0)
        for won in range(k, count + 1):
            more = term * (1 - mpmath.exp(e - (2 * won - count) * e0))
            total += more
            if won > k + 20 and more < total * mpmath.mpf("1e-30"):
                break
            term *= mpmath.mpf(count - won) / (won + 1) * mpmath.exp(e0)
        return total


@settings(max_examples=8)
@given(st.floats(-6, 1.9), st.floats(0, 5), st.floats(-300, -1))
@example(math.log10(0.5), 6.0, -5.0)  # on a grid of 1e-3 it was 1.33 times epsilon
@example(math.log10(3.0), 7.0, -14.0)  # untilted it is too little
def test_many_gaussians_as_one(log_mu, log_count, power):
    """Sampled at rate 1 they go over the grid: what they are together is known in closed form."""
    mu, count, delta = 10.0**log_mu, round(10.0**log_count), 10.0**power
    together = composed(((Part("sampled", mu / math.sqrt(count), 1.0), count),), "replace-one", delta * 1e-9)[0]
    exact = gdp_epsilon(mu, delta)
    assert exact * (1 - 1e-9) <= together.epsilon(delta) <= exact * 1.004 + 1e-3 * mu
    assert together.delta(exact) >= gdp_delta(exact, mu) * (1 - 1e-9)


@settings(max_examples=15)
@given(st.floats(-4, 0.7), st.integers(1, 2000), st.floats(0, 1))
def test_many_randomised_responses_as_they_are(log_size, count, share):
    """Losses that lie on no grid point: rounded up, by a hundredth of epsilon at most."""
    size = 10.0**log_size
    epsilon = share * size * min(count, 3 + 12 * math.sqrt(count))
    together = composed(((Part("pure", size), count),), "replace-one", 0.0)[0]
    found, truth = together.delta(epsilon), responses(size, count, epsilon)
    assert truth * (1 - mpmath.mpf(1e-12)) <= found
    slack = 0.01 * epsilon + 0.01 * size
    assert found <= responses(size, count, max(0.0, epsilon - slack)) * (1 + 3e-2) + mpmath.mpf(1e-300)


@settings(max_examples=40)
@given(st.sampled_from(["laplace", "pure"]), st.floats(-5.9, 2.3), st.floats(-6, -0.05) | st.floats(-300, -0.05))
@example("laplace", 0.0, math.log10(0.26))
@example("laplace", math.log10(28.304191431676553), math.log10(0.002709397675783271))
def test_one_bounded_release_costs_what_its_curve_says(kind, log_size, power):
    """By the tilt of Chernoff's bound alone the first example was 0.462, not 0.398; in the second a window ends
    just where the largest loss is, and without it epsilon is too small.
    """
    size, delta = 10.0**log_size, 10.0**power
    with mpmath.workdps(60):
        e0, d = mpmath.mpf(size), mpmath.mpf(delta)
        gone = d * (1 + mpmath.exp(-e0)) if kind == "pure" else 1 - (1 - d) ** 2
        exact = max(mpmath.mpf(0), e0 + mpmath.log1p(-gone)) if gone < 1 else mpmath.mpf(0)
    found = epsilon_of(((Part(kind, size), 1),), "replace-one", delta)
    assert exact * (1 - mpmath.mpf(1e-15)) <= found <= exact * (1 + mpmath.mpf(2e-3)) + mpmath.mpf(1e-8)


def test_two_kinds_together_by_convolution():
    """A Gaussian and a Laplace release: delta is the mean over the Laplace losses of the Gaussian's curve."""
    mu, size = 0.7, 0.9
    parts = ((Part("sampled", mu, 1.0), 1), (Part("laplace", size), 1))
    for epsilon in (0.0, 0.5, 2.0, 6.0):
        with mpmath.workdps(30):

            def curve(loss, epsilon=epsilon):
                return mpmath.mpf(gdp_delta(float(epsilon - loss), mu))

            # of Lap(0, 1) against Lap(size, 1): size with mass 1/2, -size with e^-size / 2, between e^((l-size)/2) / 4
            exact = curve(size) / 2 + mpmath.exp(-size) / 2 * curve(-size)
            exact += mpmath.quad(lambda loss: mpmath.exp((loss - size) / 2) / 4 * curve(loss), [-size, 0, size])
        found = delta_of(parts, "replace-one", epsilon)
        assert exact * (1 - mpmath.mpf(1e-9)) <= found <= exact * (1 + mpmath.mpf(2e-3))


def dotted(count, step=0.01):
    """The law of so many dots of N(0.4)."""
    deltas = gdp_deltas(step * np.arange(count), 0.4)
    return connected(deltas, deltas, step)


@pytest.mark.parametrize("count", [50, 500])
def test_a_law_of_dots_has_the_curve_it_is_made_of(count):
    """At the dots exactly; between them the chord, above the curve. What is beyond them is an infinite loss."""
    step, law = 0.01, dotted(count)
    losses = step * (law.first + np.arange(len(law.probs)))
    assert math.isclose(math.fsum(law.probs) + law.infinite, 1.0, rel_tol=1e-12)
    assert law.infinite == pytest.approx(gdp_delta((count - 1) * step, 0.4))
    assert law == law != dotted(count)  # its arrays are not compared
    for epsilon in (-0.3, 0.0, 0.2):
        delta = float(np.maximum(-np.expm1(epsilon - losses), 0.0) @ law.probs) + law.infinite
        assert math.isclose(delta, gdp_delta(epsilon, 0.4), rel_tol=1e-9)
    one, two = Composed([(law, 1)], step), Composed([(law, 2)], step)
    assert gdp_delta(0.205, 0.4) < one.delta(0.205) < gdp_delta(0.205, 0.4) * 1.001
    assert one.epsilon(gdp_delta(0.2, 0.4)) == pytest.approx(0.2, abs=2e-3) and one.epsilon(0.9) == 0.0
    if count == 50:  # it counts at every epsilon
        assert one.delta(30.0) == pytest.approx(law.infinite, rel=1e-9) and one.epsilon(law.infinite) == math.inf
        assert two.delta(30.0) == pytest.approx(1 - (1 - law.infinite) ** 2, rel=1e-9)


def test_hardly_any_noise_is_no_trouble():
    """Losses of thousands: a coarser grid. This took a minute, and all memory at mu 100."""
    for mu, count in ((100.0, 10_000), (1e4, 7)):
        parts = ((Part("sampled", mu, 0.01), count),)
        found = epsilon_of(parts, "replace-one", 1e-5)
        assert 0.4 * mu * mu < found < gdp_epsilon(mu * math.sqrt(count), 1e-5)


def test_what_reaches_too_far_for_its_grid_says_so():
    law = connected(laplace_delta(np.arange(3.0), 2.0), laplace_delta(np.arange(3.0), 2.0), 1.0)
    for count in (10**11, 10**15):  # 2^22 points at most
        with pytest.raises(TooLong):
            Composed([(law, count)], 1.0).epsilon(1e-5)
    assert Composed([(law, 10**10)], 1.0).delta(1e15) < 1e-300
