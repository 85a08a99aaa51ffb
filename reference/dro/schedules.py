"""Schedules of Algorithms 2 and 3 as the theorems print them.

The universal constant c of the theorems is never given. ``constant`` defaults to 1, which is what Definition 3 (the
paper's own Gaussian mechanism) suggests; the sandwich also reports the smallest c that would do, case by case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpassay.reference.errors import require, require_budget

from .double_spider import DoubleSpiderSchedule, Estimator
from .recursive_spider import InnerEstimator, RecursiveSpiderSchedule


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
class Plan:
    """Shape of a run: records, iterations, phase, batch sizes for refreshes (None: all records) and differences."""

    n: int
    steps: int  # T
    phase: int  # q
    batch: int  # N_2 = N_4, b_2 = b_4
    refresh_batch: int | None = None  # N_1 = N_3, b_1 = b_3

    def __post_init__(self) -> None:
        require(self.n >= 2, "n", self.n, "must be at least 2")
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(self.phase >= 1, "phase", self.phase, "must be at least 1")
        require(1 <= self.batch <= self.n, "batch", self.batch, f"must lie in 1..n = {self.n}")
        require(1 <= self.refresh <= self.n, "refresh_batch", self.refresh_batch, f"must lie in 1..n = {self.n}")

    @property
    def refresh(self) -> int:
        """Records per refresh."""
        return self.n if self.refresh_batch is None else self.refresh_batch


def double_spider_printed(
    plan: Plan,
    constants: Constants,
    epsilon: float,
    delta: float,
    *,
    clip: float = 1.0,
    constant: float = 1.0,
    theorem: int = 6,
) -> DoubleSpiderSchedule:
    """Noise of Theorem 6 (or 1, which differs in sigma_3), thresholds C_2 and C_4 of Theorem 6, clip of the mean.

    C_1 = C_3 = ``clip`` ("some specific values" in Theorem 2).
    """
    require_budget(epsilon, delta)
    require(theorem in (1, 6), "theorem", theorem, "must be 1 or 6")
    root, turns = math.sqrt(math.log(1.0 / delta)) / epsilon, math.sqrt(plan.steps / plan.phase) / plan.n
    scale = constant * root
    sigma_1 = scale * turns
    sigma_2 = scale / plan.batch  # no T anywhere
    sigma_3 = scale * (turns if theorem == 1 else max(1.0 / plan.refresh, turns))
    sigma_4 = scale * max(1.0 / plan.batch, turns)  # sqrt(T / q) for an estimate made T times
    k = constants
    lipschitz_x = k.lipschitz * k.conjugate_smoothness / k.weight  # G M / lambda
    smooth_eta = k.conjugate_smoothness * k.smoothness / k.weight  # M L / lambda, Lemma 5 as printed
    return DoubleSpiderSchedule(
        steps=plan.steps,
        phase=plan.phase,
        eta_refresh=Estimator(plan.refresh, clip, sigma_1),
        eta_difference=Estimator(plan.batch, math.inf, sigma_2, per_x=lipschitz_x, per_eta=k.l2),
        x_refresh=Estimator(plan.refresh, clip, sigma_3),
        x_difference=Estimator(plan.batch, math.inf, sigma_4, per_x=k.x_rate, per_eta=smooth_eta),
        eta_step=1.0 / (4.0 * k.l2),  # Theorem 7
        x_step=1.0 / (2.0 * k.l0_printed + k.l1 * math.sqrt(k.eta_bound)),  # Theorem 7
        move_cap=1.0 / (k.l0_printed * math.sqrt(plan.n)),  # Theorem 7
        clip_mode="mean",
        note=f"Theorem {theorem}, c = {constant:g}",
    )


def recursive_spider_printed(
    plan: Plan,
    epsilon: float,
    delta: float,
    *,
    lipschitz: float = 1.0,
    smoothness: float = 1.0,
    value_clip: float = 3.0,
    momentum: float = 0.5,
    step: float | None = None,
    constant: float = 1.0,
    theorem: int = 3,
) -> RecursiveSpiderSchedule:
    """Noise of Theorem 3, or of 8, which prints sigma_2 without the factor ||x_t - x_{t-1}||.

    C_1 = C_3 = G and C_2 = C_4 = 2 G, the bounds that the proof of Theorem 8 uses.
    """
    require(theorem in (3, 8), "theorem", theorem, "must be 3 or 8")
    require_budget(epsilon, delta)
    root = constant * math.sqrt(math.log(1.0 / delta)) / epsilon
    turns = math.sqrt(plan.steps)
    sigma_1 = root * lipschitz * turns / (plan.n * plan.phase)  # q where the count T/q asks for sqrt(q)
    spread = max(1.0 / plan.batch, turns / plan.n)
    inner = InnerEstimator(
        refresh_batch=plan.refresh,
        refresh_clip=lipschitz,
        refresh_std=sigma_1,
        batch=plan.batch,
        clip=2.0 * lipschitz,
        std_per_move=root * smoothness * spread,  # sigma_2, sigma_4
        std_cap=root * 2.0 * lipschitz * spread,  # sigma^_2, sigma^_4
    )
    return RecursiveSpiderSchedule(
        steps=plan.steps,
        phase=plan.phase,
        x=inner,
        temperature=inner,
        value_batch=1,
        value_clip=value_clip,
        value_std=root * lipschitz * turns / plan.n,  # sigma_{s_t}
        momentum=momentum,
        step=1.0 / (2.0 * smoothness) if step is None else step,
        smoothness=smoothness,
        first_refresh=0,
        accumulate=False,
        moves="own" if theorem == 3 else "none",
        adaptive_clip=False,
        recursion="printed",
        claimed_value_sensitivity=2.0 * lipschitz / plan.n,  # what sigma_{s_t} is made for
        note=f"Theorem {theorem}, c = {constant:g}",
    )
