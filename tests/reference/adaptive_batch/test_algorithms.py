"""Stochastic SPIDER with escape (adaptive_batch): tree, a plain twin, schedules, and what a record costs in rows."""

from dataclasses import replace
from math import ceil

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.adaptive_batch.cases import CASES as ROWS
from dpassay.reference.adaptive_batch.cases import LONG_ESCAPES, cut
from dpassay.reference.adaptive_batch.stochastic_spider import Schedule, printed, run
from dpassay.reference.adaptive_batch.theorems import Constants, oracle_count
from dpassay.reference.adaptive_batch.tree import printed_nodes
from dpassay.reference.errors import BadInput
from dpassay.reference.noise import Printed
from dpassay.reference.problems.saddles import cosine_saddle
from dpassay.reference.tape import LiveTape


def test_node_covers_the_prefix_except_at_powers_of_two():
    """There it stops short by one value."""
    for length in range(1, 257):
        for t in range(1, length + 1):
            covered = [k for first, last in printed_nodes(t, length) for k in range(first, last + 1)]
            assert covered == list(range(1, t + (t < length or length.bit_count() > 1)))


SADDLE = cosine_saddle((1.0, 0.7, -0.4), 4000, np.random.default_rng(0))
SIZES = {"n": 4000, "d": 3, "steps": 60, "epoch_length": 60, "batch": 40, "batch_slope": 20.0, "step_size": 1 / 1.5}
LIMITS = {"threshold": 0.05, "drift_limit": 2.0, "escape_limit": 1.0, "escape_steps": 40, "escape_radius": 0.5}
BOUNDS = {"lipschitz": 2.0, "smoothness": 1.5, "hessian_lipschitz": 1.5}


def plain_twin(problem, s, x):
    """Algorithm 3 without noise, written from the pseudocode, with the records taken by index."""
    used, left = 0, problem.n

    def take(size):
        nonlocal used, left
        chosen = np.arange(used, used + size)
        used, left = used + size, left - size
        return chosen

    xs, drift, count, frozen = [x], s.drift_limit, 0, {-1: 1, 0: 0}
    escape, anchor, step = False, x, np.zeros_like(x)
    for t in range(s.steps):
        fresh = drift >= s.drift_limit or count >= s.escape_limit
        size = s.batch if fresh else max(1, ceil(s.batch_slope * np.linalg.norm(step) - 1e-12))
        if left <= s.batch or left < 2 * size:
            break
        if fresh:
            gradient, hessian = problem.gradients(x, take(size)).mean(0), problem.hessians(x, take(size)).mean(0)
            drift = count = 0
        else:
            chosen = take(size)
            gradient = gradient + (problem.gradients(x, chosen) - problem.gradients(xs[-2], chosen)).mean(0)
            chosen = take(size)
            hessian = hessian + (problem.hessians(x, chosen) - problem.hessians(xs[-2], chosen)).mean(0)
        if np.linalg.norm(gradient) <= s.threshold and frozen[t - 1] <= 0:
            frozen[t], escape, count, g, H, anchor = s.escape_steps, True, count + 1, gradient, hessian, x
        step = g + H @ (x - anchor) if escape else gradient
        x = x - s.step_size * step
        xs.append(x)
        drift += np.linalg.norm(step)
        frozen[t + 1] = frozen[t] - 1
        if np.linalg.norm(x - anchor) >= s.escape_radius or frozen[t + 1] <= 0:
            escape = False
    return np.array(xs[1:]), used


@pytest.mark.parametrize("reading", ["bare", "tree", "new tree"])
def test_zero_noise_run_equals_the_plain_twin(reading):
    start = np.array([0.02, 0.0, 0.01])
    how = {"noise": Printed({"tree": 0.0, "escape": 0.0}), "refresh": reading, "order": "index", "start": start}
    quiet = Schedule(**SIZES, **LIMITS, **BOUNDS, **how)
    found = run(SADDLE, quiet, LiveTape(0))
    expected, used = plain_twin(SADDLE, quiet, start)
    np.testing.assert_allclose(found.iterates, expected, atol=1e-10)
    assert found.functions_used == used
    assert found.refreshes >= 2 and found.escapes >= 1


