"""minimax_sosp: DP-RGDA and the baselines against plain twins, escape, calibration, schedules, experiments."""

from dataclasses import replace
from itertools import pairwise
from math import sqrt

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.reproductions import minimax_sosp
from dpassay.audit.reproductions.minimax_sosp import methods
from dpassay.audit.reproductions.report import Options
from dpassay.reference.accounting.cost import account
from dpassay.reference.baselines import dp_sgda, dp_spider, private_diff
from dpassay.reference.baselines.protocols import Clipped, Primal
from dpassay.reference.errors import BadInput
from dpassay.reference.minimax_sosp import ada_dp_spider, dp_rgda, sto_spider
from dpassay.reference.minimax_sosp.baseline_methods import DP_SGDA, DP_SPIDER, METHODS, PRIVATE_DIFF, STO_SPIDER, Sizes
from dpassay.reference.minimax_sosp.cases import CASES as MINIMAX_SOSP
from dpassay.reference.minimax_sosp.dp_rgda import SILENT, Schedule, repaired
from dpassay.reference.minimax_sosp.theorem_schedules import Constants, empirical_schedule
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.domains import uniform_ball
from dpassay.reference.problems.matrix_sensing import make_matrix_sensing
from dpassay.reference.problems.saddles import CoupledSaddle, cosine_saddle
from dpassay.reference.tape import LiveTape


@pytest.fixture
def small_sensing():
    return make_matrix_sensing(np.random.default_rng(0), rows=3, columns=4, rank=2, samples=10, signal_norm=4.0)


def make_schedule(n, **changes):
    """A schedule with every batch the whole data set, no clipping and no noise, unless told otherwise."""
    sizes = {"n": n, "steps": 23, "inner_steps": 3, "period": 5, "refresh_batch": n, "step_batch": n}
    steps = {"descent_step": 0.05, "escape_step": 0.1, "ascent_step": 0.8, "tolerance": 1e-3}
    escape = {"perturbation_radius": 0.1, "escape_threshold": 5, "average_movement": 1e-4}
    return Schedule(**{**sizes, **steps, **escape, "clip_refresh": 1e9, "clip_step": 1e9, "noise": SILENT, **changes})


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
def test_zero_noise_run_equals_the_plain_twin_on_matrix_sensing(small_sensing, restart):
    rng = np.random.default_rng(1)
    x, y = 0.3 * rng.standard_normal(small_sensing.d), np.zeros(10)
    schedule = make_schedule(10, restart_at_refresh=restart, start=(x, y))
    found = dp_rgda.run(small_sensing, schedule, LiveTape(3))
    _, expected = plain_twin(small_sensing, schedule, x, y, restart, 3)
    np.testing.assert_allclose(found.iterates, expected, atol=1e-10)  # 23 * 3 recursive sums of order one


@pytest.mark.parametrize(
    ("lowest", "left", "changes"),
    [
        (-0.4, True, {"steps": 40, "tolerance": 0.02, "escape_threshold": 30, "escape_step": 0.3}),
        (0.4, False, {"steps": 80, "tolerance": 0.05, "escape_threshold": 60, "average_movement": 1e-3}),
    ],
)
def test_zero_noise_escape_equals_the_plain_twin(lowest, left, changes):
    """From a saddle or a minimum: perturbation, escape phase, early exit, and the return rule, with one public draw.

    What is returned is x_{m_s}, the last line of Algorithm 2 as printed: a minimum that the run stays at, but also the
    saddle that the movement test has just rejected.
    """
    landscape = cosine_saddle((1.0, 0.7, lowest), 8, np.random.default_rng(0), tilt=0.0)
    problem, schedule = CoupledSaddle(landscape), make_schedule(8, restart_at_refresh=True, **changes)
    found = dp_rgda.run(problem, schedule, LiveTape(5))
    x, expected = plain_twin(problem, schedule, np.zeros(3), np.zeros(3), True, 5)
    assert found.phases[0] == "perturb" and ("escaped" in found.phases) == left
    np.testing.assert_allclose(found.iterates, expected, atol=1e-10)
    np.testing.assert_allclose(found.x, x, atol=1e-10)
    assert not found.x.any() and (not left or landscape.value(found.iterates[-1]) < landscape.value(found.x))


def test_calibration_pays_for_runs_that_never_stop_early():
    """An escape phase of one step would end the dry run at once; the noise is that of all T steps."""
    hasty = make_schedule(10, tolerance=1e9, escape_threshold=1, average_movement=1e30)
    assert repaired(hasty, 1.0, 1e-5).noise == repaired(make_schedule(10, tolerance=1e-12), 1.0, 1e-5).noise


FITTING = Constants(n=100_000, d=50, epsilon=1.0, delta=1e-6)


