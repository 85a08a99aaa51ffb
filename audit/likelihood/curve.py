"""What an audit shows of the whole curve delta(epsilon), and of the trade-off between the two errors of a test.

The same runs say something at every epsilon of a grid that is fixed before they are drawn, by betting as in
:mod:`.bound`: *realised* at all points together (Bonferroni), *pointwise* at each alone (docs/statistics.md), and the
*estimate* without confidence. *True positives* are lower bounds of ``P_D(L > epsilon)``, all together: as
``P_D'(L > epsilon)`` is at most ``exp(-epsilon)`` times that, a test with this many true and that many false positives
exists, and one that looks with probability p only on the line from (0, 0) to it.
"""

import math
from collections.abc import Mapping

import numpy as np

from dpassay.audit.bounds import needed_log_wealth
from dpassay.reference.accounting.cost import Account
from dpassay.reference.arrays import Array

from .pilot import excess, weight_of
from .samplers import Losses

POINTS = 24
_BETS = np.geomspace(0.02, 0.95, 8)  # shares of the capital, fixed in advance and mixed with equal weights
_HALVINGS = 18  # of the logarithm of the bound over the mean: one part in ten thousand
_LEAST = 1e-6  # of the mean: below, a bound says nothing and is 0
_FAR = 60.0  # the largest epsilon that is asked for


def grid(claimed: float, accounted: float) -> Array:
    """Epsilons for a claim: 0, twice the claim in even steps, and beyond it out to what is accounted.

    Made of numbers that are known before any run of the audit, so that the runs cannot choose it.
    """
    top = 2.0 * claimed
    far = min(_FAR, 1.5 * accounted) if math.isfinite(accounted) else _FAR
    if far <= top:
        return np.linspace(0.0, top, POINTS)
    near = POINTS * 2 // 3
    return np.concatenate([np.linspace(0.0, top, near), np.geomspace(top, far, POINTS - near + 1)[1:]])


def curves(losses: Losses, account: Account, claimed: float, delta: float, confidence: float) -> dict[str, list[float]]:
    """The curves of a row, by name; without ``realised`` and its companions where the losses decide nothing.

    Args:
        losses: of the runs that count, with the shares of the tilts under which they were drawn.
        account: of the longest run.
        claimed: epsilon of the claim, at ``delta``.
        confidence: of ``realised`` and of ``true positives`` over the whole grid, and of each point of ``pointwise``.
    """
    epsilons = grid(claimed, account.epsilon(delta))
    found = {"epsilons": epsilons.tolist(), "accounted": list(map(float, account.deltas(epsilons)))}
    if losses.shares is None or losses.inexact:
        return found
    return found | {
        name: values.tolist() for name, values in shown(losses, losses.shares, epsilons, confidence).items()
    }


def shown(losses: Losses, shares: Array, epsilons: Array, confidence: float) -> Mapping[str, Array]:
    """Lower bounds of delta(epsilon) and of the true positives, and the estimate, one for each epsilon."""
    alpha = 1 - confidence
    weight = weight_of(losses.log_weight(np.log(shares)))
    spent = np.stack([excess(losses.loss, weight, value) for value in epsilons])
    passed = np.stack([np.where(losses.loss > value, weight, 0.0) for value in epsilons])
    together = needed_log_wealth(alpha / len(epsilons), len(weight))
    return {
        "realised": lower_bounds(spent, together),
        "pointwise": lower_bounds(spent, needed_log_wealth(alpha, len(weight))),
        "true positives": lower_bounds(passed, together),
        "estimate": np.minimum(1.0, spent.mean(axis=1)),
    }


def lower_bounds(samples: Array, target: float) -> Array:
    """For each row the largest mean that betting against "the mean is at most this" rejects; at most 1.

    Args:
        samples: non-negative, one row for each mean.
        target: log of the capital at which a mean is rejected.
    """
    means = samples.mean(axis=1)
    low, high = np.full(len(means), math.log(_LEAST)), np.zeros(len(means))
    ratios = samples / np.where(means > 0, means, 1.0)[:, None]
    known = _rejected(ratios, low, target) & (means > 0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rejected = _rejected(ratios, middle, target)
        low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
    return np.where(known, np.minimum(1.0, means * np.exp(low) * (1 - 1e-12)), 0.0)


def _rejected(ratios: Array, log_share: Array, target: float) -> Array:
    """Does the capital against "the mean is at most exp(log_share) times the sample's" reach the target?"""
    gains = ratios * np.exp(-log_share)[:, None] - 1.0
    logs = [np.log1p(bet * gains).sum(axis=1) for bet in _BETS]
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - math.log(len(_BETS)) >= target)
