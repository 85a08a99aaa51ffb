"""DP-SGDA on the minimax form, eq. (2) (paper ``dro``, Section 5.1, citing yang2022): an ascent in p, a descent in x.

GRADIENT and CLIP are those of ``minimax_form.py``, NOISE and STEP those of ``baselines/dp_sgda.py``.
Guarantee: that of the calibrated releases. Cite: ``dro``, Section 5.1 and Appendix A.
"""

from dpassay.reference.arrays import Array
from dpassay.reference.baselines import dp_sgda
from dpassay.reference.baselines.protocols import Clipped
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.tape import Tape

from .constants import Plan, shared_equally
from .minimax_form import WEIGHT_STEP, MinimaxProblem


# SCHEDULE
def calibrated(
    plan: Plan, epsilon: float, delta: float, *, loss_clip: float = 3.0, clip: float = 1.0, x_step: float = 0.1
) -> dp_sgda.Schedule:
    """Noise by exact accounting; the losses and the gradients in x get equal shares of the budget."""
    more = {"clip_y": loss_clip, "step_x": x_step, "step_y": WEIGHT_STEP, "alternating": True}
    found: dp_sgda.Schedule = shared_equally(dp_sgda, plan, Clipped(Flat(plan.n)), epsilon, delta, clip, **more)
    return found


def run(problem: MinimaxProblem, schedule: dp_sgda.Schedule, tape: Tape) -> Array:
    """The last x, shape (d,)."""
    return dp_sgda.run(problem, schedule, tape).x
