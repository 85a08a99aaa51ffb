"""Escape from a saddle with a Hessian estimate (adaptive_batch, Algorithm 2): noisy steps on a quadratic model.

Guarantee (Theorem 3.4): if (g, H) is accurate at a strict saddle, the value drops by Phi with probability 1 - iota.
Its privacy is claimed within Algorithm 3, which takes its steps and stops as it does (lines 15, 19 and 20: Gamma steps,
or where the ball of radius Xi is left). Cite: adaptive_batch, Algorithm 2.
"""

from dataclasses import dataclass

from dpassay.reference.arrays import Array, norm
from dpassay.reference.noise import NoiseRule
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

COMPLETIONS = ("sigma_{t-1} is the same number at all steps",)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Public before the run; ``noise`` knows the label "escape"."""

    radius: float  # Xi
    noise: NoiseRule  # sigma_t
    hessian_sensitivity: float  # of H, in operator norm


@dataclass(frozen=True, eq=False)
class Saddle:
    """x_0 and g, shape (d,), which are released already; H, shape (d, d), which is not, and its batches."""

    x: Array
    gradient: Array
    hessian: Array
    batches: tuple[Batch, ...] = ()


def noisy_model_gradient(saddle: Saddle, x: Array, schedule: Schedule, tape: Tape) -> Array:
    """Release g + H (x - x_0) + zeta (line 5); x - x_0 is public and shorter than Xi."""
    s, move = schedule, x - saddle.x
    # GRADIENT
    model = saddle.gradient + saddle.hessian @ move
    # CLIP: none, Hessians are bounded by assumption (3.1)
    # NOISE
    released: Array = tape.gaussian(
        "escape/gradient",
        model,
        std=s.noise.std("escape", s.hessian_sensitivity * s.radius),
        sensitivity=s.hessian_sensitivity * norm(move),  # B.3 bounds the move by Xi
        batch=saddle.batches or None,
    )
    return released
