"""The pilot of the likelihood audit: direction, mixture of tilts, grid of epsilons and bets, from runs thrown away.

Whatever it decides, the audit stays sound: nothing of it is used again. What it decides well makes the bound tight.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.audit.bounds import halved
from dpassay.audit.lockstep.tilting import PLAIN, Tilt
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.arrays import Array

from .samplers import LockstepSampler, Losses

_GRID = np.concatenate([np.linspace(0.6, 1.2, 121), np.geomspace(1.205, 2.5, 80)])
_BELOW = np.geomspace(0.08, 0.985, 100)  # of the grid's first point: what is still shown where that one is not
_GRID_RUNS = 1000  # what the steps of the grid are made for
_HIGH = 60.0  # the largest epsilon that is asked for where the pilot says nothing
_BETS = np.geomspace(0.01, 0.95, 24)
_DEFENCE = 0.1  # share of the plain law in the final mixture: no weight exceeds 10
_RESERVE = 1e-4  # share of the capital staked more carefully, in audits of so many runs that it can matter


@dataclass(frozen=True, eq=False)
class Plan:
    """What the pilot decided: direction, mixture of tilts, epsilon grid, bets, and what it expects to show."""

    swapped: bool
    tilts: tuple[Tilt, ...]
    shares: Array
    epsilons: Array
    bets: Array
    reserve: float  # share of the capital that stakes less than the bets: a pilot of a few hundred may overshoot
    expected: float  # the pilot's own estimate of epsilon at delta
    power: float  # bootstrap probability of showing 0.9 of `expected`, i.e. of refuting a claim 10 % too small


def weight_of(log_weight: Array) -> Array:
    """``W``; what overflows is lowered, which lowers the bound."""
    return np.asarray(np.exp(np.minimum(log_weight, 700.0)))


def excess(loss: Array, weight: Array, epsilon: float) -> Array:
    """``W (1 - exp(epsilon - L))_+``."""
    return np.asarray(weight * -np.expm1(np.minimum(0.0, epsilon - loss)))


def average(values: Array) -> float:
    """As ``np.mean``, bit for bit, in half its time: short vectors are averaged thousands of times."""
    return float(np.add.reduce(values)) / len(values)


def last_epsilon(loss: Array, possible: Callable[[float], bool]) -> float:
    """Where something ends that is possible for smaller epsilons only; ``inf`` if it does so for none in reach."""
    low, high = 0.0, max(1.0, 2 * float(np.max(loss[np.isfinite(loss)], initial=1.0)))
    if possible(high):
        return math.inf
    return halved(possible, low, high, 60)[1]


def make_plan(
    sampler: LockstepSampler, delta: float, alpha: float, runs: int, pilot: int, seed: int
) -> tuple[Plan, list[Losses]]:
    """Choose direction, tilts, grid and bets from at most ``pilot`` runs."""
    directions = [(0, sampler), (1, sampler.swapped())]
    scouts = [one.sample((PLAIN,), np.ones(1), pilot // 8, (seed, 0, k)) for k, one in directions]
    guesses = [_scout(losses, delta) for losses in scouts]
    plans, seen, closer = [], list(scouts), list[tuple[float, int, Tilt]]()
    means, epsilons = zip(*guesses, strict=True)
    # directions whose losses look alike need one pilot only (an infinite one wins at once)
    same_both_ways = math.inf in epsilons or 0.8 < means[0] / means[1] < 1.25
    best = int(np.argmax(epsilons))
    order = directions if sampler.has_hidden or not same_both_ways else directions[best : best + 1]
    size = (pilot - 2 * (pilot // 8)) // (2 * len(order))
    for k, one in order:
        tilts = _candidates(one.has_hidden, guesses[k][0])
        seen.append(one.sample(tilts, np.full(len(tilts), 1 / len(tilts)), size, (seed, 1, k, 0)))
        picked, epsilon = _best_tilt(seen[-1], tilts, tilts, delta)
        closer.append((epsilon, k, tilts[picked]))
    if sampler.has_hidden:  # runs of all worlds, with the record and without it, for the direction that is ahead alone
        closer = [max(closer, key=lambda found: found[0])]
    for _, k, tilt in closer:
        nearby = _refined(tilt, sampler.has_hidden)
        seen.append(directions[k][1].sample(nearby, np.full(len(nearby), 1 / len(nearby)), size, (seed, 1, k, 1)))
        chosen, epsilon = _best_tilt(seen[-1], nearby, nearby, delta)
        plans.append(_finish(bool(k), seen[-1], nearby, chosen, epsilon, delta, alpha, runs))
    return max(plans, key=lambda found: found.expected), seen


def _scout(losses: Losses, delta: float) -> tuple[float, float]:
    """(mean loss, epsilon of the Gaussian mechanism with that mean loss) of a few plain runs."""
    finite = losses.loss[np.isfinite(losses.loss)]
    if np.mean(losses.loss == np.inf) > delta:
        return float(max(1.0, finite.mean() if len(finite) else 1.0)), math.inf
    mean = float(finite.mean()) if len(finite) else 0.0
    if mean <= 0 and len(finite):  # it drowns in its noise: half the variance is the same for a Gaussian
        mean = float(finite.var()) / 2
    mean = max(1e-6, mean)
    return mean, gdp_epsilon(math.sqrt(2 * mean), delta)


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
    weight = weight_of(log_weight)
    epsilon = last_epsilon(losses.loss, lambda one: average(excess(losses.loss, weight, one)) > delta)
    x = excess(losses.loss, weight, 0.97 * epsilon if math.isfinite(epsilon) else 50.0)
    with np.errstate(over="ignore"):
        moments = [
            float(np.mean(x**2 * np.exp(np.minimum(700.0, losses.log_weights[:, c] - log_weight))))
            for c in range(len(tilts))
        ]
    usable = [moment if moment > 0 else math.inf for moment in moments]
    return int(np.argmin(usable)), epsilon


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
    parts = max(1, int(math.sqrt(runs / _GRID_RUNS)))
    grid = np.geomspace(0.1, _HIGH, 60) if math.isinf(epsilon) else epsilon * _GRID
    if parts > 1 and grid[-1] < _HIGH:  # so many runs may see a rare branch that the pilot missed
        grid = np.concatenate([grid, np.geomspace(grid[-1], _HIGH, 61)[1:]])
    pilot_weight = losses.log_weight(np.full(len(sampled), -math.log(len(sampled))))
    # log dP/dR of the final mixture on the pilot's runs: the plain law's log dP/dR is 0
    final_weight = -np.logaddexp(math.log(shares[0]), math.log(shares[1]) - losses.log_weights[:, chosen])
    occurs = np.exp(np.minimum(50.0, pilot_weight - final_weight))  # dR / d(pilot law)
    occurs /= max(1e-300, float(occurs.sum()))
    weight, bets, k = weight_of(final_weight), [], len(_BETS) - 1
    for value in grid:
        if k > 0:  # the larger epsilon, the smaller the gains and the best bet
            k = _fastest(excess(losses.loss, weight, value) / delta - 1, occurs, k)
        bets.append(_BETS[k])
    # under one bet a smaller epsilon is easier to refute: the points below change no bound, they save it from being 0
    grid, bets = np.concatenate([grid[0] * _BELOW, grid]), [bets[0]] * len(_BELOW) + bets
    near = int(np.argmin(np.abs(grid - 0.9 * epsilon))) if math.isfinite(epsilon) else len(_BELOW)
    ratio = excess(losses.loss, weight, grid[near]) / delta
    # the pilot drew hardly any plain run: for the power their tenth of the mixture counts as stakes lost
    gains = np.append(np.log1p(bets[near] * (ratio - 1)), math.log1p(-bets[near]))
    rng = np.random.default_rng(0)  # a bootstrap of fixed seed: it describes the audit, it decides nothing
    counts = rng.multinomial(runs, np.append((1 - _DEFENCE) * occurs, _DEFENCE), size=200)
    power = float(np.mean(counts @ gains >= -math.log(alpha)))
    reserve = _RESERVE if parts > 1 else 0.0
    return Plan(swapped, tilts, shares, *_finer(np.asarray(grid), np.array(bets), parts), reserve, epsilon, power)


def _finer(grid: Array, bets: Array, parts: int) -> tuple[Array, Array]:
    """Every step of the grid in so many parts, with the bet of its upper end."""
    if parts == 1:
        return grid, bets
    points = np.arange((len(grid) - 1) * parts + 1)
    return np.interp(points / parts, np.arange(len(grid)), grid), bets[-(-points // parts)]


def _fastest(margin: Array, occurs: Array, k: int) -> int:
    """Of the bets up to ``k`` the one with the largest mean log growth, which is concave in the bet."""

    def rate(j: int) -> float:
        return float(occurs @ np.log1p(_BETS[j] * margin))

    here = rate(k)
    while k > 0 and (below := rate(k - 1)) >= here:  # of equal ones the smallest
        k, here = k - 1, below
    return k
