"""Algorithms 2 and 3 and the single-sample release: plain twins without noise, replay, schedules, exact losses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.sampled import sampled_curve
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.dro import (
    composite_sgd,
    composite_spider,
    double_spider,
    minimax_form,
    private_diff,
    recursive_spider,
    scdro,
    sgda,
    single_sample,
)
from dpassay.reference.dro.constants import Constants, theorem_eight, theorem_seven
from dpassay.reference.dro.divergences import chi_square, kl
from dpassay.reference.dro.objective import CompositionalObjective, DualObjective
from dpassay.reference.dro.plan import Plan
from dpassay.reference.errors import BadInput
from dpassay.reference.noise import Multipliers, Printed
from dpassay.reference.tape import LiveTape

PLAN = Plan(n=14, steps=9, phase=3, batch=14)


def silent(schedule, **more):
    """The same schedule without noise."""
    return replace(schedule, noise=schedule.noise.scaled(0.0), **more)


def test_double_spider_without_noise_is_gradient_descent(small_loss):
    """Full batches, no clipping: differences telescope, so every estimate is the full gradient (Algorithm 2)."""
    problem = DualObjective(small_loss, chi_square(), 2.0)
    drawn = double_spider.repaired(problem, PLAN, Constants(), 1.0, 1e-5, clip=1e9)
    schedule = silent(drawn, eta_step=0.3, x_step=0.2)
    always = double_spider.Threshold(np.inf, np.inf, cap=1e9)
    wide = {"eta_threshold": always, "x_threshold": always}
    start = np.random.default_rng(0).normal(size=problem.d)
    schedule = replace(schedule, move_cap=np.inf, start_x=start, **wide)
    tape = LiveTape(4)
    found = double_spider.run(problem, schedule, tape)
    chosen = next(event.value for event in tape.transcript.events if event.label == "select")
    x, eta = start, 0.0
    for _ in range(chosen):
        eta = eta - 0.3 * problem.eta_gradients(x, eta).mean()
        x = x - 0.2 * problem.x_gradients(x, eta).mean(axis=0)
    assert found.x == pytest.approx(x, rel=1e-10)  # nine steps of a dozen roundings each
    assert found.eta == pytest.approx(eta, rel=1e-10)


def test_recursive_spider_without_noise_is_compositional_descent(small_loss):
    """Full batches, no clipping, beta = 1: v, u, s are exact, so the step is that of the gradient of Psi."""
    problem = CompositionalObjective(small_loss)
    wide = {"clip": 1e9, "value_clip": 1e9, "smoothness": 1e9}
    drawn = recursive_spider.repaired(problem, PLAN, 1.0, 1e-5, **wide, step=0.1)
    x0 = np.random.default_rng(1).normal(size=problem.d) * 0.3
    schedule = silent(drawn, start_x=x0, momentum=1.0)
    tape = LiveTape(5)
    found = recursive_spider.run(problem, schedule, tape)
    chosen = next(event.value for event in tape.transcript.events if event.label == "select")
    x, temperature = x0, 1.0
    for _ in range(chosen - 1):
        in_x, in_temperature = problem.gradient(x, temperature)
        x, temperature = x - 0.1 * in_x, max(problem.floor, temperature - 0.1 * in_temperature)
    assert found.x == pytest.approx(x, rel=1e-9)
    assert found.temperature == pytest.approx(temperature, rel=1e-9)
    assert found.s == pytest.approx(problem.inner_values(x, temperature).mean(), rel=1e-9)


def test_theorem_eight_can_prescribe_a_phase_of_zero():
    """q = floor(n^2 eps^2 / (L^2 T d log(1/delta))) vanishes for smooth-constant 20: the algorithm cannot run."""
    assert theorem_eight(25_500, 270_000, 1.0, 1e-5, smoothness=20.0).phase == 0
    with pytest.raises(BadInput, match="phase"):
        double_spider.printed(Plan(10, 5, 0, 5), Constants(), 1.0, 1e-5)


@pytest.mark.parametrize("n", [100, 25_500, 10**8])
def test_theorem_seven_asks_for_more_records_than_there_are(n):
    """N_3 >= 96 G^2 n whatever n is; with G = 0.05 and a constant loss the refreshes fit."""
    assert theorem_seven(n, 10, Constants(), 1.0).x_refresh > n
    assert theorem_seven(n, 10, Constants(), 0.0).x_refresh >= 96 * n
    small = theorem_seven(10**8, 10, Constants(lipschitz=0.05, smoothness=0.05), 0.0)
    assert small.x_refresh < 10**8


def test_single_sample_loss_is_that_of_the_mixture():
    """Each step is (1 - 1/n) N(0, s^2) + (1/n) N(Delta, s^2) against N(0, s^2): the loss is the log ratio."""
    n, schedule = 10, single_sample.Schedule(10, 3, 0.5, 3.0, 1.0, Printed({"value": 0.8}))
    pair = single_sample.extreme_pair(n, 3.0)
    for seed in range(20):
        values = []

        def run(problem, tape, values=values):
            result = single_sample.run(problem, schedule, tape)
            values[:] = [release.value for release in tape.transcript.releases]
            return result

        found = lockstep(run, pair, [seed], check=False)
        x = np.array(values) - 0.5  # beta * 1, the quiet value
        quiet, loud = norm.pdf(x, 0.0, 0.8), norm.pdf(x, schedule.sensitivity, 0.8)
        exact = np.log((0.9 * quiet + 0.1 * loud) / quiet).sum()
        assert found.loss == pytest.approx(exact, abs=1e-9)
        assert found.findings == []


def test_single_sample_noise_as_printed_leaves_delta_near_one_over_n():
    """n = 1000, T = 1: Theorem 3's noise is 1/80 of the sensitivity, so delta stays at 1/n for any usable epsilon."""
    n, delta = 1000, 1e-5
    std = np.sqrt(np.log(1 / delta)) / n  # T = 1, G = 1, epsilon = 1, c = 1
    shown = sampled_curve(np.array([1.0, 5.0]), 1 / n, 0.5 * 3.0 / std, "without-replacement", "replace-one")
    assert (shown > 0.85 / n).all()
    assert (shown > 80 * delta).all()


