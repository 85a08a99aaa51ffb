"""What a row of the ledger is made of: a citation, a claim as data, and what a checker found out about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from dpassay.reference.papers import Cite


class Verdict(StrEnum):
    """The seven verdicts; only ``proved`` and ``checked`` count as passed.

    ``spot-checked``: no violation, but on few points. ``empty``: it passes and so does each of its mutants, so that
    the row decides nothing.
    """

    PROVED = "proved"
    CHECKED = "checked"
    SPOT_CHECKED = "spot-checked"
    REFUTED = "refuted"
    ILL_DEFINED = "ill-defined"
    EMPTY = "empty"
    UNKNOWN = "unknown"


FAILED = (Verdict.REFUTED, Verdict.ILL_DEFINED)


class Saves(StrEnum):
    """What saves a statement that fails as printed.

    ``reading``: the same text, or another place of the paper that prints the same quantity, read otherwise.
    ``condition``: an added assumption, which is a formula. ``repair``: a changed text. ``degenerate``: a case in which
    nothing is left to do.
    """

    READING = "reading"
    CONDITION = "condition"
    REPAIR = "repair"
    DEGENERATE = "degenerate"


class Undecidable(StrEnum):
    """Why nothing under ``corrected`` can be decided. Such a statement is counted apart, never as decided.

    ``request``: the authors are asked which of several things is meant. ``withdrawn``: the statement is to be dropped,
    and nothing stands in its place. ``data``: it needs runs or records that the paper does not give. ``argument``: it
    needs a proof that nobody has given.
    """

    REQUEST = "request"
    WITHDRAWN = "withdrawn"
    DATA = "data"
    ARGUMENT = "argument"


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
class Saving:
    """What would save a failing statement: its kind, in words and, where it can be checked, as a claim of its own."""

    kind: Saves = Saves.READING
    text: str = ""
    claim: Claim | None = None


@dataclass(frozen=True)
class Row:
    """One line of the ledger. Its verdict is not stored here: a checker decides it.

    What is right stands under ``corrected``. It is decided by ``corrected_claim``, by the claim of a repair, or in the
    row that ``corrected_by`` names; or ``undecidable`` says why nothing can decide it.
    """

    id: str
    cite: Cite
    statement: str
    claim: Claim
    severity: Severity = Severity.COSMETIC
    corrected: str = ""
    saving: Saving = Saving()
    garbling: str = ""
    explain: str = ""
    corrected_claim: Claim | None = None
    defect: str = ""
    corrected_by: str = ""
    undecidable: Undecidable | None = None
    ours: bool = False  # the paper does not make the statement in these words: it is derived or inferred

    def __post_init__(self) -> None:
        if not self.id.startswith(self.cite.paper + "/"):
            raise ValueError(f"id = {self.id!r}: must start with the paper key {self.cite.paper}/")
        ways = [self.corrected_claim is not None, bool(self.corrected_by), self.undecidable is not None]
        if sum(ways) > 1:
            raise ValueError(f"{self.id}: its corrected statement is decided in more than one way")
        if any(ways) and not self.corrected:
            raise ValueError(f"{self.id}: nothing stands under corrected")

    @property
    def corrects(self) -> Claim | None:
        """The claim of this row that decides what stands under ``corrected``: its own, or that of the repair."""
        if not self.corrected or self.corrected_by or self.undecidable is not None:
            return None
        repair = self.saving.claim if self.saving.kind is Saves.REPAIR else None
        return self.corrected_claim or repair

    @property
    def shows(self) -> str:
        """The defect that a failing row shows: several rows may show one."""
        return self.defect or self.id


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

    @property
    def passes(self) -> bool:
        """Not contradicted: it holds, or was looked at on few points."""
        return self.holds or (self.verdict is Verdict.SPOT_CHECKED and not self.vacuous)


@dataclass(frozen=True)
class Sharpness:
    """What the mutants of a passing row say.

    ``nearest`` names the first mutant that is refuted, in the order of :mod:`.mutants`, and ``evidence`` shows how;
    ``hollow`` says why the row decides nothing: a tautology, or no mutant refuted. ``tried`` counts mutants.
    """

    tried: int = 0
    nearest: str = ""
    evidence: str = ""
    hollow: str = ""


@dataclass(frozen=True)
class Result:
    """A row with its finding and, where they were needed, the findings on its saving, correction and mutants.

    ``sharpness`` is that of a passing row, ``corrected_sharpness`` that of the corrected claim of a failing one.
    """

    row: Row
    finding: Finding
    saving: Finding | None = None
    sharpness: Sharpness | None = None
    corrected: Finding | None = None
    corrected_sharpness: Sharpness | None = None
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The verdict on the statement as printed."""
        if self.finding.passes and self.sharpness is not None and self.sharpness.hollow:
            return Verdict.EMPTY
        return self.finding.verdict

    @property
    def failed(self) -> bool:
        """Refuted or ill-defined as printed."""
        return self.finding.verdict in FAILED

    @property
    def saved_by(self) -> Saves | None:
        """The kind of what saves a failing statement, where that was decided and passes."""
        saved = self.failed and self.saving is not None and self.saving.passes
        return self.row.saving.kind if saved else None
