"""How many records the theorems ask for: Theorem 4, Theorem 8 (with eq. 16) and Theorem B.3 (with eq. 24).

The universal constant C of Lemma D.7 is not given in the paper; C = 1 is the most charitable choice (the bound on the
norm of a Gaussian symmetric matrix needs C of about 2). Delta_g = 2 B_g / n is used by the proof, the theorem prints
B_g / n; the functions compute what the theorem says.
"""

from math import log, sqrt

from dpassay.reference.problems.erm import Constants

from .common import Accuracy


def short_step_minimum(
    accuracy: Accuracy, constants: Constants, d: int, sigma: float, steps: int, *, zeta: float = 0.05
) -> float:
    """Return n_min of Theorem 4 for sigma_g = sigma_H = sigma and T = steps."""
    a, logarithm = accuracy, log(steps / zeta)
    room_g = min(a.c1 * a.gradient, a.c2 / constants.hessian_lipschitz * a.curvature**2)  # eq. (9), as room_H
    room_H = a.c * a.curvature
    by_gradient = sqrt(2 * d) * constants.gradient * sigma * logarithm / room_g
    by_hessian = sqrt(d) * constants.hessian * sigma * logarithm / room_H
    return max(by_gradient, by_hessian)  # Theorem 4


def line_search_minimum(
    constants: Constants,
    accuracy: Accuracy,
    lam: float,
    steps: int,
    *,
    i_max: int,
    b_g: float,
    b_H: float,
    c_g: float,
    c_H: float,
    t2: float,
    xi: float = 0.05,
) -> float:
    """Return the third term of Theorem 8: the n that eq. (16) asks for."""
    by_gradient = 2 * b_g * constants.gradient / (c_g * accuracy.gradient)
    by_curvature = 4 * b_H * constants.gradient * constants.hessian_lipschitz / (t2 * c_H * accuracy.curvature**2)
    return 16 * lam * (log(i_max) + log(steps / xi)) * max(by_gradient, by_curvature)  # eq. (16)


def batch_minimum(accuracy: Accuracy, constants: Constants, d: int, steps: int, *, eta: float = 0.05) -> float:
    """Return the smallest mini-batch of eq. (24)."""
    a, logarithm = accuracy, log(2 * d * steps / eta)
    by_gradient = (
        64
        * constants.gradient**2
        * (logarithm + 1 / 4)
        * max((a.c1 * a.gradient) ** -2, (constants.hessian_lipschitz / a.c2) ** 2 * a.curvature**-4)
    )
    by_hessian = 32 * constants.hessian**2 * logarithm * (a.c * a.curvature) ** -2
    return max(by_gradient, by_hessian)  # eq. (24)
