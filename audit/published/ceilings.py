"""The largest AUC, balanced accuracy or TPR that any attack can reach in expectation under a guarantee.

Each guarantee is a trade-off curve: the smallest type II error at a type I error. (epsilon, delta)-DP has closed forms;
mu-GDP and privacy curves (a PLD's, for instance) are integrated.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from dpassay.reference.errors import BadInput, require
from dpassay.reference.guarantee import Guarantee

Metric = Literal["auc", "balanced accuracy", "tpr"]


def ceiling_of(metric: Metric, epsilon: float, delta: float, fpr: float | None = None) -> float:
    """The ceiling of one metric under (epsilon, delta)-DP, and more than the roundings of a sum of numbers up to one.

    An AUC is the area under the extremal (epsilon, delta) ROC curve, a balanced accuracy is at the corner of it, and a
    TPR is on it.
    """
    require(0 <= epsilon < 700, "epsilon", epsilon, "must lie in [0, 700)")
    fpr = _checked(metric, delta, fpr)
    odds = math.exp(epsilon)
    if metric == "auc":
        missed = (1.0 - delta) ** 2 / (1.0 + odds)
    elif metric == "balanced accuracy":
        missed = (1.0 - delta) / (1.0 + odds)
    else:
        missed = max(0.0, 1.0 - delta - odds * fpr, math.exp(-epsilon) * (1.0 - delta - fpr))
    return min(1.0, 1.0 - missed + 4e-16)


def ceiling_of_curve(metric: Metric, claim: Guarantee, fpr: float | None = None) -> float:
    """The same for a guarantee, by its trade-off curve; any lower bound of the true one keeps the ceiling valid.

    The midpoint rule underestimates the area under a convex curve, and each cell's smallest sum of errors is
    bounded by its left end plus the curve at its right end, so both ceilings err upwards (safe). The grid is
    graded towards 0, where the curve is steep.
    """
    fpr = _checked(metric, 0.0, fpr)
    if metric == "tpr":
        return float(1.0 - claim.trade_off(np.array([fpr]))[0])
    edges = np.linspace(0.0, 1.0, 20_001) ** 3
    if metric == "auc":
        return 1.0 - float(claim.trade_off(0.5 * (edges[1:] + edges[:-1])) @ np.diff(edges))
    return min(1.0, 1.0 - 0.5 * float(np.min(edges[:-1] + claim.trade_off(edges[1:]))))


def implied_epsilon(metric: Metric, value: float, delta: float, fpr: float | None = None) -> float:
    """The smallest epsilon under which ``value`` can be an expectation at all, rounded down (0: anything allows it).

    The closed forms are solved for epsilon; for 1 - value, which floats know, and not for the ceiling, which may round
    to 1 long before it is.
    """
    fpr, missed = _checked(metric, delta, fpr), 1.0 - value
    require(0 <= value <= 1, metric, value, "must lie in [0, 1]")
    if metric == "auc":  # missed >= (1 - delta)^2 / (1 + e^epsilon)
        return _at_least_log((1.0 - delta) ** 2 - missed, missed)
    if metric == "balanced accuracy":  # missed >= (1 - delta) / (1 + e^epsilon)
        return _at_least_log(value - delta, missed)
    # value <= delta + e^epsilon fpr, missed >= e^-epsilon (1 - delta - fpr)
    return max(_at_least_log(value - delta, fpr), _at_least_log(1.0 - delta - fpr, missed))


def _at_least_log(above: float, below: float) -> float:
    """log(above / below), rounded down, at least 0; infinite for a positive number over nothing."""
    above -= 4e-16  # differences of numbers up to one: what their roundings may have added
    if above <= below:
        return 0.0
    return math.inf if below == 0 else max(0.0, (math.log(above) - math.log(below)) * (1 - 1e-15) - 1e-15)


def ceiling_under_shift(auc_ceiling: float, exchangeable: float) -> float:
    """AUC ceiling when only a share of the (member, non-member) pairs come from the same group.

    Within a group the claim bounds the AUC; a pair across groups may be told apart with certainty by the group alone,
    which no guarantee forbids. Assumes that members and non-members of one group are exchangeable.
    """
    require(0 <= exchangeable <= 1, "exchangeable", exchangeable, "must lie in [0, 1]")
    return exchangeable * auc_ceiling + (1.0 - exchangeable)


def _checked(metric: Metric, delta: float, fpr: float | None) -> float:
    """The FPR of a TPR; 0 for another metric, which has none."""
    require(0 <= delta < 1, "delta", delta, "must lie in [0, 1)")
    require(metric in get_args(Metric), "metric", metric, "must be auc, balanced accuracy or tpr")
    if metric != "tpr":
        return 0.0
    if fpr is None:
        raise BadInput("fpr", fpr, "a TPR needs the FPR at which it was measured")
    require(0 <= fpr <= 1, "fpr", fpr, "must lie in [0, 1]")
    return fpr
