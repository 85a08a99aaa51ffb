"""DP-RGDA (minimax_sosp, Algorithms 1 to 3): against a plain twin, telescoping, replay, escape, calibration."""

from dataclasses import replace
from math import ceil, log, sqrt

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.minimax_sosp import dp_rgda
from dpassay.reference.minimax_sosp.dp_rgda import repaired
from dpassay.reference.minimax_sosp.theorem_schedules import Constants, empirical_schedule
from dpassay.reference.problems.domains import uniform_ball
from dpassay.reference.problems.saddles import CoupledSaddle, cosine_saddle
from dpassay.reference.tape import LiveTape


def plain_twin(problem, s, x, y, restart, seed):
    """Algorithm 2 with exact gradients, written from the formulas: no tape, no recursion where it telescopes."""
    everyone = np.arange(problem.n)

    def fx(x, y):
        return problem.gradients_x(x, y, everyone).mean(axis=0)

    def fy(x, y):
        return problem.gradients_y(x, y, everyone).mean(axis=0)

    tape = LiveTape(seed)
    x_old, offset_v, offset_u = x, 0.0, 0.0
    mode, anchor, xs = "descent", None, [x]
    for t in range(s.steps):
        if t % s.period == 0:  # the printed recursion adds grad(x_t) - grad(x_{t-1}) to a gradient at x_t
            offset_v = 0.0 if restart else fx(x, y) - fx(x_old, y)
            offset_u = 0.0 if restart else fy(x, y) - fy(x_old, y)
        tries = []
        for _ in range(s.inner_steps):
            v, u = fx(x, y) + offset_v, fy(x, y) + offset_u
            tries.append((np.linalg.norm(u), y, v))
            y = y + s.ascent_step * u
        _, y, v = min(tries, key=lambda entry: entry[0])
        x_old = x
        if mode == "descent" and np.linalg.norm(v) >= s.tolerance:
            x = x - s.descent_step * v / np.linalg.norm(v)
        elif mode == "descent":
            anchor, mode, history = x, "escape", []
            x = x + tape.public("perturb", lambda rng, x=x: uniform_ball(rng, x.size, s.perturbation_radius))
        else:
            history.append(np.linalg.norm(v) ** 2)
            if s.escape_step**2 * sum(history) > len(history) * s.average_movement:
                x = x - sqrt(len(history) * s.average_movement / sum(history)) * v
                mode = "descent"
            else:
                x = x - s.escape_step * v
        xs.append(x)
        if mode == "escape" and len(history) == s.escape_threshold:
            return anchor, np.array(xs)
    return xs[-1] if anchor is None else anchor, np.array(xs)


@pytest.mark.parametrize("restart", [False, True], ids=["printed", "repaired"])
def test_zero_noise_run_equals_the_plain_twin_on_matrix_sensing(small_sensing, make_schedule, restart):
    rng = np.random.default_rng(1)
    x, y = 0.3 * rng.standard_normal(small_sensing.d), np.zeros(10)
    schedule = make_schedule(10, restart_at_refresh=restart, start=(x, y))
    found = dp_rgda.run(small_sensing, schedule, LiveTape(3))
    _, expected = plain_twin(small_sensing, schedule, x, y, restart, 3)
    np.testing.assert_allclose(found.iterates, expected, atol=1e-10)  # 23 * 3 recursive sums of order one


@pytest.mark.parametrize("tolerance", [0.03, 0.3])
def test_zero_noise_escape_equals_the_plain_twin(make_schedule, tolerance):
    """From a saddle: perturbation, escape phase, early exit, and the return rule, with the same public draw."""
    landscape = cosine_saddle((1.0, 0.7, -0.4), 8, np.random.default_rng(0), tilt=0.0)
    problem = CoupledSaddle(landscape)
    schedule = make_schedule(8, steps=60, tolerance=tolerance, restart_at_refresh=True, escape_threshold=12)
    found = dp_rgda.run(problem, schedule, LiveTape(5))
    x, expected = plain_twin(problem, schedule, np.zeros(3), np.zeros(3), True, 5)
    assert found.phases[0] == "perturb"
    np.testing.assert_allclose(found.iterates, expected, atol=1e-10)
    np.testing.assert_allclose(found.x, x, atol=1e-10)


