"""Repaired schedules of Algorithms 2 and 3: per-sample clipping, true sensitivities, noise by exact accounting."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from .calibration import Sequence, calibrated_ratios, refreshes
from .double_spider import DoubleSpiderSchedule, Estimator
from .recursive_spider import InnerEstimator, RecursiveSpiderSchedule
from .schedules import Constants, Plan

DOUBLE_REPAIRS = (
    "lines 4, 6, 10, 12: each record's term is clipped, then averaged (the clipped mean has sensitivity 2 C)",
    "C_2, C_4: difference of the iterates that line 6 and line 12 compare, L in place of G in L_0 (units)",
    "C_2, C_4: G^2 M / lambda for both cross terms (printed: G M / lambda and M L / lambda; eta is scaled by G)",
    "C_2, C_4: capped at C_1, C_3; beta_t from the mended Lipschitz constant of the x-gradient",
    "sigma_1..sigma_4: std / sensitivity calibrated to the joint budget by exact accounting",
)
RECURSIVE_REPAIRS = (
    "the first step refreshes (as printed, w_1 and v_1 come from nowhere)",
    "lines 13-14: differences are added to the previous estimate",
    "lines 11-14: differences are clipped at min(C, L ||w_t - w_{t-1}||), noise follows this threshold",
    "line 8: noise for C_3 / b_3, because clipped lambda-gradients of a loss >= 0 lie in [-C_3, 0]",
    "line 16: the recursion of Lemma 8 on a batch, noise for its sensitivity (2 - beta) (C_5 - 1) / b_5",
    "sigma: std / sensitivity calibrated to the joint budget by exact accounting",
)


def double_spider_repaired(
    plan: Plan,
    constants: Constants,
    epsilon: float,
    delta: float,
    *,
    clip: float = 1.0,
    eta_clip: float | None = None,
    eta_step: float | None = None,
    x_step: float | None = None,
    move_cap: float | None = None,
) -> DoubleSpiderSchedule:
    """Algorithm 2 with noise for the joint budget; ``clip`` is C_3 and caps C_4, ``eta_clip`` is C_1 and caps C_2."""
    k = constants
    often = refreshes(plan.steps, plan.phase)
    rate, refresh_rate = plan.batch / plan.n, plan.refresh / plan.n
    rare, usual = Sequence(often, refresh_rate), Sequence(plan.steps - often, rate)
    ratios = calibrated_ratios((rare, usual, rare, usual), epsilon, delta)
    to_refresh, to_batch = 2.0 / plan.refresh, 2.0 / plan.batch
    eta_clip = clip if eta_clip is None else eta_clip
    x_rate = k.smoothness * (1.0 + math.sqrt(k.eta_bound) / k.lipschitz) + k.l2
    return DoubleSpiderSchedule(
        steps=plan.steps,
        phase=plan.phase,
        eta_refresh=Estimator(plan.refresh, eta_clip, ratios[0] * to_refresh),
        eta_difference=Estimator(plan.batch, eta_clip, ratios[1] * to_batch, per_x=k.l2, per_eta=k.l2),
        x_refresh=Estimator(plan.refresh, clip, ratios[2] * to_refresh),
        x_difference=Estimator(plan.batch, clip, ratios[3] * to_batch, per_x=x_rate, per_eta=k.l2),
        eta_step=1.0 / (4.0 * k.l2) if eta_step is None else eta_step,
        x_step=1.0 / (2.0 * x_rate) if x_step is None else x_step,
        move_cap=1.0 / (x_rate * math.sqrt(plan.n)) if move_cap is None else move_cap,
        clip_mode="each",
        note="exact accounting",
    )


def recursive_spider_repaired(
    plan: Plan,
    epsilon: float,
    delta: float,
    *,
    clip: float = 1.0,
    smoothness: float = 1.0,
    value_clip: float = 3.0,
    value_batch: int | None = None,
    momentum: float = 0.5,
    step: float = 0.5,
    recursion: Literal["printed", "proof"] = "proof",
) -> RecursiveSpiderSchedule:
    """Algorithm 3 with noise for the joint budget; ``value_batch`` (default: the difference batch) may be 1."""
    often = refreshes(plan.steps, plan.phase)
    rate, refresh_rate = plan.batch / plan.n, plan.refresh / plan.n
    value_size = plan.batch if value_batch is None else value_batch
    rare, usual = Sequence(often, refresh_rate), Sequence(plan.steps - often, rate)
    value = Sequence(plan.steps, value_size / plan.n)
    ratios = calibrated_ratios((rare, usual, rare, usual, value), epsilon, delta)
    draft = [
        InnerEstimator(
            refresh_batch=plan.refresh,
            refresh_clip=clip,
            refresh_std=ratios[i] * spread * clip / plan.refresh,
            batch=plan.batch,
            clip=2.0 * clip,
            std_per_move=ratios[i + 1] * 2.0 * smoothness / plan.batch,
            std_cap=ratios[i + 1] * 2.0 * (2.0 * clip) / plan.batch,
        )
        for i, spread in ((0, 2.0), (2, 1.0))  # the lambda-gradient has one sign
    ]
    schedule = RecursiveSpiderSchedule(
        steps=plan.steps,
        phase=plan.phase,
        x=draft[0],
        temperature=draft[1],
        value_batch=value_size,
        value_clip=value_clip,
        value_std=0.0,
        momentum=momentum,
        step=step,
        smoothness=smoothness,
        recursion=recursion,
        note="exact accounting",
    )
    return replace(schedule, value_std=ratios[4] * schedule.value_sensitivity)
