"""What the five algorithms share: the budget, the two readings, noise formulas, and the refusal to release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpassay.reference.accounting.gdp import gdp_mu
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.solvers.protocol import CertificateError, Oracle, Solver, certify
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

Reading = Literal["printed", "repaired"]

#: Solver error as a fraction of the paper's L/(mu n) in the repaired reading: costs log(100) more accuracy, and
#: brings the sensitivity from 4L/(mu n) down to 2.02 L/(mu n).
RESIDUAL_FRACTION = 0.01


@dataclass(frozen=True)
class Budget:
    """(epsilon, delta) under replace-one; the paper works with epsilon < 1 and delta < 1/n (Section 2.1)."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise BadInput("epsilon", self.epsilon, "must be positive")
        if not 0 < self.delta < 1:
            raise BadInput("delta", self.delta, "must lie in (0, 1)")


def printed_multiplier(budget: Budget, parts: int = 1) -> float:
    """sqrt(2 log(2.5 parts / delta)) parts / epsilon: std per unit of sensitivity in Algorithms 1 to 5.

    Definition 2 at (epsilon/parts, delta/(2 parts)); the other half of delta pays for solvers that fail.
    """
    return float(np.sqrt(2 * np.log(2.5 * parts / budget.delta)) * parts / budget.epsilon)


def exact_multiplier(budget: Budget) -> float:
    """Smallest std per unit of sensitivity for which one Gaussian release is (epsilon, delta)-DP."""
    return (1 + 1e-9) / gdp_mu(budget.epsilon, budget.delta)  # rounded away from the budget


def solve(problem: FiniteSum, solver: Solver, target: float, certified: bool, tape: Tape, label: str) -> Array:
    """Run the base solver with randomness from the tape; with `certified`, verify its point or refuse.

    Only the seed goes through the tape, never the solution: the neighbour's run must solve its own problem.
    The solver's own certificate is not believed.  It is asked for half of the target, because one step of `certify`
    at most doubles the residual of a point that is good enough.
    A refusal is itself seen by the adversary, so a certified solver must be given the iterations it needs by its
    proven rate; then a refusal means a broken solver, not a property of the data.
    """
    seed = tape.secret(f"{label}/seed", lambda rng: int(rng.integers(2**62)))
    rng = np.random.default_rng(seed)
    if not certified:
        return solver(problem, target, rng).point
    point, certificate = certify(Oracle(problem), solver(problem, target / 2, rng).point, target)
    if not certificate.holds:
        raise CertificateError(certificate, label)
    return point
