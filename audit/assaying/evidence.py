"""What one instance shows before it is judged, the verdict on it, and the cause of the verdict."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.audit.apparatus.checked import apparatus
from dpassay.audit.likelihood.samplers import Losses
from dpassay.audit.results import AssumedEstimate, SoundBound
from dpassay.audit.row import Effort
from dpassay.audit.search.witness import Searched
from dpassay.audit.verdict import Verdict, judge
from dpassay.reference.accounting.cost import Account
from dpassay.reference.case import Instance, PrivacyClaim
from dpassay.reference.equality import same
from dpassay.reference.findings import Finding, Kind, merge
from dpassay.reference.transcript import Transcript

from .leak import epsilon_of_output, numbers_of
from .scarce import Thrift, spent, statistics
from .why import why


def largest_realised(
    instance: Instance, claim: PrivacyClaim, effort: Effort, bound: SoundBound | AssumedEstimate, losses: Losses
) -> tuple[float | None, str]:
    """The largest sound lower bound, and what shows it; outputs are asked where nothing else refutes the claim."""
    realised, by = realised_of(instance, claim, bound, losses.findings)
    if len(losses.loss) and (realised is None or realised <= claim.epsilon):
        realised, by = of_outputs(instance, claim, effort, losses.findings) or (realised, by)
    return realised, by


def realised_of(
    instance: Instance, claim: PrivacyClaim, bound: SoundBound | AssumedEstimate, findings: Sequence[Finding]
) -> tuple[float | None, str]:
    """The largest sound lower bound there is, and what shows it."""
    bare = [finding for finding in findings if finding.kind is Kind.BARE_RELEASE]
    # a bare value may come up too rarely to matter (a test that fails): the likelihood counts how often
    if math.isinf(bound.epsilon) and any(isinstance(bound, SoundBound) or not one.given_secrets for one in bare):
        return math.inf, "replay"
    if instance.exact and instance.exact.at_infinity > claim.delta:
        return math.inf, "exact"
    if isinstance(bound, AssumedEstimate):
        return None, bound.assumption
    return bound.epsilon, "likelihood"


def of_outputs(
    instance: Instance, claim: PrivacyClaim, effort: Effort, findings: Sequence[Finding]
) -> tuple[float, str] | None:
    """Where neighbours hand out different outputs for the same releases: what the outputs alone show, if too much."""
    if not any(finding.kind in (Kind.OUTPUT, Kind.REVEALED_VALUE) for finding in findings):
        return None
    found = epsilon_of_output(
        instance.mechanism,
        instance.pair,
        claim.delta,
        samples=effort.runs,
        confidence=effort.confidence,
        seed=effort.seed,
    )
    return (found.epsilon, found.how) if found and found.epsilon > claim.epsilon else None


def untested(instance: Instance, transcript: Transcript, losses: Losses) -> str:
    """Why nothing could have been seen, or empty."""
    output = numbers_of(transcript.output) or []
    if instance.exact:
        return ""
    if same(instance.pair.here, instance.pair.there):
        return "D and D' are the same: there is nothing to tell apart"
    if not transcript.releases:
        shown = "None" if transcript.output is None else "NaN" if any(map(math.isnan, output)) else "the same for both"
        return f"nothing is released, and the output is {shown}"
    if not all(map(math.isfinite, output)):
        return "the output is not finite"
    if not np.any(losses.loss):
        return "no released value tells D from D'"
    return ""


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
