"""Parameters of DP-RGDA (minimax_sosp, Algorithms 2 and 3) as one checked record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log, sqrt

from dpassay.reference.blocks.clipping import ClipMode
from dpassay.reference.errors import require, require_at_least, require_budget, require_positive

PRINTED_COMPLETIONS = (
    "x_{-1} = x_0: Algorithm 3, line 3 reads x_{t-1} at t = 0",
    "the constant c that line 1 names occurs in no formula: it is one",
    "C_v and C_u are both the clipping thresholds and the constants of the noise (lines 1 and 2)",
    "m_s of Algorithm 2 is the anchor time set last (line 8 sets m_s and then increases s)",
    "w_t = (x_y, y_t) in line 2 is read as (x_t, y_t)",
    "samples are drawn without replacement, afresh at every draw; a batch of size n is the whole data set",
    "v and u share the samples of lines 5 and 13, as the pseudocode says",
    "if no escape phase was ever entered there is no x_{m_s}: the last iterate is returned",
    "when T is reached the last line returns x_{m_s}, also after line 15 has left that point as a saddle",
    "G~ of line 18 is the projected gradient mapping of (28) with u_{t,k} for the gradient",
)


@dataclass(frozen=True)
class NoiseRule:
    """Standard deviations of the releases of Algorithm 3 and the sensitivities that the text claims for them.

    `step_std` is a constant part; `step_std_per_move` is multiplied by |y_{t,k} - y_{t,k-1}| (Appendix B.2).
    """

    name: str
    refresh_std: float
    step_std: float
    refresh_sensitivity: float
    step_sensitivity: float
    step_std_per_move: float = 0.0
    step_sensitivity_per_move: float = 0.0

    def __post_init__(self) -> None:
        require_at_least(0, self, "refresh_std", "step_std", "step_std_per_move")


@dataclass(frozen=True)
class Schedule:
    """All parameters of one run; what was completed or repaired is listed in words."""

    records: int  # n
    outer_steps: int  # T
    inner_steps: int  # K
    period: int  # q
    refresh_batch: int  # S1
    step_batch: int  # S2
    descent_step: float  # eta
    escape_step: float  # eta_H
    ascent_step: float  # lambda
    tolerance: float  # alpha
    perturbation_radius: float  # r
    escape_threshold: int  # t_thres
    average_movement: float  # D bar
    clip_refresh: float  # C_v
    clip_step: float  # C_u
    noise: NoiseRule
    clip_each: bool = False
    restart_at_refresh: bool = False
    completions: tuple[str, ...] = PRINTED_COMPLETIONS
    repairs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_at_least(
            1, self, "outer_steps", "inner_steps", "period", "refresh_batch", "step_batch", "escape_threshold"
        )
        for field in ("refresh_batch", "step_batch"):
            require(getattr(self, field) <= self.records, field, getattr(self, field), f"must be <= n = {self.records}")
        require_positive(self, "descent_step", "escape_step", "ascent_step", "tolerance", "clip_refresh", "clip_step")
        require_at_least(0, self, "perturbation_radius", "average_movement")

    @property
    def clip_mode(self) -> ClipMode:
        """Each record by itself, or the mean as printed (Algorithm 3, lines 7, 8, 14 and 15)."""
        return "each" if self.clip_each else "mean"

    @property
    def refreshes(self) -> int:
        """How often mod(t, q) = 0 for t = 0..T-1."""
        return ceil(self.outer_steps / self.period)

    @property
    def differences(self) -> int:
        """Noisy gradient differences of one sequence: T K, less those that the restarted recursion does not need."""
        return self.outer_steps * self.inner_steps - (self.refreshes if self.restart_at_refresh else 0)

    @property
    def releases(self) -> int:
        """Number of noisy vectors: v and u at each refresh, and v and u at each gradient difference."""
        return 2 * (self.refreshes + self.differences)

    def with_noise(self, noise: NoiseRule) -> Schedule:
        """The same schedule under another noise rule."""
        return replace(self, noise=noise)


def algorithm3_noise(
    epsilon: float,
    delta: float,
    *,
    records: int,
    outer_steps: int,
    period: int,
    refresh_batch: int,
    step_batch: int,
    clip_refresh: float,
    clip_step: float,
) -> NoiseRule:
    """The printed rule of Algorithm 3, lines 1 and 2. The claimed sensitivities are those of (30): 2 C / S."""
    require_budget(epsilon, delta)
    T, q, n = outer_steps, period, records
    scale = sqrt(log(1 / delta)) / epsilon
    return NoiseRule(
        "Algorithm 3, lines 1-2",
        refresh_std=clip_refresh * scale * max(1 / refresh_batch, sqrt(T) / (sqrt(q) * n)),  # line 1
        step_std=clip_step * scale * max(1 / step_batch, sqrt(T) / n),  # line 2
        refresh_sensitivity=2 * clip_refresh / refresh_batch,  # (30)
        step_sensitivity=2 * clip_step / step_batch,
    )


def appendix_b2_noise(
    epsilon: float,
    delta: float,
    *,
    records: int,
    refresh_batch: int,
    step_batch: int,
    lipschitz: float,
    smoothness: float,
    constant: float = 1.0,
) -> NoiseRule:
    """The rule of Appendix B.2 (proof of Lemma 8), proportional to the last inner step; C_1 = C_2 = `constant`."""
    require_budget(epsilon, delta)
    scale = sqrt(log(1.25 / delta)) / epsilon
    return NoiseRule(
        "Appendix B.2",
        refresh_std=constant * lipschitz * scale / refresh_batch,
        step_std=0.0,
        refresh_sensitivity=2 * lipschitz / refresh_batch,  # (30)
        step_sensitivity=0.0,
        step_std_per_move=2 * constant * smoothness * scale / records,
        step_sensitivity_per_move=2 * sqrt(2) * smoothness / step_batch,  # (31)
    )
