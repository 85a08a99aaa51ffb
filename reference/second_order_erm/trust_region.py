"""The trust-region subproblem that DP-TR and TR-B solve exactly (Wang and Xu 2021).

The matrix and the vector are releases, so the step is post-processing.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from dpassay.reference.types import Array

from .common import Accuracy


def step_count(accuracy: Accuracy, hessian_lipschitz: float, gap: float) -> int:
    """Return T = ceil(6 sqrt(M) (f(w0) - f_low) / alpha^1.5)."""
    steps = 6 * sqrt(hessian_lipschitz) * gap / (accuracy.gradient * sqrt(accuracy.gradient))
    return max(1, ceil(steps - 1e-9))


def trust_region_step(g: Array, values: Array, vectors: Array, radius: float) -> Array:
    """Exact minimiser of <g, h> + <h, H h>/2 over ||h|| <= radius for the eigenpairs of H; hard case included."""
    b = vectors.T @ g
    if values[0] > 0 and np.linalg.norm(b / values) <= radius:
        return np.asarray(-vectors @ (b / values))
    lowest = max(0.0, -float(values[0]))
    top = lowest + float(np.linalg.norm(b)) / radius + 1e-300

    def excess(multiplier: float) -> float:
        with np.errstate(divide="ignore"):
            shifted = np.maximum(values + multiplier, 1e-300)
        return 1 / radius - 1 / max(float(np.linalg.norm(b / shifted)), 1e-300)

    near = lowest + 1e-12 * max(1.0, lowest, top - lowest)
    if excess(near) <= 0:  # hard case: g has no part along the lowest eigenvector
        shifted = np.maximum(values + near, 1e-300)
        h = np.where(values - values[0] <= 1e-10, 0.0, -b / shifted)
        h[0] = sqrt(max(0.0, radius**2 - float(h @ h)))
        return np.asarray(vectors @ h)
    from scipy.optimize import brentq  # here: it takes longer to load than most calls take to run

    multiplier = brentq(excess, near, top * (1 + 1e-12), xtol=1e-15, rtol=1e-14)
    return np.asarray(-vectors @ (b / (values + multiplier)))
