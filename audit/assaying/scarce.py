"""The likelihood audit of an instance, or none: statistics are the expensive part, and not always needed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler, Losses
from dpassay.audit.phases import TIME_IS_UP, TimeIsUp, time_is_up
from dpassay.audit.results import AssumedEstimate, SoundBound
from dpassay.audit.row import Effort
from dpassay.audit.running.programs import ProgramBroken
from dpassay.audit.search.runner import one_line
from dpassay.audit.search.witness import Searched
from dpassay.audit.verdict import TIGHT_SHARE, judge, over_budget
from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.case import Instance, PrivacyClaim
from dpassay.reference.transcript import Transcript

_NO_TIME = f"not made: {TIME_IS_UP}"
MOST = 50_000_000  # calls of the tape in all runs of one likelihood audit: hours
LONG_RUN = 20  # calls of plain code, whose every call costs a millisecond: a run of more stands for several
_RUNS, _PILOT = 60, 50  # of long runs: they show about 93 % of what a thousand show


@dataclass(frozen=True)
class Thrift:
    """What an audit may save, and what it knows from an earlier one.

    Args:
        statistics: no likelihood audit where the search or the account fails the claim; and it stops as soon as its
            bound decides: at the claim, or, where the account adds up to no more than that, where it is tight.
        decided: the likelihood audit stops as soon as its bound decides, likewise; none is left out.
        pair: rows, sizes and target of the neighbours that an earlier audit used; used again unless the search finds
            neighbours that are clearly worse.
        calls: of the tape for each run of the effort; where runs make more, there are fewer. 0: there never are.

    Raises:
        Nothing: a pair that does not fit the space is left aside.

    Example:
        >>> from dpassay.audit.assaying.scarce import Thrift
        >>> Thrift(statistics=True).pair
        {}

    Source: the project's own (``docs/claims.md``).
    """

    statistics: bool = False
    decided: bool = False
    pair: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 0


def statistics(
    instance: Instance,
    claim: PrivacyClaim,
    effort: Effort,
    searched: Searched,
    cost: Account,
    thrift: Thrift | None,
    calls: int,
    stopped: str = "",
) -> tuple[SoundBound | AssumedEstimate, Losses]:
    """The likelihood audit of an instance, or none.

    Args:
        calls: of the tape in its longest run.
        stopped: why there is none, if that run has shown it.

    Raises:
        Exception: whatever a run raises, unless the claim has failed without the likelihood audit.
    """
    if stopped or time_is_up():
        return _none(claim, effort, stopped or _NO_TIME)
    if thrift is not None and thrift.calls:
        share = min(1.0, thrift.calls / max(1, calls))
        runs, pilot = max(_RUNS, round(share * effort.runs)), max(_PILOT, round(share * effort.pilot))
        effort = replace(effort, runs=min(effort.runs, runs), pilot=min(effort.pilot, pilot))
    runs = effort.runs + effort.pilot
    if calls * runs > MOST:
        why = f"not made: a run makes {calls} calls of the tape, {runs} runs more than {MOST}"
        return _none(claim, effort, why)
    enough = None
    if thrift is not None and (thrift.statistics or thrift.decided):
        if thrift.statistics and fails(claim, searched, cost):
            return _none(claim, effort, "not made: what the search or the account shows fails the claim already")
        known = not cost.unknown and not searched.findings
        enough = TIGHT_SHARE * claim.epsilon if known else math.nextafter(claim.epsilon, math.inf)
    try:
        return audit_likelihood(
            LockstepSampler(instance.mechanism, instance.pair),
            claim.delta,
            claimed=claim.epsilon,
            confidence=effort.confidence,
            runs=effort.runs,
            pilot=effort.pilot,
            seed=effort.seed,
            relation=claim.relation,
            enough=enough,
        )
    except TimeIsUp:
        return _none(claim, effort, _NO_TIME)
    except Exception as error:
        if isinstance(error, ProgramBroken) or not fails(claim, searched, cost):
            raise
        return _none(claim, effort, f"not made: a run raised {one_line(error)}")


def fails(claim: PrivacyClaim, searched: Searched, cost: Account) -> bool:
    """Does what the search or the account shows fail the claim."""
    accounted = max(cost.epsilon(claim.delta), searched.accounted or 0.0)
    return judge(
        claimed=claim.epsilon, power=1.0, accounted=None if cost.unknown else accounted, findings=searched.findings
    ).failed


def spent(instance: Instance, claim: PrivacyClaim, searched: Searched) -> tuple[Transcript, Account, str]:
    """The run that spends the most, what it costs, and why it was not finished (empty if it was).

    Raises:
        Exception: what the run raises, unless the claim has failed without it.
    """
    stopped = ""

    def enough(so_far: Transcript) -> bool:
        nonlocal stopped
        cost = account(so_far, claim.relation)
        if not cost.unknown and over_budget(cost.epsilon(claim.delta), claim.epsilon):
            most = f"the run that costs the most was stopped after {len(so_far.events)} calls"
            stopped = f"not made: {most}, as they cost more than is claimed"
        return bool(stopped)

    transcript, error = instance.longest_run(enough=enough)
    cost = account(transcript, claim.relation)
    if error is not None:
        if isinstance(error, ProgramBroken) or not fails(claim, searched, cost):
            raise error
        stopped = f"not made: a run raised {one_line(error)}"
    return transcript, cost, stopped


def _none(claim: PrivacyClaim, effort: Effort, because: str) -> tuple[AssumedEstimate, Losses]:
    estimate = AssumedEstimate(
        epsilon=0.0,
        delta=claim.delta,
        confidence=effort.confidence,
        method="none",
        assumption=because,
        relation=claim.relation,
    )
    return estimate, Losses(np.zeros(0), np.zeros((0, 1)))
