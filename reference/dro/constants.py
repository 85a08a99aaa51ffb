"""The constants of Assumptions 1-3, what Lemma 1 and Theorem 6 make of them, and the sizes that theorems ask for.

Batches of Theorem 7 (Algorithm 2), T, q and b_2 of Theorem 8 (Algorithm 3): computed, not obeyed. Theorem 7 asks for
batches larger than the data set in every regime with G > 0.102, and Theorem 8 can ask for a phase of length zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpassay.reference.errors import require, require_budget


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


@dataclass(frozen=True)
class TheoremSeven:
    """Least batch sizes of Theorem 7."""

    n: int
    eta_refresh: float  # N_1, as the proof uses it: 6 n D_2 c_0 c_2 (the statement divides by epsilon^2 instead of 1/n)
    eta_difference: float  # N_2
    x_refresh: float  # N_3
    x_difference: float  # N_4


def theorem_seven(n: int, phase: int, constants: Constants, loss_deviation: float) -> TheoremSeven:
    """N_1 .. N_4 with D_0, D_1, D_2 of Lemma 2; ``loss_deviation`` is its sigma.

    N_3 >= 3 c_0 (D_0 + 4 D_1 D_2) n / (2 L_0) with c_0 >= 8 L_0 and D_0 >= 8 G^2, so N_3 >= 96 G^2 n.
    """
    require(n >= 1, "n", n, "must be at least 1")
    require(loss_deviation >= 0, "loss_deviation", loss_deviation, "must not be negative")
    k, l0 = constants, constants.l0_printed
    spread = (k.lipschitz * k.conjugate_smoothness / k.weight * loss_deviation) ** 2
    d0, d1, d2 = 8.0 * k.lipschitz**2 + 10.0 * spread, 8.0, spread  # Lemma 2
    c0 = max(32.0 * k.l2, 8.0 * l0)
    x_refresh = max(200.0 * d1 * k.l2 / l0, 3.0 * c0 * (d0 + 4.0 * d1 * d2) * n / (2.0 * l0))
    c2 = max(1.0 / (8.0 * k.l2) + k.l1 / l0**3, 1.0)
    eta_refresh = 6.0 * n * d2 * c0 * c2
    variance = d2 / max(eta_refresh, 1.0)  # D_2 / N_1
    c1 = 4.0 + (8.0 + 32.0) * k.l1**2 * variance / l0**2 + 16.0 * k.l1**2 * k.l2 / (5.0 * d1 * l0**3)
    eta_difference = phase * max(20.0 * d1 * k.l2 / l0, 20.0 * c2 * k.l2, 12.0 * k.l1**2 * c0 * c2 / l0**2, 1.0)
    x_difference = phase * max(5.0 * k.l2 / l0, 6.0 * c1 * c0 / l0)
    return TheoremSeven(n, eta_refresh, eta_difference, x_refresh, x_difference)


@dataclass(frozen=True)
class TheoremEight:
    """Parameters that Theorem 8 prescribes for Algorithm 3."""

    steps: int  # T
    phase: int  # q
    batch: int  # b_2
    smallest_n: float  # the theorem asks for n at least this large


def theorem_eight(n: int, d: int, epsilon: float, delta: float, *, smoothness: float = 1.0) -> TheoremEight:
    """T, q, b_2 of Theorem 8 for G = 1 and a gap of 1; q is floored and may be 0: then the algorithm cannot be run."""
    require_budget(epsilon, delta)
    logs = d * math.log(1.0 / delta)
    g, gap, smooth = 1.0, 1.0, smoothness
    batch = max(
        (g * n * epsilon / math.sqrt(gap * smooth * logs)) ** (2 / 3),
        (g * n * logs) ** (1 / 3) / ((smooth * gap) ** (1 / 6) * epsilon ** (2 / 3)),
    )
    steps = max(((gap * smooth) ** 0.25 * n * epsilon / math.sqrt(g * logs)) ** (4 / 3), n * epsilon / math.sqrt(logs))
    steps_floor = max(1, math.floor(steps))
    phase = math.floor(n**2 * epsilon**2 / (smooth**2 * steps_floor * logs))
    smallest = max(
        (g * epsilon) ** 2 / (gap * smooth * logs),
        math.sqrt(d) * max(1.0, math.sqrt(smooth * gap / g)) / epsilon,
    )
    return TheoremEight(steps_floor, phase, math.floor(batch), smallest)
