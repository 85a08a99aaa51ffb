"""A convex-concave game whose coupling changes sign: the neighbours that Algorithms 4 and 5 together reveal most.

f = b |x - bend| y + drift x + <p_xi, x> - <q_xi, y> on R times [0, inf), one dimension each; y >= 0 makes it convex.
Right of the bend the coupling is +b, left of it -b.  Algorithm 4 regularises x with mu_k and y with mu, Algorithm 5
the other way round, so their saddle points can lie on the two sides of the bend; one record's linear term then pushes
x in the first and y in the second.  With one coupling everywhere what is gained in x is lost in y.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records
from dpassay.reference.errors import BadInput
from dpassay.reference.solvers.protocol import Oracle, Solution, certify

from .finite_sum import FiniteSum, Loss, bounded_rows


@dataclass(frozen=True)
class BentGame(Loss):
    """The loss above; b, the bend and the drift are public and shared, so that L counts the records' terms alone."""

    RECORDS: ClassVar[Records] = {"linear": "linear_bound"}

    linear: Array  # (n, 2): rows (p, q)
    coupling: float  # b
    bend: float
    drift: float
    linear_bound: float = 1.0

    def __post_init__(self) -> None:
        bounded_rows("linear", self.linear, self.linear_bound)
        self._constants(d=1, d_y=1, lipschitz=self.linear_bound, smoothness=self.coupling)

    def rows(self, z: Array, indices: Indices) -> Array:
        """(b sign(x - bend) y + drift + p, -b |x - bend| + q)."""
        return self._shared(z) + self.linear[indices]

    def mean_operator(self, z: Array) -> Array:
        """The same with the mean (p, q)."""
        return np.asarray(self._shared(z) + self.linear.mean(axis=0))

    def values(self, z: Array, indices: Indices) -> Array:
        """f of each record."""
        x, y = z
        shared = self.coupling * abs(x - self.bend) * y + self.drift * x
        return np.asarray(shared + self.linear[indices] @ np.array([x, -y]))

    def _shared(self, z: Array) -> Array:
        x, y = z
        return np.array([self.coupling * np.sign(x - self.bend) * y + self.drift, -self.coupling * abs(x - self.bend)])


@dataclass(frozen=True)
class BentGameSolver:
    """Saddle point of a `BentGame` in closed form: best y for each x, then one monotone, piecewise linear equation."""

    name = "by sides of the bend"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve to rounding; raises BadInput for another loss.  Deterministic."""
        loss = problem.loss
        if not isinstance(loss, BentGame):
            raise BadInput("loss", type(loss).__name__, "this solver knows BentGame alone")
        oracle = Oracle(problem)
        point, certificate = certify(oracle, _saddle_point(loss, problem), target)
        return Solution(point, certificate, oracle.evaluations)


def _saddle_point(loss: BentGame, problem: FiniteSum) -> Array:
    mu_x, mu_y = problem.regulariser_weights
    (p, q), (x_centre, y_centre) = loss.linear.mean(axis=0), problem.centre
    push, at_bend = loss.drift + p, max(0.0, y_centre - q / mu_y)  # slope at x_centre; best y at the bend
    slope = push + mu_x * (loss.bend - x_centre)
    if abs(slope) <= loss.coupling * at_bend:
        return np.array([loss.bend, at_bend])
    b = -np.sign(slope) * loss.coupling  # the coupling on the side where the slope vanishes
    right = np.array([mu_x * x_centre - push, mu_y * y_centre - q - b * loss.bend])
    x, y = np.linalg.solve(np.array([[mu_x, b], [-b, mu_y]]), right)
    return np.array([x, y]) if y >= 0 else np.array([x_centre - push / mu_x, 0.0])
