"""The rows of second_order_erm: findings where a defect is known, pairs that move all, shares that stay below one."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep, scripted
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.search.ground import AllOf, data_of
from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.accounting.parts import Part
from dpassay.reference.catalogue import find
from dpassay.reference.second_order_erm import opt, opt_b, opt_ls, space, two_opt, two_opt_b, two_opt_ls
from dpassay.reference.second_order_erm.cases import CASES, SHARED
from dpassay.reference.second_order_erm.subsampled import SampledBudget
from dpassay.reference.second_order_erm.worst_case import StepBound, pair_delta, pair_delta_infinity
from dpassay.reference.tape import LiveTape, record
from dpassay.reference.written import reason
from tests.reference.problems.made import opposed

WORST = [case for case in CASES if case.variant in ("worst", "lanczos")]


def case_of(key):
    return next(case for case in CASES if case.key == f"second_order_erm/{key}")


def sampled_epsilon(sigma, releases, rate, delta):
    return Account(((Part("sampled", 1 / sigma, rate), releases),)).epsilon(delta)


LEAKING = [case for case in CASES if case.known and case.known != SHARED]  # that one is found by accounting


@pytest.mark.some(4)
@pytest.mark.parametrize("case", LEAKING, ids=lambda case: case.key)
def test_a_number_of_steps_that_leaks_shows_in_one_of_sixty_runs(case):
    """z is the same on both sides, so the printed T differs only where f(w0) + |z| crosses an edge."""
    instance = case.build()
    assert any(lockstep(instance.mechanism, instance.pair, [7, k]).findings for k in range(60))
    assert instance.exact is not None


@pytest.mark.parametrize("case", WORST, ids=lambda case: case.key)
def test_the_worst_pair_moves_what_it_should_and_rarely_ends_early(case):
    """All but the line search are moved by 98 % of what is claimed; at most 1 of 15 runs returns early."""
    instance = case.build()
    run = lockstep(instance.mechanism, instance.pair, [3])
    assert run.complete and not run.findings
    shares = {label: movement.share for label, movement in run.movements.items() if "line search" not in label}
    assert shares and all(0.98 <= share <= 1 + 1e-9 for share in shares.values())
    assert sum(instance.mechanism(instance.pair.here, LiveTape(seed)).certified for seed in range(15)) <= 1


def test_what_the_pair_of_opt_ls_cannot_show_is_the_line_search():
    instance = case_of("opt_ls:worst@repaired").build()
    alone = instance.facts["epsilon without line searches"]
    assert 0.8 < alone < 0.9 < instance.accounted().epsilon(1e-5)


@pytest.mark.parametrize("key", ["opt@printed", "opt_ls@printed"])
def test_the_leak_costs_what_the_closed_form_says(key):
    """At an edge of the ceiling the pair reaches 2 Phi(Delta / (Delta_f sigma_f)) - 1, thousands of times delta."""
    case = case_of(key)
    exact = case.build().exact
    assert 0.05 < exact.at_infinity <= exact.at_claim
    assert exact.at_infinity > 5_000 * case.claim.delta


def test_the_number_of_steps_shows_the_bound_and_the_neighbour_cannot_take_so_few():
    """200 runs on D and on D': none returns early; the shortest are impossible on D', as often as the form says."""
    instance = case_of("opt@printed").build()
    steps = {}
    for name, problem in (("D", instance.pair.here), ("D'", instance.pair.there)):
        outcomes = [instance.mechanism(problem, LiveTape(seed)) for seed in range(200)]
        assert not any(outcome.certified for outcome in outcomes)
        steps[name] = np.array([outcome.gradient_steps + outcome.curvature_steps for outcome in outcomes])
    below = float((steps["D"] < steps["D'"].min()).mean())
    spread = np.sqrt(instance.exact.at_infinity / 200)
    assert below == pytest.approx(instance.exact.at_infinity, abs=4 * spread)


def test_the_closed_form_can_say_that_nothing_leaks():
    """Between two edges of the ceiling T has the same support on both sides, and hardly another law."""
    far = [StepBound(value, 0.5, 1.0) for value in (2.5, 2.6)]
    assert pair_delta_infinity(*far) == 0
    assert pair_delta(*far, 1.0) < 1e-6
    assert pair_delta(*far, 0.0) > 1e-2


def test_one_batch_for_two_releases_costs_more_than_eq_29_says():
    """Theorem B.5: 5.77 against 5 as printed; the same noise is enough when the Hessian has a batch of its own."""
    case = case_of("opt_b:shared-batch@printed")
    instance, schedule = case.build(), case.build().schedule
    shared = instance.accounted().epsilon(case.claim.delta)
    assert shared == pytest.approx(sampled_epsilon(schedule.noise.sigma(1) / sqrt(2), 1, 1 / 50, 1e-5), rel=1e-3)
    assert shared == pytest.approx(5.774, abs=2e-3) and case.claim.epsilon == 5
    apart = replace(schedule, reading="repaired")  # the printed noise, two batches
    transcript = record(lambda tape: opt_b.run(instance.pair.here, apart, tape), 1)
    assert account(transcript).epsilon(case.claim.delta) < 5
    shares = lockstep(instance.mechanism, instance.pair, [1]).movements
    assert all(0.99 <= movement.share <= 1 for movement in shares.values()) and len(shares) == 2


@pytest.mark.parametrize(
    ("steps", "n", "epsilon", "true"), [(4, 50, 1.0, 0.68), (4, 50, 2.0, 2.02), (4, 50, 3.0, 3.286)]
)
def test_the_slack_of_eq_27_covers_the_shared_batch_for_small_epsilon(steps, n, epsilon, true):
    sigma = SampledBudget(epsilon, 1e-5, 1 / n).sigma(steps)
    assert sampled_epsilon(sigma / sqrt(2), steps, 1 / n, 1e-5) == pytest.approx(true, abs=2e-3)


@pytest.mark.parametrize("module", [two_opt, two_opt_ls, two_opt_b])
def test_two_phase_rows_list_the_wrapped_algorithm_and_what_is_really_done(module):
    name = module.__name__.rsplit(".", 1)[1]
    inner = {"two_opt": opt, "two_opt_ls": opt_ls, "two_opt_b": opt_b}[name]
    assert set(inner.COMPLETIONS) < set(module.COMPLETIONS) and set(inner.REPAIRS) < set(module.REPAIRS)
    assert any("filter" in text for text in module.REPAIRS) == (module is not two_opt_b)
    for case in CASES:
        if case.id.endswith(f"/{name}"):
            assert case.completions + case.repairs in (module.COMPLETIONS, module.REPAIRS)
            assert case.build().schedule.hope >= 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_each_row_runs_the_algorithm_that_is_named_as_its_id(case):
    assert case.build().run.__module__ == f"dpassay.reference.second_order_erm.{case.id.split('/')[1]}"


BY_GRADIENT = {
    "initial value": Choice("norm", size=128.6, along="axis"),
    "gradient": Choice("norm", size=8.24, along="last"),
    "line search/gradient": Choice("index", index=0),
}
BY_CURVATURE = {
    "initial value": Choice("zero"),
    "gradient": Choice("norm", size=10.8, along="last"),
    "hessian": Choice("norm", size=-1.7, along="last"),  # it bends down there
}


@pytest.mark.parametrize("key", ["opt_ls:worst", "two_opt_ls:worst"])
def test_a_line_search_along_the_gradient_can_be_moved_by_all_that_it_declares(key):
    assert 0.998 < share_of(key, "line search/gradient", {"n": 8, "d": 3, "steps": 1}, BY_GRADIENT) <= 1.0


def test_a_line_search_along_a_curvature_can_be_moved_by_all_that_it_declares():
    assert 0.998 < share_of("opt_ls:worst", "line search/curvature", {"n": 2, "d": 3, "steps": 2}, BY_CURVATURE) <= 1.0


def share_of(key, label, sizes, values):
    """Rows that are mirror images but for 0.04, once the first released gradient has led far along the first axis."""
    (case,) = [one for one in find(f"second_order_erm/{key}") if one.reading == "repaired"]
    assert "0.999" in reason(label, case.attainable)
    rows = np.tile([0.0, 0.0, 0.0, 1.0], (sizes["n"], 1))
    rows[-1], there = (np.array([0.04, 0.0, sign * 0.9991, 1.0]) for sign in (1, -1))
    ground = AllOf(case.build().run, case.space())
    setting = ground.setting(data_of(case.space(), sizes, rows, there, sizes["n"] - 1))
    script = Script(values, exceptions={"gradient": {0: Choice("huge", along="axis")}}, beyond=True)
    return scripted(setting.mechanism, setting.pair, [0], script).shares[label]


def test_the_printed_hessian_bound_is_told_with_what_can_move():
    """sqrt(2)/4 of one record's curvature, over 2 B_H sqrt(d) with B_H = 0.252; no row's own pair moves more."""
    rows = [one for one in find("second_order_erm") if "at most" in one.attainable.get("hessian", "")]
    assert {one.reading for one in rows} == {"printed"} and len(rows) > 5
    for case in rows:
        for d in (1, 2, 3):
            assert f"{2**0.5 / 4 / (2 * 0.252 * d**0.5):.3f} for d = {d}" in case.attainable["hessian"]


def test_two_gradients_are_opposed_as_far_as_is_said_and_no_further():
    """A scan of pairs of unit vectors, and shorter ones, on both sides of a w of this length and on one."""
    grid, sizes = np.linspace(0, np.pi, 61), (0.7, 1.0)
    for length in (0.0, 1.0, 6.0, 12.2):
        one = [r * np.array([np.cos(t), np.sin(t)]) for t in grid for r in sizes]
        pushes = np.array([u / (1 + np.exp(-length * u[0])) for u in one])
        mirrored = pushes * [1.0, -1.0]
        apart = [np.linalg.norm(pushes[:, None] - other, axis=2).max() / 2 for other in (pushes, mirrored)]
        assert max(apart) <= opposed(length) + 1e-12 and max(apart) > 0.998 * opposed(length)


def test_the_gradient_of_two_steps_comes_near_the_bound_that_is_told():
    """One step of a radius away from zero, then two records on both sides of it."""
    (case,) = [one for one in find("second_order_erm/tr_b") if (one.reading, one.variant) == ("printed", "")]
    sizes, ground = {"n": 20, "d": 2, "batch": 1, "steps": 2}, case.space()
    assert max(ground.sizes["steps"]) == 2, "each step but the last one is a radius at most"
    most = opposed(space.START + ground.schedule(sizes).radius)
    assert f"{most:.3f}" in reason("gradient", case.attainable)
    rows = np.tile([0.0, 0.0, 1.0], (20, 1))
    angle = 1.28  # where opposed is largest at this length
    rows[0], there = (np.array([np.cos(angle), sign * np.sin(angle), -1.0]) for sign in (1, -1))
    setting = AllOf(case.build().run, ground).setting(data_of(ground, sizes, rows, there, 0))
    values = {"gradient": Choice("huge", along="axis"), "hessian": Choice("zero")}
    for sign in (1, -1):  # away from zero or towards it
        script = Script({**values, "gradient": Choice("norm", size=-sign * 1e6, along="axis")})
        share = scripted(setting.mechanism, setting.pair, [0], script).shares["gradient"]
        assert share <= most
        if sign == 1:
            assert share > 0.99 * most


@pytest.mark.parametrize("key", ["opt", "two_opt_ls", "dp_tr", "tr_b"])
def test_the_pairs_of_a_row_move_the_hessian_by_all_that_a_repaired_reading_declares(key):
    (case,) = [one for one in find(f"second_order_erm/{key}") if (one.reading, one.variant) == ("repaired", "")]
    instance = case.build()
    (pair,) = instance.others
    values = {"gradient": Choice("zero")}
    assert scripted(instance.mechanism, pair, [0], Script(values)).shares["hessian"] == pytest.approx(1.0)
    if key == "dp_tr":  # the row's own pair does not
        assert lockstep(instance.mechanism, instance.pair, (1,)).movements["hessian"].share < 0.5


def test_in_one_dimension_a_hessian_moves_less():
    """Records of rank one: the square root of one half of what two directions can show."""
    problem, start = space.public({"n": 3, "d": 1})
    one, other = (problem.replace(0, np.array([x]), 1.0).hessian(0 * start) for x in (1.0, 0.0))
    assert np.abs(one - other).max() / problem.hessian_sensitivity() == pytest.approx(0.5**0.5)
