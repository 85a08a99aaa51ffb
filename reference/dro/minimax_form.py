"""The minimax form, eq. (2): max over distributions p of sum p_i loss_i - lambda D_psi(p, 1/n), for the baselines.

The gradient in p is the vector of n losses: replacing record i moves coordinate i by at most the loss clip. The
x-gradient weights record i by n p_i, so its sensitivity follows the released p: 2 C max_i(p_i) n / b.
Cite: ``dro``, Section 5.1 and Appendix A.
"""

from dataclasses import dataclass

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.problems.interfaces import Seen

from .objective import SampleLoss

WEIGHT_STEP = 1e-4  # of an ascent in p


@dataclass(frozen=True)
class MinimaxProblem(Seen):
    """Eq. (2) with the KL divergence (the paper's experiments): weight is lambda_0. A ``Game`` of the baselines."""

    data: SampleLoss
    weight: float = 1.0

    def begin(self) -> tuple[Array, Array]:
        """x = 0, all records weigh the same."""
        return np.zeros(self.d), np.full(self.n, 1.0 / self.n)

    def query_x(
        self, x: Array, y: Array, indices: Indices, clip: float, before: tuple[Array, Array] | None
    ) -> tuple[Array, float]:
        """Weighted sum of clipped rows, scaled up from the batch; y is made of releases, so its maximum is public.

        A difference is taken in x at the current weights; their change enters at the next refresh.
        """
        rows = self.data.loss_gradients(x, indices)
        if before is not None:
            rows = rows - self.data.loss_gradients(before[0], indices)
        scale = len(y) / len(indices)
        query = scale * (y[indices] @ clip_rows(rows, clip)) if clip > 0 else np.zeros(rows.shape[1])
        return np.asarray(query), 2.0 * clip * scale * float(y.max())

    def query_y(self, x: Array, y: Array, indices: Indices, clip: float) -> tuple[Array, float]:
        """The losses of all records, each at most ``clip`` (they are not negative)."""
        return np.minimum(self.data.losses(x), clip), clip

    def ascend(self, y: Array, gradient: Array, step: float) -> Array:
        """A step on the simplex; the gradient of the divergence is public."""
        slope = gradient - self.weight * np.log(np.maximum(self.n * y, 1e-12))  # psi'(n p) for KL
        return project_to_simplex(y + step * slope)


def project_to_simplex(p: Array) -> Array:
    """Euclidean projection onto {p >= 0, sum p = 1} (sorting algorithm, Held, Wolfe and Crowder 1974)."""
    descending = np.sort(p)[::-1]
    excess = (np.cumsum(descending) - 1.0) / np.arange(1, len(p) + 1)
    last = int(np.flatnonzero(descending > excess)[-1])
    return np.asarray(np.maximum(p - excess[last], 0.0))
