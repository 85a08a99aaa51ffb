"""Gradient and Hessian oracles (adaptive_batch, Algorithm 4): means over records that no oracle has used before."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from dpassay.reference.arrays import Array, mean_of, norm, rows_within
from dpassay.reference.problems.interfaces import MinimisationProblem
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

ASSUMPTION = "adaptive_batch, Assumption 3.1"


@dataclass(frozen=True)
class Oracles:
    """O1 to O4 on one problem and one tape; they return an exact batch mean (no noise) and the batch."""

    problem: MinimisationProblem
    tape: Tape
    order: Literal["random", "index"]
    smoothness: float = inf  # M
    hessian_lipschitz: float = inf  # rho

    def gradient(self, x: Array, size: int) -> tuple[Array, Batch]:
        """O1: mean gradient at x."""
        batch = self._unused("O1", size)
        return mean_of(self.problem.gradients(x, batch.indices)), batch

    def gradient_difference(self, x: Array, before: Array, size: int) -> tuple[Array, Batch]:
        """O2: mean of the gradient differences between x and the point before."""
        batch = self._unused("O2", size)
        rows = self.problem.gradients(x, batch.indices) - self.problem.gradients(before, batch.indices)
        bound = self.smoothness * norm(x - before)
        return mean_of(rows_within(rows, bound, f"{ASSUMPTION}: gradients are M-Lipschitz")), batch

    def hessian(self, x: Array, size: int) -> tuple[Array, Batch]:
        """O3: mean Hessian at x."""
        batch = self._unused("O3", size)
        return mean_of(self.problem.hessians(x, batch.indices)), batch

    def hessian_difference(self, x: Array, before: Array, size: int) -> tuple[Array, Batch]:
        """O4: mean of the Hessian differences between x and the point before."""
        batch = self._unused("O4", size)
        stack = self.problem.hessians(x, batch.indices) - self.problem.hessians(before, batch.indices)
        bound = self.hessian_lipschitz * norm(x - before)
        axiom = f"{ASSUMPTION}: Hessians are rho-Lipschitz (in the Frobenius norm)"
        return mean_of(rows_within(stack, bound, axiom)), batch

    def left(self) -> int:
        """Number of unused functions."""
        return self.tape.unused(self.problem.n)

    def _unused(self, label: str, size: int) -> Batch:
        return self.tape.fresh(label, self.problem.n, size, order=self.order)  # line 3 of each oracle