def test_a_minimum_is_not_left(make_schedule):
    """The rule that leaves a saddle, in the next test, stays here and returns the anchor."""
    calm = CoupledSaddle(cosine_saddle((1.0, 0.7, 0.4), 8, np.random.default_rng(0), tilt=0.0))
    schedule = make_schedule(8, steps=80, escape_step=0.3, tolerance=0.05, escape_threshold=60)
    schedule = replace(schedule, average_movement=1e-3, restart_at_refresh=True)
    stays = dp_rgda.run(calm, schedule, LiveTape(0))
    assert stays.phases[0] == "perturb" and "escaped" not in stays.phases
    np.testing.assert_array_equal(stays.x, np.zeros(3))


def test_a_saddle_that_was_left_is_returned_when_the_steps_run_out(make_schedule):
    """The last line of Algorithm 2, as printed: the output is x_{m_s}, which the movement test has just rejected."""
    landscape = cosine_saddle((1.0, 0.7, -0.4), 8, np.random.default_rng(0), tilt=0.0)
    schedule = make_schedule(8, steps=40, escape_step=0.3, tolerance=0.02, escape_threshold=30)
    result = dp_rgda.run(CoupledSaddle(landscape), replace(schedule, restart_at_refresh=True), LiveTape(1))
    assert result.phases.count("perturb") == 1 and "escaped" in result.phases
    np.testing.assert_array_equal(result.x, np.zeros(3))  # the saddle, smallest eigenvalue -0.4
    assert landscape.value(result.iterates[-1]) < landscape.value(result.x)


def test_calibration_pays_for_runs_that_never_stop_early(small_sensing, make_schedule):
    """An escape phase of one step would end the dry run at once; the noise is that of all T steps."""
    hasty = make_schedule(10, tolerance=1e9, escape_threshold=1, average_movement=1e30)
    assert repaired(hasty, 1.0, 1e-5).noise == repaired(make_schedule(10, tolerance=1e-12), 1.0, 1e-5).noise


FITTING = Constants(n=100_000, d=50, epsilon=1.0, delta=1e-6)


def test_the_schedule_of_theorem_1_holds_its_own_inequalities():
    c, s = FITTING, empirical_schedule(FITTING)
    assert s.noise.std("refresh", 1.0) > 0 and s.smoothness is None
    assert s.escape_step <= 1 / c.value_smoothness * (1 + 1e-12) and s.escape_threshold <= s.steps
    reach = 1 / (2 * c.value_smoothness * s.escape_step)
    assert s.perturbation_radius <= reach * (1 + 1e-12)
    assert s.average_movement <= (reach / s.escape_threshold) ** 2 * (1 + 1e-12)
    assert s.refresh_batch == c.n and s.inner_steps == 1
    start = 0.1 * s.perturbation_radius / sqrt(50)  # r_0 of Lemma 7
    assert s.escape_step == pytest.approx(c.privacy_error ** (-4 / 3) * start / 2)
    assert s.period == pytest.approx(1 / (s.steps * c.privacy_error**2), abs=1)


def test_batch_is_the_larger_of_the_theorems_and_the_proofs_bound():
    """n = 1e5, d = 500, delta = 1e-6, M = L = F_0 = 1: by hand, the two second entries differ by epsilon^(2/3)."""
    for epsilon in (0.5, 4.0):
        c = Constants(n=100_000, d=500, epsilon=epsilon, delta=1e-6)
        logs = 500 * log(1e6)
        first = (100_000 * epsilon / sqrt(logs)) ** (2 / 3)
        theorem = (100_000 * logs) ** (1 / 3)  # 884 for both
        proof = theorem / epsilon ** (2 / 3)
        assert empirical_schedule(c).step_batch == ceil(max(first, theorem, proof))
    assert max(first, proof) < 400 < 883 < theorem


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 1000}, "Lemma 7: r <= L_Phi eta_H"),
        ({"smoothness": 50.0}, "Lemma 5 needs n\\^2 eps\\^2"),
        ({"initial_gap": 1e-9}, "Theorem 1 needs S2 <= n"),
        ({"n": 10}, "eps_bar"),
        ({"concavity": 2.0}, "mu <= L"),
    ],
)
def test_schedules_refuse_impossible_regimes_by_name(changes, message):
    with pytest.raises(BadInput, match=message):
        empirical_schedule(replace(FITTING, **changes))


def test_schedule_refuses_a_batch_larger_than_the_data(make_schedule):
    with pytest.raises(BadInput, match="step_batch"):
        make_schedule(10, step_batch=11)
