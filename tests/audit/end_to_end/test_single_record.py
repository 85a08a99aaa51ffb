"""Fragment (d), dro Algorithm 3: a single-record release with momentum (line 16) beside batched ones whose noise
depends on the last step (lines 11-14)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.sampled import sampled_delta
from dpassay.reference.blocks.clipping import clip, clip_rows
from dpassay.reference.neighbours import Pair


@dataclass(frozen=True)
class Data:
    """g(w; a) = exp(a w), gradient a exp(a w)."""

    a: np.ndarray

    def g(self, w, i):
        return np.exp(self.a[i] * w)

    def dg(self, w, i):
        return (self.a[i] * np.exp(self.a[i] * w))[:, None]


C1, C2, C5, BETA, BATCH, PERIOD, STEPS = 1.0, 0.5, 2.0, 0.5, 2, 2, 4


def run(problem, tape):
    n, w, w_before, s, v = len(problem.a), 0.0, 0.0, np.ones(1), np.zeros(1)
    for t in range(STEPS):
        if t % PERIOD == 0:
            mean = clip_rows(problem.dg(w, np.arange(n)), C1).mean(axis=0)
            v = tape.gaussian("refresh", mean, std=1.0, sensitivity=2 * C1 / n)  # line 7
        else:
            batch = tape.batch("difference", n, BATCH)
            bound = min(C2, 4 * abs(w - w_before)) + 1e-3  # the clip follows the last step, so does the noise
            rows = clip_rows(problem.dg(w, batch.indices) - problem.dg(w_before, batch.indices), bound)
            sensitivity = 2 * bound / BATCH
            mean = rows.mean(axis=0)
            v = v + tape.gaussian("difference", mean, std=4 * sensitivity, sensitivity=sensitivity, batch=batch)
        one = tape.batch("one record", n, 1)  # line 16: one sample xi_0
        value = clip(problem.g(w, one.indices), C5)
        # line 16 as printed collapses: g + (1 - beta)(s - g) = beta g + (1 - beta) s, and only beta g is private
        query = BETA * value + (1 - BETA) * s
        s = np.maximum(tape.gaussian("value", query, std=4.0, sensitivity=2 * BETA * C5, batch=one), 0.1)
        w_before, w = w, float(np.clip(w - 0.1 * (v / s)[0], -1, 1))
    return w


@pytest.fixture
def pair():
    a = np.full(10, -1.0)
    here = a.copy()
    here[2] = 1.0
    return Pair(Data(here), Data(a), 2)


def test_every_reading(examine, pair):
    found = examine(run, pair)
    assert found.losses.findings == []
    releases = found.transcript.releases
    single = {found.transcript.participation(release) for release in releases if release.label == "value"}
    assert single == {"sampled at rate 0.1"}
    ratios = [release.law.std / release.sensitivity for release in releases if release.label == "difference"]
    assert ratios == pytest.approx([4.0] * 2), "noise and sensitivity move together, so the cost does not"


def test_the_single_record_release_is_exact():
    """One release against the closed form of (1-q) N(0) + q N(mu) vs N(0), within four standard errors (seed 3)."""

    def once(problem, tape):
        one = tape.batch("one record", len(problem.a), 1)
        return tape.gaussian("value", problem.a[one.indices], std=1.0, sensitivity=2.0, batch=one)

    a = np.full(10, -1.0)
    here = a.copy()
    here[2] = 1.0
    losses = np.array([lockstep(once, Pair(Data(here), Data(a), 2), [3, i]).loss for i in range(800)])
    gains = np.maximum(0.0, 1 - np.exp(0.5 - losses))
    exact = float(sampled_delta(np.array([0.5]), 0.1, 2.0)[0])
    assert np.mean(gains) == pytest.approx(exact, abs=4 * float(np.std(gains)) / np.sqrt(len(gains)))
