"""How much of the stability bounds neighbouring datasets really attain: an adversarial search.

A family builds a problem from a parameter vector that holds the records; the search moves all records, the replaced
one included, to push the exact solutions of the neighbours apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.errors import BadInput
from dpassay.reference.extras import Later
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.problems.saddle_games import sharp_stability
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.types import Array

optimize = Later("scipy.optimize")

Family = Callable[[Array], tuple[FiniteSum, FiniteSum]]


@dataclass(frozen=True)
class Shares:
    """Distances between exact solutions as shares of what is proved (1 = attained)."""

    weighted: float  # of Lemma 3.3/4.3: sqrt(mu_x |dx|^2 + mu_y |dy|^2) against 2L/(n sqrt(mu))
    x: float  # |dx| against the paper's 2L/(n sqrt(mu_x mu))
    x_sharp: float  # |dx| against `sharp_stability`


def shares(here: FiniteSum, there: FiniteSum, lipschitz: float | None = None) -> Shares:
    """Compare the exact solutions of two neighbours; L is the full f's unless given."""
    bound = max(here.lipschitz, there.lipschitz) if lipschitz is None else lipschitz
    if not np.isfinite(bound):
        raise BadInput("lipschitz", bound, "give L of the data part on an unbounded domain")
    moved = _solution(here) - _solution(there)
    n, mu, d_x = here.n, here.modulus, here.loss.d
    joint = 2 * bound / (n * np.sqrt(mu))
    x = float(np.linalg.norm(moved[:d_x]))
    other = here.strong_concavity if here.loss.d_y else np.inf
    return Shares(
        weighted=float(np.linalg.norm(np.sqrt(here.weights) * moved)) / float(joint),
        x=x / float(joint / np.sqrt(here.strong_convexity)),
        x_sharp=x / sharp_stability(bound, n, here.strong_convexity, other),
    )


def search(
    family: Family,
    bounds: list[tuple[float, float]],
    rng: np.random.Generator,
    *,
    objective: Callable[[Shares], float],
    lipschitz: float | None = None,
    generations: int = 60,
) -> tuple[Shares, Array]:
    """Largest `objective` found by differential evolution over the family's parameters, and where."""

    def loss(parameters: Array) -> float:
        return -objective(shares(*family(parameters), lipschitz))

    ranges: Any = bounds
    found = optimize.differential_evolution(
        loss, ranges, rng=rng, maxiter=generations, popsize=8, polish=False, tol=1e-8
    )
    return shares(*family(found.x), lipschitz), np.asarray(found.x)


def _solution(problem: FiniteSum) -> Array:
    return Exact()(problem, 1e-8, np.random.default_rng(0)).point
