"""What every algorithm of `second_order_erm` shares: accuracy, sensitivities, the eigenpair of eq. (5), the outcome."""

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any, Literal

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.problems.erm import Constants, SmoothRisk

Reading = Literal["printed", "repaired"]


@dataclass(frozen=True)
class Accuracy:
    """What counts as a second-order necessary point (Definition 1), and how much noise may spoil it (eq. 9)."""

    gradient: float  # epsilon_g
    curvature: float  # epsilon_H
    c1: float = 0.1
    c2: float = 0.1
    c: float = 0.1

    def __post_init__(self) -> None:
        require(self.gradient > 0, "epsilon_g", self.gradient, "must be positive")
        require(self.curvature > 0, "epsilon_H", self.curvature, "must be positive")
        require(0 < self.c1 < 1 / 2, "c1", self.c1, "Lemma 2 needs 0 < c1 < 1/2")
        require(min(self.c, self.c2) > 0 and self.c + self.c2 < 1 / 3, "c + c2", self.c + self.c2, "must be below 1/3")


def public_numbers(reading: Reading, start: Array, accuracy: Accuracy, constants: Constants) -> dict[str, Any]:
    """What the schedules of OPT and OPT-B share in both readings: all but sensitivities, noise and batches."""
    G, M = constants.smoothness, constants.hessian_lipschitz
    return {"reading": reading, "start": start, "accuracy": accuracy, "smoothness": G, "hessian_lipschitz": M}


@dataclass(frozen=True)
class Sensitivities:
    """Largest change of f, g and H (Frobenius norm) when one of n records is replaced."""

    value: float  # Delta_f
    gradient: float  # Delta_g
    hessian: float  # Delta_H


UNIT = Sensitivities(1.0, 1.0, 1.0)  # of dry runs: noise multipliers do not depend on sensitivities


def printed_constants(problem: SmoothRisk, start: Array) -> Constants:
    """B on ||w|| <= ||w0|| (f is released at w0 only, and no loss here is bounded on R^d), the rest everywhere."""
    at_start = problem.constants(radius=float(np.linalg.norm(start)))
    return replace(problem.constants(), value=at_start.value)


def printed_sensitivities(constants: Constants, n: int, d: int) -> Sensitivities:
    """Return eq. (4)."""
    require(constants.gradient < inf, "radius", constants.radius, "Assumption 2 (B_g) does not hold for ridge")
    return Sensitivities(
        value=constants.value / n,  # B / n
        gradient=2 * constants.gradient / n,  # 2 B_g / n
        hessian=2 * constants.hessian * sqrt(d) / n,  # 2 B_H sqrt(d) / n
    )


def batch_sensitivities(problem: SmoothRisk, start: Array, batch: int) -> Sensitivities:
    """The exact sensitivities of means over a batch: n / m times as large."""
    full, share = exact_sensitivities(problem, start), problem.n / batch
    return Sensitivities(full.value * share, full.gradient * share, full.hessian * share)


def exact_sensitivities(problem: SmoothRisk, start: Array) -> Sensitivities:
    """Return the sensitivities without what cancels: the regulariser, and the sqrt(d) of a rank-one Hessian."""
    return Sensitivities(
        value=problem.value_sensitivity(start),
        gradient=problem.gradient_sensitivity(),
        hessian=problem.hessian_sensitivity(),
    )


@dataclass(frozen=True)
class Outcome:
    """What a run gives back: the point, whether it passed the noisy test of Definition 1, and the steps it took."""

    w: Array
    certified: bool
    gradient_steps: int  # k_g
    curvature_steps: int  # k_H
    hessian_evaluations: int


def joined(one: Outcome, two: Outcome) -> Outcome:
    """Two phases as one run: the point and the verdict of the second, the steps of both."""
    return Outcome(
        two.w,
        two.certified,
        one.gradient_steps + two.gradient_steps,
        one.curvature_steps + two.curvature_steps,
        one.hessian_evaluations + two.hessian_evaluations,
    )


def descent_sign(vector: Array, gradient: Array) -> Array:
    """Choose the sign of eq. (5): <p, g> <= 0."""
    return -vector if float(vector @ gradient) > 0 else vector
