"""Baselines of minimax_sosp and the reproductions: counts, calibration, plain twins, shapes of the reports."""

from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.reproductions import minimax_sosp
from dpassay.audit.reproductions.minimax_sosp_methods import methods
from dpassay.audit.reproductions.report import Options
from dpassay.reference.accounting.cost import account
from dpassay.reference.errors import BadInput
from dpassay.reference.minimax_sosp.baseline_schedule import (
    BaselineSchedule,
    by_advanced_composition,
    by_exact_accounting,
)
from dpassay.reference.minimax_sosp.baselines import METHODS
from dpassay.reference.minimax_sosp.minimax_baselines import dp_sgda, private_diff
from dpassay.reference.minimax_sosp.spider_baselines import dp_spider
from dpassay.reference.tape import LiveTape

BASE = BaselineSchedule(10, 12, 2, 4, 6, 3, clip=1e9, step_x=0.05)


def start(problem, minimax):
    x = 0.5 * np.random.default_rng(1).standard_normal(problem.d)
    return (x, np.zeros(problem.d_y)) if minimax else x


@pytest.mark.parametrize("method", METHODS, ids=[method.name for method in METHODS])
def test_releases_are_those_that_the_calibration_counts(small_sensing, method):
    s = by_exact_accounting(replace(BASE, clip=1.0), method.counts, 2.0, 1e-5)
    tape = LiveTape(0)
    method.run(small_sensing, s, tape, start(small_sensing, method.minimax))
    assert len(tape.transcript.releases) == sum(number for _, number in method.counts(s))
    assert account(tape.transcript).epsilon(1e-5) <= 2.0
    assert by_advanced_composition(s, method.counts, 2.0, 1e-5).multiplier > s.multiplier


def test_noise_free_full_batch_baselines_are_gradient_descent_on_the_value_function(small_sensing):
    """DP-SPIDER telescopes; DP-SGDA is simultaneous descent ascent."""
    s = replace(BASE, refresh_batch=10, step_batch=10)
    x = start(small_sensing, False)
    found = dp_spider(small_sensing, s, LiveTape(0), x)
    for k in range(12):
        np.testing.assert_allclose(found.iterates[k], x, atol=1e-12)
        x = x - 0.05 * small_sensing.value_gradient(x)
    everyone, (x, y) = np.arange(10), start(small_sensing, True)
    found = dp_sgda(small_sensing, s, LiveTape(0), (x, y))
    for k in range(12):
        np.testing.assert_allclose(found.iterates[k], x, atol=1e-12)
        gradient_y = small_sensing.gradients_y(x, y, everyone).mean(axis=0)
        x, y = x - 0.05 * small_sensing.gradients_x(x, y, everyone).mean(axis=0), y + 0.8 * gradient_y


def test_private_diff_tracks_the_full_gradient(small_sensing):
    """Full batches, no noise: the estimate is the gradient in x at the current pair, whatever the refresh period."""
    s = replace(BASE, refresh_batch=10, step_batch=10)
    begin = start(small_sensing, True)
    every, rare = (private_diff(small_sensing, replace(s, period=q), LiveTape(0), begin).iterates for q in (1, 12))
    np.testing.assert_allclose(every, rare, atol=1e-12)


def test_a_batch_larger_than_the_data_is_refused():
    with pytest.raises(BadInput, match="refresh_batch"):
        replace(BASE, refresh_batch=11)


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
