"""The utility bounds of Theorems 3.4 and 4.4 with all printed constants, and what they are stated in."""

from dataclasses import dataclass

import numpy as np


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

    def square(self, constant: float) -> float:
        """d log(constant/delta) / (n epsilon)^2."""
        return float(self.d * np.log(constant / self.delta) / (self.n * self.epsilon) ** 2)

    @property
    def conditions(self) -> float:
        """kappa_x kappa_y + kappa."""
        return self.smoothness**2 / (self.mu_x * self.mu_y) + self.smoothness / min(self.mu_x, self.mu_y)


def theorem_3_4_empirical(s: Setting) -> float:
    """33 L^2 kappa d log(2.5/delta) / (mu n^2 epsilon^2)."""
    kappa = s.smoothness / s.mu_x
    return 33 * s.lipschitz**2 * kappa * s.square(2.5) / s.mu_x


def theorem_4_4_empirical(s: Setting) -> float:
    """257 L^2 (kappa_x kappa_y + kappa) d log(5/delta) / (mu n^2 epsilon^2)."""
    return 257 * s.lipschitz**2 * s.conditions * s.square(5) / min(s.mu_x, s.mu_y)
