"""Escape from a saddle with a Hessian estimate (adaptive_batch, Algorithm 2): noisy power steps on a quadratic model.

Guarantee (Theorem 3.4): if (g, H) is accurate at a strict saddle, the value drops by Phi with probability 1 - iota.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import require, require_positive
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array


@dataclass(frozen=True)
class EscapeParameters:
    """Gamma, Xi, eta, sigma, and the sensitivity of H in operator norm."""

    steps: int  # Gamma
    radius: float  # Xi
    step_size: float  # eta
    std: float  # sigma_t
    hessian_sensitivity: float

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require_positive(self, "radius", "step_size")


def model_gradient(
    tape: Tape, g: Array, H: Array, move: Array, p: EscapeParameters, batches: tuple[Batch, ...]
) -> Array:
    """Release g + H (x - x_0) + zeta (Algorithm 2, line 5); `move` = x - x_0 is public and shorter than Xi."""
    sensitivity = p.hessian_sensitivity * float(np.linalg.norm(move))  # B.3 bounds the move by Xi
    released: Array = tape.gaussian(
        "escape/gradient", g + H @ move, std=p.std, sensitivity=sensitivity, batch=batches or None
    )
    return released


def escape_saddle(
    x0: Array, g: Array, H: Array, parameters: EscapeParameters, tape: Tape, batches: tuple[Batch, ...] = ()
) -> Array:
    """Run Algorithm 2 from x0; returns the point outside the ball of radius Xi, or x0 if none was reached.

    g must be released already; H may be private (it enters through the noisy line 5 only).
    """
    x = x0
    for _ in range(parameters.steps):  # line 4
        estimate = model_gradient(tape, g, H, x - x0, parameters, batches)  # line 5
        x = x - parameters.step_size * estimate  # line 6
        if np.linalg.norm(x - x0) >= parameters.radius:  # line 7
            return x  # lines 8, 9
    return x0  # line 3
