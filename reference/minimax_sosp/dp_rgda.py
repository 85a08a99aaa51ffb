"""DP-RGDA (minimax_sosp, Algorithms 2 and 3): recursive gradient descent ascent that leaves saddles by a perturbation.

Minimises Phi(x) = max_y F(x, y). Algorithm 3 makes K ascent steps in y with estimates v (of the gradient in x) and u
(in y): noisy clipped means at a refresh, noisy clipped mean differences added in between. Algorithm 2 moves x by
normalised steps along v; where v is small it perturbs x and watches whether it moves away.
Guarantee claimed: (epsilon, delta)-DP and an alpha-SOSP of Phi (Theorems 1 and 2). Every decision of Algorithm 2 is a
function of the v_t that Algorithm 3 releases. Cite: minimax_sosp, Algorithms 2 and 3.
"""

from dataclasses import dataclass, replace
from functools import partial
from math import log, sqrt

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import ClipMode, clipped_mean
from dpassay.reference.errors import require, require_at_least, require_budget, require_positive
from dpassay.reference.noise import Multipliers, NoiseRule, Printed
from dpassay.reference.problems.domains import uniform_ball
from dpassay.reference.problems.interfaces import Flat, MinimaxProblem
from dpassay.reference.space import begin_at
from dpassay.reference.tape import Tape

