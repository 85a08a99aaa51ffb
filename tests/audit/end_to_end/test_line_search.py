"""Fragment (b), second_order_erm Algorithm 2: the private line search, above-threshold with early exit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.findings import Kind
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.neighbours import Pair

LAM, B_G, C_G, BETA, FIRST, FALLBACK = 2.0, 1.0, 0.3, 0.5, 2.0, 0.25


@dataclass(frozen=True)
class Data:
    """f(w) = mean |w - x_i|: gradients bounded by B_g = 1."""

    x: np.ndarray

    def f(self, w):
        return float(np.mean(np.abs(w - self.x)))


def line_search(q, sensitivity, tape):
    """Algorithm 2: halt at the first step whose noisy query is above the noisy threshold."""
    count = math.floor(math.log(FALLBACK / FIRST, BETA)) + 1
    steps = [FIRST * BETA**i for i in range(count)]
    index = tape.above_threshold(
        "line search",
        (q(gamma) for gamma in steps),  # evaluated one by one, as far as the search goes
        threshold=0.0,
        threshold_scale=2 * LAM * sensitivity,  # xi ~ Lap(2 lambda Delta_q)
        query_scale=4 * LAM * sensitivity,  # nu_i ~ Lap(4 lambda Delta_q)
        sensitivity=sensitivity,
    )
    return FALLBACK if index is None else steps[index]


def run(problem, tape):
    w, n = 0.0, len(problem.x)
    for _ in range(3):
        g = tape.gaussian("gradient", float(np.mean(np.sign(w - problem.x))), std=0.5, sensitivity=2 * B_G / n)

        def q(gamma, w=w, g=g):
            return problem.f(w) - problem.f(w - gamma * g) - C_G * gamma * g**2  # eq. (13a)

        gamma = line_search(q, 2 / n * FIRST * B_G * max(abs(g), 1e-12), tape)
        w -= gamma * g
    return w


@pytest.fixture
def pair():
    x = np.array([3.0, 3.0, -3.0, 3.0])
    there = x.copy()
    there[2] = 3.0
    return Pair(Data(x), Data(there), 2)


@pytest.mark.more
def test_every_reading(examine, pair):
    found = examine(run, pair, runs=100)
    assert found.losses.findings == []
    searches = [(part, count) for part, count in found.account.common if part.kind == "above-threshold"]
    assert [count for _, count in searches] == [3]
    assert searches[0][0].size == pytest.approx(1 / LAM), "a search is (1/lambda)-DP (Theorem 5)"


def test_one_search_never_exceeds_its_epsilon():
    """By exact enumeration of the outputs, over 40 neighbouring query vectors (seed 5)."""
    worst, rng = 0.0, np.random.default_rng(5)
    for _ in range(40):
        q = rng.normal(size=4)
        moved = q + rng.choice([-1.0, 1.0], size=4)
        laws = [AboveThreshold(v, 0.0, 2 * LAM, 4 * LAM).outcomes().log_probabilities for v in (q, moved)]
        worst = max(worst, float(np.max(np.abs(laws[0] - laws[1]))))
    assert 0.3 / LAM < worst <= 1 / LAM


def test_noise_scaled_by_the_true_decrease_is_caught(pair):
    def mutant(problem, tape):
        return line_search(lambda gamma: problem.f(0) - problem.f(gamma), 0.1 + problem.f(0.5) / 10, tape)

    assert Kind.NOISE_SCALE in {finding.kind for finding in lockstep(mutant, pair, [0]).findings}
