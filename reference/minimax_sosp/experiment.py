"""The experiment of minimax_sosp, Appendix D: its budget, sizes and noise."""

from __future__ import annotations

from .calibration import advanced_composition_multiplier, rule_from_multiplier
from .schedule import PRINTED_COMPLETIONS, NoiseRule, Schedule

EPSILON, DELTA = 2.0, 1e-6
EXPERIMENT_COMPLETIONS = (
    *PRINTED_COMPLETIONS,
    "alpha, r, eta_H, t_thres and D bar of the experiment are not printed: named parameters with defaults",
    "the printed text says per-sample clipping at C = 1 here, against the clip of the mean in Algorithm 3",
    "advanced composition splits delta in halves and each release uses the classical Gaussian mechanism",
)


def experiment_schedule(
    epsilon: float = EPSILON,
    delta: float = DELTA,
    *,
    records: int = 400,
    outer_steps: int = 400,
    inner_steps: int = 5,
    period: int = 10,
    refresh_batch: int = 200,
    step_batch: int = 50,
    clip: float = 1.0,
    steps: tuple[float, float] = (0.2, 0.8),
    tolerance: float = 0.1,
    perturbation_radius: float = 0.1,
    escape_threshold: int = 50,
    average_movement: float = 0.01,
) -> Schedule:
    """Appendix D: printed sizes and step sizes; noise by advanced composition over all gradient accesses."""
    printed = Schedule(
        records=records,
        outer_steps=outer_steps,
        inner_steps=inner_steps,
        period=period,
        refresh_batch=refresh_batch,
        step_batch=step_batch,
        descent_step=steps[0],
        escape_step=steps[0],
        ascent_step=steps[1],
        tolerance=tolerance,
        perturbation_radius=perturbation_radius,
        escape_threshold=escape_threshold,
        average_movement=average_movement,
        clip_refresh=clip,
        clip_step=clip,
        noise=NoiseRule("none", 0.0, 0.0, 2 * clip / refresh_batch, 2 * clip / step_batch),
        clip_each=True,
        completions=EXPERIMENT_COMPLETIONS,
    )
    multiplier = advanced_composition_multiplier(epsilon, delta, printed.releases)
    return printed.with_noise(rule_from_multiplier(printed, multiplier, "advanced composition (Appendix D)"))
