"""What a printed attack result says about a claimed guarantee.

Three ceilings for what any attack can reach on one record: under (epsilon, delta)-DP, under mu-GDP, under a privacy
loss distribution. A printed AUC, TPR at FPR, or balanced accuracy above the ceiling contradicts the claim, if the
number is not chance and members and non-members came from one distribution. Both conditions are reported, never assumed
silently:

* chance: ``matching.py`` has tests that are sound for a uniformly random split of the records into members and
  non-members, although the scores of one model depend on each other. They swap a member with a non-member, which is one
  replacement; a claim about adding or removing a record is turned into (2 epsilon, (1 + e^epsilon) delta) for them.
* distribution shift: when members and non-members have different group sizes, :func:`ceiling_under_shift` grants the
  attacker every pair across groups, which no guarantee forbids him.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.errors import require
from dpassay.reference.guarantee import Guarantee

from .ceilings import Metric, ceiling_of, ceiling_under_shift, ceilings, implied_epsilon
from .matching import Group, auc_p_value, exchangeable_share, grouped_auc_p_value, tpr_p_value


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
    runs: int = 1
    groups: tuple[Group, ...] = ()  # members and non-members by group; empty: one distribution is claimed


def swap_claim(epsilon: float, delta: float, relation: Relation | None) -> tuple[float, float]:
    """What (epsilon, delta)-DP says about swapping a member with a non-member (group privacy for add-remove)."""
    if relation != "add-remove":
        return epsilon, delta
    return min(2.0 * epsilon, 699.0), min((1.0 + math.exp(epsilon)) * delta, 1.0 - 1e-15)


@dataclass(frozen=True)
class Assessment:
    """The answer, number by number."""

    result: Published
    claim: Guarantee
    ceiling: float
    shifted_ceiling: float | None
    implied_epsilon: float
    p_value: float  # sound for a random split
    shifted_p_value: float | None
    finding: Finding


def assess(result: Published, claim: Guarantee, confidence: float = 0.95) -> Assessment:
    """Hold one printed result against (epsilon, delta)-DP, the outermost pair of the claim."""
    require(0 < confidence < 1, "confidence", confidence, "must lie in (0, 1)")
    for name, count in (("members", result.members), ("nonmembers", result.nonmembers)):
        require(count >= 1, name, count, "must be at least 1")
    if result.metric != "tpr":
        require(result.fpr is None, "fpr", result.fpr, f"belongs to a TPR, not to {result.metric}")
    epsilon, delta = claim.outermost
    ceiling = ceiling_of(result.metric, epsilon, delta, result.fpr)
    implied = implied_epsilon(result.metric, result.value, delta, result.fpr)
    swap = swap_claim(epsilon, delta, claim.relation)
    p_value = _sound_p_value(result, swap)
    shifted = shifted_p = None
    if result.groups:
        require(result.metric == "auc", "groups", result.groups, "are understood for an AUC only")
        shifted = ceiling_under_shift(ceiling, exchangeable_share(result.groups))
        shifted_p = grouped_auc_p_value(result.value, result.groups, *swap)
    finding = _finding(p_value, shifted_p, result.value > ceiling, 1.0 - confidence)
    return Assessment(result, claim, ceiling, shifted, implied, p_value, shifted_p, finding)


def _finding(p_value: float, shifted_p: float | None, above: bool, level: float) -> Finding:
    if not above:
        return Finding.WITHIN
    if p_value > level:
        return Finding.ABOVE
    if shifted_p is not None and shifted_p <= level:
        return Finding.CONTRADICTS
    return Finding.CONTRADICTS_UNLESS_SHIFT


@dataclass(frozen=True)
class CurveAssessment:
    """A result held against a whole privacy curve."""

    ceiling: float
    p_value: float  # sound for a random split
    finding: Finding


def assess_curve(result: Published, claim: Guarantee, confidence: float = 0.95) -> CurveAssessment:
    """Hold one printed result against a privacy curve: each point of it is a claim, and all of them hold at once.

    The test takes 26 points fixed in advance (every 20th) and shares its level between them; it is conservative, as a
    point with a small epsilon has a large delta.
    """
    if result.metric == "tpr":
        require(result.fpr is not None, "fpr", result.fpr, "a TPR needs the FPR at which it was measured")
    require(not result.groups, "groups", result.groups, "are understood for (epsilon, delta) claims only")
    found = ceilings(claim, () if result.fpr is None else (result.fpr,))
    pairs = list(zip(*claim.forward, strict=True))[::20]
    swaps = [swap_claim(float(epsilon), float(delta), claim.relation) for epsilon, delta in pairs]
    p_value = min(1.0, len(swaps) * min(_sound_p_value(result, swap) for swap in swaps))
    ceiling = found.of(result.metric, result.fpr if result.metric == "tpr" else None)
    return CurveAssessment(ceiling, p_value, _finding(p_value, None, result.value > ceiling, 1.0 - confidence))


def _sound_p_value(result: Published, swap: tuple[float, float]) -> float:
    """A balanced accuracy at a fixed threshold is the AUC of the thresholded score."""
    counts = (result.members, result.nonmembers)
    if result.metric == "tpr":
        assert result.fpr is not None
        return tpr_p_value(result.value, result.fpr, *counts, *swap)
    return auc_p_value(result.value, *counts, *swap)  # several runs may share a split: they count as one
