"""DP Recursive-SPIDER (paper ``dro``, Algorithm 3): private compositional descent for KL-divergence DRO.

Minimises Psi(x, lambda) = lambda log(mean exp(loss_i(x) / lambda)) + lambda rho over x and lambda >= lambda_0, eq. (5),
for losses >= 0: v estimates the x-gradient and u the lambda-gradient of the inner function g, s its value (STORM).
Claimed guarantee: (epsilon, delta)-DP with the noise of Theorems 3 and 8.

Where readings differ, the schedule says line by line which one is run (:class:`Lines`): ``AS_PRINTED`` is the paper's,
``THEOREM_8``, ``ALL_OF_W`` and ``DIFFERENCES_ADDED`` are variants of it, ``REPAIRED`` mends every line.

Cite: ``dro``, Algorithm 3, Theorems 3, 4, 8, Lemma 8.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clipped_mean
from dpassay.reference.errors import require, require_at_least, require_budget
from dpassay.reference.noise import Multipliers, Printed
from dpassay.reference.space import begin_at
from dpassay.reference.tape import Tape

from .constants import Plan, equal_shares
from .objective import CompositionalObjective

Block = Literal["x", "temperature"]
State = tuple[Array, float]  # w = (x, lambda)
BETA = 0.5  # of the momentum: the text gives none
LABELS = ("x/refresh", "x/difference", "temperature/refresh", "temperature/difference", "value")

BOUNDS = "c = 1; C_1 = C_3 = G, C_2 = C_4 = 2 G, G = L = 1 (the bounds that the proof of Theorem 8 uses), C_5 = 3"
OWN_MOVE = (
    "sigma_2, sigma_4 follow ||x_t - x_{t-1}||, |lambda_t - lambda_{t-1}| (Theorem 3; Theorem 8 drops the factors)"
)
NOT_CROSSED = "sigma^_2 = sigma^_4 (lines 11 and 12 cross them; b_2 = b_4)"
FLOORS = "lambda starts at 1 and is kept >= lambda_0; s is floored at 1 where it is divided by or its log is taken"
STARTS = "w_1 = w_0, v_0 = u_0 = 0, s_0 = 1, beta = 1/2, b_1 = b_3 = n, the step eta is constant"
COMPLETIONS = (BOUNDS, OWN_MOVE, NOT_CROSSED, FLOORS, STARTS)
CHARITABLE_NOISE = (
    "charitable: sigma_2 and sigma_4 follow ||w_t - w_{t-1}||, differences are clipped at min(C, L ||w_t - w_{t-1}||)"
)
CHARITABLE_START = "charitable: the first step refreshes"
NO_MOVE = (
    "sigma_2 as Theorem 8 prints it, without the factor ||x_t - x_{t-1}||; sigma_4, which it does not name, likewise"
)

MEND_START = "the first step refreshes (as printed, w_1 and v_1 come from nowhere)"
MEND_SUM = "lines 13-14: differences are added to the previous estimate"
MEND_NOISE = "lines 11-14: differences are clipped at min(C, L ||w_t - w_{t-1}||), noise follows this threshold"
MEND_SIGN = "line 8: noise for C_3 / b_3, because clipped lambda-gradients of a loss >= 0 lie in [-C_3, 0]"
MEND_VALUE = "line 16: the recursion of Lemma 8 on a batch, noise for its sensitivity (2 - beta) (C_5 - 1) / b_5"
MEND_SIGMA = "sigma: std / sensitivity calibrated to the joint budget by exact accounting"
REPAIRS = (MEND_START, MEND_SUM, MEND_NOISE, MEND_SIGN, MEND_VALUE, MEND_SIGMA)


# SCHEDULE
@dataclass(frozen=True)
class Lines:
    """Which text of a line is run; the first alternative is the printed one."""

    line_4: Literal["t mod q = 0", "t - 1 mod q = 0"]  # when v and u are refreshed
    lines_11_12: Literal["own move", "no move", "move of w"]  # what sigma_2, sigma_4 follow: Theorem 3, 8, repaired
    lines_13_14_clip: Literal["C", "min(C, L ||dw||)"]
    lines_13_14_sum: Literal["difference alone", "added"]  # to the previous estimate
    line_16: Literal["g(w_t) twice", "g(w_t) and g(w_{t-1})"]  # the proof (Lemma 8) has the second


AS_PRINTED = Lines("t mod q = 0", "own move", "C", "difference alone", "g(w_t) twice")
THEOREM_8 = replace(AS_PRINTED, lines_11_12="no move")
ALL_OF_W = Lines("t - 1 mod q = 0", "move of w", "min(C, L ||dw||)", "difference alone", "g(w_t) twice")
DIFFERENCES_ADDED = replace(AS_PRINTED, line_4="t - 1 mod q = 0", lines_13_14_sum="added")
REPAIRED = Lines("t - 1 mod q = 0", "move of w", "min(C, L ||dw||)", "added", "g(w_t) and g(w_{t-1})")
LINE_16_PRINTED = replace(REPAIRED, line_16="g(w_t) twice")


@dataclass(frozen=True)
class Schedule:
    """Everything that Algorithm 3 takes as input."""

    lines: Lines
    n: int
    steps: int  # T
    phase: int  # q
    refresh_batch: int  # b_1 = b_3
    batch: int  # b_2 = b_4
    value_batch: int  # records behind s_t: 1 as printed
    refresh_clip: float  # C_1 = C_3
    clip: float  # C_2 = C_4
    value_clip: float  # C_5
    smoothness: float  # L, of the inner gradient in w: differences are claimed to be at most L ||w_t - w_{t-1}||
    value_sensitivity: float  # claimed for the released part of s_t
    noise: Multipliers | Printed  # of LABELS; Printed differences: for a threshold of 1
    momentum: float  # beta
    step: float  # eta
    start_x: Array | None = None  # zeros when absent
    start_temperature: float = 1.0
    largest_temperature: float = math.inf  # lambda is kept at most this large: no cap as printed
    last: bool = False  # output the last iterate (a function of the releases too) instead of a random one

    def __post_init__(self) -> None:
        require_at_least(1, self, "steps", "phase")
        require(0 < self.momentum <= 1, "momentum", self.momentum, "must lie in (0, 1]")
        require(self.value_clip >= 1, "value_clip", self.value_clip, "g = exp(loss / lambda) is at least 1")


def printed(
    plan: Plan,
    epsilon: float,
    delta: float,
    *,
    lines: Lines = AS_PRINTED,
    lipschitz: float = 1.0,
    smoothness: float = 1.0,
    value_clip: float = 3.0,
    step: float | None = None,
    constant: float = 1.0,
) -> Schedule:
    """Noise of Theorem 3 (or 8, by ``lines``); C_1 = C_3 = G, C_2 = C_4 = 2 G as the proof of Theorem 8 uses them."""
    require_budget(epsilon, delta)
    root, turns = constant * math.sqrt(math.log(1.0 / delta)) / epsilon, math.sqrt(plan.steps)
    sigma_1 = root * lipschitz * turns / (plan.n * plan.phase)  # q where the count T/q asks for sqrt(q)
    sigma_2 = root * max(1.0 / plan.batch, turns / plan.n)  # times L ||dx||, at most 2 G: sigma_2 and sigma^_2
    sigmas = (sigma_1, sigma_2, sigma_1, sigma_2, sigma_s(plan.n, plan.steps, epsilon, delta, lipschitz, constant))
    return Schedule(
        lines=lines,
        n=plan.n,
        steps=plan.steps,
        phase=plan.phase,
        refresh_batch=plan.refresh,
        batch=plan.batch,
        value_batch=1,
        refresh_clip=lipschitz,
        clip=2.0 * lipschitz,
        value_clip=value_clip,
        smoothness=smoothness,
        value_sensitivity=2.0 * lipschitz / plan.n,  # what sigma_{s_t} is made for
        noise=Printed(dict(zip(LABELS, sigmas, strict=True))),
        momentum=BETA,
        step=1.0 / (2.0 * smoothness) if step is None else step,
    )


def sigma_s(n: int, steps: int, epsilon: float, delta: float, lipschitz: float = 1.0, constant: float = 1.0) -> float:
    """sigma_{s_t} of Theorems 3 and 8: c G sqrt(T log(1/delta)) / (n epsilon)."""
    return constant * math.sqrt(math.log(1.0 / delta)) / epsilon * lipschitz * math.sqrt(steps) / n


def repaired(
    problem: CompositionalObjective,
    plan: Plan,
    epsilon: float,
    delta: float,
    *,
    lines: Lines = REPAIRED,
    clip: float = 1.0,
    smoothness: float = 1.0,
    value_clip: float = 3.0,
    value_batch: int | None = None,
    step: float = 0.5,
) -> Schedule:
    """Noise for the joint budget; ``value_batch`` (else the difference batch) may be 1; ``lines`` may keep line 16."""
    value_size = value_batch or plan.batch
    draft = replace(
        printed(plan, epsilon, delta, lines=lines, lipschitz=clip, smoothness=smoothness, value_clip=value_clip),
        value_batch=value_size,
        value_sensitivity=true_value_sensitivity(lines, BETA, value_clip, value_size),
        noise=Multipliers(dict.fromkeys(LABELS, 1.0)),
        step=step,
    )
    shared = replace(draft, noise=equal_shares(run, draft, problem, *LABELS))
    return noise_for(run, shared, problem, epsilon, delta)


def true_value_sensitivity(lines: Lines, momentum: float, value_clip: float, value_batch: int) -> float:
    """Largest change of the released part of s_t when one of ``value_batch`` records is replaced.

    Clipped values lie in [1, C_5], so beta * value ranges over beta (C_5 - 1) (line 16 as printed), and
    value - (1 - beta) * previous value over (2 - beta) (C_5 - 1) (recursion of the proof).
    """
    coefficient = momentum if lines.line_16 == "g(w_t) twice" else 2.0 - momentum
    return coefficient * (value_clip - 1.0) / value_batch


@dataclass(frozen=True)
class Output:
    """Line 20: (w, v, u, s) at a uniformly random step."""

    x: Array
    temperature: float
    v: Array
    u: float
    s: float


def run(problem: CompositionalObjective, schedule: Schedule, tape: Tape) -> Output:
    """Run Algorithm 3; v, u and s are releases, the rest is post-processing."""
    x = begin_at(schedule.start_x, np.zeros(problem.d), "start_x")
    now = before = (x, max(schedule.start_temperature, problem.floor))  # line 1, w_1 = w_0
    v, u, s = np.zeros(problem.d), 0.0, 1.0
    first = 0 if schedule.lines.line_4 == "t mod q = 0" else 1
    chosen = tape.public("select", lambda rng: int(rng.integers(1, schedule.steps + 1)))  # line 20
    selected = Output(*now, v, u, s)
    for t in range(1, schedule.steps + 1):  # line 2
        # GRADIENT, CLIP, NOISE: the inner gradients
        if (t - first) % schedule.phase == 0:  # line 4
            v = _refresh(problem, schedule, tape, "x", now)  # line 7
            u = float(_refresh(problem, schedule, tape, "temperature", now))  # line 8
        else:
            keep = 1.0 if schedule.lines.lines_13_14_sum == "added" else 0.0
            v = keep * v + _difference(problem, schedule, tape, "x", now, before)  # line 13
            u = keep * u + float(_difference(problem, schedule, tape, "temperature", now, before))  # line 14
        # GRADIENT, CLIP, NOISE: the inner value
        s = (1.0 - schedule.momentum) * s + _value_change(problem, schedule, tape, now, before)  # line 16
        # STEP
        if t == chosen:
            selected = Output(*now, v, u, s)
        floored = max(s, 1.0)
        slope = now[1] / floored  # grad f(s_t): derivative of f in its second argument
        z_x, z_lambda = slope * v, slope * u + float(np.log(floored)) + problem.radius  # line 18
        lowered = min(max(now[1] - schedule.step * z_lambda, problem.floor), schedule.largest_temperature)
        before, now = now, (now[0] - schedule.step * z_x, lowered)  # line 17
    return Output(*now, v, u, s) if schedule.last else selected


def _refresh(problem: CompositionalObjective, schedule: Schedule, tape: Tape, block: Block, now: State) -> Array:
    """Lines 5-8: the mean of clipped inner gradients, released."""
    # GRADIENT
    size, clip = schedule.refresh_batch, schedule.refresh_clip  # b_1, C_1; b_3, C_3
    records, batch = draw_records(tape, f"{block}/refresh batch", schedule.n, size)
    rows, spread = _inner_gradients(problem, block, now, records), 2.0 * clip
    # CLIP
    if block == "temperature":  # -g loss / lambda^2 <= 0: clipped rows lie in [-C_3, 0], half as far apart
        rows, spread = np.minimum(rows, 0.0), clip
    mean = clipped_mean(rows, clip, "each")
    # NOISE
    sensitivity = spread / size
    std = schedule.noise.std(f"{block}/refresh", sensitivity)  # sigma_1, sigma_3
    return np.asarray(tape.gaussian(f"{block}/refresh", mean, std=std, sensitivity=sensitivity, batch=batch))


def _difference(
    problem: CompositionalObjective, schedule: Schedule, tape: Tape, block: Block, now: State, before: State
) -> Array:
    """Lines 10-14: the mean of clipped differences of inner gradients, released."""
    # GRADIENT
    lines, size, clip = schedule.lines, schedule.batch, schedule.clip  # b_2, C_2; b_4, C_4
    records, batch = draw_records(tape, f"{block}/difference batch", schedule.n, size)
    rows = _inner_gradients(problem, block, now, records) - _inner_gradients(problem, block, before, records)
    # CLIP
    x_move, lambda_move = float(np.linalg.norm(now[0] - before[0])), abs(now[1] - before[1])
    w_move, own_move = float(np.hypot(x_move, lambda_move)), x_move if block == "x" else lambda_move
    bound = min(clip, schedule.smoothness * w_move)  # what the proof of Theorem 8 takes
    mean = clipped_mean(rows, clip if lines.lines_13_14_clip == "C" else bound, "each")
    # NOISE
    move = {"own move": own_move, "no move": 1.0, "move of w": w_move}[lines.lines_11_12]
    threshold = min(clip, schedule.smoothness * move)  # lines 11-12: min(sigma_2, sigma^_2)
    std = schedule.noise.std(f"{block}/difference", 2.0 / size) * threshold
    claimed = 2.0 * (clip if lines.lines_11_12 == "no move" else bound) / size
    return np.asarray(tape.gaussian(f"{block}/difference", mean, std=std, sensitivity=claimed, batch=batch))


def _value_change(problem: CompositionalObjective, schedule: Schedule, tape: Tape, now: State, before: State) -> float:
    """The new part of s_t in line 16; (1 - beta) s_{t-1} is a function of earlier releases."""
    # GRADIENT: none, a function value
    records, batch = draw_records(tape, "value batch", schedule.n, schedule.value_batch)
    # CLIP
    value = np.clip(problem.inner_values(*now, records), 1.0, schedule.value_clip)
    other = value  # the same w_t twice, as printed
    if schedule.lines.line_16 == "g(w_t) and g(w_{t-1})":
        other = np.clip(problem.inner_values(*before, records), 1.0, schedule.value_clip)
    # NOISE
    mean, claimed = np.mean(value - (1.0 - schedule.momentum) * other), schedule.value_sensitivity
    std = schedule.noise.std("value", claimed)  # sigma_{s_t}
    return float(tape.gaussian("value", mean, std=std, sensitivity=claimed, batch=batch))


def _inner_gradients(problem: CompositionalObjective, block: Block, w: State, records: Indices) -> Array:
    if block == "x":
        return problem.inner_x_gradients(*w, records)
    return problem.inner_temperature_gradients(*w, records)
