"""A checkable claim as data, and what a checker found out about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """The verdicts of checkers; only ``proved`` and ``checked`` count as passed.

    ``spot-checked``: no violation, but on few points.
    """

    PROVED = "proved"
    CHECKED = "checked"
    SPOT_CHECKED = "spot-checked"
    REFUTED = "refuted"
    ILL_DEFINED = "ill-defined"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Assumptions:
    """The region in which a claim is made.

    ``positive`` lists real symbols greater than zero; ``domain`` gives the others as ``"(0, 1/2)"``,
    ``"[1, inf)"`` or ``"integer [1, 100]"`` (a bound may mention symbols declared before it);
    ``conditions`` are further relations.
    """

    positive: str = ""
    domain: Mapping[str, str] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Every declared symbol."""
        return frozenset(self.positive.split()) | frozenset(self.domain)


@dataclass(frozen=True)
class Claim:
    """One checkable statement as data: the checker, its formulas, and the region."""

    kind: str  # one of CHECKERS
    formula: Mapping[str, Any]
    assumptions: Assumptions = Assumptions()


@dataclass(frozen=True)
class Finding:
    """What a checker says: verdict, evidence, and the numbers of a counterexample where there is one.

    ``points`` counts the cases that were evaluated.
    """

    verdict: Verdict
    evidence: str
    counterexample: Mapping[str, str] = field(default_factory=dict)
    points: int = 0

    @property
    def passes(self) -> bool:
        """Not contradicted: it holds, or was looked at on few points."""
        return self.verdict in (Verdict.PROVED, Verdict.CHECKED, Verdict.SPOT_CHECKED)
