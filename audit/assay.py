"""One row of the audit table: claimed, accounted and realised epsilon side by side, and why they are ordered so."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler, Losses
from dpassay.audit.lockstep.outcome import Movement
from dpassay.reference.accounting.cost import Account
from dpassay.reference.case import Case, Instance
from dpassay.reference.findings import Kind

from .plain import plain
from .results import AssumedEstimate, SoundBound, Verdict


@dataclass(frozen=True)
class Effort:
    """How hard to look."""

    runs: int = 1000
    pilot: int = 400
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True)
class Row:
    """One line of the table; every number an audit reports, with where it came from. ``None``: not available."""

    algorithm: str
    variant: str
    reading: str
    data: str
    claimed: float
    delta: float
    relation: str
    accounted: float
    accounting: str
    realised: float | None
    realised_by: str
    verdict: str
    why: str
    expected: bool
    findings: list[str]
    movements: dict[str, float]
    power: float | None
    runs: int
    confidence: float
    seed: int
    seconds: float
    facts: dict[str, float | int | str]
    proved: str = ""  # what the ledger says of the statements behind the claim

    @property
    def key(self) -> str:
        """The case's key."""
        return f"{self.algorithm}{':' + self.variant if self.variant else ''}@{self.reading}"

    def as_dict(self) -> dict[str, object]:
        """Plain data; infinities become the string "infinity" (JSON has none)."""
        found: dict[str, object] = plain(asdict(self))
        return found


def assay(case: Case, effort: Effort) -> Row:
    """Account, replay, audit: one case."""
    start = time.perf_counter()
    instance = case.build()
    account = instance.accounted(case.claim.relation)
    accounted = account.epsilon(case.claim.delta)
    sampler = LockstepSampler(instance.mechanism, instance.pair)
    bound, losses = audit_likelihood(
        sampler,
        case.claim.delta,
        claimed=case.claim.epsilon,
        confidence=effort.confidence,
        runs=effort.runs,
        pilot=effort.pilot,
        seed=effort.seed,
        relation=case.claim.relation,
    )
    realised, by = _realised(instance, case, bound, losses)
    verdict = _verdict(case, realised, bound, losses)
    return Row(
        algorithm=case.id,
        variant=case.variant,
        reading=case.reading,
        data=case.data,
        claimed=case.claim.epsilon,
        delta=case.claim.delta,
        relation=case.claim.relation,
        accounted=accounted,
        accounting=account.method,
        realised=realised,
        realised_by=by,
        verdict=verdict.value,
        why=_why(case, instance, account, realised, by, verdict, losses, bound),
        expected=verdict is not Verdict.VIOLATED or bool(case.known),
        findings=[str(finding) for finding in losses.findings],
        movements={label: movement.share for label, movement in losses.movements.items()},
        power=bound.power if isinstance(bound, SoundBound) else None,
        runs=effort.runs,
        confidence=effort.confidence,
        seed=effort.seed,
        seconds=time.perf_counter() - start,
        facts=instance.facts,
    )


def _realised(
    instance: Instance, case: Case, bound: SoundBound | AssumedEstimate, losses: Losses
) -> tuple[float | None, str]:
    """The largest sound lower bound there is, and what shows it."""
    bare = [finding for finding in losses.findings if finding.kind is Kind.BARE_RELEASE]
    # a bare value may come up too rarely to matter (a test that fails): the likelihood counts how often
    if math.isinf(bound.epsilon) and any(
        isinstance(bound, SoundBound) or not finding.given_secrets for finding in bare
    ):
        return math.inf, "replay"
    if instance.exact and instance.exact.at_infinity > case.claim.delta:
        return math.inf, "exact"
    if isinstance(bound, AssumedEstimate):
        return None, bound.assumption
    return bound.epsilon, "likelihood"


def _verdict(case: Case, realised: float | None, bound: SoundBound | AssumedEstimate, losses: Losses) -> Verdict:
    if realised is not None and realised > case.claim.epsilon:
        return Verdict.VIOLATED
    if any(finding.kind.leaks for finding in losses.findings):
        return Verdict.INCONCLUSIVE  # something leaks outside the accounting; how much was not shown
    return bound.verdict


def _why(
    case: Case,
    instance: Instance,
    account: Account,
    realised: float | None,
    by: str,
    verdict: Verdict,
    losses: Losses,
    bound: SoundBound | AssumedEstimate,
) -> str:
    """The cause, in one line."""
    parts = [case.known] if case.known else []
    if by == "exact" and instance.exact:
        exact = instance.exact
        parts.append(
            f"exact delta {exact.at_claim:.3g} at the claimed epsilon, {exact.at_infinity:.3g} whatever the epsilon"
        )
        parts.append(exact.how)
    found = [finding for finding in losses.findings if finding.kind.leaks]
    if found:
        parts.append("replay: " + "; ".join(f"{f.kind.value} ({f.label}, step {f.step})" for f in found[:3]))
    exceeded = [finding for finding in losses.findings if finding.kind.overshoots]
    if exceeded:
        parts.append(f"sensitivity exceeded at {exceeded[0].label}: {exceeded[0].detail}")
    accounted = account.epsilon(case.claim.delta)
    if accounted > case.claim.epsilon * (1 + 1e-6):
        parts.append(f"the releases add up to {accounted:.3g}, more than claimed")
    if realised is None:
        parts.append(f"no sound likelihood: {by}")
    elif verdict is not Verdict.VIOLATED:
        parts += _looseness(account, case.claim.delta, realised, losses.movements, bound)
    if verdict is Verdict.VIOLATED and not parts:
        parts.append("more is realised than claimed")
    return "; ".join(parts)


def _looseness(
    account: Account,
    delta: float,
    realised: float,
    movements: Mapping[str, Movement],
    bound: SoundBound | AssumedEstimate,
) -> list[str]:
    """How close the lower bound comes to the upper one, and what the gap is made of."""
    accounted = account.epsilon(delta)
    if not (math.isfinite(accounted) and accounted > 0):
        return []
    parts = [f"{realised / accounted:.0%} of the accounted epsilon shown"]
    if realised >= 0.95 * accounted:
        return parts
    short = moved_too_little(movements)
    if short:
        parts.append(short)
    if any(part.kind == "pure" for part, _ in account.common):
        parts.append("pure-DP parts are accounted at their worst case")
    one_way = account.one_direction(delta)
    if one_way is not None and one_way < 0.98 * accounted:
        parts.append(f"a pair that pulls one way at every step can show {one_way:.3g} at most")
    carried = bound.evidence.get("pilot estimate")
    if isinstance(carried, float) and math.isfinite(carried):
        parts.append(f"this pair carries about {carried:.3g} (pilot)")
    return parts


def moved_too_little(movements: Mapping[str, Movement]) -> str | None:
    """Which queries the pair moves by less than their sensitivity; what it does move is named first."""
    shares = sorted((movement.share, label) for label, movement in movements.items() if movement.claimed)
    still = [repr(label) for share, label in shares if share < 0.005]  # would read 0%
    moving = [(share, label) for share, label in shares if share >= 0.005]
    short = [(share, label) for share, label in moving if share < 0.95]
    if not (still or short):
        return None
    if not moving:
        return "the pair moves no query"
    named = [f"{label!r} by {share:.0%}" for share, label in (short or moving)]
    text = ", ".join(named[:3])
    if len(named) > 3:
        text += f" and {len(named) - 3} more" + (" by less than 95%" if short else "")
    text = f"the pair moves {text} of the claimed sensitivity"
    if still:
        text += f", {', '.join(still[:3])}{f' and {len(still) - 3} more' if len(still) > 3 else ''} not at all"
    return text
