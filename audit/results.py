"""What an audit may say: sound bounds and tests decide verdicts, estimates under an assumption cannot.

A number never leaves an audit alone. `SoundBound` holds for any mechanism; `ClaimTest` is a sound test of one
claimed guarantee; `AssumedEstimate` is right only if its named assumption is, so it has no verdict of its own
and `decide` refuses it by type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dpassay.reference.errors import require

from .verdict import Verdict, judge, worst

__all__ = ["AssumedEstimate", "AuditResult", "ClaimTest", "Sound", "SoundBound", "Verdict", "decide"]


@dataclass(frozen=True, kw_only=True)
class _Result:
    """What every result has; one with an epsilon has a delta as well."""

    confidence: float
    method: str
    relation: str = "replace-one"
    runs: int = 0  # samples on both sides together
    seconds: float = 0.0
    evidence: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        epsilon, delta = (getattr(self, name, 0.0) for name in ("epsilon", "delta"))
        require(epsilon >= 0, "epsilon", epsilon, "must be at least 0")
        require(0 <= delta <= 1, "delta", delta, "must lie in [0, 1]")
        why = "must lie strictly between 0 and 1, and differ from both in floats"  # at level 1 every p-value refutes
        require(0 < 1 - self.confidence < 1, "confidence", self.confidence, why)
        require(self.runs >= 0, "runs", self.runs, "must not be negative")


@dataclass(frozen=True, kw_only=True)
class SoundBound(_Result):
    """With probability `confidence` the mechanism is not (epsilon', delta)-DP for any epsilon' < epsilon."""

    epsilon: float
    delta: float
    claimed: float | None = None  # the epsilon under test, at the same delta
    power: float | None = None  # probability of seeing the violation named in `evidence`

    @property
    def verdict(self) -> Verdict:
        """Compare with the claim; without a claim nothing can be decided."""
        untested = "" if self.claimed is not None else "no epsilon is claimed"
        return judge(claimed=self.claimed, realised=self.epsilon, power=self.power, untested=untested)


@dataclass(frozen=True, kw_only=True)
class ClaimTest(_Result):
    """A test at level 1 - confidence of one claimed guarantee (a pair, a curve, a PLD): no epsilon."""

    claim: str
    p_value: float  # or 1 / e-value: valid either way, never above its true level
    power: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.p_value <= 1, "p_value", self.p_value, "must lie in [0, 1]")

    @property
    def verdict(self) -> Verdict:
        """Violated when the p-value is at most 1 - confidence."""
        return judge(claimed=None, refuted=self.p_value <= 1 - self.confidence, power=self.power)


@dataclass(frozen=True, kw_only=True)
class AssumedEstimate(_Result):
    """An epsilon that holds only under `assumption` (say, a Gaussian trade-off curve): never decides."""

    epsilon: float
    delta: float
    assumption: str

    def __post_init__(self) -> None:
        super().__post_init__()
        named = bool(self.assumption.strip())
        require(named, "assumption", self.assumption, "an assumed estimate must name what it assumes")

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
