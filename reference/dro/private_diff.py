"""PrivateDiff Minimax on the minimax form, eq. (2) (paper ``dro``, Section 5.1): our reading, its text is not a source.

Several ascent steps in p per round, and for x clipped gradient differences with a refresh every q rounds; the threshold
of a difference is min(2 C, L ||x_t - x_{t-1}||). GRADIENT and CLIP are those of ``minimax_form.py``, NOISE and STEP
those of ``baselines/private_diff.py``.
Guarantee: that of the calibrated releases. Cite: ``dro``, Section 5.1 and Appendix A.
"""

from dpassay.reference.arrays import Array
from dpassay.reference.baselines import private_diff
from dpassay.reference.baselines.protocols import Clipped
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.tape import Tape

from .constants import Plan, shared_equally
from .minimax_form import WEIGHT_STEP, MinimaxProblem


# SCHEDULE
def calibrated(
    plan: Plan,
    epsilon: float,
    delta: float,
    *,
    ascents: int = 1,
    loss_clip: float = 3.0,
    clip: float = 1.0,
    x_step: float = 0.1,
) -> private_diff.Schedule:
    """Noise by exact accounting; losses, refreshes and differences get equal shares of the budget."""
    more = {"ascents": ascents, "clip_y": loss_clip, "step_x": x_step, "step_y": WEIGHT_STEP}
    problem = Clipped(Flat(plan.n))
    found: private_diff.Schedule = shared_equally(private_diff, plan, problem, epsilon, delta, clip, **more)
    return found


def run(problem: MinimaxProblem, schedule: private_diff.Schedule, tape: Tape) -> Array:
    """The last x, shape (d,)."""
    return private_diff.run(problem, schedule, tape).x
