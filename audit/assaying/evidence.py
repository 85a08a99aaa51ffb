"""What one instance shows before it is judged, the verdict on it, and the cause of the verdict."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dpassay.audit.apparatus.checked import apparatus
from dpassay.audit.likelihood.samplers import Losses
from dpassay.audit.results import AssumedEstimate, SoundBound
from dpassay.audit.row import Effort
from dpassay.audit.search.witness import Searched
from dpassay.audit.verdict import Verdict, judge
from dpassay.reference.accounting.cost import Account
from dpassay.reference.case import Instance, PrivacyClaim
from dpassay.reference.findings import Finding, Kind, merge
from dpassay.reference.transcript import Transcript

from .realised import largest_realised, untested
from .scarce import Thrift, spent, statistics
from .why import why


@dataclass(frozen=True)
class Evidence:
    """What an instance has shown, before it is judged.

    Args:
        accounted: what the releases of the run that speaks for the instance add up to.
        highest: what the releases of any run add up to at most; the judge reads this one.
        untested: why what was realised says nothing about the noise, or empty.
    """

    transcript: Transcript
    cost: Account
    stopped: str
    bound: SoundBound | AssumedEstimate
    losses: Losses
    realised: float | None
    by: str
    accounted: float
    highest: float
    untested: str
    findings: list[Finding]


def gathered(
    instance: Instance,
    claim: PrivacyClaim,
    effort: Effort,
    searched: Searched,
    thrift: Thrift | None,
    own: bool,
    measured: Collection[str] = (),
) -> Evidence:
    """Account and replay the longest run, audit its likelihood, and add what the search found.

    Args:
        measured: labels whose sensitivity nobody claims: then the search has accounted each pair by its own movements.
    """
    transcript, cost, stopped = spent(instance, claim, searched)
    bound, losses = statistics(instance, claim, effort, searched, cost, thrift, len(transcript.events), stopped)
    realised, by = largest_realised(instance, claim, effort, bound, losses)
    if own and searched.gap and not cost.unknown:  # a longer run could not be accounted: no run bounds it
        cost = Account((), relation=claim.relation, gap=searched.gap, unknown=True)
    broken = apparatus(transcript, cost, claim.delta)
    accounted = cost.epsilon(claim.delta)
    highest = max(accounted, searched.accounted or 0.0)
    findings = list(losses.findings)
    merge(findings, [finding for finding in searched.findings if not finding.kind.of_the_run])
    if measured:
        findings = [one for one in findings if one.kind is not Kind.SENSITIVITY_EXCEEDED]
        accounted = highest = max(searched.accounted or 0.0, realised or 0.0) if not cost.unknown else accounted
    merge(findings, broken)
    return Evidence(
        transcript=transcript,
        cost=cost,
        stopped=stopped,
        bound=bound,
        losses=losses,
        realised=realised,
        by=by,
        accounted=highest if own else accounted,
        highest=highest,
        untested=untested(instance, transcript, losses) if len(losses.loss) else "",
        findings=findings,
    )


def judged(seen: Evidence, claim: PrivacyClaim) -> Verdict:
    """The verdict on the claim: what is not known is neither a number nor passed over."""
    return judge(
        claimed=claim.epsilon,
        realised=seen.realised,
        power=seen.bound.power if isinstance(seen.bound, SoundBound) else None,
        accounted=None if seen.cost.unknown else seen.highest,
        findings=seen.findings,
        untested=seen.untested or (f"not accounted: {seen.cost.gap}" if seen.cost.unknown else ""),
    )


def cause(
    seen: Evidence,
    verdict: Verdict,
    instance: Instance,
    claim: PrivacyClaim,
    searched: Searched,
    known: str,
    measured: Collection[str],
) -> str:
    """Why the verdict is what it is, in one line."""
    return why(
        known=known,
        account=seen.cost,
        accounted=seen.accounted,
        highest=seen.highest,
        claimed=claim.epsilon,
        delta=claim.delta,
        realised=seen.realised,
        by=seen.by,
        verdict=verdict,
        findings=seen.findings,
        movements=seen.losses.movements,
        bound=seen.bound,
        exact=instance.exact,
        untested=seen.untested,
        searched=searched,
        measured=measured,
    )
