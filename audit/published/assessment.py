"""What a printed attack result says about a claimed guarantee.

A printed AUC, TPR at FPR, or balanced accuracy above the ceiling of what any attack can reach in expectation
contradicts the claim, if the number is not chance and members and non-members came from one distribution. Both
conditions are reported, never assumed silently:

* distribution shift: when members and non-members have different group sizes, :func:`ceiling_under_shift` grants the
  attacker every pair across groups, which no guarantee forbids him.
* chance: there is a test for one attacked model that is sound for a uniformly random split of the records into members
  and non-members (within each group, where groups are given), although each score depends on the model in any way.

Match members and non-members at random into m disjoint pairs. Given the pairs, who is the member is a fair coin in
each, and swapping the two is a replace-one change; a claim about adding or removing a record is turned into
(2 epsilon, (1 + e^epsilon) delta) for it. So (Steinke, Nasr and Jagielski 2023, Theorem 5.2) among the pairs on which
an attacker commits himself, the number he gets right is dominated by a binomial with success
p = e^epsilon / (1 + e^epsilon) plus F with E F <= 2 m delta. The AUC is the mean over matchings of the share of pairs
ranked rightly, and TPR (1 - FPR) and FPR (1 - TPR) are the mean shares of pairs that a threshold ranks rightly and
wrongly. By convexity (Hoeffding 1963, section 5) the exponential moments of these means are no larger than the
binomial's, hence

    P(right >= A, wrong <= B) <= exp(-m (A + B) KL((A - u) / (A + B) || p)) + 2 delta / u     for every u > 0.

Nothing is assumed about how the scores of different records depend on each other. Thresholds must be fixed in advance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from scipy.special import expit, xlogy

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.errors import BadInput, require
from dpassay.reference.guarantee import Guarantee

Metric = Literal["auc", "balanced accuracy", "tpr"]
Group = tuple[int, int]  # members and non-members of one group


class Finding(StrEnum):
    """What a printed number means for the claim."""

    CONTRADICTS = "contradicts"  # above the ceiling beyond chance, shift allowed for
    CONTRADICTS_UNLESS_SHIFT = "contradicts unless shifted"  # above the ceiling; a shift could explain it
    ABOVE = "above the ceiling"  # above it, but chance was not excluded
    WITHIN = "within the ceiling"


@dataclass(frozen=True)
class Published:
    """A printed result."""

    metric: Metric
    value: float
    members: int
    nonmembers: int
    fpr: float | None = None
    groups: tuple[Group, ...] = ()  # members and non-members by group; empty: one distribution is claimed

    def __post_init__(self) -> None:
        for name, count in (("members", self.members), ("nonmembers", self.nonmembers)):
            require(count >= 1, name, count, "must be at least 1")
        good = self.fpr is None or self.metric == "tpr"
        require(good, "fpr", self.fpr, f"belongs to a TPR, not to {self.metric}")


@dataclass(frozen=True)
class Assessment:
    """The answer, number by number."""

    result: Published
    claim: Guarantee
    ceiling: float
    p_value: float  # sound for a random split
    implied_epsilon: float
    finding: Finding
    shifted_ceiling: float | None = None
    shifted_p_value: float | None = None


def assess(result: Published, claim: Guarantee, confidence: float = 0.95) -> Assessment:
    """Hold one printed result against (epsilon, delta)-DP, the outermost pair of the claim."""
    require(0 < confidence < 1, "confidence", confidence, "must lie in (0, 1)")
    good = not result.groups or result.metric == "auc"
    require(good, "groups", result.groups, "are understood for an AUC only")
    ceiling = ceiling_of(result.metric, *claim.outermost, result.fpr)
    implied = implied_epsilon(result.metric, result.value, claim.outermost[1], result.fpr)
    swap = swap_claim(*claim.outermost, claim.relation)
    p_value = _sound_p_value(result, swap)
    shifted = shifted_p = None
    if result.groups:
        shifted = ceiling_under_shift(ceiling, exchangeable_share(result.groups))
        shifted_p = grouped_auc_p_value(result.value, result.groups, *swap)
    finding = _finding(p_value, shifted_p, result.value > ceiling, 1.0 - confidence)
    return Assessment(result, claim, ceiling, p_value, implied, finding, shifted, shifted_p)


def swap_claim(epsilon: float, delta: float, relation: Relation | None) -> tuple[float, float]:
    """What (epsilon, delta)-DP says about swapping a member with a non-member (group privacy for add-remove)."""
    if relation in (None, "replace-one"):
        return epsilon, delta
    return min(2.0 * epsilon, 699.0), min((1.0 + math.exp(epsilon)) * delta, 1.0 - 1e-15)


def _finding(p_value: float, shifted_p: float | None, above: bool, level: float) -> Finding:
    if not above:
        return Finding.WITHIN
    if p_value > level:
        return Finding.ABOVE
    if shifted_p is not None and shifted_p <= level:
        return Finding.CONTRADICTS
    return Finding.CONTRADICTS_UNLESS_SHIFT


def _sound_p_value(result: Published, swap: tuple[float, float]) -> float:
    """A balanced accuracy at a fixed threshold is the AUC of the thresholded score."""
    right, wrong = result.value, 1.0 - result.value
    if result.fpr is not None:
        right, wrong = result.value * (1.0 - result.fpr), result.fpr * (1.0 - result.value)
    return matching_p_value(right, wrong, min(result.members, result.nonmembers), *swap)


def matching_p_value(right: float, wrong: float, pairs: float, epsilon: float, delta: float) -> float:
    """Bound on P(share right >= ``right`` and share wrong <= ``wrong``) under (epsilon, delta)-DP, replace-one.

    Of an AUC these are the AUC and 1 less it; of a mean over independent trainings, each with its own random split, the
    pairs of all count.
    """
    require(0 <= right <= 1 and 0 <= wrong <= 1, "shares", (right, wrong), "must lie in [0, 1]")
    rate, total = float(expit(epsilon)), right + wrong
    if total == 0 or right / total <= rate:
        return 1.0
    room = right - rate * total

    def bound(slack: float) -> float:
        a = (right - slack) / total
        divergence = float(xlogy(a, a / rate) + xlogy(1.0 - a, (1.0 - a) / (1.0 - rate)))
        return math.exp(-pairs * total * divergence)

    if delta == 0:
        return bound(0.0)
    slacks = np.linspace(0.0, room, 401)[1:-1]
    return min(1.0, *(bound(float(u)) + 2.0 * delta / float(u) for u in slacks))


def exchangeable_share(groups: Sequence[Group]) -> float:
    """Share of (member, non-member) pairs that lie within one group."""
    return sum(m * n for m, n in groups) / (sum(m for m, _ in groups) * sum(n for _, n in groups))


def grouped_auc_p_value(auc: float, groups: Sequence[Group], epsilon: float, delta: float) -> float:
    """P-value of an AUC when members and non-members have different group sizes (a distribution shift).

    Every pair across groups is granted to the attacker, so the AUC within groups is at least (auc - (1 - w)) / w with w
    the exchangeable share. It is a weighted mean of the groups' AUCs with weights w_g; the binomial moments then
    combine to w / max(w_g / m_g) effective pairs, m_g the smaller count of group g: w_g / m_g goes with the larger one.
    """
    share = exchangeable_share(groups)
    if share == 0:
        return 1.0
    within = (auc - (1.0 - share)) / share
    if within <= 0:
        return 1.0
    pairs = sum(m * n for m, n in groups) / max(max(group) for group in groups if min(group) > 0)
    return matching_p_value(within, 1.0 - within, pairs, epsilon, delta)


# -- the largest AUC, balanced accuracy or TPR that any attack can reach in expectation under a guarantee --------------
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
    if metric != "tpr":
        return 0.0
    if fpr is None:
        raise BadInput("fpr", fpr, "a TPR needs the FPR at which it was measured")
    require(0 <= fpr <= 1, "fpr", fpr, "must lie in [0, 1]")
    return fpr
