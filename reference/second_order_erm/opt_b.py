"""OPT-B: Algorithm 1 on mini-batches (`second_order_erm`, Section 3.3 and Appendix B).

Guarantee: printed, (epsilon, delta)-DP by subsampled RDP (eq. 29, 30) or by Theorem B.8; the bound on the number of
steps leaks as in Algorithm 1, and one batch serves the gradient and the Hessian, which eq. (29) does not account.
Repaired: the number of steps comes from a public bound on f(w0), the Hessian has its own batch, noise by exact
composition.

Cite: second_order_erm, Section 3.3, Theorems B.3, B.4, B.5 and B.8.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import ceil, log, sqrt
from typing import Any, Literal

import numpy as np

from dpassay.reference.accounting.calibrate import noise_factor
from dpassay.reference.accounting.cost import account
from dpassay.reference.arrays import Array, norm
from dpassay.reference.errors import require
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.tape import ScriptedTape, Tape

from . import opt
from .calibration import spends_most
from .common import (
    UNIT,
    Accuracy,
    Outcome,
    Reading,
    Sensitivities,
    batch_sensitivities,
    descent_sign,
    printed_constants,
    printed_sensitivities,
    public_numbers,
)
from .eigen import Dense
from .opt import minimum_decrease
from .subsampled import AdvancedBudget, SampledBudget

COMPLETIONS = (
    *opt.COMPLETIONS[:3],
    "c = c1 = c2 = 0.1 where the text leaves them free; lower bound of f: 0",
    "f(w0) is evaluated on all records, with the noise of a batch (Delta_f = B / m)",
    "one batch S_k serves the gradient and the Hessian of iteration k",
    "eq. (30) leaves three noises open: sigma_g = sigma_H, the least for which eq. (29) meets epsilon (orders to 512)",
    "epsilon_f = 0.1 epsilon and delta_f = 0.1 delta in Theorem B.8 (c_f of Theorem B.9)",
)
REPAIRS = (
    "the number of steps is computed from a public upper bound on f(w0); f(w0) is not released",
    "the Hessian is computed on a batch of its own",
    "noise by exact composition of the dominating pairs of sampling without replacement",
    "sensitivities without the regulariser and without sqrt(d)",
)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is public before the run. Sensitivities are for means over a batch."""

    reading: Reading  # printed: eq. (6), one batch for gradient and Hessian; repaired: public T, two batches
    start: Array  # w0
    accuracy: Accuracy
    smoothness: float  # G
    hessian_lipschitz: float  # M
    sensitivity: Sensitivities
    noise: SampledBudget | AdvancedBudget | Multipliers  # printed: a function of T; repaired: T is public
    batch: int  # m
    lower_bound: float = 0.0

    @property
    def minimum_decrease(self) -> float:
        """MIN_DEC of Lemma 2."""
        return minimum_decrease(self.accuracy, self.smoothness, self.hessian_lipschitz)


def printed(
    problem: SmoothRisk,
    start: Array,
    accuracy: Accuracy,
    epsilon: float,
    delta: float,
    *,
    batch: int,
    route: Literal["rdp", "advanced"] = "rdp",
) -> Schedule:
    """Return the printed schedule: eq. (30), or Theorem B.8 for route "advanced"."""
    require(1 <= batch <= problem.n, "batch", batch, f"must lie in 1..n = {problem.n}")
    constants = printed_constants(problem, start)
    make = SampledBudget if route == "rdp" else AdvancedBudget
    return Schedule(
        **public_numbers("printed", start, accuracy, constants),
        sensitivity=printed_sensitivities(constants, batch, problem.d),
        noise=make(epsilon, delta, batch / problem.n),
        batch=batch,
    )


def repaired(
    problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float, *, batch: int
) -> Schedule:
    """Return the repaired schedule: see REPAIRS."""
    require(1 <= batch <= problem.n, "batch", batch, f"must lie in 1..n = {problem.n}")
    k = problem.constants()
    T = step_bound(problem.value_bound(start), 0.0, minimum_decrease(accuracy, k.smoothness, k.hessian_lipschitz))
    return Schedule(
        **public_numbers("repaired", start, accuracy, k),
        sensitivity=batch_sensitivities(problem, start, batch),
        noise=calibrated(problem.n, batch, T, epsilon, delta),
        batch=batch,
    )


