"""The constants of Assumptions 1-3 and what Lemma 1 and Theorem 6 make of them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """Constants of Assumptions 1-3: the loss is G-Lipschitz and L-smooth, psi* is M-smooth, |d/deta L| <= sqrt(H)."""

    lipschitz: float = 1.0  # G
    smoothness: float = 1.0  # L
    conjugate_smoothness: float = 1.0  # M
    weight: float = 1.0  # lambda
    eta_bound: float = 1.0  # H

    @property
    def l0_printed(self) -> float:
        """Lemma 1 prints L_0 = G + G^2 M / lambda (G where the units ask for L)."""
        return self.lipschitz + self.l2

    @property
    def l1(self) -> float:
        """L_1 = L / G (Lemma 1)."""
        return self.smoothness / self.lipschitz

    @property
    def l2(self) -> float:
        """L_2 = G^2 M / lambda (Lemma 1)."""
        return self.lipschitz**2 * self.conjugate_smoothness / self.weight

    @property
    def x_rate(self) -> float:
        """L_0 + L_1 sqrt(H), the x-Lipschitz constant of the x-gradient in Theorem 6."""
        return self.l0_printed + self.l1 * math.sqrt(self.eta_bound)