def test_sensitivities_are_those_of_the_oracle_that_moves_further():
    """2 G/b of O1 or 2 M eta/slope of O2; 2 M/b of O3 or 2 rho eta/slope of O4."""
    tree = {"noise": Printed({"tree": 1.0, "escape": 1.0}), "refresh": "tree"}
    for batch, wanted in ((10, (0.4, 0.3)), (400, (0.1, 0.14))):
        s = Schedule(**{**SIZES, "batch": batch}, **LIMITS, **{**BOUNDS, "hessian_lipschitz": 2.1}, **tree)
        assert (s.gradient_sensitivity, s.hessian_sensitivity) == pytest.approx(wanted)


@pytest.mark.parametrize(("change", "field"), [
    ({"batch": 0}, "batch"), ({"escape_radius": 0.0}, "escape_radius"), ({"lipschitz": -1.0}, "lipschitz"),
    ({"refresh": "new tree", "epoch_length": 0}, "epoch_length"),
])  # fmt: skip
def test_bad_schedules_are_refused(change, field):
    with pytest.raises(BadInput, match=field):
        Schedule(**{**SIZES, **LIMITS, **BOUNDS, "noise": Printed({}), "refresh": "tree", **change})


FITTING = Constants(n=100_000, d=10, epsilon=1.0, delta=1e-5)


def test_schedule_of_theorem_3_17():
    s = printed(FITTING, "Theorem 3.17")
    a = FITTING.accuracy()
    assert s.step_size * s.steps * a**2 == pytest.approx(1.0, rel=0.01)
    assert oracle_count(FITTING, a, s.drift_limit, s.batch) <= FITTING.n
    # the adaptive batch bounds the sensitivity of O2 whatever the gradient
    for norm in (0.01, 0.3, 2.0):
        assert norm / s.adaptive_batch(norm) <= 1 / s.batch_slope + 1e-12


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"n": 100}, {}, "alpha < G"),
        ({"epsilon": 3.0}, {}, "epsilon <= O\\(1\\)"),
        ({"n": 1000}, {"alpha": 0.02}, "Lemma 3.14 needs b <= n"),
        ({}, {"alpha": 0.02}, "Lemma 3.15"),
    ],
)
def test_schedules_refuse_impossible_regimes_by_name(changes, options, message):
    with pytest.raises(BadInput, match=message):
        printed(replace(FITTING, **changes), "Theorem 3.17", **options)


CASES = {case.key: case for case in ROWS}
NAME = "adaptive_batch/stochastic_spider"


@pytest.mark.parametrize("key", [key for key in CASES if "O1@repaired" in key])
def test_one_record_moves_every_node_above_its_leaf_by_its_whole_sensitivity(key):
    instance = CASES[key].build()
    moved = lockstep(instance.mechanism, instance.pair, [0]).movements
    widths = [1 << k for k in range(instance.facts["T"].bit_length())]
    assert all(moved[f"tree/(1,{width})"].share == pytest.approx(1.0) for width in widths)


def test_a_refresh_inside_one_tree_costs_more_nodes_than_the_levels():
    """Printed, one tree over the run: T = 7 has 3 levels, but a refresh after step 4 puts the record into 5 nodes."""
    printed = CASES[f"{NAME}:lemma-3.13-d1-T7-O1@printed"].build()
    mended = CASES[f"{NAME}:d1-T7-O1@repaired"].build()
    for instance, nodes in ((printed, 5), (mended, 3)):
        found = [r for r in instance.longest_transcript().releases if r.label.startswith("tree/") and 0 in r.draws]
        assert len(found) == nodes
        assert {r.sensitivity for r in found} == {2 / instance.facts["b"]}


def test_the_escape_that_breaks_lemma_3_13_is_private_with_the_noise_of_lemma_3_14():
    """The ledger's charitable reading of lemma314/escape_noise_small_tau, on the row's own pair."""
    instance = CASES[f"{NAME}:escape@printed"].build()
    known, other = instance.schedule, cut("Lemma 3.14", 90, LONG_ESCAPES, 1e9)
    assert replace(other, noise=known.noise) == known
    assert replace(instance, schedule=other).accounted().epsilon(1e-5) < 0.1 < 9 < instance.accounted().epsilon(1e-5)
