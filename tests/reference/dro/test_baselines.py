"""Baselines: the simplex projection against its definition, descent of the non-private reference, zero noise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from dpassay.reference.baselines import dp_sgd
from dpassay.reference.dro import composite_sgd, composite_spider, minimax_form, private_diff, scdro, sgda
from dpassay.reference.dro.divergences import kl
from dpassay.reference.dro.objective import CompositionalObjective, DualObjective
from dpassay.reference.dro.plan import Plan
from dpassay.reference.noise import Multipliers
from dpassay.reference.tape import LiveTape

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
