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

from .constants import Plan, equal_shares
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
    plain = private_diff.Schedule(
        n=plan.n,
        steps=plan.steps,
        ascents=ascents,
        period=plan.phase,
        refresh_batch=plan.refresh,
        step_batch=plan.batch,
        batch_y=plan.n,
        clip=clip,
        difference_clip=2 * clip,
        clip_y=loss_clip,
        step_x=x_step,
        step_y=WEIGHT_STEP,
        noise=private_diff.EQUAL,
        smoothness=2.0,
    )
    shares = equal_shares(private_diff.run, plain, Clipped(Flat(plan.n)), "y", "refresh", "difference")
    return private_diff.calibrated(plain, epsilon, delta, shares)


def run(problem: MinimaxProblem, schedule: private_diff.Schedule, tape: Tape) -> Array:
    """The last x, shape (d,)."""
    return private_diff.run(problem, schedule, tape).x
