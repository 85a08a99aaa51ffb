"""What an audit may say: sound bounds and tests decide verdicts, estimates under an assumption cannot.

A number never leaves an audit alone. `SoundBound` holds for any mechanism; `ClaimTest` is a sound test of one
claimed guarantee; `AssumedEstimate` is right only if its named assumption is, so it has no verdict of its own
and `decide` refuses it by type.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dpassay.reference.errors import BadInput

from .verdict import Verdict, judge, worst

__all__ = ["AssumedEstimate", "AuditResult", "ClaimTest", "Sound", "SoundBound", "Verdict", "decide"]


def _check_common(epsilon: float, delta: float, confidence: float, runs: int) -> None:
    if math.isnan(epsilon) or epsilon < 0:
        raise BadInput("epsilon", epsilon, "must be at least 0")
    if not 0 <= delta <= 1:
        raise BadInput("delta", delta, "must lie in [0, 1]")
    if not 0 < 1 - confidence < 1:  # also in floats: at level 1 every p-value refutes
        raise BadInput("confidence", confidence, "must lie strictly between 0 and 1, and differ from both in floats")
    if runs < 0:
        raise BadInput("runs", runs, "must not be negative")


@dataclass(frozen=True, kw_only=True)
class SoundBound:
    """With probability `confidence` the mechanism is not (epsilon', delta)-DP for any epsilon' < epsilon."""

    epsilon: float
    delta: float
    confidence: float
    method: str
    relation: str = "replace-one"
    runs: int = 0  # samples on both sides together
    seconds: float = 0.0
    claimed: float | None = None  # the epsilon under test, at the same delta
    power: float | None = None  # probability of seeing the violation named in `evidence`
    evidence: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_common(self.epsilon, self.delta, self.confidence, self.runs)

    @property
    def assumption(self) -> None:
        """A sound bound has none; the field exists so that reports can print one column for both types."""
        return

    @property
    def verdict(self) -> Verdict:
        """Compare with the claim; without a claim nothing can be decided."""
        untested = "" if self.claimed is not None else "no epsilon is claimed"
        return judge(claimed=self.claimed, realised=self.epsilon, power=self.power, untested=untested)


@dataclass(frozen=True, kw_only=True)
class ClaimTest:
    """A test at level 1 - confidence of one claimed guarantee (a pair, a curve, a PLD): no epsilon."""

    claim: str
    p_value: float  # or 1 / e-value: valid either way, never above its true level
    confidence: float
    method: str
    relation: str = "replace-one"
    runs: int = 0
    seconds: float = 0.0
    power: float | None = None
    evidence: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_common(0.0, 0.0, self.confidence, self.runs)
        if not 0 <= self.p_value <= 1:
            raise BadInput("p_value", self.p_value, "must lie in [0, 1]")

    @property
    def assumption(self) -> None:
        """A sound test has none."""
        return

    @property
    def verdict(self) -> Verdict:
        """Violated when the p-value is at most 1 - confidence."""
        return judge(claimed=None, refuted=self.p_value <= 1 - self.confidence, power=self.power)


@dataclass(frozen=True, kw_only=True)
class AssumedEstimate:
    """An epsilon that holds only under `assumption` (say, a Gaussian trade-off curve): never decides."""

    epsilon: float
    delta: float
    confidence: float
    method: str
    assumption: str
    relation: str = "replace-one"
    runs: int = 0
    seconds: float = 0.0
    evidence: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_common(self.epsilon, self.delta, self.confidence, self.runs)
        if not self.assumption.strip():
            raise BadInput("assumption", self.assumption, "an assumed estimate must name what it assumes")

    @property
    def verdict(self) -> Verdict:
        """Always inconclusive, whatever the number."""
        return Verdict.INCONCLUSIVE


class GivenSecrets(AssumedEstimate):
    """The assumption is that the adversary also sees secrets of the run: its batches, its seeds."""


Sound = SoundBound | ClaimTest
AuditResult = SoundBound | ClaimTest | AssumedEstimate


def decide(results: Sequence[Sound]) -> Verdict:
    """Join sound results of ONE claim whose levels were already split between them.

    The strongest statement wins: violated, then tight, then consistent. Raises TypeError on an
    `AssumedEstimate` and on anything else that is not sound.
    """
    for result in results:
        if not isinstance(result, SoundBound | ClaimTest):
            raise TypeError(f"only sound results decide a verdict, got {type(result).__name__}")
    return worst(result.verdict for result in results)