@lru_cache(maxsize=256)
def calibrated(n: int, batch: int, T: int, epsilon: float, delta: float) -> Multipliers:
    """Noise multipliers of T repaired iterations: a dry run of one, T times its account, and what that asks for."""
    near = max(1.0, batch / n * sqrt(-16 * T * log(delta)) / epsilon)  # about what it takes: far below, grids are large
    unit = Multipliers({"gradient": near, "hessian": near})
    any_accuracy, w = Accuracy(gradient=1.0, curvature=1.0), np.zeros(1)
    tape = ScriptedTape(partial(spends_most, 2 * any_accuracy.curvature))
    dry = Schedule("repaired", w, any_accuracy, 1.0, 1.0, UNIT, unit, batch)
    flat: Any = Flat(n)
    descend(flat, dry, tape, w, 1, unit)
    one = account(tape.transcript)
    all_alike = replace(one, common=tuple((part, count * T) for part, count in one.common))
    return unit.scaled(noise_factor(all_alike, epsilon, delta))


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Algorithm 1 with f, g and H of a batch, step sizes of eq. (7)."""
    s = schedule
    T = iteration_bound(problem, s, tape, s.minimum_decrease)
    noise = s.noise if isinstance(s.noise, Multipliers) else s.noise.multipliers(T)
    return descend(problem, s, tape, s.start, T, noise)


def iteration_bound(problem: SmoothRisk, s: Schedule, tape: Tape, minimum_decrease: float) -> int:
    """T: eq. (6) as printed, or from a public bound on f(w0)."""
    if s.reading == "repaired" or isinstance(s.noise, Multipliers):
        return step_bound(problem.value_bound(s.start), s.lower_bound, minimum_decrease)
    std = s.noise.sigma_f * s.sensitivity.value  # Delta_f sigma_f
    top = problem.value(s.start) + abs(tape.noise("initial value", std))  # f(w0) + |z|
    return step_bound(top, s.lower_bound, minimum_decrease)


def step_bound(top: float, lower_bound: float, minimum_decrease: float) -> int:
    """Return T of eq. (6) for an upper bound on f(w0)."""
    return max(1, ceil(float(top - lower_bound) / minimum_decrease))  # eq. (6)


def descend(problem: SmoothRisk, s: Schedule, tape: Tape, w: Array, T: int, noise: Multipliers) -> Outcome:
    """The loop of Algorithm 1 on batches."""
    k_g = k_H = 0
    for _k in range(1, T + 1):
        batch = tape.batch("batch", problem.n, s.batch)  # S_k
        # GRADIENT: of a fresh batch
        gradient = problem.gradient(w, batch.indices)
        # CLIP: none, gradients are bounded by Assumption 2
        # NOISE
        delta_g, delta_H = s.sensitivity.gradient, s.sensitivity.hessian
        std_g, std_H = noise.std("gradient", delta_g), noise.std("hessian", delta_H)
        g = tape.gaussian("gradient", gradient, std=std_g, sensitivity=delta_g, batch=batch)
        # STEP
        if norm(g) > s.accuracy.gradient:
            w, k_g = w - g / s.smoothness, k_g + 1  # eq. (7)
            continue
        if s.reading == "repaired":
            batch = tape.batch("hessian batch", problem.n, s.batch)
        hessian = problem.hessian(w, batch.indices)
        H = tape.symmetric_gaussian("hessian", hessian, std=std_H, sensitivity=delta_H, batch=batch)
        smallest, p = Dense().pair(H, s.accuracy.curvature, tape)
        if smallest >= -s.accuracy.curvature:
            return Outcome(w, True, k_g, k_H, k_H + 1)
        w = w + 2 * abs(smallest) / s.hessian_lipschitz * descent_sign(p, g)  # eq. (5), (7)
        k_H += 1
    return Outcome(w, False, k_g, k_H, k_H)
