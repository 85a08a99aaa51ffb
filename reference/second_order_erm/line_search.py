"""Private backtracking line search by the sparse vector technique (`second_order_erm`, Algorithm 2, Lemma 6).

Finds a step gamma that lowers f enough; only the number of the accepted trial is released, and it is (1/lambda)-DP.

Cite: second_order_erm, Algorithm 2, eq. (13), (15), (SD1), (SD2), Lemma 6, Theorem 5.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, floor, inf, log, sqrt

import scipy

from dpassay.reference.accounting.above_threshold import above_threshold_mu
from dpassay.reference.accounting.cost import Account
from dpassay.reference.accounting.parts import Part
from dpassay.reference.arrays import Array, moves_by, norm
from dpassay.reference.errors import require
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape

from .common import Accuracy

Query = Callable[[float], float]  # step size gamma -> slack of the sufficient decrease condition


@dataclass(frozen=True)
class LineSearch:
    """Decrease parameters c, initial multipliers b and backtracking factors beta, for gradient and curvature steps."""

    c_g: float = 0.2
    c_H: float = 0.2  # noqa: N815
    b_g: float = 8.0
    b_H: float = 4.0  # noqa: N815
    beta_g: float = 0.5
    beta_H: float = 0.5  # noqa: N815

    @property
    def trials(self) -> dict[str, tuple[int, float]]:
        """By label of the release: how many trials there are at most, and beta. Public."""
        return {
            "line search/gradient": (trial_count(self.b_g, 1.0, self.beta_g), self.beta_g),
            "line search/curvature": (trial_count(self.b_H, 1.0, self.beta_H), self.beta_H),
        }

    def check(self, accuracy: Accuracy) -> None:
        """Raise BadInput unless the conditions of Lemmas 6 and 7 hold."""
        a = accuracy
        require(0 < self.c_g < 1 - a.c1, "c_g", self.c_g, f"must lie in (0, 1 - c1 = {1 - a.c1:.4g})")
        top = 1 - a.c - sqrt(8 / 3 * a.c2)
        require(0 < self.c_H < top, "c_H", self.c_H, f"must lie in (0, 1 - c - sqrt(8 c2 / 3) = {top:.4g})")
        require(min(self.b_g, self.b_H) > 1, "b", min(self.b_g, self.b_H), "multipliers must exceed 1")
        require(0 < self.beta_g < 1, "beta_g", self.beta_g, "must lie in (0, 1)")
        t1, t2 = curvature_roots(a, self.c_H)
        require(t1 / t2 < self.beta_H < 1, "beta_H", self.beta_H, f"must lie in (t1/t2 = {t1 / t2:.4g}, 1)")


def curvature_roots(accuracy: Accuracy, c_H: float) -> tuple[float, float]:
    """Return t1 < t2 of eq. (15), the roots of -t^2/6 + (1 - c - c_H) t/2 - c2 (the printed +- has t1 second)."""
    a = 1 - accuracy.c - c_H
    spread = 3 * sqrt(a**2 / 4 - 2 * accuracy.c2 / 3)
    return 3 * a / 2 - spread, 3 * a / 2 + spread  # eq. (15)


def gradient_query(problem: SmoothRisk, w: Array, g: Array, c_g: float) -> Query:
    """Return q_g of eq. (13a)."""
    here, square = problem.value(w), float(g @ g)
    fall = partial(_fall, problem, w, here)
    return lambda gamma: fall(-gamma * g) - c_g * gamma * square


def curvature_query(problem: SmoothRisk, w: Array, p: Array, smallest: float, c_H: float) -> Query:
    """Return q_H of eq. (13b)."""
    here = problem.value(w)
    fall = partial(_fall, problem, w, here)
    return lambda gamma: fall(gamma * p) - 0.5 * c_H * gamma**2 * abs(smallest)


def _fall(problem: SmoothRisk, w: Array, here: float, step: Array) -> float:
    """f(w) - f(w + step)."""
    axiom = "a record moves f(w) - f(w') by |w - w'| times what it moves the gradient (mean value theorem)"
    return moves_by(here - problem.value(w + step), problem.gradient_sensitivity() * norm(step), axiom)


def trial_count(initial: float, fallback: float, beta: float) -> int:
    """i_max = floor(log_beta(fallback / initial)) + 1: the last trial is not below the fallback step."""
    return floor(log(fallback / initial) / log(beta) + 1e-9) + 1  # 1e-9: an exact power must not round down


def line_search(
    tape: Tape, label: str, q: Query, *, sensitivity: float, initial: float, fallback: float, beta: float, lam: float
) -> float:
    """DP-LINESEARCH of Algorithm 2. `sensitivity` bounds the change of q(initial).

    One record changes f(w) - f(w + gamma p) by at most gamma ||p|| times the sensitivity of the gradient, and nothing
    else in q: so the change of q(gamma) falls with gamma, and that of trial i by beta^i.
    """
    i_max = trial_count(initial, fallback, beta)
    index = tape.above_threshold(
        label,
        (q(initial * beta**i) for i in range(i_max)),  # q_i
        threshold=0.0,
        threshold_scale=2 * lam * sensitivity,  # xi ~ Lap(2 lambda Delta_q)
        query_scale=4 * lam * sensitivity,  # nu_i ~ Lap(4 lambda Delta_q)
        sensitivity=sensitivity,
        count=i_max,
        falls=beta,
    )
    return fallback if index is None else initial * beta**index


_SHARE = 1 / 4  # of 1 / lambda that is Delta_q over the scale of nu_i
_GRID = 1.01  # lambda is looked for on powers of this, as each costs a dynamic program


def gaussian_parameter(lam: float, trials: int, beta: float) -> float:
    """A mu for which a line search of so many trials is mu-GDP whatever its queries.

    About 0.31 / lambda for beta = 1/2: what its first trial shows (1.25 / lambda if it was just pure).
    """
    return above_threshold_mu(1 / lam, _SHARE, trials, beta)


def lambda_for(mu: float, trials: int, beta: float) -> float:
    """A lambda whose `gaussian_parameter` is at most mu, and at most one part in a hundred above the least one."""
    require(0 < mu < inf, "mu", mu, "must be positive and finite")
    near = 1.0 / float(
        scipy.special.log_ndtr(mu / 2) - scipy.special.log_ndtr(-mu / 2)
    )  # enough for every (1/lambda)-DP mechanism
    power = ceil(log(near) / log(_GRID))
    for _ in range(3):  # mu is nearly proportional to 1 / lambda; on the grid many a run asks for the same
        power += round(log(gaussian_parameter(_GRID**power, trials, beta) / mu) / log(_GRID))
    while gaussian_parameter(_GRID ** (power - 1), trials, beta) <= mu:
        power -= 1
    while gaussian_parameter(_GRID**power, trials, beta) > mu:
        power += 1
    return float(_GRID**power)


def gaussian_equivalent(found: Account, mu: float) -> Account:
    """The account in which each line search counts as a Gaussian release of this mu, which it never exceeds.

    Its cost depends on T through sum mu^2 only, so it bounds every run whose T is computed from a release.
    """

    def gaussian(parts: tuple[tuple[Part, int], ...]) -> tuple[tuple[Part, int], ...]:
        return tuple((Part("gaussian", mu) if part.kind == "above-threshold" else part, n) for part, n in parts)

    return replace(found, common=gaussian(found.common), alternatives=tuple(map(gaussian, found.alternatives)))
