"""What a row of the ledger is made of: a citation, a claim as data, and what a checker found out about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from dpassay.reference.papers import Cite


class Verdict(StrEnum):
    """The five verdicts; ``unknown`` never counts as passed."""

    PROVED = "proved"
    CHECKED = "checked"
    REFUTED = "refuted"
    ILL_DEFINED = "ill-defined"
    UNKNOWN = "unknown"


class Kind(StrEnum):
    """Which checker decides a claim."""

    IDENTITY = "identity"
    INEQUALITY = "inequality"
    RATES = "rates"
    UNITS = "units"
    BUDGET = "budget"
    PRIVACY = "privacy"
    MONTECARLO = "montecarlo"
    TABLES = "tables"
    CONSISTENCY = "consistency"


class Severity(StrEnum):
    """What would break if the statement failed."""

    PRIVACY = "breaks privacy"
    UTILITY = "breaks utility"
    COSMETIC = "cosmetic"


@dataclass(frozen=True)
class Assumptions:
    """The region in which a claim is made.

    ``positive`` lists real symbols greater than zero; ``domain`` gives the others as ``"(0, 1/2)"``,
    ``"[1, inf)"`` or ``"integer [1, 100]"`` (a bound may mention symbols declared before it);
    ``conditions`` are further relations; ``note`` says in words what else is taken for granted.
    """

    positive: str = ""
    domain: Mapping[str, str] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    note: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Every declared symbol."""
        return frozenset(self.positive.split()) | frozenset(self.domain)


@dataclass(frozen=True)
class Claim:
    """One checkable statement as data: the checker, its formulas, and the region."""

    kind: Kind
    formula: Mapping[str, Any]
    assumptions: Assumptions = Assumptions()


@dataclass(frozen=True)
class Reading:
    """A charitable reading: in words and, where it can be checked, as a claim of its own."""

    text: str
    claim: Claim | None = None


@dataclass(frozen=True)
class Row:
    """One line of the ledger. Its verdict is not stored here: a checker decides it."""

    id: str
    cite: Cite
    statement: str
    claim: Claim
    severity: Severity = Severity.COSMETIC
    corrected: str = ""
    charitable: Reading = Reading("")
    garbling: str = ""
    explain: str = ""

    def __post_init__(self) -> None:
        if not self.id.startswith(self.cite.paper + "/"):
            raise ValueError(f"id = {self.id!r}: must start with the paper key {self.cite.paper}/")

    @property
    def ours(self) -> bool:
        """The paper does not make the statement in these words: it is marked as derived or inferred."""
        return self.statement.startswith(("derived", "inferred"))


@dataclass(frozen=True)
class Finding:
    """What a checker says: verdict, evidence, and the numbers of a counterexample where there is one.

    ``points`` counts the cases that were evaluated; ``vacuous`` marks a pass in which no case met the
    assumptions. ``excess`` is the true epsilon over the claimed one at the counterexample, where that was measured.
    """

    verdict: Verdict
    evidence: str
    counterexample: Mapping[str, str] = field(default_factory=dict)
    points: int = 0
    vacuous: bool = False
    excess: float = 0.0

    @property
    def holds(self) -> bool:
        """True for proved and for a non-vacuous checked."""
        return self.verdict in (Verdict.PROVED, Verdict.CHECKED) and not self.vacuous


@dataclass(frozen=True)
class Result:
    """A row with its finding, and the finding of the charitable reading when that was needed."""

    row: Row
    finding: Finding
    reading: Finding | None = None
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The verdict on the statement as printed."""
        return self.finding.verdict

    @property
    def rescued(self) -> bool:
        """The printed statement fails and the charitable reading holds."""
        return not self.finding.holds and self.reading is not None and self.reading.holds
