"""DP-FTRL: follow the regularised leader on noisy prefix sums (dp_ftrl, Algorithm 1), one pass over the data.

Minimises the mean loss by theta_t = argmin over C of <s_t, theta> + (lambda/2) |theta|^2, where s_t is the private sum
of the first t clipped gradients, from the tree mechanism. No step needs sampling or shuffling: the order is public.
Guarantee: (epsilon, delta)-DP where a neighbour's record is taken out (its gradient is zero); a record enters
ceil(log2(steps + 1)) nodes (Appendix D). Cite: dp_ftrl, Algorithm 1, Appendix D.

Printed: the noise that the paper's Renyi divergences and their usual conversion ask for.
Repaired: the claim holds as printed; here the noise is what exact Gaussian accounting asks for, which is less.
"""

from dataclasses import dataclass, replace
from math import ceil, sqrt

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.arrays import Array
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.errors import require, require_at_least, require_positive
from dpassay.reference.noise import Multipliers, NoiseRule, Printed
from dpassay.reference.problems.interfaces import PerSample
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.tape import Tape

COMPLETIONS = (
    "C is a ball around zero, or all of R^d: the text leaves the convex set open",
    "a prefix sum adds up the noisy nodes of its dyadic intervals (the online estimate, without Honaker's averaging)",
    "from Renyi divergences to (epsilon, delta) by rho + 2 sqrt(rho log(1/delta)), the best order of the usual bound",
    "the last batch may be smaller: n need not be a multiple of the batch size",
)
REPAIRS = ("noise from exact Gaussian accounting of the nodes that were released, in place of a bound on it",)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Public before the run. ``noise`` knows the label "tree"; lengths are in the units of the gradients."""

    n: int
    d: int
    batch: int  # records of one step
    clip: float  # L
    regularisation: float  # lambda
    noise: NoiseRule  # of one node
    radius: float | None = None  # of C, a ball around zero; None is R^d

    def __post_init__(self) -> None:
        require_at_least(1, self, "n", "d", "batch")
        require_positive(self, "clip", "regularisation", finite=True)
        require(self.batch <= self.n, "batch", self.batch, f"must be at most n = {self.n}")
        require(self.radius is None or self.radius > 0, "radius", self.radius, "must be positive")

    @property
    def steps(self) -> int:
        """T: batches in one pass."""
        return ceil(self.n / self.batch)


def depth(steps: int) -> int:
    """Nodes that the fullest leaf of a tree over ``steps`` leaves enters (Appendix D)."""
    require(steps >= 1, "steps", steps, "must be at least 1")
    return steps.bit_length()  # ceil(log2(steps + 1))


def printed_std(clip: float, steps: int, epsilon: float, delta: float) -> float:
    """Noise of a node: alpha depth L^2 / (2 sigma^2) at every order alpha, converted to (epsilon, delta)."""
    return clip * sqrt(depth(steps) / (2 * zcdp_rho(epsilon, delta)))


def printed(
    n: int, d: int, epsilon: float, delta: float, *, batch: int, clip: float, regularisation: float,
    radius: float | None = None,
) -> Schedule:  # fmt: skip
    """The paper's noise, for neighbours of which one lacks a record."""
    sizes = Schedule(n, d, batch, clip, regularisation, Printed({}), radius)
    return replace(sizes, noise=Printed({"tree": printed_std(clip, sizes.steps, epsilon, delta)}))


def repaired(
    n: int, d: int, epsilon: float, delta: float, *, batch: int, clip: float, regularisation: float,
    radius: float | None = None,
) -> Schedule:  # fmt: skip
    """The least noise for the same neighbours."""
    draft = Schedule(n, d, batch, clip, regularisation, Multipliers({"tree": 1.0}), radius)
    return noise_for(run, draft, LinearLosses(np.zeros((n, d))), epsilon, delta, relation="add-remove")


def run(problem: PerSample, schedule: Schedule, tape: Tape) -> Array:
    """Return theta_T, shape (d,); it is a function of the released nodes alone."""
    require((problem.n, problem.d) == (schedule.n, schedule.d), "n, d", (problem.n, problem.d), "as in the schedule")
    replaced = 2 * schedule.clip  # replace-one; taking a record out moves a node by L
    tree = TreeSum(tape, "tree", std=schedule.noise.std("tree", replaced))  # InitializeTree
    theta = np.zeros(problem.d)  # theta_0
    for _ in range(schedule.steps):
        size = min(schedule.batch, tape.unused(problem.n))
        records = tape.fresh("records", problem.n, size, order="index")
        # GRADIENT
        gradients = problem.gradients(theta, records.indices)
        # CLIP
        total = clip_rows(gradients, schedule.clip).sum(axis=0)  # clip(grad, L)
        # NOISE
        prefix = tree.add(total, sensitivity=replaced, batch=records)  # AddToTree, GetSum
        # STEP
        theta = _into_ball(-prefix / schedule.regularisation, schedule.radius)  # argmin over C
    return theta


def _into_ball(point: Array, radius: float | None) -> Array:
    """The minimiser over the ball of a function that grows with the distance from ``point``."""
    length = float(np.linalg.norm(point))
    return point if radius is None or length <= radius else point * (radius / length)
