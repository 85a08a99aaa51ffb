"""Pairs of laws of scores whose exact epsilon and trade-off curve are known, for the measurements of coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpassay.audit.zoo.laws import mixture_epsilon
from dpassay.reference import guarantee
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.types import Array, Bools

DELTA, MU, RATE = 1e-5, 1.0, 0.1
FAILURE, SHOWN = 0.04, 0.25
SHOWN_ALONE = 0.01  # of the outputs say which side they are from


@dataclass(frozen=True)
class Law:
    """Scores on D and D' with their exact epsilon at `delta` and exact curve; scores of canaries in one run."""

    name: str
    draw: Callable[[np.random.Generator, int], tuple[Array, Array]]
    truth: float
    claim: guarantee.Guarantee
    delta: float = DELTA
    one_run_only: bool = False

    def canaries(self, rng: np.random.Generator, count: int) -> tuple[Array, Bools]:
        """Scores of independent canaries and the coins that included them."""
        if self.one_run_only:
            return common_failure(rng, count)
        without, within = self.draw(rng, count)
        coins = rng.random(count) < 0.5
        return np.where(coins, within, without), coins


def common_failure(rng: np.random.Generator, count: int) -> tuple[Array, Bools]:
    """Randomised response at epsilon 1 that in one run of 25 shows the coins of a quarter of the canaries: (1, 0.01)-DP
    for each canary, and as bad for all of them together as this allows.
    """
    coins = rng.random(count) < 0.5
    answers = np.where(rng.random(count) < np.e / (1 + np.e), coins, ~coins)
    scores = np.where(answers, 1.0, -1.0)
    if rng.random() < FAILURE:
        shown = rng.random(count) < SHOWN
        scores[shown] = np.where(coins[shown], 2.0, -2.0)
    return scores, coins


def laws() -> Iterator[Law]:
    """Randomised response, Gaussian, null, Laplace, rare branch, common failure, subsampled Gaussian."""
    low = 1 / (1 + np.e)

    def response(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return 1.0 * (rng.random(n) < low), 1.0 * (rng.random(n) < 1 - low)

    def branch(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        p, q = response(rng, n)
        return np.where(rng.random(n) < SHOWN_ALONE, -1.0, p), np.where(rng.random(n) < SHOWN_ALONE, 2.0, q)

    def mixture(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return rng.normal(size=n), rng.normal(size=n) + 2 * MU * (rng.random(n) < RATE)

    pairs = [(float(x), max(_one(x), _other(x))) for x in np.linspace(0, 8, 81)]
    sampled = guarantee.from_pairs(pairs, "sampled Gaussian")
    one = guarantee.approx_dp(1.0)
    yield Law("randomised response", response, 1.0, one)
    yield Law(
        "Gaussian", lambda r, n: (r.normal(size=n), r.normal(MU, size=n)), gdp_epsilon(MU, DELTA), guarantee.gdp(MU)
    )
    yield Law("null", lambda r, n: (r.normal(size=n), r.normal(size=n)), 0.0, guarantee.approx_dp(0.0))
    yield Law("Laplace", lambda r, n: (r.laplace(size=n), r.laplace(1, size=n)), 1.0, one)
    yield Law("rare branch", branch, 1.0, guarantee.approx_dp(1.0, SHOWN_ALONE), SHOWN_ALONE)
    together = FAILURE * SHOWN
    yield Law("common failure", response, 1.0, guarantee.approx_dp(1.0, together), together, one_run_only=True)
    yield Law("sampled Gaussian", mixture, mixture_epsilon(RATE, 2 * MU, DELTA), sampled)


def _one(epsilon: float) -> float:
    return float(RATE * guarantee.gaussian_delta(np.log1p(np.expm1(epsilon) / RATE), 2 * MU))


def _other(epsilon: float) -> float:
    """Q = N(0,1) against the mixture, on the half-line where Q is the larger."""
    x = np.linspace(-12, 12, 20_001)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    mixed = density * (1 - RATE + RATE * np.exp(2 * MU * x - 2 * MU**2))
    return float(np.trapezoid(np.maximum(density - np.exp(epsilon) * mixed, 0.0), x)) + 1e-9
