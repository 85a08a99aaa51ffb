"""DP Double-SPIDER (paper ``dro``, Algorithm 2): private variance-reduced descent on L(x, eta), eq. (3).

Minimises L(x, eta) = lambda mean psi*((loss_i(x) - G eta) / lambda) + G eta over the model x and the dual
variable eta.
Each variable has its own SPIDER estimate: a refresh every q steps, clipped gradient differences between.
Claimed guarantee: (epsilon, delta)-DP with the noise of Theorems 1 and 6. One loop, two readings:

printed    clips the mean (lines 4, 6, 10, 12), noise as printed, sensitivity claimed as 2 C / N.
repaired   clips each record's term, noise multipliers calibrated by exact accounting.

Cite: ``dro``, Algorithm 2, Theorems 1, 2, 6, 7.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import ClipMode, clipped_mean
from dpassay.reference.errors import require_at_least, require_budget
from dpassay.reference.noise import Multipliers, Printed
from dpassay.reference.space import begin_at
from dpassay.reference.tape import Tape

from .constants import Constants, Plan, equal_shares
from .objective import DualObjective

Point = tuple[Array, float]
Block = Literal["eta", "x"]
LABELS = ("eta/refresh", "eta/difference", "x/refresh", "x/difference")

C_IS_ONE = "c = 1 unless said otherwise (the universal constant has no value; Definition 3 suggests 1)"
UNIT_CONSTANTS = "C_1 = C_3 = 1 (some specific values, Theorem 2); G = L = M = lambda = H = 1"
OWN_DIFFERENCE = "C_4 follows |eta_{t+1} - eta_t|, which line 12 compares (Theorem 6 prints |eta_t - eta_{t-1}|)"
BATCHES = "batches are drawn without replacement; N_1 = N_3 = n (Remark 2); alpha_t is constant (Theorem 7)"
COMPLETIONS = (C_IS_ONE, UNIT_CONSTANTS, OWN_DIFFERENCE, BATCHES)
REPAIRS = (
    "lines 4, 6, 10, 12: each record's term is clipped, then averaged (the clipped mean has sensitivity 2 C)",
    "C_2, C_4: difference of the iterates that line 6 and line 12 compare, L in place of G in L_0 (units)",
    "C_2, C_4: G^2 M / lambda for both cross terms (printed: G M / lambda and M L / lambda; eta is scaled by G)",
    "C_2, C_4: capped at C_1, C_3; beta_t from the mended Lipschitz constant of the x-gradient",
    "sigma_1..sigma_4: std / sensitivity calibrated to the joint budget by exact accounting",
)


# SCHEDULE
@dataclass(frozen=True)
class Threshold:
    """C_2 or C_4 of Theorem 6: min(cap, 2 max(per_x ||dx||, per_eta |deta|)), a function of released iterates only."""

    per_x: float
    per_eta: float
    cap: float = math.inf  # no cap as printed

    def after(self, x_move: float, eta_move: float) -> float:
        """The threshold after moves of these lengths."""
        return min(self.cap, 2.0 * max(self.per_x * x_move, self.per_eta * eta_move))


@dataclass(frozen=True)
class Schedule:
    """Everything that Algorithm 2 takes as input."""

    n: int
    steps: int  # T
    phase: int  # q
    refresh_batch: int  # N_1 = N_3
    batch: int  # N_2 = N_4
    eta_clip: float  # C_1
    eta_threshold: Threshold  # C_2
    x_clip: float  # C_3
    x_threshold: Threshold  # C_4
    clip_mode: ClipMode  # "mean" as printed, "each" repaired
    noise: Multipliers | Printed  # of LABELS: sigma_1 .. sigma_4, Printed for a threshold of 1
    eta_step: float  # alpha
    x_step: float  # beta, before the cap
    move_cap: float  # beta_t = min(beta, move_cap / ||v_t||), Theorem 7: 1 / (L_0 sqrt(n))
    start_x: Array | None = None  # zeros when absent
    start_eta: float = 0.0
    last: bool = False  # output the last iterate (a function of the releases too) instead of a random one

    def __post_init__(self) -> None:
        require_at_least(1, self, "steps", "phase")


def printed(
    plan: Plan, constants: Constants, epsilon: float, delta: float, *, clip: float = 1.0, constant: float = 1.0
) -> Schedule:
    """Noise and thresholds C_2, C_4 of Theorem 6 (Theorem 1 differs in sigma_3), clip of the mean.

    C_1 = C_3 = ``clip`` ("some specific values" in Theorem 2). The universal ``constant`` c is never given.
    """
    require_budget(epsilon, delta)
    root, turns = math.sqrt(math.log(1.0 / delta)) / epsilon, math.sqrt(plan.steps / plan.phase) / plan.n
    scale = constant * root
    sigma_1 = scale * turns  # times C_1
    sigma_2 = scale / plan.batch  # times C_2; no T anywhere
    sigma_3 = scale * max(1.0 / plan.refresh, turns)  # times C_3
    sigma_4 = scale * max(1.0 / plan.batch, turns)  # times C_4; sqrt(T / q) for an estimate made T times
    k = constants
    lipschitz_x = k.lipschitz * k.conjugate_smoothness / k.weight  # G M / lambda
    smooth_eta = k.conjugate_smoothness * k.smoothness / k.weight  # M L / lambda, Lemma 5 as printed
    return Schedule(
        n=plan.n,
        steps=plan.steps,
        phase=plan.phase,
        refresh_batch=plan.refresh,
        batch=plan.batch,
        eta_clip=clip,
        eta_threshold=Threshold(per_x=lipschitz_x, per_eta=k.l2),
        x_clip=clip,
        x_threshold=Threshold(per_x=k.x_rate, per_eta=smooth_eta),
        clip_mode="mean",
        noise=Printed(dict(zip(LABELS, (sigma_1, sigma_2, sigma_3, sigma_4), strict=True))),
        eta_step=1.0 / (4.0 * k.l2),  # Theorem 7
        x_step=1.0 / (2.0 * k.l0_printed + k.l1 * math.sqrt(k.eta_bound)),  # Theorem 7
        move_cap=1.0 / (k.l0_printed * math.sqrt(plan.n)),  # Theorem 7
    )


def repaired(
    problem: DualObjective,
    plan: Plan,
    constants: Constants,
    epsilon: float,
    delta: float,
    *,
    clip: float = 1.0,
    eta_clip: float | None = None,
) -> Schedule:
    """Noise for the joint budget; ``clip`` is C_3 and caps C_4, ``eta_clip`` (else ``clip``) is C_1 and caps C_2."""
    k = constants
    eta_clip = clip if eta_clip is None else eta_clip
    x_rate = k.smoothness * (1.0 + math.sqrt(k.eta_bound) / k.lipschitz) + k.l2
    draft = replace(
        printed(plan, constants, epsilon, delta, clip=clip),
        eta_clip=eta_clip,
        eta_threshold=Threshold(per_x=k.l2, per_eta=k.l2, cap=eta_clip),
        x_threshold=Threshold(per_x=x_rate, per_eta=k.l2, cap=clip),
        clip_mode="each",
        noise=Multipliers(dict.fromkeys(LABELS, 1.0)),
        x_step=1.0 / (2.0 * x_rate),
        move_cap=1.0 / (x_rate * math.sqrt(plan.n)),
    )
    shared = replace(draft, noise=equal_shares(run, draft, problem, *LABELS))
    return noise_for(run, shared, problem, epsilon, delta)


@dataclass(frozen=True)
class Output:
    """The released model: a uniformly random iterate (line 17), and its dual variable."""

    x: Array
    eta: float


def run(problem: DualObjective, schedule: Schedule, tape: Tape) -> Output:
    """Run Algorithm 2; every estimate is one release, the rest is post-processing."""
    x = begin_at(schedule.start_x, np.zeros(problem.d), "start_x")
    eta = schedule.start_eta
    x_before, eta_before = x, eta
    g, v = 0.0, np.zeros(problem.d)
    chosen = tape.public("select", lambda rng: int(rng.integers(1, schedule.steps + 1)))  # line 17
    selected = Output(x, eta)

    for t in range(schedule.steps):  # line 2
        refresh = t % schedule.phase == 0  # lines 3, 9
        # GRADIENT, CLIP, NOISE: the dual variable
        if refresh:
            g = _refresh(problem, schedule, tape, "eta", (x, eta))  # line 4
        else:
            g = g + _difference(problem, schedule, tape, "eta", (x, eta), (x_before, eta_before))  # line 6
        # STEP: the dual variable
        eta_next = eta - schedule.eta_step * g  # line 8
        # GRADIENT, CLIP, NOISE: the model
        if refresh:
            v = _refresh(problem, schedule, tape, "x", (x, eta_next))  # line 10
        else:
            v = v + _difference(problem, schedule, tape, "x", (x, eta_next), (x_before, eta))  # line 12
        # STEP: the model
        length = float(np.linalg.norm(v))
        rate = min(schedule.x_step, schedule.move_cap / length if length > 0 else np.inf)  # Theorem 7
        x_before, eta_before = x, eta
        x, eta = x - rate * v, eta_next  # line 14
        if t + 1 == chosen:
            selected = Output(x, eta)
    return Output(x, eta) if schedule.last else selected


def _refresh(problem: DualObjective, schedule: Schedule, tape: Tape, block: Block, at: Point) -> Any:
    """Lines 4 and 10: a clipped batch mean of gradients in ``block``, released."""
    # GRADIENT
    size = schedule.refresh_batch  # N_1, N_3
    records, batch = draw_records(tape, f"{block}/refresh batch", schedule.n, size)
    rows = _gradients(problem, block, at, records)
    # CLIP
    clip = schedule.eta_clip if block == "eta" else schedule.x_clip  # C_1, C_3
    mean = clipped_mean(rows, clip, schedule.clip_mode)
    # NOISE
    std = schedule.noise.std(f"{block}/refresh", 2.0 / size) * clip  # sigma_1, sigma_3
    return tape.gaussian(f"{block}/refresh", mean, std=std, sensitivity=2.0 * clip / size, batch=batch)


def _difference(problem: DualObjective, schedule: Schedule, tape: Tape, block: Block, now: Point, before: Point) -> Any:
    """Lines 6 and 12: a clipped batch mean of gradient differences in ``block``, released."""
    # GRADIENT
    size = schedule.batch  # N_2, N_4
    records, batch = draw_records(tape, f"{block}/difference batch", schedule.n, size)
    rows = _gradients(problem, block, now, records) - _gradients(problem, block, before, records)
    # CLIP
    threshold = schedule.eta_threshold if block == "eta" else schedule.x_threshold
    clip = threshold.after(float(np.linalg.norm(now[0] - before[0])), abs(now[1] - before[1]))  # C_2, C_4
    mean = clipped_mean(rows, clip, schedule.clip_mode)
    # NOISE
    std = schedule.noise.std(f"{block}/difference", 2.0 / size) * clip  # sigma_2, sigma_4
    return tape.gaussian(f"{block}/difference", mean, std=std, sensitivity=2.0 * clip / size, batch=batch)


def _gradients(problem: DualObjective, block: Block, at: Point, records: Any) -> Array:
    return problem.eta_gradients(*at, records) if block == "eta" else problem.x_gradients(*at, records)
