"""The largest sound lower bound of an audit, what shows it, and why there may be nothing to show."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpassay.audit.likelihood.samplers import Losses
from dpassay.audit.results import AssumedEstimate, SoundBound
from dpassay.audit.row import Effort
from dpassay.reference.case import Instance, PrivacyClaim
from dpassay.reference.equality import same
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.transcript import Transcript

from .leak import epsilon_of_output, numbers_of


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
