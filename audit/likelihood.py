"""The likelihood audit: a sound lower bound on epsilon from exact privacy losses, importance-tilted.

For every epsilon, ``delta(epsilon) = E_D[(1 - exp(epsilon - L))_+] = E_R[W (1 - exp(epsilon - L))_+]`` with
``W = dP_D/dR``, for any sampling law R. Whoever claims (epsilon, delta)-DP claims that this mean is at most delta; we
bet against it:

    capital = prod_i (1 - c + c X_i / delta),   X_i = W_i (1 - exp(epsilon - L_i))_+ >= 0,   0 < c <= 1,

is a non-negative supermartingale under the claim, so ``P(capital >= 1/alpha) <= alpha`` for every n (Ville). As the
capital needs no upper bound on X, nothing has to be truncated. R is a defensive mixture of tilts; R, the bet c and the
direction are chosen on a pilot that is thrown away. Epsilon is walked upward over a grid fixed by the pilot and stops
at the first value that is not rejected: fixed-sequence testing of nested claims, so the level needs no correction.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.errors import require
from dpassay.reference.gdp import gdp_epsilon
from dpassay.reference.tilting import PLAIN, Tilt

from .losses import Losses, Sampler
from .results import AssumedEstimate, SoundBound

Array = NDArray[np.float64]
_GRID = np.concatenate([np.linspace(0.6, 1.2, 121), np.geomspace(1.205, 2.5, 80)])
_BETS = np.geomspace(0.01, 0.95, 24)
_DEFENCE = 0.1  # share of the plain law in the final mixture: no weight exceeds 10


@dataclass(frozen=True, eq=False)
class Plan:
    """What the pilot decided: direction, mixture of tilts, epsilon grid, bets, and what it expects to show."""

    swapped: bool
    tilts: tuple[Tilt, ...]
    shares: Array
    epsilons: Array
    bets: Array
    expected: float  # the pilot's own estimate of epsilon at delta
    power: float  # bootstrap probability of showing 0.9 of that, i.e. of refuting a claim 10 % too small


def audit_likelihood(
    sampler: Sampler,
    delta: float,
    *,
    claimed: float | None = None,
    confidence: float = 0.95,
    runs: int = 1000,
    pilot: int = 400,
    seed: int = 0,
    relation: str = "replace-one",
) -> tuple[SoundBound | AssumedEstimate, Losses]:
    """Lower-bound the epsilon of a mechanism at ``delta``.

    Args:
        sampler: exact losses of the mechanism on one pair of neighbours.
        delta: in (0, 1).
        claimed: the epsilon under test, for the verdict.
        confidence: one-sided.
        runs: runs whose losses count; ``pilot`` more are thrown away.
        seed: same seed, same result.

    Returns:
        The bound, and the losses with all findings. The bound is :class:`AssumedEstimate` (it cannot decide) if the
        losses are only those of an adversary who also sees the secret batches or inner randomness.
    """
    require(0 < delta < 1, "delta", delta, "must lie in (0, 1)")
    require(0 < confidence < 1, "confidence", confidence, "must lie in (0, 1)")
    require(runs >= 10, "runs", runs, "must be at least 10")
    require(pilot >= 50, "pilot", pilot, "must be at least 50")
    start = time.perf_counter()
    plan, scouted = make_plan(sampler, delta, 1 - confidence, runs, pilot, seed)
    final = sampler.swapped() if plan.swapped else sampler
    losses = final.sample(plan.tilts, plan.shares, runs, (seed, 2))
    epsilon = walk(losses, plan, delta, 1 - confidence)
    for known in scouted:
        _join(losses, known)
    common = {
        "epsilon": epsilon,
        "delta": delta,
        "confidence": confidence,
        "method": "likelihood, tilted, betting",
        "relation": relation,
        "runs": runs,
        "seconds": time.perf_counter() - start,
        "evidence": {
            "direction": "(D', D)" if plan.swapped else "(D, D')",
            "tilts": [(tilt.shift, tilt.odds) for tilt in plan.tilts],
            "pilot runs": pilot,
            "pilot estimate": plan.expected,
            "power means": "probability of refuting a claim 10 % below the pilot's estimate",
            "runs with check world": losses.checked,
            "findings": [str(finding) for finding in losses.findings],
        },
    }
    if losses.inexact:
        return AssumedEstimate(assumption=f"adversary also sees secrets: {losses.inexact}", **common), losses  # type: ignore[arg-type]
    return SoundBound(claimed=claimed, power=plan.power, **common), losses  # type: ignore[arg-type]


def walk(losses: Losses, plan: Plan, delta: float, alpha: float, counts: Array | None = None) -> float:
    """Walk epsilon upward until the first value that is not rejected; return the last rejected one (0 if none).

    Args:
        losses: of the runs drawn under the plan, one a row.
        counts: how many runs each row stands for, if equal runs were merged (a mechanism with few outcomes).
    """
    weight = _weight(losses.log_weight(np.log(plan.shares)))

    def rejected(k: int) -> bool:
        x = _tail(losses.loss, weight, plan.epsilons[k])
        return _log_capital(x, plan.bets[k], delta, counts) >= -math.log(alpha)

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


def _weight(log_weight: Array) -> Array:
    """``W``; what overflows is lowered, which lowers the bound."""
    return np.asarray(np.exp(np.minimum(log_weight, 700.0)))


def _tail(loss: Array, weight: Array, epsilon: float) -> Array:
    """``W (1 - exp(epsilon - L))_+``."""
    return np.asarray(weight * -np.expm1(np.minimum(0.0, epsilon - loss)))


# -- the pilot ------------------------------------------------------------------------------------------------
def make_plan(
    sampler: Sampler, delta: float, alpha: float, runs: int, pilot: int, seed: int
) -> tuple[Plan, list[Losses]]:
    """Choose direction, tilts, grid and bets from ``pilot`` runs."""
    scouts = [one.sample((PLAIN,), np.ones(1), pilot // 8, (seed, 0, k)) for k, one in _directions(sampler)]
    guesses = [_scout(losses, delta) for losses in scouts]
    plans, seen = [], list(scouts)
    rounds = 1 if not sampler.has_hidden and _same_both_ways(guesses) else 2
    best = int(np.argmax([epsilon for _, epsilon in guesses]))
    order = [(best, dict(_directions(sampler))[best])] if rounds == 1 else _directions(sampler)
    for k, one in order:
        size = (pilot - 2 * (pilot // 8)) // (2 * len(order))
        tilts = _candidates(one.has_hidden, guesses[k][0])
        first = one.sample(tilts, np.full(len(tilts), 1 / len(tilts)), size, (seed, 1, k, 0))
        picked, _ = _best_tilt(first, tilts, tilts, delta)
        nearby = _refined(tilts[picked], one.has_hidden)
        second = one.sample(nearby, np.full(len(nearby), 1 / len(nearby)), size, (seed, 1, k, 1))
        chosen, epsilon = _best_tilt(second, nearby, nearby, delta)
        plans.append(_finish(bool(k), second, nearby, chosen, epsilon, delta, alpha, runs))
        seen += [first, second]
    plan = max(plans, key=lambda found: found.expected)
    return plan, [losses for losses in seen if losses is not None]


def _directions(sampler: Sampler) -> list[tuple[int, Sampler]]:
    return [(0, sampler), (1, sampler.swapped())]


def _scout(losses: Losses, delta: float) -> tuple[float, float]:
    """(mean loss, epsilon of the Gaussian mechanism with that mean loss) of a few plain runs."""
    finite = losses.loss[np.isfinite(losses.loss)]
    if np.mean(losses.loss == np.inf) > delta:
        return float(max(1.0, finite.mean() if len(finite) else 1.0)), math.inf
    mean = max(1e-6, float(finite.mean())) if len(finite) else 1e-6
    return mean, gdp_epsilon(math.sqrt(2 * mean), delta)


def _same_both_ways(guesses: Sequence[tuple[float, float]]) -> bool:
    """Directions whose losses look alike need one pilot only (an infinite one wins at once)."""
    (first, _), (second, _) = guesses
    return math.isinf(guesses[0][1]) or math.isinf(guesses[1][1]) or 0.8 < first / second < 1.25


def _candidates(hidden: bool, mean: float) -> list[Tilt]:
    if hidden:
        return [Tilt(shift, odds) for shift in (0.0, 0.25, 0.5, 1.0, 2.0, 4.0) for odds in (0.0, 1.0, 2.0, 3.0, 4.5)]
    base = max(0.05, 1 / math.sqrt(2 * mean))  # one standard deviation of the loss, in units of shift
    return [Tilt(base * k) for k in (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)]


def _refined(tilt: Tilt, hidden: bool) -> list[Tilt]:
    shifts = [round(tilt.shift * factor, 6) for factor in (0.7, 0.85, 1.0, 1.2, 1.4)]
    odds = sorted({max(0.0, tilt.odds + step) for step in (-0.7, 0.0, 0.7)}) if hidden else [tilt.odds]
    if hidden and tilt.shift == 0:
        shifts = [0.0, 0.1]
    return [Tilt(shift, odd) for shift in shifts for odd in odds]


def _best_tilt(losses: Losses, sampled: Sequence[Tilt], tilts: Sequence[Tilt], delta: float) -> tuple[int, float]:
    """The tilt with the smallest second moment at the estimated epsilon, and that epsilon."""
    log_weight = losses.log_weight(np.full(len(sampled), -math.log(len(sampled))))
    weight = _weight(log_weight)
    epsilon = _estimate(losses.loss, weight, delta)
    x = _tail(losses.loss, weight, 0.97 * epsilon if math.isfinite(epsilon) else 50.0)
    with np.errstate(over="ignore"):
        moments = [
            float(np.mean(x**2 * np.exp(np.minimum(700.0, losses.log_weights[:, c] - log_weight))))
            for c in range(len(tilts))
        ]
    usable = [moment if moment > 0 else math.inf for moment in moments]
    return int(np.argmin(usable)), epsilon


def _estimate(loss: Array, weight: Array, delta: float) -> float:
    """The epsilon at which the estimated delta(epsilon) crosses ``delta``; ``inf`` if it never does."""
    high = max(1.0, 2 * float(np.max(loss[np.isfinite(loss)], initial=1.0)))
    if float(np.mean(_tail(loss, weight, high))) > delta:
        return math.inf
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float(np.mean(_tail(loss, weight, middle))) > delta else (low, middle)
    return high


def _finish(
    swapped: bool,
    losses: Losses,
    sampled: Sequence[Tilt],
    chosen: int,
    epsilon: float,
    delta: float,
    alpha: float,
    runs: int,
) -> Plan:
    """The defensive mixture, the grid, and for each epsilon of the grid the bet that grows fastest on the pilot."""
    tilts = (PLAIN, sampled[chosen])
    shares = np.array([_DEFENCE, 1 - _DEFENCE])
    grid = np.geomspace(0.1, 60.0, 60) if math.isinf(epsilon) else epsilon * _GRID
    pilot_weight = losses.log_weight(np.full(len(sampled), -math.log(len(sampled))))
    # log dP/dR of the final mixture on the pilot's runs: the plain law's log dP/dR is 0
    final_weight = -np.logaddexp(math.log(shares[0]), math.log(shares[1]) - losses.log_weights[:, chosen])
    occurs = np.exp(np.minimum(50.0, pilot_weight - final_weight))  # dR / d(pilot law)
    occurs /= max(1e-300, float(occurs.sum()))
    weight, bets, k = _weight(final_weight), [], len(_BETS) - 1
    for value in grid:
        k = _fastest(_tail(losses.loss, weight, value) / delta - 1, occurs, k)
        bets.append(_BETS[k])
    near = int(np.argmin(np.abs(grid - 0.9 * epsilon))) if math.isfinite(epsilon) else 0
    ratio = _tail(losses.loss, weight, grid[near]) / delta
    power = _power(np.log1p(bets[near] * (ratio - 1)), occurs, runs, alpha)
    return Plan(swapped, tilts, shares, np.asarray(grid), np.array(bets), epsilon, power)


def _fastest(excess: Array, occurs: Array, k: int) -> int:
    """The bet with the largest mean log growth, climbing from bet ``k``: the growth is concave in the bet."""

    def rate(j: int) -> float:
        return float(occurs @ np.log1p(_BETS[j] * excess)) if 0 <= j < len(_BETS) else -math.inf

    here, below, above = rate(k), rate(k - 1), rate(k + 1)
    while below >= here:  # of equal ones the smallest
        k, here, above, below = k - 1, below, here, rate(k - 2)
    while above > here:
        k, here, above = k + 1, above, rate(k + 2)
    return k


def _power(gains: Array, occurs: Array, runs: int, alpha: float) -> float:
    """Probability that ``runs`` runs, resampled from the pilot, multiply the capital by ``1 / alpha``."""
    rng = np.random.default_rng(0)  # a bootstrap of fixed seed: it describes the audit, it decides nothing
    counts = rng.multinomial(runs, occurs, size=200)
    return float(np.mean(counts @ gains >= -math.log(alpha)))


def _join(losses: Losses, other: Losses) -> None:
    for finding in other.findings:
        if not any((known.kind, known.label) == (finding.kind, finding.label) for known in losses.findings):
            losses.findings.append(finding)
    losses.inexact = losses.inexact or other.inexact
    losses.checked += other.checked
