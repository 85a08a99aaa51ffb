"""Running the base solver, trusted or certified, and the noise that its error is covered by."""

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require, require_budget
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.solvers.protocol import Certificate, CertificateError, Oracle, Solution, Solver, certify, near
from dpassay.reference.tape import Tape

#: Solver error as a fraction of the paper's L/(mu n) in the repaired readings: costs log(100) more accuracy, and
#: brings the sensitivity from 4L/(mu n) down to 2.02 L/(mu n).
RESIDUAL_FRACTION = 0.01
COVERED = 2 + 2 * RESIDUAL_FRACTION  # units of stability: the solutions move by 2, a solver may be wrong on both sides


def printed_multiplier(epsilon: float, delta: float, parts: int = 1) -> float:
    """sqrt(2 log(2.5 parts / delta)) parts / epsilon: std per unit of sensitivity in Algorithms 1 to 5.

    Definition 2 at (epsilon/parts, delta/(2 parts)); the other half of delta pays for solvers that fail.
    """
    require_budget(epsilon, delta)
    return float(np.sqrt(2 * np.log(2.5 * parts / delta)) * parts / epsilon)


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
    return near(point, problem, target)


def no_solver(problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
    """For the calibrator's dry run: the centre.  What is released, and how often, does not depend on the solution."""
    return Solution(problem.project(problem.centre), Certificate(float("inf"), target), 0)


def require_size(n: int, made_for: int) -> None:
    """Refuse a problem of another size than the noise was made for."""
    require(n == made_for, "n", n, f"the schedule was made for n = {made_for}")
