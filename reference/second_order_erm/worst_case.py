"""Worst-case neighbours: pairs that move f(w0), gradient or Hessian the most, and what the printed bound T costs.

T can be read off the run: it is its length when no step returns early, and the noise level of every release. The
noise |z| of eq. (6) is one-sided, so on the neighbour with the larger f(w0) small T are impossible, and no epsilon
covers them: `StepBound` has the exact delta of T = ceil((f(w0) + |z| - f_low) / MIN_DEC).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, exp

import numpy as np
import scipy

from dpassay.reference.arrays import Array
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.erm import ErmProblem

from .common import Accuracy

LARGE = 1e9
EPSILON, DELTA = 1.0, 1e-5
Decrease = Callable[[Accuracy, float, float], float]  # MIN_DEC of an accuracy, G and M


def aligned_pair(problem: ErmProblem, start: Array) -> Pair[ErmProblem]:
    """D and D' differ in record 0: R w0 / ||w0|| with label +1 in D and -1 in D'.

    f(w0) then moves by exactly `problem.value_sensitivity(start)`. For w0 = 0 the two values agree and nothing shows.
    """
    norm = float(np.linalg.norm(start))
    record = problem.feature_bound * (start / norm if norm > 0 else np.eye(problem.d)[0])
    how = "record 0 is w0/||w0|| with label +1 or -1: f(w0) moves by its sensitivity"
    return Pair(problem.replace(0, record, 1.0), problem.replace(0, record, -1.0), 0, how)


def opposed_pair(problem: ErmProblem, start: Array) -> Pair[ErmProblem]:
    """D and D' differ in record 0: two records that pull the gradient at w0 apart as far as a scan finds.

    Both lie in the plane of w0 and one direction across it, on the wrong side of w0, so their gradients are long, and
    they point away from each other. The bound 2 R sup|phi'| / n is approached as ||w0|| grows.
    """
    norm = float(np.linalg.norm(start))
    along = start / norm if norm > 0 else np.eye(problem.d)[0]
    across = np.eye(problem.d)[int(np.argmin(np.abs(along)))]
    across = across - (across @ along) * along
    across /= np.linalg.norm(across)
    angles = np.linspace(0.0, np.pi / 2, 2001)
    slope = np.abs(problem.loss.link.slope(-problem.feature_bound * norm * np.sin(angles)))
    angle = float(angles[np.argmax(slope * np.cos(angles))])
    down, side = problem.feature_bound * np.sin(angle) * along, problem.feature_bound * np.cos(angle) * across
    one, other = problem.replace(0, side - down, 1.0), problem.replace(0, -side - down, 1.0)
    return Pair(one, other, 0, "record 0 pulls the gradient one way or the other")


def crossed_pair(problem: ErmProblem, start: Array) -> Pair[ErmProblem]:
    """D and D' differ in record 0: two records across w0 and across each other move the Hessian the most.

    Their margins at w0 are zero, where a convex link is most curved, and what they add to the Hessian has rank one
    each: sqrt(2) of one of them apart. In one dimension there is one direction only, and less is moved.
    """
    found = np.linalg.qr(np.column_stack([start, np.eye(problem.d)]))[0].T[1:3] * problem.feature_bound
    one, other = (problem.replace(0, record, 1.0) for record in found)
    return Pair(one, other, 0, "record 0 bends the model across w0, one way or the other")


def alike_pair(problem: ErmProblem, start: Array) -> Pair[ErmProblem]:
    """All other records equal and pointing the other way: with them the loss of a sampled run is exact, and large."""
    both = opposed_pair(problem, start)
    x, y = both.there.features[0], float(both.there.labels[0])
    alike = ErmProblem(np.tile(x, (problem.n, 1)), np.full(problem.n, y), problem.loss)
    one = alike.replace(0, both.here.features[0], float(both.here.labels[0]))
    return Pair(one, alike, 0, "all records but one are equal; record 0 pulls the gradient the other way")


def first_records(problem: ErmProblem, count: int) -> ErmProblem:
    """Keep the first `count` records: a small set on which one record weighs more and a run is fast."""
    return replace(problem, features=problem.features[:count], labels=problem.labels[:count])


def worst_case_delta(sigma_f: float) -> float:
    """Delta at epsilon = infinity when f(w0) moves by Delta_f across an edge of the ceiling: 2 Phi(1/sigma_f) - 1."""
    return float(2 * scipy.special.ndtr(1 / sigma_f) - 1)


@dataclass(frozen=True)
class StepBound:
    """The law of T for one data set: f(w0), std = Delta_f sigma_f of z, MIN_DEC, and the lower bound on f."""

    value: float
    std: float
    minimum_decrease: float
    lower_bound: float = 0.0

    @property
    def least(self) -> int:
        """Smallest T that has positive probability (z = 0 has none)."""
        return max(1, ceil((self.value - self.lower_bound) / self.minimum_decrease))

    def cdf(self, steps: Array | float) -> Array:
        """P(T <= steps) = P(|z| <= steps MIN_DEC + f_low - f(w0)) = 2 Phi(. / std) - 1."""
        room = np.asarray(steps) * self.minimum_decrease + self.lower_bound - self.value
        return np.asarray(
            scipy.special.erf(np.maximum(room, 0.0) / (np.sqrt(2.0) * self.std))
        )  # a half-normal is below room


def pair_delta_infinity(low: StepBound, high: StepBound) -> float:
    """P(T(D) is impossible on D') for f(w0; D) < f(w0; D'): the exact delta at epsilon = infinity, in closed form."""
    return float(low.cdf(high.least - 1))


def pair_delta(one: StepBound, other: StepBound, epsilon: float) -> float:
    """Exact delta(epsilon) of T alone, the larger of the two directions: sum over T of (p - exp(epsilon) p')_+."""
    last = ceil((max(one.value, other.value) + 40 * one.std - one.lower_bound) / one.minimum_decrease) + 1
    steps = np.arange(0, last + 1, dtype=np.float64)
    p, q = np.diff(one.cdf(steps)), np.diff(other.cdf(steps))
    forward, backward = np.maximum(p - exp(epsilon) * q, 0).sum(), np.maximum(q - exp(epsilon) * p, 0).sum()
    return float(max(forward, backward))
