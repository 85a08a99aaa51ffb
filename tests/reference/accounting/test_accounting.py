"""Accounts and the calibrator: closed forms, edges where an account could be too low or not come back."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from dpassay.reference.accounting import parts
from dpassay.reference.accounting.calibrate import Uncalibrated, noise_factor, noise_for
from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon, gdp_mu, nudged, root, zcdp_rho
from dpassay.reference.accounting.parts import Part
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.guarantee import from_pairs, gdp
from dpassay.reference.noise import Multipliers
from dpassay.reference.tape import LiveTape, record

DELTA = 1e-5


def costs(release, relation="replace-one"):
    tape = LiveTape(0)
    release(tape)
    return account(tape.transcript, relation)


def test_fresh_batches_do_not_add_up_but_their_worst_counts():
    def fresh(*mus):
        def release(tape):
            for k, mu in enumerate(mus):
                batch = tape.fresh(f"f{k}", 100, 20)
                tape.gaussian("g", 0.0, std=1 / mu, sensitivity=1.0, batch=batch)

        return costs(release).epsilon(DELTA)

    assert fresh(0.5, 0.5, 0.5) == pytest.approx(fresh(0.5))
    assert fresh(0.5, 0.9, 0.1) == pytest.approx(gdp_epsilon(0.9, DELTA))


def test_laplace_and_above_threshold_are_pure():
    """And where it is known that there is one test only, that is a Laplace release."""

    def tests(queries):
        scales = {"threshold_scale": 2.0, "query_scale": 4.0}
        return lambda tape: tape.above_threshold("s", queries, threshold=1.0, **scales, sensitivity=1.0)

    laplace = costs(lambda tape: tape.laplace("l", 0.0, scale=2.0, sensitivity=1.0))
    found = [one.epsilon(1e-12) for one in (laplace, costs(tests(iter([0.0]))), costs(tests([0.0])))]
    assert found == pytest.approx([0.5, 1.0, 0.25], abs=2e-3)


@pytest.mark.parametrize(
    ("size", "digits"),
    [(0.0, 13), (1 / 3, 13), (10 / 3, 12), (1000 / 3, 10), (1e-5 / 3, 18), (0.3, 13), (1.0, 12), (100.0, 10)],
)
def test_equal_up_to_rounding_is_equal_and_no_less(size, digits):
    """Thirteen digits, after three quarters of the last one were added; on 0.3 and 1.0 the last bit decided."""
    found = parts.clean(size)
    assert size <= found <= size + 1.26 * 10.0**-digits
    assert found == parts.clean(size * (1 + 1e-15)) == parts.clean(size * (1 - 1e-15)) == round(found, digits)


# One guarantee in its forms: pairs, mu-GDP; read as delta, epsilon, trade-off.
def test_delta_is_that_of_the_pairs_alone():
    """Below the smallest epsilon stands its mirror image, below all of them nothing; so of epsilon too."""
    claim = from_pairs([(2.0, 0.2), (1.0, 0.01), (0.5, 0.3), (1.0, 0.005)])
    backward = 1 - math.exp(-0.5) + math.exp(-0.5) * 0.3
    known = {-3.0: 1.0, 0.4: backward, 0.5: 0.3, 0.99: 0.3, 1.0: 0.005, 9.0: 0.005}
    assert {epsilon: claim.delta(epsilon) for epsilon in known} == pytest.approx(known)
    wanted = {0.001: None, math.nextafter(0.005, 0): None, 0.005: 1.0, 0.0099: 1.0, 0.25: 1.0, 0.3: 0.5, 0.9: 0.5}
    assert {delta: claim.epsilon(delta) for delta in wanted} == wanted
    alpha = np.linspace(0.001, 0.999, 50)
    lines = [np.maximum(1 - d - np.exp(e) * alpha, np.exp(-e) * (1 - d - alpha)) for e, d in ((1.0, 0.005), (0.5, 0.3))]
    assert (claim.trade_off(alpha) <= np.maximum(np.max(lines, axis=0), 0) + 1e-12).all()


def test_what_is_read_off_tangents_errs_upwards():
    claim, grid = gdp(1.3), np.linspace(0.0, 6.0, 25)
    assert all(claim.delta(float(e)) >= gdp_delta(float(e), 1.3) * (1 - 1e-9) for e in grid)
    found = claim.epsilon(1e-5)
    assert found is not None and gdp_epsilon(1.3, 1e-5) <= found <= gdp_epsilon(1.3, 1e-5) + 0.15


def joint_delta(q, mu, size, epsilon):
    """Hockey-stick of (1-q) N(0) Lap(0) + q N(mu) Lap(size) against N(0) Lap(0): closed in x, summed over y."""
    y = np.linspace(-40, 40 + size, 200_001)
    ratio = np.abs(y) - np.abs(y - size)
    cut = (np.log((np.expm1(epsilon) + q) / q) - ratio + mu**2 / 2) / mu
    out, inside = 0.5 * np.exp(-np.abs(y)), 0.5 * np.exp(-np.abs(y - size))
    return np.trapezoid((1 - q - np.exp(epsilon)) * out * ndtr(-cut) + q * inside * ndtr(mu - cut), y)


@pytest.mark.parametrize(("q", "mu", "size"), [(0.01, 3.0, 3.0), (0.001, 2.0, 2.0), (0.1, 1.0, 1.0)])
def test_gaussian_and_laplace_on_one_secret_batch(q, mu, size):
    """Amplified apart they cost 1.75 at delta 1e-5 in the last row, where the exact delta is 1.3e-4."""

    def release(tape):
        batch = tape.batch("b", round(1 / q), 1)
        tape.gaussian("g", 0.0, std=1.0, sensitivity=mu, batch=batch)
        tape.laplace("l", 0.0, scale=1.0, sensitivity=size, batch=batch)

    assert joint_delta(q, mu, size, costs(release).epsilon(DELTA)) <= DELTA


@pytest.mark.parametrize("std", [1e-320, 1e-200])
def test_next_to_no_noise_is_none(std):
    found = costs(lambda tape: tape.gaussian("g", 0.0, std=std, sensitivity=1.0))
    assert found.epsilon(DELTA) == math.inf and "next to no noise" in found.method


@pytest.mark.parametrize("mu", [1e6, 1e12, 1e90])
def test_huge_mu_has_its_bound(mu):
    assert mu**2 / 2 <= gdp_epsilon(mu, DELTA) <= (mu**2 / 2) * (1 + 1e-12) + 6 * mu


def test_a_delta_whose_inverse_overflows():
    assert gdp_epsilon(1.0, 1e-310) == pytest.approx(38.066, abs=1e-3)
    rho = zcdp_rho(1.0, 1e-310)
    assert rho + 2 * math.sqrt(-rho * math.log(1e-310)) == pytest.approx(1.0)


@pytest.mark.parametrize("sampled", [False, True])
def test_pure_parts_beyond_the_exponential(sampled):
    """1000 + 2 = 1002 at full batch; halved odds take log 2 off."""

    def release(tape):
        batch = tape.batch("b", 10, 5) if sampled else None
        scales = {"threshold_scale": 1e-3, "query_scale": 1.0}
        tape.above_threshold("a", [0.0], threshold=0.0, **scales, sensitivity=1.0, batch=batch)
        tape.laplace("l", 0.0, scale=1.0, sensitivity=1e-310)  # no grid point for it

    found = costs(release)
    exact = 1002 - (math.log(2) if sampled else 0)
    assert exact <= found.epsilon(DELTA) <= exact + 0.01
    assert found.delta(exact - 1) == 1.0 and found.delta(exact + 1) < DELTA


def test_a_large_gaussian_beside_another_law():
    """Both guarantees add up; composing them on one grid would take 5e12 points."""

    def release(tape):
        tape.gaussian("g", 0.0, std=1e-5, sensitivity=1.0)
        tape.laplace("l", 0.0, scale=1.0, sensitivity=1.0)

    found, alone = costs(release), gdp_epsilon(1e5, DELTA)
    epsilon = found.epsilon(DELTA)
    assert alone <= epsilon <= alone + 1e5
    assert gdp_delta(epsilon, 1e5) <= found.delta(epsilon) <= 2 * DELTA
    assert found.delta(1.0) == 1.0


def test_a_gap_is_a_lack_of_knowledge_or_of_noise():
    """Of all gaps: one release without noise is no lack of knowledge, whatever else is not known."""

    def claimed(tape):
        tape.gaussian("n", 0.0, std=1.0, sensitivity=None)

    def bare(tape):
        tape.gaussian("b", 0.0, std=0.0, sensitivity=1.0)

    assert costs(claimed).unknown and not costs(bare).unknown
    both = costs(lambda tape: (claimed(tape), bare(tape)))
    assert both.gap and not both.unknown and both.mu() is None and both.one_direction(1e-5) is None
    assert both.delta(5.0) == 1.0 and both.deltas([1.0, 2.0]).tolist() == [1.0, 1.0] and both.epsilon(0.5) == math.inf
    for bad in (0.0, -0.5, 1.0):
        with pytest.raises(BadInput, match="delta"):
            both.epsilon(bad)
    told = costs(lambda tape: tape.gaussian("g", 0.0, std=1.0, sensitivity=1.0))
    assert both.gap_label == "n" and told.gap_label == told.gap == "" and not told.unknown
    assert told.delta(1.0) == pytest.approx(gdp_delta(1.0, 1.0), rel=1e-9)


def test_one_direction_is_that_of_fixed_size_batches_of_replaced_records():
    """Below the account, whose pair covers every mixture of both; of other neighbours and samplings there is none."""
    drawn, plain = (Part("sampled", 1.0, 0.2), 5), (Part("gaussian", 0.5), 1)
    found = Account((drawn, plain))
    doubled = Account(((Part("sampled", 2.0, 0.2, "poisson"), 5), plain), relation="add-remove")
    assert found.one_direction(1e-5) == doubled.epsilon(1e-5) < found.epsilon(1e-5)
    assert Account((drawn, plain), relation="add-remove").one_direction(1e-5) is None
    assert Account((plain,)).one_direction(1e-5) is None
    assert Account((drawn, (Part("sampled", 1.0, 0.2, "poisson"), 1))).one_direction(1e-5) is None
    assert Account((drawn, (Part("pure", 800.0), 1))).one_direction(1e-5) is None


def test_a_release_that_no_record_moves_costs_nothing():
    def still(tape):
        tape.gaussian("g", 0.0, std=1.0, sensitivity=0.0)
        tape.laplace("l", 0.0, scale=1.0, sensitivity=0.0)
        tape.gaussian("b", 0.0, std=0.0, sensitivity=0.0)

    assert costs(still).common == () and costs(still).epsilon(1e-9) == 0.0


@dataclass(frozen=True)
class Schedule:
    steps: int
    noise: Multipliers
    batch: int | None = None
    law: str = "gaussian"


def run(problem, schedule, tape):
    value = 0.0
    for _ in range(schedule.steps):
        batch = tape.batch("batch", 50, schedule.batch) if schedule.batch else None
        std = schedule.noise.std("mean", 0.5)
        if schedule.law == "gaussian":
            value = tape.gaussian("mean", float(np.mean(problem)), std=std, sensitivity=0.5, batch=batch)
        else:
            value = tape.laplace("mean", float(np.mean(problem)), scale=std, sensitivity=0.5, batch=batch)
    return value


@settings(max_examples=6)
@given(st.integers(1, 6), st.sampled_from([None, 5, 25]), st.sampled_from(["gaussian", "laplace"]), st.floats(0.3, 4.0))
def test_the_account_meets_the_budget_and_nearly_uses_it_up(steps, batch, law, epsilon):
    schedule = Schedule(steps, Multipliers({"mean": 1.0}), batch, law)
    found = noise_for(run, schedule, np.zeros(50), epsilon, 1e-5)

    def spent(schedule):
        return account(record(lambda tape: run(np.zeros(50), schedule, tape), 0)).epsilon(1e-5)

    assert spent(found) <= epsilon
    assert spent(replace(found, noise=found.noise.scaled(0.999))) > epsilon


def test_what_costs_nothing_keeps_its_noise():
    """No noise is too little where nothing is released: zero steps are no reason to refuse, nor to take noise away."""
    schedule = Schedule(0, Multipliers({"mean": 3.0}))
    assert noise_for(run, schedule, np.zeros(50), 1.0, 1e-5) == schedule
    assert noise_factor(Account(()), 1.0, 1e-5) == 1.0


def test_what_cannot_be_calibrated_is_refused():
    with pytest.raises(BadInput, match="noise"):
        noise_for(run, Schedule(1, Multipliers({"mean": 0.0})), np.zeros(50), 1.0, 1e-5)
    with pytest.raises(BadInput, match="no noise in reach"):
        noise_factor(Account(((Part("pure", 1e60), 1),)), 1.0, 1e-5)
    for epsilon in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(BadInput, match="epsilon"):
            gdp_mu(epsilon, DELTA)


def test_what_stands_in_the_way_of_a_budget_is_named():
    """A release without noise is a finding; a sensitivity that nobody claims is a lack of knowledge, and none."""
    bare = account(record(lambda tape: tape.gaussian("b", 0.0, std=0.0, sensitivity=1.0), 0))
    with pytest.raises(Uncalibrated, match="no noise level makes this accountable") as refused:
        noise_factor(bare, 1.0, 1e-5)
    found = refused.value.finding
    assert found is not None and (found.kind, found.label, found.detail) == (Kind.BARE_RELEASE, "b", bare.gap)
    unclaimed = account(record(lambda tape: tape.gaussian("u", 0.0, std=1.0, sensitivity=None), 0))
    with pytest.raises(Uncalibrated, match="no sensitivity is claimed for 'u'") as refused:
        noise_factor(unclaimed, 1.0, 1e-5)
    assert refused.value.finding is None


def test_the_dry_run_may_be_told_the_longest_answers_and_the_relation_by_name():
    """It goes on for as long as it hears 1: four releases instead of two."""

    def answered(problem, schedule, tape):
        for k in range(4):
            value = tape.gaussian("g", 0.0, std=schedule.noise.std("mean", 1.0), sensitivity=1.0)
            if k >= 1 and value < 1:
                return

    schedule = Schedule(0, Multipliers({"mean": 1.0}))
    longest = noise_for(answered, schedule, None, 1.0, 1e-5, longest=lambda label, law, step: 1.0)
    assert longest.noise["mean"] == pytest.approx(2 / gdp_mu(1.0, 1e-5), rel=2e-6)
    shortest = noise_for(answered, schedule, None, 1.0, 1e-5, longest=lambda label, law, step: 0.0)
    assert shortest.noise["mean"] == pytest.approx(math.sqrt(2) / gdp_mu(1.0, 1e-5), rel=2e-6)
    halved = noise_for(answered, schedule, None, 1.0, 1e-5, relation="add-remove", longest=lambda *_: 0.0)
    assert halved.noise["mean"] == pytest.approx(shortest.noise["mean"] / 2, rel=2e-6)
    with pytest.raises(TypeError, match="positional"):
        noise_for(answered, schedule, None, 1.0, 1e-5, "add-remove")


def test_a_root_asks_once_for_each_value_and_what_is_rounded_to_nothing_good_is_no_bound():
    asked = []
    found = root(lambda x: asked.append(x) or x * x - 2, 0.0, 2.0)
    assert found == pytest.approx(math.sqrt(2), rel=1e-14) and len(asked) == len(set(asked))
    assert nudged(1.0, lambda value: value > 1, 1) > 1
    with pytest.raises(ArithmeticError):
        nudged(1.0, lambda _: False, 1)