COMPLETIONS = (
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
REPAIRS = (
    "clip every per-sample gradient (difference), then average: the printed clip of the mean leaves sensitivity 2 C",
    "both sequences (u and v), all T K inner steps and all refreshes are counted; the text counts T and T/q",
    "replace-one sensitivity 2 C / S for every mean, in place of C / S",
    "one fixed noise level for the differences: proportional to |y_k - y_{k-1}| it vanishes at k = 0, where x moved",
    "at a refresh the recursion restarts at x_t, without a difference: the printed x_{t,-1} = x_{t-1} adds one twice",
    "noise from exact accounting: composed Gaussians, amplified by sampling where batches are smaller than the data",
)
SILENT = Printed({"refresh": 0.0, "step": 0.0})


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Public before the run; ``noise`` knows the labels "refresh" and "step"."""

    n: int
    steps: int  # T
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
    clip_mode: ClipMode = "mean"  # lines 7, 8, 14 and 15 clip the mean
    restart_at_refresh: bool = False  # line 13 adds a difference at a refresh too
    smoothness: float | None = None  # L of Appendix B.2, whose noise is per unit of |y_{t,k} - y_{t,k-1}|
    start: tuple[Array, Array] | None = None  # x_0, y_0; None is zero

    def __post_init__(self) -> None:
        require_at_least(1, self, "steps", "inner_steps", "period", "refresh_batch", "step_batch", "escape_threshold")
        for field in ("refresh_batch", "step_batch"):
            require(getattr(self, field) <= self.n, field, getattr(self, field), f"must be <= n = {self.n}")
        require_positive(self, "descent_step", "escape_step", "ascent_step", "tolerance", "clip_refresh", "clip_step")
        require_at_least(0, self, "perturbation_radius", "average_movement")

    @property
    def refresh_sensitivity(self) -> float:
        """Replace-one sensitivity of a refresh, as (30) has it."""
        return 2 * self.clip_refresh / self.refresh_batch

    def step_sensitivity(self, moved: float) -> float:
        """Of a difference between points ``moved`` apart: (30), or (31) where the noise follows the move."""
        if self.smoothness is None:
            return 2 * self.clip_step / self.step_batch
        return 2 * sqrt(2) * self.smoothness / self.step_batch * moved

    def step_std(self, sensitivity: float, inner_move: float) -> float:
        """Line 2; of Appendix B.2: in proportion to the last step in y."""
        std = self.noise.std("step", sensitivity)
        return std if self.smoothness is None else std * inner_move


def printed(schedule: Schedule, epsilon: float, delta: float) -> Schedule:
    """These sizes with the noise of Algorithm 3, lines 1 and 2."""
    s = schedule
    noise = algorithm3_noise(epsilon, delta, s.n, s.steps, s.period, (s.refresh_batch, s.step_batch), clips=(
        s.clip_refresh, s.clip_step))  # fmt: skip
    return replace(s, noise=noise)


def algorithm3_noise(
    epsilon: float, delta: float, n: int, steps: int, period: int, batches: tuple[int, int], clips: tuple[float, float]
) -> Printed:
    """Lines 1 and 2; `batches` = (S1, S2), `clips` = (C_v, C_u)."""
    require_budget(epsilon, delta)
    T, q, scale = steps, period, sqrt(log(1 / delta)) / epsilon
    return Printed(
        {
            "refresh": clips[0] * scale * max(1 / batches[0], sqrt(T) / (sqrt(q) * n)),  # line 1
            "step": clips[1] * scale * max(1 / batches[1], sqrt(T) / n),  # line 2
        }
    )


def appendix_b2_noise(
    epsilon: float, delta: float, n: int, refresh_batch: int, lipschitz: float, smoothness: float, constant: float = 1.0
) -> Printed:
    """Appendix B.2 (proof of Lemma 8), "step" per unit of the last inner step; C_1 = C_2 = `constant`."""
    require_budget(epsilon, delta)
    scale = sqrt(log(1.25 / delta)) / epsilon
    return Printed(
        {"refresh": constant * lipschitz * scale / refresh_batch, "step": 2 * constant * smoothness * scale / n}
    )


def repaired(schedule: Schedule, epsilon: float, delta: float) -> Schedule:
    """The same parameters, with what breaks privacy mended and noise from a dry run that makes all T steps."""
    noise = Multipliers({"refresh": 1.0, "step": 1.0})
    mended = replace(schedule, clip_mode="each", restart_at_refresh=True, smoothness=None, noise=noise)
    patient = replace(mended, escape_threshold=schedule.steps + 1, start=None)
    return replace(mended, noise=noise_for(run, patient, Flat(schedule.n), epsilon, delta).noise)


@dataclass(frozen=True, eq=False)
class Status:
    """What Algorithm 3 receives and hands back: x_t, x_{t-1}, y_t, v_{t-1}, u_{t-1}."""

    x: Array
    x_previous: Array
    y: Array
    v: Array
    u: Array


def inner_updater(problem: MinimaxProblem, schedule: Schedule, tape: Tape, status: Status, t: int) -> Status:
    """One call of Algorithm 3 at outer step t; returns y_{t+1}, v_t, u_t (x unchanged)."""
    x, y, v, u = status.x, status.y, status.v, status.u
    x_before, y_before = status.x_previous, y  # line 3: x_{t,-1} = x_{t-1}, y_{t,-1} = y_{t,0} = y_t
    refreshed = t % schedule.period == 0  # line 4
    if refreshed:
        v, u = _refresh(problem, schedule, tape, x, y)  # lines 5-8; lines 9, 10: otherwise v_{t-1} and u_{t-1} go on
    best: tuple[float, Array, Array, Array] | None = None
    for k in range(schedule.inner_steps):  # line 12
        if not (schedule.restart_at_refresh and refreshed and k == 0):  # repair: the refresh was at (x_t, y_t)
            change_v, change_u = _difference(problem, schedule, tape, (x, y), (x_before, y_before))
            v, u = v + change_v, u + change_u  # lines 14, 15
        y_next = problem.project(y + schedule.ascent_step * u)  # line 16
        mapping = float(np.linalg.norm(y - y_next)) / schedule.ascent_step  # |G~_lambda(y_{t,k})|, (28)
        if best is None or mapping < best[0]:
            best = (mapping, y, v, u)  # line 18
        x_before, y_before, y = x, y, y_next
    assert best is not None
    return Status(x, x, best[1], best[2], best[3])  # y_{t+1}, v_t, u_t


def _refresh(problem: MinimaxProblem, s: Schedule, tape: Tape, x: Array, y: Array) -> tuple[Array, Array]:
    """Lines 5 to 8: the noisy clipped gradients at (x_t, y_t)."""
    # GRADIENT
    indices, batch = draw_records(tape, "refresh/samples", problem.n, s.refresh_batch)  # line 5
    rows_v, rows_u = problem.gradients_x(x, y, indices), problem.gradients_y(x, y, indices)
    # CLIP
    mean_v = clipped_mean(rows_v, s.clip_refresh, s.clip_mode)
    mean_u = clipped_mean(rows_u, s.clip_refresh, s.clip_mode)
    # NOISE
    std = s.noise.std("refresh", s.refresh_sensitivity)  # line 1
    v: Array = tape.gaussian("refresh/v", mean_v, std=std, sensitivity=s.refresh_sensitivity, batch=batch)  # line 7
    u: Array = tape.gaussian("refresh/u", mean_u, std=std, sensitivity=s.refresh_sensitivity, batch=batch)  # line 8
    return v, u


def _difference(
    problem: MinimaxProblem, s: Schedule, tape: Tape, now: tuple[Array, Array], before: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Lines 13 to 15: the noisy clipped mean differences between the last two points."""
    # GRADIENT
    indices, batch = draw_records(tape, "step/samples", problem.n, s.step_batch)  # line 13
    change_v = problem.gradients_x(*now, indices) - problem.gradients_x(*before, indices)
    change_u = problem.gradients_y(*now, indices) - problem.gradients_y(*before, indices)
    # CLIP
    mean_v = clipped_mean(change_v, s.clip_step, s.clip_mode)
    mean_u = clipped_mean(change_u, s.clip_step, s.clip_mode)
    # NOISE
    (x, y), (x_before, y_before) = now, before
    moved_x, moved_y = float(np.linalg.norm(x - x_before)), float(np.linalg.norm(y - y_before))
    claim = s.step_sensitivity(float(np.hypot(moved_x, moved_y)))  # Assumption 2: x counts too
    std = s.step_std(claim, moved_y)
    noisy_v: Array = tape.gaussian("step/v", mean_v, std=std, sensitivity=claim, batch=batch)  # line 14
    noisy_u: Array = tape.gaussian("step/u", mean_u, std=std, sensitivity=claim, batch=batch)  # line 15
    return noisy_v, noisy_u


@dataclass(frozen=True, eq=False)
class Result:
    """The returned point, the iterates x_0.. (rows), and what the loop did at each step."""

    x: Array
    iterates: Array
    phases: tuple[str, ...]


def run(problem: MinimaxProblem, schedule: Schedule, tape: Tape) -> Result:
    """Run Algorithm 2."""
    s = schedule
    x, y = map(begin_at, s.start or (None, None), (np.zeros(problem.d), np.zeros(problem.d_y)))
    status = Status(x, x, y, np.zeros_like(x), np.zeros_like(y))
    escape, anchor, squares, since = False, None, 0.0, 0  # line 1; x_{m_s}, sum |v_j|^2, t - m_s
    iterates, phases = [x], []
    ball = partial(uniform_ball, d=x.size, radius=s.perturbation_radius)  # B_0(r)
    for t in range(s.steps):  # line 2
        found = inner_updater(problem, s, tape, status, t)  # line 3
        x, v = status.x, found.v
        norm = float(np.linalg.norm(v))
        # STEP
        if not escape and norm >= s.tolerance:  # lines 4, 5
            x_next, phase = x - (s.descent_step / norm) * v, "descent"  # line 6
        elif not escape:
            escape, anchor, squares, since = True, x, 0.0, 0  # line 8
            x_next = x + tape.public("perturb", ball)  # line 9
            phase = "perturb"
        else:
            squares, since = squares + norm**2, since + 1
            movement = s.escape_step**2 * squares  # line 12
            allowed = since * s.average_movement
            if movement > allowed:  # line 13
                x_next = x - sqrt(allowed / squares) * v  # lines 14, 15
                escape, phase = False, "escaped"
            else:
                x_next, phase = x - s.escape_step * v, "escape"  # lines 17, 18
        status = Status(x_next, x, found.y, v, found.u)
        iterates.append(x_next)
        phases.append(phase)
        if escape and since == s.escape_threshold:  # line 19
            break
    return Result(status.x if anchor is None else anchor, np.array(iterates), tuple(phases))  # lines 19, 22