def test_single_sample_bad_schedule():
    with pytest.raises(BadInput, match="momentum = 0"):
        replace(single_sample.printed(10, 1, 1.0, 1e-5), momentum=0.0)


# Baselines: the simplex projection against its definition, descent of the non-private reference, zero noise.
SILENT = Multipliers(dict.fromkeys(("gradient", "refresh", "difference", "x", "y"), 0.0))


@pytest.mark.parametrize("seed", range(4))
def test_projection_is_the_nearest_point(seed):
    y = np.random.default_rng(seed).normal(size=6)
    found = minimax_form.project_to_simplex(y)
    solved = minimize(
        lambda p: np.sum((p - y) ** 2), np.full(6, 1 / 6), bounds=[(0, 1)] * 6, method="SLSQP",
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1}, options={"ftol": 1e-14},
    )  # fmt: skip
    assert found.sum() == pytest.approx(1.0)
    assert found == pytest.approx(solved.x, abs=1e-6)


def test_scdro_lowers_the_robust_loss(small_loss):
    problem = CompositionalObjective(small_loss, floor=0.5)
    schedule = scdro.Schedule(300, 7, step=0.05)
    start = np.random.default_rng(2).normal(size=problem.d) * 0.1
    x, temperature = scdro.run(problem, replace(schedule, start_x=start), LiveTape(0))
    assert temperature >= 0.5
    assert problem.value(x, temperature) < problem.value(start, 1.0) - 0.1


def test_composite_sgd_without_noise_is_gradient_descent(small_loss):
    problem = DualObjective(small_loss, kl(), 2.0)
    z = composite_sgd.run(problem, dp_sgd.Schedule(5, 0.2, 1e9, SILENT), LiveTape(0))
    plain = np.zeros(problem.d + 1)
    for _ in range(5):
        x, eta = plain[:-1], plain[-1]
        plain = plain - 0.2 * np.append(problem.x_gradients(x, eta).mean(axis=0), problem.eta_gradients(x, eta).mean())
    assert z == pytest.approx(plain, rel=1e-10)


def test_composite_spider_without_noise_telescopes(small_loss):
    problem = DualObjective(small_loss, kl(), 2.0)
    plan = Plan(14, 6, 3, 14)
    schedule = composite_spider.calibrated(plan, 1.0, 1e-5, clip=1e9, step=0.2)
    schedule = replace(schedule, noise=SILENT, smoothness=1e9)
    tape = LiveTape(1)
    z = composite_spider.run(problem, schedule, tape)
    chosen = next(event.value for event in tape.transcript.events if event.label == "select")
    plain = composite_sgd.run(problem, dp_sgd.Schedule(chosen, 0.2, 1e9, SILENT), LiveTape(0))
    assert z == pytest.approx(plain, rel=1e-9)


def test_sgda_without_noise_follows_the_worst_case(small_loss):
    """With a silent tape the weights rise where the loss is high, and stay on the simplex."""
    problem = minimax_form.MinimaxProblem(small_loss)
    plan = Plan(14, 40, 10, 14)
    drawn = sgda.calibrated(plan, 1.0, 1e-5, x_step=0.3, clip=100.0)
    x = sgda.run(problem, replace(drawn, noise=SILENT, step_y=0.01), LiveTape(0))
    assert small_loss.losses(x).max() < small_loss.losses(np.zeros(problem.d)).max() + 0.2
    drawn = private_diff.calibrated(plan, 1.0, 1e-5, x_step=0.3, clip=100.0)
    other = private_diff.run(problem, replace(drawn, noise=SILENT, step_y=0.01), LiveTape(0))
    assert small_loss.losses(other).mean() < 1.2