def test_the_schedule_of_theorem_1_holds_its_own_inequalities():
    c, s = FITTING, empirical_schedule(FITTING)
    smooth = (1 + c.smoothness / c.concavity) * c.smoothness  # L_Phi
    reach = 1 / (2 * smooth * s.escape_step)
    assert s.escape_step <= 1 / smooth * (1 + 1e-12) and s.perturbation_radius <= reach * (1 + 1e-12)
    assert s.average_movement <= (reach / s.escape_threshold) ** 2 * (1 + 1e-12) and s.escape_threshold <= s.steps
    start = 0.1 * s.perturbation_radius / sqrt(50)  # r_0 of Lemma 7
    assert s.escape_step == pytest.approx(c.privacy_error ** (-4 / 3) * start / 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: empirical_schedule(replace(FITTING, n=1000)), "Lemma 7: r <= L_Phi eta_H"),
        (lambda: empirical_schedule(replace(FITTING, smoothness=50.0)), "Lemma 5 needs n\\^2 eps\\^2"),
        (lambda: empirical_schedule(replace(FITTING, initial_gap=1e-9)), "Theorem 1 needs S2 <= n"),
        (lambda: empirical_schedule(replace(FITTING, n=10)), "eps_bar"),
        (lambda: empirical_schedule(replace(FITTING, concavity=2.0)), "mu <= L"),
        (lambda: DP_SPIDER.plain(replace(BASE, refresh_batch=11), QUIET), "refresh_batch"),
        (lambda: make_schedule(10, step_batch=11), "step_batch"),
    ],
)
def test_impossible_regimes_and_batches_are_refused_by_name(make, message):
    with pytest.raises(BadInput, match=message):
        make()


CASES = {case.key: case for case in MINIMAX_SOSP}
SMALL = [key for key in CASES if ":experiment" not in key]


@pytest.mark.parametrize("key", [key for key in SMALL if ("@repaired" in key or "rowclip" in key) and "minimax" in key])
def test_steep_neighbours_attain_every_sensitivity(key):
    """Every release of every run: the query moves by the whole of its claimed 2 C / S (full batches)."""
    instance = CASES[key].build()
    result = lockstep(instance.mechanism, instance.pair, [0])
    assert set(result.movements) == {"refresh/v", "refresh/u", "step/v", "step/u"}
    assert all(movement.share == pytest.approx(1.0, abs=1e-6) for movement in result.movements.values())


BASE = Sizes(10, 12, 2, 4, 6, 3, clip=1e9, step_x=0.05)
FULL = replace(BASE, refresh_batch=10, step_batch=10)
QUIET = Multipliers(dict.fromkeys(("refresh", "difference", "x", "y"), 0.0))


@pytest.fixture
def start(small_sensing):
    return 0.5 * np.random.default_rng(1).standard_normal(small_sensing.d), np.zeros(small_sensing.d_y)


@pytest.mark.parametrize("method", METHODS, ids=[method.name for method in METHODS])
def test_no_run_spends_more_than_the_calibration_pays_for(small_sensing, method):
    """Sampled batches; the drift rules refresh rarely here, the calibration pays for T of the larger batches."""
    exact, described = (method.schedule(replace(BASE, clip=1.0), noise, 2.0, 1e-5) for noise in ("exact", "described"))
    for seed in range(3):
        tape = LiveTape(seed)
        method.file.run(method.view(small_sensing), exact, tape)
        assert account(tape.transcript).epsilon(1e-5) <= 2.0
    assert set(described.noise.by_label) == set(QUIET.by_label)
    label = next(iter(exact.noise.by_label))
    assert described.noise[label] > exact.noise[label]


def test_noise_free_full_batch_baselines_are_gradient_descent_on_the_value_function(small_sensing, start):
    """DP-SPIDER telescopes; DP-SGDA is simultaneous descent ascent."""
    x, y = start
    found = dp_spider.run(Primal(small_sensing), replace(DP_SPIDER.plain(FULL, QUIET), start=x), LiveTape(0))
    for k in range(12):
        np.testing.assert_allclose(found.iterates[k], x, atol=1e-12)
        x = x - 0.05 * small_sensing.value_gradient(x)
    everyone, (x, y) = np.arange(10), start
    found = dp_sgda.run(Clipped(small_sensing), replace(DP_SGDA.plain(FULL, QUIET), start=(x, y)), LiveTape(0))
    for k in range(12):
        np.testing.assert_allclose(found.iterates[k], x, atol=1e-12)
        gradient_y = small_sensing.gradients_y(x, y, everyone).mean(axis=0)
        x, y = x - 0.05 * small_sensing.gradients_x(x, y, everyone).mean(axis=0), y + 0.8 * gradient_y


