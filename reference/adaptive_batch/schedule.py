"""Parameters of the stochastic SPIDER with escape (adaptive_batch, Algorithm 3) as one checked record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Literal

from dpassay.reference.accounting.gdp import gdp_mu
from dpassay.reference.errors import require, require_at_least, require_positive

PRINTED_COMPLETIONS = (
    "b_t is computed from |g_{t-1}|: the printed |g_t| is not known when O2 draws its batch",
    "count_0 = 0 and x_anchor = x_0: used before they are set",
    "O1 and O3 draw separate batches, and so do O2 and O4 (each draws 'among unused functions')",
    "the run also stops when the next two oracles need more unused functions than are left",
    "sigma in line 3 of Algorithm 1 is sigma_tree, and its noise has d independent entries",
    "batch sizes are rounded up; log has base two in Algorithm 1",
    "the tree is indexed by t + 1 with Sigma = T: the printed TREE(0) has no node",
)
BARE = "the gradient after a refresh: line 5 sets nabla_t only, so the value used by lines 11 and 17 is nabla_t, bare"
CHARITABLE = "line 5 is followed by the TREE(t) of line 8, so that the value used by lines 11 and 17 is noisy"
REPAIRS = (
    "noise on the gradient after a refresh too (lines 5, 11 and 17 use it bare)",
    "a new tree at every refresh: the sum restarts, so one tree over the run is not of the form of Theorem 2.2",
    "NODE(t) covers 1..t for every t: printed, t = Sigma = 2^m leaves the last value without noise",
    "an epoch ends after epoch_length steps, which bounds the nodes that one record enters",
    "replace-one sensitivities 2 G/b and 2 M |x_t - x_{t-1}|/b_t, in place of G/b and M |x_t - x_{t-1}|/b_t",
    "at least one escape per refresh is paid for: tau < 1 in Lemma 3.14's regime, yet line 4 lets one start",
    "exact composition over the nodes of one leaf, and over the escape steps of one Hessian estimate",
)


@dataclass(frozen=True)
class Schedule:
    """All parameters of one run of Algorithm 3. Lengths and steps in the units of x, noise in those of the gradient."""

    steps: int  # T
    step_size: float  # eta
    threshold: float  # gamma log^3(B M d / (rho omega)), line 11
    batch: int  # b
    batch_slope: float  # b_t = max(batch_slope |g|, 1)
    drift_limit: float  # kappa
    escape_limit: float  # tau
    escape_steps: int  # Gamma
    escape_radius: float  # Xi
    tree_std: float  # sigma_tree
    escape_std: float  # sigma_t
    lipschitz: float  # G
    smoothness: float  # M
    hessian_lipschitz: float  # rho
    refresh: Literal["bare", "tree", "new tree"] = "tree"
    epoch_length: int | None = None
    order: Literal["random", "index"] = "random"
    completions: tuple[str, ...] = (*PRINTED_COMPLETIONS, CHARITABLE)
    repairs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_at_least(1, self, "steps", "batch", "escape_steps")
        require_positive(self, "step_size", "drift_limit", "escape_limit", "escape_radius", "batch_slope", "smoothness")
        require_at_least(0, self, "tree_std", "escape_std", "threshold", "lipschitz", "hessian_lipschitz")
        if self.refresh == "new tree":
            require((self.epoch_length or 0) >= 1, "epoch_length", self.epoch_length, "a new tree needs its length")

    @property
    def escapes_per_refresh(self) -> int:
        """Escapes that line 4 allows to start between two refreshes: the smallest whole count >= tau."""
        return max(1, ceil(self.escape_limit))

    def adaptive_batch(self, gradient_norm: float) -> int:
        """b_t (Lemma 3.14)."""
        return max(1, ceil(self.batch_slope * gradient_norm - 1e-12))

    def gradient_sensitivity(self) -> float:
        """Largest replace-one sensitivity of one oracle value: O1, or O2 at |x_t - x_{t-1}| = eta |g|."""
        moves = self.smoothness * self.step_size / self.batch_slope
        return 2 * max(self.lipschitz / self.batch, moves)

    def hessian_sensitivity(self) -> float:
        """The same for O3 and O4, in operator norm."""
        moves = self.hessian_lipschitz * self.step_size / self.batch_slope
        return 2 * max(self.smoothness / self.batch, moves)

    def with_bare_refresh(self) -> Schedule:
        """The literal reading of line 5."""
        others = (text for text in self.completions if text != CHARITABLE)
        return replace(self, refresh="bare", completions=(*others, BARE))


def repaired(schedule: Schedule, epsilon: float, delta: float, epoch_length: int | None = None) -> Schedule:
    """The same parameters with what breaks privacy mended and both noises calibrated exactly.

    Each record is used once, by one oracle: it enters the nodes above one leaf, or one Hessian estimate. So the run is
    mu-GDP with the larger of the two mu, and both are set to the mu of the budget.
    """
    length = epoch_length or schedule.steps
    mended = replace(schedule, refresh="new tree", epoch_length=length, repairs=REPAIRS)
    mu = gdp_mu(epsilon, delta) / (1 + 1e-9)  # so that re-accounting, which rounds up, stays within the budget
    levels = length.bit_length()  # nodes above one leaf: widths 1, 2, 4, ... <= length
    uses = max(1, mended.escape_steps - 1) * mended.escapes_per_refresh  # the first escape step has x = x_anchor
    return replace(
        mended,
        tree_std=sqrt(levels) * mended.gradient_sensitivity() / mu,
        escape_std=sqrt(uses) * mended.hessian_sensitivity() * mended.escape_radius / mu,
    )
