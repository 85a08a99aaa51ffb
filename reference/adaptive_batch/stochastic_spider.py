"""Stochastic SPIDER with escape from saddles (adaptive_batch, Algorithm 3), one pass over the data.

Minimises the population loss F of Assumption 3.1. nabla_t sums up batch means (Algorithm 4) and gets the noise of a
tree (Algorithm 1); at a small gradient the steps are those of Algorithm 2 until the iterate has left the saddle.
Every decision (drift, frozen, count, batch size) is a function of released gradients.
Guarantee claimed: (epsilon, delta)-DP (Lemmas 3.13, 3.14), a gamma-SOSP among the iterates (Theorem 3.17).
Cite: adaptive_batch, Algorithms 1, 3 and 4.
"""

from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf
from typing import Any, Literal

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array, norm
from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.errors import require, require_at_least, require_positive
from dpassay.reference.noise import Multipliers, NoiseRule, Printed
from dpassay.reference.problems.interfaces import Flat, MinimisationProblem
from dpassay.reference.space import begin_at
from dpassay.reference.tape import Tape

from . import escape
from .oracles import Oracles
from .theorems import Constants, noise_stds, oracle_count, sizes
from .tree import printed_nodes

CHARITABLE = "line 5 is followed by the TREE(t) of line 8, so that the value used by lines 11 and 17 is noisy"
COMPLETIONS = (
    "b_t is computed from |g_{t-1}|: the printed |g_t| is not known when O2 draws its batch",
    "count_0 = 0 and x_anchor = x_0: used before they are set",
    "O1 and O3 draw separate batches, and so do O2 and O4 (each draws 'among unused functions')",
    "the run also stops when the next two oracles need more unused functions than are left",
    "sigma in line 3 of Algorithm 1 is sigma_tree, and its noise has d independent entries",
    "batch sizes are rounded up; log has base two in Algorithm 1",
    "the tree is indexed by t + 1 with Sigma = T: the printed TREE(0) has no node",
    CHARITABLE,
    "constants hidden in O(.) are one, gamma = alpha",
    "Gamma = (2 M / sqrt(rho gamma)) log(2 Xi/(mu r)) with r = eta gamma, mu = iota^2/(16 sqrt d), as for Lemma 3.9",
    "max_t |g_t|/b_t (unknown when the first noise is drawn) is replaced by its bound 1/slope from b_t >= slope |g_t|",
    "line 11's log^3(B M d/(rho omega)) is a parameter, one by default: with constants one it exceeds G",
)
REPAIRS = (
    "noise on the gradient after a refresh too (lines 5, 11 and 17 use it bare)",
    "a new tree at every refresh: the sum restarts, so one tree over the run is not of the form of Theorem 2.2",
    "NODE(t) covers 1..t for every t: printed, t = Sigma = 2^m leaves the last value without noise",
    "an epoch ends after epoch_length steps, which bounds the nodes that one record enters",
    "replace-one sensitivities 2 G/b and 2 M |x_t - x_{t-1}|/b_t, in place of G/b and M |x_t - x_{t-1}|/b_t",
    "every escape that a run can start is paid for: tau < 1 in Lemma 3.14's regime, yet line 4 lets one start",
    "exact composition over the nodes of one leaf, and over the escape steps of one Hessian estimate",
)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Public before the run. Lengths and steps in the units of x; ``noise`` knows the labels "tree" and "escape"."""

    n: int
    d: int
    steps: int  # T
    step_size: float  # eta
    threshold: float  # gamma log^3(B M d / (rho omega)), line 11
    batch: int  # b
    batch_slope: float  # b_t = max(batch_slope |g|, 1)
    drift_limit: float  # kappa
    escape_limit: float  # tau
    escape_steps: int  # Gamma
    escape_radius: float  # Xi
    noise: NoiseRule  # sigma_tree, sigma_t
    lipschitz: float  # G
    smoothness: float  # M
    hessian_lipschitz: float  # rho
    refresh: Literal[
        "bare", "tree", "new tree"
    ]  # line 5: bare as it is printed, with TREE(t), or with a tree of its own
    epoch_length: int | None = None  # a refresh comes after so many steps at the latest
    order: Literal["random", "index"] = "random"  # in which records are drawn
    start: Array | None = None  # x_0, shape (d,); None is zero

    def __post_init__(self) -> None:
        require_at_least(1, self, "n", "d", "steps", "batch", "escape_steps")
        require_positive(self, "step_size", "drift_limit", "escape_limit", "escape_radius", "batch_slope", "smoothness")
        require_at_least(0, self, "threshold", "lipschitz", "hessian_lipschitz")
        if self.refresh == "new tree":
            require((self.epoch_length or 0) >= 1, "epoch_length", self.epoch_length, "a new tree needs its length")

    def adaptive_batch(self, gradient_norm: float) -> int:
        """b_t (Lemma 3.14)."""
        return max(1, ceil(self.batch_slope * gradient_norm - 1e-12))

    @property
    def gradient_sensitivity(self) -> float:
        """Largest replace-one sensitivity of one oracle value: O1, or O2 at |x_t - x_{t-1}| = eta |g|."""
        return 2 * max(self.lipschitz / self.batch, self.smoothness * self.step_size / self.batch_slope)

    @property
    def hessian_sensitivity(self) -> float:
        """The same for O3 and O4, in operator norm."""
        return 2 * max(self.smoothness / self.batch, self.hessian_lipschitz * self.step_size / self.batch_slope)

    @property
    def escape(self) -> escape.Schedule:
        """The parameters of Algorithm 2."""
        return escape.Schedule(self.escape_radius, self.noise, self.hessian_sensitivity)


def printed(c: Constants, source: str, *, alpha: float | None = None, check_data: bool = True) -> Schedule:
    """All parameters from the problem's constants (which hold epsilon and delta), noise of one of the three statements.

    `alpha` overrides Theorem 3.17's accuracy; `check_data=False` allows a run that ends when the data are used up.
    BadInput names the inequality that makes the regime impossible.
    """
    p = sizes(c, c.accuracy() if alpha is None else alpha)
    needed = oracle_count(c, p.threshold, p.drift_limit, p.batch)
    require(not check_data or needed <= c.n, "functions used", needed, f"Lemma 3.15 needs it <= n = {c.n}")
    tree_std, escape_std = noise_stds(c, source, p)
    return Schedule(
        n=c.n,
        d=c.d,
        **vars(p),
        noise=Printed({"tree": tree_std, "escape": escape_std}),
        lipschitz=c.lipschitz,
        smoothness=c.smoothness,
        hessian_lipschitz=c.hessian_lipschitz,
        refresh="tree",
    )


def repaired(schedule: Schedule, epsilon: float, delta: float, epoch_length: int | None = None) -> Schedule:
    """The same parameters with what breaks privacy mended, both noises from dry runs.

    A record is read by one oracle alone, so it pays for the tree or for the escapes, never for both. The first dry run
    fills a tree and never escapes; the second stays at the edge of the ball for as long as an escape lasts.
    """
    mended = replace(
        schedule,
        refresh="new tree",
        epoch_length=epoch_length or schedule.steps,
        noise=Multipliers({"tree": 1.0, "escape": 1.0}),
    )
    calm = replace(mended, threshold=0.0, drift_limit=inf, start=None)
    tree = _multipliers(calm, epsilon, delta)["tree"]
    eager = replace(calm, threshold=inf, noise=Multipliers({"tree": tree, "escape": tree}))
    escapes = max(tree, _multipliers(eager, epsilon, delta)["escape"])
    return replace(mended, noise=Multipliers({"tree": tree, "escape": escapes}))


def _multipliers(s: Schedule, epsilon: float, delta: float) -> Multipliers:
    enough = 2 * (s.steps + 1) * (s.batch + s.steps.bit_length())  # so that the data are not used up before T
    flat = Flat(enough, s.d, curvature=1.0)
    found = noise_for(run, s, flat, epsilon, delta, longest=partial(costliest, s)).noise
    assert isinstance(found, Multipliers)
    return found


def costliest(s: Schedule, label: str, law: Any, step: int) -> Array:
    """Answers under which every claimed sensitivity is at its bound, at the price of the fewest records."""
    answer: Array = np.zeros_like(law.query)
    if label != "escape/gradient":
        answer.flat[0] = 0.0 if s.threshold == inf else 1 / s.batch_slope  # |x_t - x_{t-1}| = eta/slope with b_t = 1
    elif not np.any(law.query):  # g + H 0: to the edge of the ball, and there it stays
        answer.flat[0] = -(1 - 1e-12) * s.escape_radius / s.step_size
    return answer


@dataclass(frozen=True, eq=False)
class Result:
    """x_1..x_t as rows, and how the run spent its data."""

    iterates: Array
    refreshes: int
    escapes: int
    functions_used: int
    noisy_gradients: Array


def run(problem: MinimisationProblem, schedule: Schedule, tape: Tape) -> Result:
    """Run Algorithm 3; all fields of the result are functions of releases."""
    s = schedule
    x = begin_at(s.start, np.zeros(problem.d))
    oracles, tree = Oracles(problem, tape, s.order, s.smoothness, s.hessian_lipschitz), _tree(s, tape)
    drift, count, frozen_before, frozen, escaping = s.drift_limit, 0, 1, 0, False  # line 2
    before, step, saddle = x, np.zeros(x.size), escape.Saddle(x, np.zeros(x.size), np.zeros((x.size, x.size)))
    iterates, noisy_gradients, refreshes, escapes = [], [], 0, 0
    for _ in range(s.steps):  # line 3
        refresh = drift >= s.drift_limit or count >= s.escape_limit  # line 4
        refresh = refresh or (s.epoch_length is not None and len(tree) >= s.epoch_length)
        size = s.batch if refresh else s.adaptive_batch(norm(step))
        if oracles.left() <= s.batch or oracles.left() < 2 * size:  # line 3
            break
        # GRADIENT
        if refresh:
            gradient, batch = oracles.gradient(x, size)  # nabla_t, line 5
            hessian, drawn = oracles.hessian(x, size)  # H_t
            read = [drawn]  # the batches in it
            claim = 2 * s.lipschitz / size  # replace-one; B.3 prints |O1 - O1'| <= G/b
            drift, count, refreshes = 0.0, 0, refreshes + 1  # line 6
            tree = _tree(s, tape) if s.refresh == "new tree" else tree
            tree.restart(gradient, sensitivity=claim, batch=batch)
        else:
            change, batch = oracles.gradient_difference(x, before, size)  # Delta_t, line 8
            hessian_change, drawn = oracles.hessian_difference(x, before, size)  # line 9
            hessian, read = hessian + hessian_change, [*read, drawn]
            claim = 2 * s.smoothness * norm(x - before) / size  # B.3 prints half of it
            tree.extend(change, sensitivity=claim, batch=batch)  # nabla_t = nabla_{t-1} + Delta_t
        # CLIP: none, derivatives are bounded by assumption (3.1)
        # NOISE
        if refresh and s.refresh == "bare":
            noisy: Array = tape.gaussian("refresh/bare", gradient, std=0.0, sensitivity=claim, batch=batch)
        else:
            noisy = tree.noisy()  # nabla_t + TREE(t), line 8
        if norm(noisy) <= s.threshold and frozen_before <= 0:  # line 11
            frozen, escaping, count, escapes = s.escape_steps, True, count + 1, escapes + 1  # line 12
            saddle = escape.Saddle(x, noisy, hessian, tuple(read))
        step = escape.noisy_model_gradient(saddle, x, s.escape, tape) if escaping else noisy  # lines 14-18
        # STEP
        before, x = x, x - s.step_size * step  # line 19
        drift += norm(step)
        frozen_before, frozen = frozen, frozen - 1
        if norm(x - saddle.x) >= s.escape_radius or frozen <= 0:  # line 20
            escaping = False  # line 21
        iterates.append(x)
        noisy_gradients.append(noisy)
    used = problem.n - oracles.left()
    return Result(np.array(iterates), refreshes, escapes, used, np.array(noisy_gradients))  # line 25


def _tree(s: Schedule, tape: Tape) -> TreeSum:
    """TREE(1), TREE(2), ...: with the printed NODE(t) for Sigma = T, or (repaired) with one that covers every t."""
    std = s.noise.std("tree", s.gradient_sensitivity)
    if s.refresh == "new tree":
        return TreeSum(tape, "tree", std=std)
    return TreeSum(tape, "tree", std=std, nodes=partial(printed_nodes, length=s.steps))