@pytest.mark.parametrize("method", [sto_spider, ada_dp_spider])
def test_drifting_methods_are_gradient_descent_until_a_small_gradient(small_sensing, start, method):
    """Full batches, no noise: whatever refreshes; where the gradient counts as small x moves once by the kick."""
    plain = replace(STO_SPIDER.plain(FULL, QUIET), start=start[0], tolerance=0.0)
    view = Primal(small_sensing)
    for limit in (0.0, np.inf):
        found = method.run(view, replace(plain, drift_limit=limit), LiveTape(0)).iterates
        for before, after in pairwise(found):
            np.testing.assert_allclose(after, before - 0.05 * small_sensing.value_gradient(before), atol=1e-12)
    kicked = replace(plain, tolerance=np.inf, perturbation=0.3, frozen_steps=100)
    found = method.run(view, kicked, LiveTape(0)).iterates
    gaps = [float(np.linalg.norm(b - a + 0.05 * small_sensing.value_gradient(a))) for a, b in pairwise(found)]
    assert gaps[0] > 1e-3 and max(gaps[1:]) < 1e-12
    assert method is sto_spider or gaps[0] <= 0.3  # from a ball of this radius


def test_private_diff_tracks_the_full_gradient(small_sensing, start):
    """Full batches, no noise: the estimate is the gradient in x at the current pair, whatever the refresh period."""
    s = replace(PRIVATE_DIFF.plain(FULL, QUIET), start=start)
    every, rare = (private_diff.run(Clipped(small_sensing), replace(s, period=q), LiveTape(0)) for q in (1, 12))
    np.testing.assert_allclose(every.iterates, rare.iterates, atol=1e-12)


@pytest.mark.more
@pytest.mark.some(1)
@pytest.mark.parametrize("noise", ["as described", "Algorithm 3", "exact"])
def test_private_experiment_of_dp_rgda_never_looks_at_the_data(noise):
    """Matrix sensing, T = 40: with noise line 18 keeps y at 0, and x moves bit for bit as without data; else not."""
    problem = minimax_sosp.make_matrix_sensing(np.random.default_rng(0), signal_norm=1.0)
    rgda = methods(40)[0]
    private, tape = rgda.once(noise, problem, 0)
    blind, _ = replace(rgda, schedules={"blind": rgda.schedules[noise]}).once("blind", problem, 0)
    assert np.array_equal(private.iterates, blind.iterates)
    refreshes = [release.law.query for release in tape.transcript.releases if release.label == "refresh/v"]
    assert len(refreshes) == 4 and not np.any(refreshes)
    _, tape = rgda.once("none, no escape", problem, 0)
    assert any(np.any(release.law.query) for release in tape.transcript.releases if release.label == "refresh/v")


@pytest.mark.slow
def test_reproduction_of_minimax_sosp(tmp_path):
    """The quick report has all methods; private runs of DP-RGDA stay as far from the data as the blind ones."""
    report = minimax_sosp.run(Options(quick=True, output=tmp_path, runs=2))
    assert all(file.exists() for file in report.files)
    rows = {(row[0], row[1]): row for row in report.tables[0].rows}
    private, blind = (float(rows["DP-RGDA", noise][3].split()[0]) for noise in ("exact", "blind, exact"))
    assert private == blind
    assert float(rows["DP-RGDA", "exact"][2]) <= 2.0


@pytest.mark.more
def test_printed_rows_of_table_2_are_within_reach_of_points_without_data():
    """Each printed gradient norm and eigenvalue lies within 2.5 sd of 60 Gaussian points with the printed Phi.

    The comparison can fail: it does for |X*|_F = 20 (over 5 sd), and 60 exact gradient steps move a point by 3 sd.
    """
    problem = minimax_sosp.make_matrix_sensing(np.random.default_rng(0), signal_norm=1.0)

    def deviations(problem, value, others):
        points = minimax_sosp.gaussian_points(problem, value, 60)[:, 1:]
        return np.abs((np.array(others) - points.mean(axis=0)) / points.std(axis=0))

    for value, *printed in minimax_sosp.PRINTED.values():
        assert deviations(problem, value, printed).max() < 2.5
    value, *printed = minimax_sosp.PRINTED["DP-RGDA"]
    large = minimax_sosp.make_matrix_sensing(np.random.default_rng(0), signal_norm=20.0)
    assert deviations(large, value, printed).max() > 5
    x = 0.8 * np.random.default_rng(5).standard_normal(problem.d)
    for _ in range(60):
        x = x - 0.5 * problem.value_gradient(x)
    reached = float(np.linalg.norm(problem.value_gradient(x))), problem.smallest_eigenvalue(x)
    assert deviations(problem, problem.value(x), reached).max() > 2.5
