"""What an audit of one algorithm found: claimed, accounted, certified and realised epsilon, and what shows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpassay.audit.certify.certificate import Certificate
from dpassay.audit.lockstep.outcome import Movement
from dpassay.audit.results import AssumedEstimate, SoundBound
from dpassay.audit.search.coverage import Coverage
from dpassay.audit.search.witness import Searched, Witness
from dpassay.audit.verdict import Verdict, over_budget, underaccounted
from dpassay.reference.accounting.cost import Account
from dpassay.reference.findings import Declared, Finding, Kind
from dpassay.reference.transcript import Transcript


@dataclass(frozen=True)
class Assay:
    """What an audit of one algorithm found.

    Args:
        verdict: the judgement.
        why: its cause, in one line.
        claimed: epsilon of the claim.
        delta: of the claim, and of all other numbers.
        account: the cost of the run that is accounted: the longest one, or one of the search that costs more.
        accounted: what the releases add up to; an upper bound only if nothing leaks and no query overshoots.
        realised: the largest lower bound that is sound, or None.
        by: what shows it: likelihood, replay, exact or outputs.
        findings: what the lockstep runs saw.
        movements: how far the pair moved the queries of each label.
        bound: the likelihood audit's result.
        searched: what the search over data, sizes and released values saw: witnesses, coverage, largest movements.
        transcript: the run that is accounted.
        curves: delta(epsilon) as accounted and as realised, on one grid of epsilons.
        stopped: why that run has no end (it raised, or had spent more than is claimed and went on), or empty.
        read_as: plain NumPy code in the reading that was judged; None for what runs on a tape.
        certificate: an upper bound for every pair of neighbours; None where none was tried.
        cause: what it comes of for certain, in words that name the line; empty where the findings say it.

    Raises:
        Nothing: it is made by :func:`assay`.

    Example:
        >>> from dpassay.audit import Effort, assay
        >>> from dpassay.reference import Cite, Pair, PrivacyClaim
        >>> bare = lambda data, tape: tape.reveal("sum", sum(data))
        >>> claim = PrivacyClaim(1.0, 1e-5, Cite("mine", "Theorem 1"))
        >>> found = assay(bare, Pair([0, 1], [0, 2], target=1), claim, effort=Effort(runs=100, pilot=50))
        >>> found.verdict.failed, found.findings[0].kind.value
        (True, 'revealed value')

    Source: ``docs/auditor.md``.
    """

    verdict: Verdict
    why: str
    claimed: float
    delta: float
    account: Account
    accounted: float
    realised: float | None
    by: str
    findings: tuple[Finding, ...]
    movements: Mapping[str, Movement]
    bound: SoundBound | AssumedEstimate
    searched: Searched
    transcript: Transcript
    curves: Mapping[str, list[float]] = field(default_factory=dict)
    stopped: str = ""
    read_as: Any = None  # a PlainMechanism
    certificate: Certificate | None = None
    cause: str = ""

    @property
    def as_read(self) -> str:
        """The reading of plain NumPy code on which the verdict hangs; empty where the outputs speak for themselves."""
        return "" if self.read_as is None or self.by == "outputs" else str(self.read_as.told)

    @property
    def coverage(self) -> Coverage:
        """Lines and branches of the algorithm's own source that the search reached."""
        return self.searched.coverage

    @property
    def witness(self) -> Witness | None:
        """The smallest example of the first finding of the search; ``searched.witnesses`` has one for each."""
        return next(iter(self.searched.witnesses), None)

    @property
    def upper_bound(self) -> bool:
        """What is accounted bounds what can be realised, as far as this audit saw."""
        if underaccounted(self.realised, self.accounted):  # no run that was tried cost the most
            return False
        return not self.stopped and not any(one.kind.leaks or one.kind.overshoots for one in self.findings)

    @property
    def shown(self) -> set[Declared]:
        """What was found, in the words of a declaration; plain code declares no leak that secret draws may cover."""
        open_leaks = [one for one in self.findings if self.read_as is not None and one.given_secrets]
        found = {Declared(one.kind, one.label) for one in self.findings if not one.kind.bookkeeping}
        found -= {Declared(one.kind, one.label) for one in open_leaks}
        if self.verdict is Verdict.VIOLATED:
            found.add(Declared(Kind.VIOLATED))
        if not self.account.unknown and over_budget(self.accounted, self.claimed):
            found.add(Declared(Kind.OVER_BUDGET))
        explained = any(one.kind.leaks or one.kind.overshoots for one in self.findings)
        if self.verdict is Verdict.OVERSHOOTS and not explained:
            found.add(Declared(Kind.UNDERACCOUNTED))
        found |= {Declared(one.kind) for one in self.searched.findings if one.kind is Kind.OVER_BUDGET}
        return found
