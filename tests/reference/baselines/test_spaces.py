"""The spaces of DP-SGD, DP-RGDA, the stochastic SPIDER and the baselines hold, and mutants do not survive on them."""

from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.search.engine import search
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.catalogue import find
from dpassay.reference.findings import Kind

HOLDING = [
    "baselines/dp_sgd:full-batch@baseline",
    "baselines/dp_sgd:fixed-size@baseline",
    pytest.param("baselines/dp_sgd:poisson@baseline", marks=pytest.mark.slow),
    "minimax_sosp/dp_rgda:n9-d2-T3-K2-q3-b9@repaired",
    pytest.param("minimax_sosp/private_diff:exact-full@baseline", marks=pytest.mark.slow),
    "adaptive_batch/stochastic_spider:d1-T7-O1@repaired",
]


def searched(key, run=None, examples=15):
    case = find(key)[0]
    return search(run or case.build().run, case.space(), case.claim, examples=examples, seed=0)


@pytest.mark.some(2)
@pytest.mark.parametrize("key", HOLDING)
def test_nothing_is_found_where_the_claim_holds(key):
    found = searched(key)
    assert not found.findings and not found.raised
    claim = find(key)[0].claim.epsilon
    assert 0.99 * claim < found.accounted <= claim
    assert max(found.shares.values()) == pytest.approx(1.0, abs=0.3)


@pytest.mark.more
@pytest.mark.some(1)
@pytest.mark.parametrize("place", ["bare-refresh", "theorem-3.17-d1-T2-O2"])
def test_printed_trees_show_what_their_rows_declare(place):
    key = f"adaptive_batch/stochastic_spider:{place}@printed"
    shown = {(one.kind, one.label) for one in searched(key, examples=40).findings}
    declared = {(one.kind, one.label) for one in find(key)[0].declared}
    assert (Kind.OVER_BUDGET, "") in shown
    assert shown <= declared and any(kind is Kind.BARE_RELEASE for kind, _ in shown)


@pytest.mark.more
def test_clipping_by_the_largest_entry_is_caught(monkeypatch):
    """A row of d entries keeps a length of sqrt(d) C: 150 examples; four of the seeds 0 to 5 catch it, 0 among them."""

    def clip_rows(rows, bound):
        return rows * np.minimum(1.0, bound / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300))

    monkeypatch.setattr(dp_sgd, "clip_rows", clip_rows)
    kinds = {one.kind for one in searched("baselines/dp_sgd:full-batch@baseline", examples=150).findings}
    assert Kind.SENSITIVITY_EXCEEDED in kinds


def test_a_last_phase_without_noise_is_caught():
    def silent_end(problem, schedule, tape):
        """The last step takes the exact mean of the clipped gradients."""
        w = np.zeros(problem.d)
        if schedule.steps > 1:
            w = dp_sgd.run(problem, replace(schedule, steps=schedule.steps - 1), tape)
        rows = dp_sgd.clip_rows(problem.gradients(w, np.arange(problem.n)), schedule.clip)
        return w - schedule.learning_rate * rows.mean(axis=0)

    kinds = {one.kind for one in searched("baselines/dp_sgd:full-batch@baseline", silent_end).findings}
    assert Kind.OUTPUT in kinds
