"""DP-SPIDER on the composite variable z = (x, eta) (paper ``dro``, Section 3, citing arora2023): one estimate for both.

Minimises L(z), eq. (3). The threshold of a difference is min(2 C, L ||z_t - z_{t-1}||) and its noise is in proportion;
GRADIENT, CLIP, NOISE and STEP are those of ``baselines/dp_spider.py``. The returned z_t is drawn uniformly.
Guarantee: that of the calibrated releases. Cite: ``dro``, Section 3; arora2023, Algorithm 1.
"""

from dpassay.reference.arrays import Array
from dpassay.reference.baselines import dp_spider
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.tape import Tape

from .composite_sgd import Composite
from .constants import Plan, shared_equally
from .objective import DualObjective


# SCHEDULE
def calibrated(plan: Plan, epsilon: float, delta: float, *, clip: float = 1.0, step: float = 0.1) -> dp_spider.Schedule:
    """Noise by exact accounting; refreshes and differences get equal shares of the budget."""
    more = {"step_size": step, "select": "random"}
    found: dp_spider.Schedule = shared_equally(dp_spider, plan, Flat(plan.n), epsilon, delta, clip, **more)
    return found


def run(problem: DualObjective, schedule: dp_spider.Schedule, tape: Tape) -> Array:
    """A uniformly random z_t, shape (d + 1,)."""
    return dp_spider.run(Composite(problem), schedule, tape).x
