"""Opacus beside plain NumPy: what was released, read by gradients, clipping and densities written anew.

Runs where it is installed: ``pip install "dpassay[audit,opacus]"``.
"""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

pytest.importorskip("opacus", reason="opacus is not installed")

from dpassay.audit.libraries import opacus as adapter
from dpassay.audit.libraries.library import realised
from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.neighbours import Pair

STD = adapter.MULTIPLIER * adapter.CLIP
ORDINARY = np.array([[0.5, 1.0, 1.0], [2.0, -1.0, 0.0], [0.1, 0.2, 0.3]])


def model(words):
    return next(one for one in adapter.models() if one.name == f"make_private, {words}")


def known_pair(one):
    known = one.pairs["replace-one"]
    here = np.array(known["rows"])
    return here, np.vstack([[known["there"]], here[1:]])


def clipped(weights, row):
    """The gradient of (w2 . W1 x - y)^2, all parameters together scaled to norm 1 at most."""
    first, second = weights
    x, y = row[:-1], row[-1]
    off = 2 * (second @ first @ x - y)
    whole = np.concatenate([np.outer(off * second, x).ravel(), off * (first @ x)])
    return whole * min(1.0, adapter.CLIP / (np.linalg.norm(whole) + 1e-6))


def log_density(value, centre):
    return norm.logpdf(value, centre, STD).sum()


def loss(values, here, there, rate):
    """Of two data sets that differ in record 0; with sampling the others must have no gradient."""
    d, total = here.shape[1] - 1, 0.0
    weights = np.full((2, d), 0.5), np.full(2, 0.5)
    for value in values:
        logs = []
        for rows in (here, there):
            target = clipped(weights, rows[0])
            others = sum((clipped(weights, row) for row in rows[1:]), np.zeros_like(target))
            drawn = np.log(rate) + log_density(value, others + target)
            logs.append(np.logaddexp(np.log1p(-rate) + log_density(value, others), drawn) if rate < 1 else drawn)
        total += logs[0] - logs[1]
        step = 0.1 * value / max(1, int(rate * len(here)))
        weights = weights[0] - step[: 2 * d].reshape(2, d), weights[1] - step[2 * d :]
    return total


@pytest.mark.parametrize(("words", "rate"), [("full batches", 1.0), ("Poisson batches", adapter.RATE)])
@pytest.mark.parametrize("known", [True, False])
def test_the_loss_is_that_of_a_twin(monkeypatch, words, rate, known):
    """Six runs each; rtol: three steps of about forty operations, and densities whose terms cancel."""
    one, noisy = model(words), adapter._noisy
    values: list[np.ndarray] = []

    def watched(tape, optimizer, multiplier):
        noisy(tape, optimizer, multiplier)
        value = np.concatenate([p.grad.numpy().ravel() for p in optimizer.params])
        if not any(np.array_equal(value, seen) for seen in values):  # once for all worlds; a dry run may come first
            values.append(value)

    monkeypatch.setattr(adapter, "_noisy", watched)
    here, there = known_pair(one) if known else (ORDINARY, np.vstack([[[-1.0, 0.3, 2.0]], ORDINARY[1:]]))
    if not known and rate < 1:  # the others have no gradient
        here, there = (np.vstack([rows[:1], np.zeros((2, 3))]) for rows in (here, there))
    for seed in range(6):
        values.clear()
        found = lockstep(one.run, Pair(here, there, target=0), (seed,))
        assert found.complete and not found.inexact and len(values) >= adapter.STEPS
        assert found.loss == pytest.approx(loss(values[-adapter.STEPS :], here, there, rate), rel=1e-9, abs=1e-12)


def test_the_known_pair_shows_nearly_all_that_the_releases_add_up_to():
    """Three sums that move by 2 each: exactly one Gaussian release that moves by 2 sqrt(3)."""
    one = model("full batches")
    found = realised(one, "replace-one", one.search("replace-one", examples=3), 0)
    apart = 2 * np.sqrt(adapter.STEPS) / adapter.MULTIPLIER

    def over(epsilon):
        far = norm.logcdf(-epsilon / apart - apart / 2)
        return norm.cdf(-epsilon / apart + apart / 2) - np.exp(epsilon + far) - adapter.DELTA

    exact = brentq(over, 0.0, 50.0)
    assert found.added == pytest.approx(exact, rel=1e-6)
    assert 0.95 * exact < found.epsilon <= exact and found.by.startswith("likelihood")


def test_a_sound_bound_with_poisson_batches_whatever_the_search_came_upon():
    one = model("Poisson batches")
    for seed in (0, 2):
        found = realised(one, "replace-one", one.search("replace-one", seed=seed, examples=5), 0)
        assert 0.9 * found.added < found.epsilon <= found.added
