"""Baselines of minimax_sosp and the reproductions: counts, calibration, plain twins, shapes of the reports."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dpassay.audit.reproductions import minimax_sosp
from dpassay.audit.reproductions.minimax_sosp import methods
from dpassay.audit.reproductions.report import Options
from dpassay.reference.accounting.cost import account
from dpassay.reference.baselines import dp_sgda, dp_spider, private_diff
from dpassay.reference.baselines.protocols import Clipped, Primal
from dpassay.reference.errors import BadInput
from dpassay.reference.minimax_sosp import ada_dp_spider, sto_spider
from dpassay.reference.minimax_sosp.baseline_methods import (
    METHODS,
    Sizes,
    descent_ascent,
    differences,
    drifting,
    spider,
)
from dpassay.reference.noise import Multipliers
from dpassay.reference.tape import LiveTape

BASE = Sizes(10, 12, 2, 4, 6, 3, clip=1e9, step_x=0.05)
FULL = replace(BASE, refresh_batch=10, step_batch=10)
SILENT = Multipliers(dict.fromkeys(("refresh", "difference", "x", "y"), 0.0))


@pytest.fixture
def start(small_sensing):
    return 0.5 * np.random.default_rng(1).standard_normal(small_sensing.d), np.zeros(small_sensing.d_y)


@pytest.mark.parametrize("method", METHODS, ids=[method.name for method in METHODS])
def test_no_run_spends_more_than_the_calibration_pays_for(small_sensing, method):
    """Sampled batches; the drift rules refresh rarely here, the calibration pays for T of the larger batches."""
    exact, described = (method.schedule(replace(BASE, clip=1.0), noise, 2.0, 1e-5) for noise in ("exact", "described"))
    for seed in range(3):
        tape = LiveTape(seed)
        method.run(method.view(small_sensing), exact, tape)
        assert account(tape.transcript).epsilon(1e-5) <= 2.0
    assert set(described.noise.by_label) == set(SILENT.by_label)
    label = next(iter(exact.noise.by_label))
    assert described.noise[label] > exact.noise[label]


def test_noise_free_full_batch_baselines_are_gradient_descent_on_the_value_function(small_sensing, start):
    """DP-SPIDER telescopes; DP-SGDA is simultaneous descent ascent."""
    x, y = start
    found = dp_spider.run(Primal(small_sensing), replace(spider(FULL, SILENT), start=x), LiveTape(0))
    for k in range(12):
        np.testing.assert_allclose(found.iterates[k], x, atol=1e-12)
        x = x - 0.05 * small_sensing.value_gradient(x)
    everyone, (x, y) = np.arange(10), start
    found = dp_sgda.run(Clipped(small_sensing), replace(descent_ascent(FULL, SILENT), start=(x, y)), LiveTape(0))
    for k in range(12):
        np.testing.assert_allclose(found.iterates[k], x, atol=1e-12)
        gradient_y = small_sensing.gradients_y(x, y, everyone).mean(axis=0)
        x, y = x - 0.05 * small_sensing.gradients_x(x, y, everyone).mean(axis=0), y + 0.8 * gradient_y


@pytest.mark.parametrize("method", [sto_spider, ada_dp_spider])
def test_drifting_methods_are_gradient_descent_until_a_small_gradient(small_sensing, start, method):
    """Full batches, no noise: whatever refreshes; where the gradient counts as small x moves once by the kick."""
    plain = replace(drifting(FULL, SILENT), start=start[0], tolerance=0.0)
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
    s = replace(differences(FULL, SILENT), start=start)
    every, rare = (private_diff.run(Clipped(small_sensing), replace(s, period=q), LiveTape(0)) for q in (1, 12))
    np.testing.assert_allclose(every.iterates, rare.iterates, atol=1e-12)


def test_a_batch_larger_than_the_data_is_refused():
    with pytest.raises(BadInput, match="refresh_batch"):
        spider(replace(BASE, refresh_batch=11), SILENT)


@pytest.mark.more
@pytest.mark.some(1)
@pytest.mark.parametrize("noise", ["as described", "Algorithm 3", "exact"])
def test_private_experiment_of_dp_rgda_never_looks_at_the_data(noise):
    """Matrix sensing, T = 40: with noise line 18 keeps y at its start 0, and x moves bit for bit as without data.

    Not so without noise, where y moves and with it the gradient in x.
    """
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
