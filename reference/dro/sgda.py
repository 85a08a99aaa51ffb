"""DP-SGDA on the minimax form, eq. (2) (paper ``dro``, Section 5.1, citing yang2022): an ascent in p, a descent in x.

GRADIENT and CLIP are those of ``minimax_form.py``, NOISE and STEP those of ``baselines/dp_sgda.py``.
Guarantee: that of the calibrated releases. Cite: ``dro``, Section 5.1 and Appendix A.
"""

from dpassay.reference.arrays import Array
from dpassay.reference.baselines import dp_sgda
from dpassay.reference.baselines.protocols import Clipped
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.tape import Tape

from .constants import Plan, equal_shares
from .minimax_form import WEIGHT_STEP, MinimaxProblem


# SCHEDULE
def calibrated(
    plan: Plan, epsilon: float, delta: float, *, loss_clip: float = 3.0, clip: float = 1.0, x_step: float = 0.1
) -> dp_sgda.Schedule:
    """Noise by exact accounting; the losses and the gradients in x get equal shares of the budget."""
    plain = dp_sgda.Schedule(
        n=plan.n,
        steps=plan.steps,
        batch_x=plan.batch,
        batch_y=plan.n,
        clip_x=clip,
        clip_y=loss_clip,
        step_x=x_step,
        step_y=WEIGHT_STEP,
        noise=dp_sgda.EQUAL,
        alternating=True,
    )
    shares = equal_shares(dp_sgda.run, plain, Clipped(Flat(plan.n)), "y", "x")
    return dp_sgda.calibrated(plain, epsilon, delta, shares)


def run(problem: MinimaxProblem, schedule: dp_sgda.Schedule, tape: Tape) -> Array:
    """The last x, shape (d,)."""
    return dp_sgda.run(problem, schedule, tape).x
