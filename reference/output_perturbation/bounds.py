"""The utility bounds of Theorems 3.4, 3.7, 4.4, 4.8 and Corollary 4.9 with all printed constants.

Logs outside square roots come from K = log(n) and are taken to base 2, those of delta are natural (see `phases`).
`first_meaningful_n` says from which n on a bound is below what holds without any algorithm.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.errors import require


@dataclass(frozen=True)
class Setting:
    """The quantities that the bounds are stated in."""

    n: int
    d: int  # max(d_x, d_y) for saddle problems
    epsilon: float
    delta: float
    lipschitz: float  # L
    smoothness: float = 0.0  # ell
    mu_x: float = 0.0
    mu_y: float = 0.0
    diameter: float = 0.0  # D, the largest norm in the domain


def theorem_3_4_empirical(s: Setting) -> float:
    """33 L^2 kappa d log(2.5/delta) / (mu n^2 epsilon^2)."""
    kappa = s.smoothness / s.mu_x
    return 33 * s.lipschitz**2 * kappa * _square(s, 2.5) / s.mu_x


def theorem_3_4_population(s: Setting) -> float:
    """L^2 kappa (7/(mu n) + 48 d log(2.5/delta) / (mu n^2 epsilon^2))."""
    kappa = s.smoothness / s.mu_x
    return s.lipschitz**2 * kappa * (7 / (s.mu_x * s.n) + 48 * _square(s, 2.5) / s.mu_x)


def theorem_3_7(s: Setting) -> float:
    """4 L D log(n) (1/sqrt(n) + 7 sqrt(d log(2.5/delta)) / (n epsilon))."""
    rate = 1 / np.sqrt(s.n) + 7 * np.sqrt(_square(s, 2.5))
    return float(4 * s.lipschitz * s.diameter * _log(s.n) * rate)


def theorem_4_4_empirical(s: Setting) -> float:
    """257 L^2 (kappa_x kappa_y + kappa) d log(5/delta) / (mu n^2 epsilon^2)."""
    return 257 * s.lipschitz**2 * _conditions(s) * _square(s, 5) / min(s.mu_x, s.mu_y)


def theorem_4_4_population(s: Setting) -> float:
    """3 L^2 (kappa_x kappa_y + kappa) (3/(mu n) + 128 d log(5/delta) / (mu n^2 epsilon^2))."""
    mu = min(s.mu_x, s.mu_y)
    return 3 * s.lipschitz**2 * _conditions(s) * (3 / (mu * s.n) + 128 * _square(s, 5) / mu)


def theorem_4_8(s: Setting) -> float:
    """16 L D log^2(n) (1/sqrt(n) + 5 sqrt(d log(5/delta)) / (n epsilon))."""
    rate = 1 / np.sqrt(s.n) + 5 * np.sqrt(_square(s, 5))
    return float(16 * s.lipschitz * s.diameter * _log(s.n) ** 2 * rate)


def corollary_4_9(s: Setting) -> float:
    """As printed: the last term is log^2(n) 65 d log(2.5 n/delta) / (mu_y n^2 epsilon^2)."""
    spread = 65 * s.d * np.log(2.5 * s.n / s.delta) / (s.mu_y * (s.n * s.epsilon) ** 2)
    return _corollary_head(s) + float(s.lipschitz**2 * _log(s.n) ** 2 * spread)


def corollary_4_9_as_proved(s: Setting) -> float:
    """What the proof's recipe gives for the last term: log^3(n) 65 d log(2.5/delta) / (mu_y n^2 epsilon^2).

    Equation (29) has K terms 65 d log(2.5/delta) L^2/(m_{k-1} n_bar^2 epsilon^2), n_bar = n/K, and the recipe puts
    1/m <= 1/mu_k + 1/mu_y: the part with mu_y is K K^2.  A product of logs became the log of a product.
    """
    return _corollary_head(s) + s.lipschitz**2 * _log(s.n) ** 3 * 65 * _square(s, 2.5) / s.mu_y


def first_meaningful_n(bound: Callable[[Setting], float], trivial: float, at: Setting) -> int:
    """Smallest n (at least 4) from which on bound < trivial, with delta = 1/n^2.

    Powers of two find the octave of the last crossing, bisection the place in it: there the bound falls.

    Raises BadInput when that is beyond 2^60.
    """

    def says_something(n: int) -> bool:
        return bound(replace(at, n=n, delta=float(n) ** -2.0)) < trivial

    above = 0
    for exponent in range(60, 1, -1):
        if not says_something(2**exponent):
            break
        above = 2**exponent
    require(above > 0, "bound", trivial, "is not reached for any n up to 2^60")
    below = above // 2
    while above > 4 and above - below > 1:
        middle = (above + below) // 2
        above, below = (middle, below) if says_something(middle) else (above, middle)
    return above


def _corollary_head(s: Setting) -> float:
    first = 6 * s.lipschitz * s.diameter * _log(s.n) * (1 / np.sqrt(s.n) + 4 * np.sqrt(_square(s, 2.5)))
    return float(first + s.lipschitz**2 * _log(s.n) ** 2 * 8 / (s.mu_y * s.n))


def _square(s: Setting, constant: float) -> float:
    """d log(constant/delta) / (n epsilon)^2."""
    return float(s.d * np.log(constant / s.delta) / (s.n * s.epsilon) ** 2)


def _conditions(s: Setting) -> float:
    """kappa_x kappa_y + kappa."""
    return s.smoothness**2 / (s.mu_x * s.mu_y) + s.smoothness / min(s.mu_x, s.mu_y)


def _log(n: int) -> float:
    return float(np.log2(n))
