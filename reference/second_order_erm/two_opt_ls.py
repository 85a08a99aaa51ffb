"""2OPT-LS: a hopeful first phase of Algorithm 3, then the full algorithm (`second_order_erm`, Section 3.4).

Phase one spends a part of the budget (3/4) on a number of steps that counts on a larger decrease per step, hence with
less noise. If it ends without a certified point, Algorithm 3 starts again at the last iterate with what is left.

Guarantee: printed, that of Algorithm 3, with its leak, twice. Repaired: a filter; what phase one did not spend passes
to phase two, which is sound because the cost of Gaussian releases (and of line searches that are counted as such) adds
up adaptively.

Cite: second_order_erm, Section 3.4.
"""

from dataclasses import dataclass
from functools import partial

from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape

from . import opt_ls, two_opt
from .calibration import gaussian_cost
from .common import Outcome
from .line_search import gaussian_parameter
from .two_opt import HOPEFUL, in_two_parts, two_phases

COMPLETIONS = (*opt_ls.COMPLETIONS, *HOPEFUL, "the budget left is what the realised counts of Theorem 5 leave")
REPAIRS = (*opt_ls.REPAIRS, "the realised counts of phase one are used through a privacy filter")


# SCHEDULE
@dataclass(frozen=True)
class Schedule(two_opt.Schedule):
    """The schedule of Algorithm 3 with the total budget, and how phase one uses it."""

    base: opt_ls.Schedule


printed, repaired = (partial(in_two_parts, Schedule, one) for one in (opt_ls.printed, opt_ls.repaired))


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Both phases."""
    # GRADIENT, CLIP, NOISE, STEP: as in Algorithm 3
    return two_phases(problem, schedule, tape, opt_ls.descend, realised_cost)


def realised_cost(s: opt_ls.Schedule, noise: Multipliers, outcome: Outcome) -> float:
    """Return the rho of Theorem 5 for the counts of this run (without the term of f): line searches count, too."""
    steps = {"line search/gradient": outcome.gradient_steps, "line search/curvature": outcome.curvature_steps}
    cost = two_opt.realised_cost(s, noise, outcome)
    if s.reading == "printed":
        return cost + sum(gaussian_cost(noise[label], count) for label, count in steps.items())
    return cost + sum(
        count * gaussian_parameter(noise[label], *s.search.trials[label]) ** 2 / 2 for label, count in steps.items()
    )
