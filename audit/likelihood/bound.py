"""The likelihood audit: a sound lower bound on epsilon from exact privacy losses, importance-tilted.

For every epsilon and any sampling law R, ``delta(epsilon) = E_R[X]`` with ``X = W (1 - exp(epsilon - L))_+`` and
``W = dP_D/dR``. We bet against the claim that this is at most delta (docs/statistics.md): the capital
``prod_i (1 - c + c X_i / delta)``, 0 < c <= 1, is then a non-negative supermartingale, so that nothing is truncated. R,
a defensive mixture of tilts, the bet c of every point of a grid of epsilons, and the direction are chosen on a pilot
that is thrown away. So "capital of the first point that must not be rejected reaches 1 / alpha" has probability at most
alpha at every stopping time (Ville), and a walk upward that stops at the first point that is not rejected has then
rejected nothing that it must not: looking after each stage, and stopping when it is enough, costs nothing of the level.
"""

import math
import time
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from dpassay.audit.bounds import needed_log_wealth
from dpassay.audit.phases import TimeIsUp, phase, time_is_up
from dpassay.audit.results import AssumedEstimate, GivenSecrets, SoundBound
from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .pilot import Plan, average, excess, last_epsilon, make_plan, weight_of
from .samplers import LockstepSampler, Losses

_LOOKS = (0.125, 0.25, 0.5)  # shares of the runs, after which it may be enough


def drawn(
    final: LockstepSampler, plan: Plan, runs: int, seed: int, bound: Callable[[Losses], float], enough: float | None
) -> tuple[Losses, float]:
    """The losses of so many runs, fewer where the bound on the way is enough, and the bound that they show."""
    how = plan.tilts, plan.shares, runs, (seed, 2)
    if enough is None:
        losses = final.sample(*how)
    else:
        looks = [max(10, round(part * runs)) for part in _LOOKS]
        losses = final.sample(*how, looks, lambda seen: bound(seen) >= enough)
    return losses, bound(losses)


def upper_limit(loss: Array, weight: Array, delta: float, alpha: float) -> float:
    """The largest epsilon that these losses do not speak against, at level ``alpha``: by the normal law, an estimate.

    Where ``delta(epsilon)`` as seen, and so many standard errors more, falls to ``delta``.
    """
    if average(excess(loss, weight, 700.0)) > delta:
        return math.inf
    errors = float(-ndtri(alpha)) / math.sqrt(len(loss))

    def possible(epsilon: float) -> bool:
        x = excess(loss, weight, epsilon)
        middle = average(x)
        return middle + errors * math.sqrt(average((x - middle) ** 2)) > delta

    return last_epsilon(loss, possible)


_SMALLER = 0.5 ** np.arange(1, 9)  # the stakes of the reserve, as shares of the pilot's bet


def audit_likelihood(
    sampler: LockstepSampler,
    delta: float,
    *,
    claimed: float | None = None,
    confidence: float = 0.95,
    runs: int = 1000,
    pilot: int = 400,
    seed: int = 0,
    relation: str = "replace-one",
    enough: float | None = None,
) -> tuple[SoundBound | AssumedEstimate, Losses]:
    """Lower-bound the epsilon of a mechanism at ``delta``.

    Args:
        sampler: exact losses of the mechanism on one pair of neighbours.
        delta: in (0, 1).
        claimed: the epsilon under test, for the verdict.
        confidence: one-sided.
        runs: runs whose losses count; ``pilot`` more are thrown away.
        seed: same seed, same result.
        enough: look at the bound on the way and stop as soon as it is at least this, which keeps its confidence.

    Returns:
        The bound, and the losses with all findings. The bound is :class:`AssumedEstimate` (it cannot decide) if the
        losses are only those of an adversary who also sees the secret batches or inner randomness.

    Raises:
        TimeIsUp: before there is any bound.
    """
    require(0 < delta < 1, "delta", delta, "must lie in (0, 1)")
    require(0 < confidence < 1, "confidence", confidence, "must lie in (0, 1)")
    require(runs >= 10, "runs", runs, "must be at least 10")
    require(pilot >= 50, "pilot", pilot, "must be at least 50")
    start = time.perf_counter()
    phase("bounding from below", pilot + runs)
    plan, scouted = make_plan(sampler, delta, 1 - confidence, runs, pilot, seed)
    if time_is_up():  # in the pilot, whose runs count for nothing
        raise TimeIsUp
    final = sampler.swapped() if plan.swapped else sampler
    losses, epsilon = drawn(final, plan, runs, seed, lambda seen: walk(seen, plan, delta, 1 - confidence), enough)
    losses.shares = plan.shares
    weight = weight_of(losses.log_weight(np.log(plan.shares)))
    for known in scouted:
        losses.note(known.findings, known.inexact)
    limit = upper_limit(losses.loss, weight, delta, 1 - confidence)
    common = {
        "epsilon": epsilon,
        "delta": delta,
        "confidence": confidence,
        "method": "likelihood, tilted, betting",
        "relation": relation,
        "runs": len(losses.loss),
        "seconds": time.perf_counter() - start,
        "evidence": {"upper limit": limit, "pilot estimate": plan.expected},
    }
    if losses.inexact:
        assumption = f"adversary also sees secrets: {losses.inexact}"
        return GivenSecrets(assumption=assumption, **common), losses  # type: ignore[arg-type]
    return SoundBound(claimed=claimed, power=plan.power, **common), losses  # type: ignore[arg-type]


def walk(losses: Losses, plan: Plan, delta: float, alpha: float, counts: Array | None = None) -> float:
    """Walk epsilon upward until the first value that is not rejected; return the last rejected one (0 if none).

    Args:
        losses: of the runs drawn under the plan, one a row.
        counts: how many runs each row stands for, if equal runs were merged (a mechanism with few outcomes).
    """
    weight = weight_of(losses.log_weight(np.log(plan.shares)))
    needed = needed_log_wealth(alpha, float(len(weight) if counts is None else np.sum(counts)))

    def rejected(k: int) -> bool:
        """Does the log capital at this point reach what is needed? The reserve only counts where the rest does not."""
        x, bet = excess(losses.loss, weight, plan.epsilons[k]), float(plan.bets[k])
        capital = math.log1p(-plan.reserve) + _log_capital(x, bet, delta, counts)
        if capital >= needed or plan.reserve == 0:
            return capital >= needed
        start = math.log(plan.reserve / _SMALLER.size)
        parts = [start + _log_capital(x, float(share) * bet, delta, counts) for share in _SMALLER]
        return float(np.logaddexp.reduce([capital, *parts])) >= needed

    passed = 0  # grid points rejected so far
    for end in (*np.flatnonzero(np.diff(plan.bets)) + 1, len(plan.bets)):
        # under one bet the capital falls as epsilon grows: the last point of the stretch speaks for all of it
        if not rejected(int(end) - 1):
            passed += bisect_left(range(passed, int(end) - 1), True, key=lambda k: not rejected(k))
            return float(plan.epsilons[passed - 1]) if passed else 0.0
        passed = int(end)
    last = float(plan.epsilons[-1])
    return math.inf if np.all(np.isinf(losses.loss[losses.loss > last])) else last


def _log_capital(x: Array, bet: float, delta: float, counts: Array | None = None) -> float:
    """``sum_i log(1 - bet + bet X_i / delta)``: log wealth against 'the mean of X is at most delta'."""
    gains = np.log1p(bet * (x / delta - 1.0))
    return float(gains.sum() if counts is None else counts @ gains)
