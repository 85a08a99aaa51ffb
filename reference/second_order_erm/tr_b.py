"""TR-B: DP-TR on mini-batches, the baseline of `second_order_erm`, Section 4.

Noisy trust-region steps of fixed radius, the subproblem solved exactly (Wang and Xu 2021), on a batch of m of n
records. The number of steps uses a public bound on f(w0).

Guarantee: printed, (epsilon, delta) by eq. (30), in which one batch serves the gradient and the Hessian. Repaired: the
Hessian has a batch of its own, noise by exact composition.

Cite: wang2021; second_order_erm, Section 4 and eq. (30).
"""

from dataclasses import dataclass

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

from . import dp_tr
from .calibration import calibrated
from .common import Accuracy, Outcome, Reading, batch_sensitivities, printed_constants, printed_sensitivities
from .dp_tr import UNIT_NOISE, public_numbers
from .subsampled import SampledBudget

COMPLETIONS = (
    "number of steps from a public bound on f(w0); radius sqrt(alpha / M); noise split evenly",
    "one batch serves the gradient and the Hessian of a step",
)
REPAIRS = ("exact sensitivities", "the Hessian has a batch of its own; noise by exact composition")


# SCHEDULE
@dataclass(frozen=True, kw_only=True)
class Schedule(dp_tr.Schedule):
    """Everything that is public before the run. Sensitivities are for means over a batch."""

    reading: Reading  # printed: one batch for gradient and Hessian; repaired: two
    batch: int  # m


def printed(
    problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float, *, batch: int
) -> Schedule:
    """Return the printed schedule: eq. (30)."""
    require(1 <= batch <= problem.n, "batch", batch, f"must lie in 1..n = {problem.n}")
    public = public_numbers(problem, start, accuracy)
    budget = SampledBudget(epsilon, delta, batch / problem.n, part_f=0.0)  # f is not released
    noise = UNIT_NOISE.scaled(budget.sigma(public["steps"]))  # eq. (30)
    sensitivity = printed_sensitivities(printed_constants(problem, start), batch, problem.d)
    return Schedule(**public, reading="printed", batch=batch, sensitivity=sensitivity, noise=noise)


def repaired(
    problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float, *, batch: int
) -> Schedule:
    """Return the repaired schedule: see REPAIRS."""
    require(1 <= batch <= problem.n, "batch", batch, f"must lie in 1..n = {problem.n}")
    public, sensitivity = public_numbers(problem, start, accuracy), batch_sensitivities(problem, start, batch)
    unit = Schedule(**public, reading="repaired", batch=batch, sensitivity=sensitivity, noise=UNIT_NOISE)
    return calibrated(run, unit, problem, epsilon, delta)


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Noisy trust-region steps on batches until the noisy test of Definition 1 passes."""
    # GRADIENT, CLIP, NOISE, STEP: as in DP-TR

    def draw(label: str, before: Batch | None) -> Batch | None:
        if label == "batch" or schedule.reading == "repaired":
            return tape.batch(label, problem.n, schedule.batch)
        return before

    return dp_tr.descend(problem, schedule, tape, draw)
