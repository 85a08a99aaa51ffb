"""2OPT-B: a hopeful first phase on mini-batches, then the full algorithm (`second_order_erm`, Sections 3.3 and 3.4).

Phase one spends a part of the budget (3/4) on a number of steps that counts on a larger decrease per step, hence with
less noise. If it ends without a certified point, OPT-B starts again at the last iterate with what is left.

Guarantee: printed, that of OPT-B, with its leak, twice. Repaired: (epsilon, delta) is split 3/4 to 1/4, which adds up
by basic composition; there is no filter.

Cite: second_order_erm, Sections 3.3 and 3.4.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape

from . import opt_b
from .common import Accuracy, Outcome, joined
from .two_opt import HOPEFUL

_SPLIT = "3/4 and 1/4 of (epsilon, delta), which add up by basic composition: eq. (29) and Theorem B.8 leave no rest"
COMPLETIONS = (*opt_b.COMPLETIONS, *HOPEFUL, _SPLIT)
REPAIRS = (*opt_b.REPAIRS, _SPLIT)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """The schedule of OPT-B, the total budget, and how phase one uses it."""

    base: opt_b.Schedule
    epsilon: float
    delta: float
    hope: float  # phase one counts on hope * MIN_DEC
    share: float = 3 / 4

    def __post_init__(self) -> None:
        require(0 < self.share < 1, "share", self.share, "must lie in (0, 1)")
        require(self.hope >= 1, "hope", self.hope, "must be at least 1")

    def phase(self, start: Array, share: float) -> opt_b.Schedule:
        """One phase: where it starts, and as printed its share of the budget."""
        noise = self.base.noise
        return replace(self.base, start=start, noise=noise if isinstance(noise, Multipliers) else noise.part(share))

    def multipliers(self, s: opt_b.Schedule, n: int, T: int, share: float) -> Multipliers:
        """Noise of the T steps of a phase: eq. (30) or Theorem B.8; repaired, by exact composition."""
        if isinstance(s.noise, Multipliers):
            return opt_b.calibrated(n, s.batch, T, share * self.epsilon, share * self.delta)
        return s.noise.multipliers(T)


def in_two_parts(
    whole: Callable[..., opt_b.Schedule], problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float,
    delta: float, *, hope: float, **options: Any,
) -> Schedule:  # fmt: skip
    """The schedule of OPT-B (with its `options`), in two parts."""
    base = whole(problem, start, accuracy, epsilon, delta, **options)
    return Schedule(base, epsilon, delta, hope)


printed, repaired = (partial(in_two_parts, one) for one in (opt_b.printed, opt_b.repaired))


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Both phases."""
    s = schedule
    one = _phase(problem, s, tape, s.base.start, s.share, s.hope)
    if one.certified:
        return one
    return joined(one, _phase(problem, s, tape, one.w, 1 - s.share, 1.0))


# GRADIENT, CLIP: as in OPT-B
def _phase(problem: SmoothRisk, s: Schedule, tape: Tape, start: Array, share: float, hope: float) -> Outcome:
    """OPT-B with the steps that `hope` leaves and a share of the budget."""
    phase = s.phase(start, share)
    T = opt_b.iteration_bound(problem, phase, tape, hope * phase.minimum_decrease)  # eq. (6)
    # NOISE
    noise = s.multipliers(phase, problem.n, T, share)
    # STEP
    return opt_b.descend(problem, phase, tape, start, T, noise)
