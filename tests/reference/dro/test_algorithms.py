"""dro: plain twins without noise, conjugates and gradients by differences, what the theorems prescribe."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize

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
from dpassay.reference.dro.constants import Constants, Plan, theorem_eight, theorem_seven
from dpassay.reference.dro.divergences import chi_square, cressie_read, kl, kl_cvar
from dpassay.reference.dro.objective import CompositionalObjective, DualObjective
from dpassay.reference.dro.worst_case import dual_pair
from dpassay.reference.errors import BadInput
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.models import ClassificationLoss, SoftmaxRegression, TwoLayerNetwork
from dpassay.reference.tape import LiveTape


@pytest.fixture(params=["softmax", "network"])
def small_loss(request):
    rng = np.random.default_rng(3)
    features, labels = rng.normal(size=(14, 4)), rng.integers(0, 3, size=14)
    model = SoftmaxRegression(4, 3) if request.param == "softmax" else TwoLayerNetwork(4, 5, 3)
    return ClassificationLoss(model, features, labels)


DIVERGENCES = (chi_square(), kl(), kl_cvar(0.2), cressie_read(2.0), cressie_read(1.5), cressie_read(3.0))
GRADIENT_ERROR = 2e-6  # forward differences with step 1.5e-8: square root of the rounding unit times curvature


@pytest.mark.parametrize("case", DIVERGENCES, ids=lambda case: case.name)
def test_dual_gradients(small_loss, case):
    objective = DualObjective(small_loss, case, weight=2.0, dual_scale=1.7)
    x = np.random.default_rng(5).normal(size=objective.d) * 0.4

    def in_x(p):
        return objective.x_gradients(p, 0.4).mean(axis=0)

    assert check_grad(lambda p: objective.value(p, 0.4), in_x, x) < GRADIENT_ERROR * np.sqrt(len(x))
    step = 1e-5
    numeric = (objective.values(x, 0.4 + step) - objective.values(x, 0.4 - step)) / (2 * step)
    assert objective.eta_gradients(x, 0.4) == pytest.approx(numeric, abs=1e-7)


def test_per_sample_gradients_are_those_of_single_records(small_loss):
    x = np.random.default_rng(6).normal(size=small_loss.d)
    rows = small_loss.loss_gradients(x)
    for i in (0, 7, 13):

        def loss(p, i=i):
            return small_loss.losses(p, np.array([i]))[0]

        assert check_grad(loss, lambda p, i=i: rows[i], x) < GRADIENT_ERROR * np.sqrt(len(x))
        assert small_loss.loss_gradients(x, np.array([i]))[0] == pytest.approx(rows[i])


def test_compositional_gradients(small_loss):
    objective = CompositionalObjective(small_loss, radius=0.5)
    rng = np.random.default_rng(7)
    x, temperature = rng.normal(size=objective.d) * 0.4, 0.8

    def inner(w):
        return objective.inner_values(w[:-1], w[-1]).mean()

    def inner_gradient(w):
        return np.append(
            objective.inner_x_gradients(w[:-1], w[-1]).mean(axis=0),
            objective.inner_temperature_gradients(w[:-1], w[-1]).mean(),
        )

    assert check_grad(inner, inner_gradient, np.append(x, temperature)) < 2e-4  # exp(loss/0.8) is large


def on_the_simplex(function, n, top=1.0):
    """Its minimum over distributions of which no entry is above ``top``."""
    return minimize(
        function,
        np.full(n, 1 / n),
        method="SLSQP",
        bounds=[(0.0, top)] * n,
        options={"ftol": 1e-14, "maxiter": 500},
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1.0},
    )


def robust_kl(problem, x, temperature):
    """Psi(x, lambda) of eq. (5)."""
    return temperature * (np.log(problem.inner_values(x, temperature).mean()) + problem.radius)


def robust_value(objective, x):
    """Psi(x) = inf over eta of L(x, eta)."""
    return objective.value(x, objective.best_eta(x))


@pytest.mark.parametrize("case", DIVERGENCES, ids=lambda case: case.name)
def test_robust_value_is_the_worst_case_reweighting(small_loss, case):
    """The dual value equals max over the simplex of sum p loss - weight D_psi(p, 1/n) (eq. (2)), solved by SLSQP."""
    weight = 1.5
    objective = DualObjective(small_loss, case, weight)
    x = np.random.default_rng(8).normal(size=objective.d)
    losses, n = small_loss.losses(x), small_loss.n

    def negative(p):
        return weight * np.mean(case.generator(np.maximum(n * p, 0.0))) - p @ losses

    solved = on_the_simplex(negative, n, min(1.0, case.generator_range[1] / n))
    assert robust_value(objective, x) == pytest.approx(-solved.fun, abs=2e-6)


def test_dual_scale_changes_only_the_coordinate(small_loss):
    x = np.random.default_rng(9).normal(size=small_loss.d)
    plain, scaled = (DualObjective(small_loss, chi_square(), 1.0, scale) for scale in (1.0, 3.0))
    assert scaled.value(x, 0.2) == pytest.approx(plain.value(x, 0.6))
    assert robust_value(scaled, x) == pytest.approx(robust_value(plain, x))


def test_kl_dual_and_composition_agree(small_loss):
    """Minimising eq. (3) over eta with psi = KL gives lambda log mean exp(loss/lambda), eq. (5) with radius 0."""
    x = np.random.default_rng(10).normal(size=small_loss.d)
    dual, composed = DualObjective(small_loss, kl(), 0.7), CompositionalObjective(small_loss, radius=0.0)
    assert robust_value(dual, x) == pytest.approx(robust_kl(composed, x, 0.7), abs=1e-9)


# Conjugates against their definition, the printed Table 1 against the conjugates.
EVERY = [*DIVERGENCES, cressie_read(0.5), cressie_read(-1.0), cressie_read(2.5)]


def one(function, value):
    return float(function(np.array([value]))[0])


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
@settings(max_examples=60)
@given(t=st.floats(1e-6, 30.0), u=st.floats(-6.0, 6.0))
def test_fenchel_young(case, t, u):
    """psi(t) + psi*(u) >= t u, with equality at t = psi*'(u): psi* is the supremum, and psi*' the place."""
    if u < case.conjugate_limit:
        tangent = one(case.conjugate_derivative, u)
        gap = one(case.generator, tangent) + one(case.conjugate, u) - tangent * u
        scale = 1.0 + abs(tangent * u) + abs(one(case.conjugate, u))
        assert abs(gap) <= 1e-9 * scale  # a dozen roundings of numbers of this size
        slack = one(case.generator, t) + one(case.conjugate, u) - t * u
        assert slack >= -1e-9 * (scale + abs(t * u))


def test_printed_table_1():
    """Table 1: the Cressie-Read row holds for k > 1, the chi-square and CVaR rows do not; counterexamples."""
    assert one(cressie_read(3.0).printed_conjugate, 0.7) == pytest.approx(one(cressie_read(3.0).conjugate, 0.7))
    assert one(chi_square().conjugate, 1.0) == 1.5
    assert one(chi_square().printed_conjugate, 1.0) == 1.25
    assert one(kl_cvar(0.2).conjugate, 0.0) == 0.0
    assert one(kl_cvar(0.2).printed_conjugate, 0.0) == pytest.approx((1 + math.log(0.2)) / 0.2 - 1)  # -4.05
    assert one(cressie_read(-1.0).conjugate, 0.6) == math.inf
    assert one(cressie_read(-1.0).printed_conjugate, 0.6) == 1.0


@pytest.mark.parametrize(
    ("make", "value"),
    [
        *((make, value) for make in (kl_cvar, cressie_read) for value in (1.0, 0.0)),
        (lambda weight: DualObjective(None, kl(), weight), 0.0),
        (lambda beta: replace(single_sample.printed(10, 1, 1.0, 1e-5), momentum=beta), 0.0),
    ],
)
def test_bad_parameters_are_named(make, value):
    with pytest.raises(BadInput, match=f"= {value}"):
        make(value)


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
        weights = problem.inner_values(x, temperature)
        in_x = weights @ small_loss.loss_gradients(x) / weights.sum()
        mean_loss = weights @ small_loss.losses(x) / weights.sum()
        in_temperature = (robust_kl(problem, x, temperature) - mean_loss) / temperature
        x, temperature = x - 0.1 * in_x, max(problem.floor, temperature - 0.1 * in_temperature)
    assert found.x == pytest.approx(x, rel=1e-9)
    assert found.temperature == pytest.approx(temperature, rel=1e-9)
    assert found.s == pytest.approx(problem.inner_values(x, temperature).mean(), rel=1e-9)


def test_theorem_eight_can_prescribe_a_phase_of_zero():
    """q = floor(n^2 eps^2 / (L^2 T d log(1/delta))) vanishes for smooth-constant 20: the algorithm cannot run."""
    assert theorem_eight(25_500, 270_000, 1.0, 1e-5, smoothness=20.0)[1] == 0
    with pytest.raises(BadInput, match="phase"):
        double_spider.printed(Plan(10, 5, 0, 5), Constants(), 1.0, 1e-5)


@pytest.mark.parametrize("n", [100, 25_500, 10**8])
def test_theorem_seven_asks_for_more_records_than_there_are(n):
    """N_3 >= 96 G^2 n whatever n is; with G = 0.05 and a constant loss the refreshes fit."""
    assert theorem_seven(n, Constants(), 1.0) > n
    assert theorem_seven(n, Constants(), 0.0) >= 96 * n
    assert theorem_seven(10**8, Constants(lipschitz=0.05, smoothness=0.05), 0.0) < 10**8


# Baselines: the simplex projection against its definition, descent of the non-private reference, zero noise.
SILENT = Multipliers(dict.fromkeys(("gradient", "refresh", "difference", "x", "y"), 0.0))


@pytest.mark.parametrize("seed", range(4))
def test_projection_is_the_nearest_point(seed):
    y = np.random.default_rng(seed).normal(size=6)
    found = minimax_form.project_to_simplex(y)
    assert found.sum() == pytest.approx(1.0)
    assert found == pytest.approx(on_the_simplex(lambda p: np.sum((p - y) ** 2), 6).x, abs=1e-6)


def test_scdro_lowers_the_robust_loss(small_loss):
    problem = CompositionalObjective(small_loss, floor=0.5)
    schedule = scdro.Schedule(150, 7, step=0.05)
    start = np.random.default_rng(2).normal(size=problem.d) * 0.1
    x, temperature = scdro.run(problem, replace(schedule, start_x=start), LiveTape(0))
    assert temperature >= 0.5
    assert robust_kl(problem, x, temperature) < robust_kl(problem, start, 1.0) - 0.1


def test_baselines_without_noise_are_the_plain_ones(small_loss):
    """Full batches, wide clips: differences telescope, so SPIDER is gradient descent, and PrivateDiff DP-SGDA.

    Of DP-SGDA as long as the weights stay: a change of theirs enters PrivateDiff at the next refresh.
    """
    problem, plan, wide = DualObjective(small_loss, kl(), 2.0), Plan(14, 6, 3, 14), {"noise": SILENT, "smoothness": 1e9}
    schedule = replace(composite_spider.calibrated(plan, 1.0, 1e-5, clip=1e9, step=0.2), **wide)
    tape = LiveTape(1)
    z = composite_spider.run(problem, schedule, tape)
    chosen = next(event.value for event in tape.transcript.events if event.label == "select")
    plain = np.zeros(problem.d + 1)
    for _ in range(chosen):
        x, eta = plain[:-1], plain[-1]
        plain = plain - 0.2 * np.append(problem.x_gradients(x, eta).mean(axis=0), problem.eta_gradients(x, eta).mean())
    alone = composite_sgd.run(problem, dp_sgd.Schedule(chosen, 0.2, 1e9, SILENT), LiveTape(0))
    assert chosen > 2 and z == pytest.approx(plain, rel=1e-9) and alone == pytest.approx(plain, rel=1e-10)
    game, how = minimax_form.MinimaxProblem(small_loss), {"x_step": 0.3, "clip": 1e9, "loss_clip": 1e9}
    plain = replace(sgda.calibrated(plan, 1.0, 1e-5, **how), noise=SILENT, step_y=1e-30)
    recursive = replace(private_diff.calibrated(plan, 1.0, 1e-5, **how), **wide, step_y=1e-30)
    x = private_diff.run(game, recursive, LiveTape(0))
    assert x.any() and x == pytest.approx(sgda.run(game, plain, LiveTape(0)), rel=1e-9, abs=1e-12)


def test_constants_of_the_repaired_double_spider_bound_the_gradients():
    """G = 3, L = 2, M = 1.5, lambda = 2, H = 4: slopes of the gradients of eq. (3) in either variable, by hand."""
    constants = Constants(lipschitz=3.0, smoothness=2.0, conjugate_smoothness=1.5, weight=2.0, eta_bound=4.0)
    plan = Plan(n=16, steps=4, phase=2, batch=16)
    problem = dual_pair(chi_square(), plan.n).here
    mended = double_spider.repaired(problem, plan, constants, 1.0, 1e-5)
    cross = 3.0**2 * 1.5 / 2.0  # of G (1 - psi*'((l - G eta)/lambda)) in x, and of psi*'(...) grad l in eta
    own = 2.0 * (1 + 2.0 / 3.0) + cross  # of psi*'(...) grad l in x: |psi*'| <= 1 + sqrt(H)/G
    assert (mended.eta_threshold.per_x, mended.x_threshold.per_eta) == (cross, cross)
    assert mended.x_threshold.per_x == pytest.approx(own)
    assert (mended.x_step, mended.move_cap) == pytest.approx((1 / (2 * own), 1 / (4 * own)))  # Theorem 7, mended
