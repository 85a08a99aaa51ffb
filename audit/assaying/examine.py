"""One instance examined: accounted, replayed, audited by its likelihood, and judged with what its search found.

Statistics are the expensive part, and not always needed: where the claim has failed without them, there may be none.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from dpassay.audit.apparatus.checked import apparatus
from dpassay.audit.blackbox.detect import epsilon_of_outputs
from dpassay.audit.evidence.assay import Assay
from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.curve import curves
from dpassay.audit.likelihood.samplers import LockstepSampler, Losses
from dpassay.audit.phases import TIME_IS_UP, TimeIsUp, time_is_up
from dpassay.audit.results import AssumedEstimate, SoundBound
from dpassay.audit.row import Effort
from dpassay.audit.running.programs import ProgramBroken
from dpassay.audit.search.runner import one_line
from dpassay.audit.search.witness import Searched
from dpassay.audit.verdict import TIGHT_SHARE, judge, over_budget
from dpassay.reference import Account, BadInput, LiveTape, account
from dpassay.reference.case import Instance, PrivacyClaim
from dpassay.reference.equality import same
from dpassay.reference.findings import Kind, merge
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.transcript import Note, Transcript

from .why import why

_CLOSE = 0.95  # of what the run is accounted at: a bound that shows so much is left as it is
_NO_TIME = f"not made: {TIME_IS_UP}"
MOST = 50_000_000  # calls of the tape in all runs of one likelihood audit: hours
LONG_RUN = 16  # calls of plain code, whose every call costs a millisecond: a run of more stands for several
_RUNS, _PILOT = 60, 50  # of long runs: they show about 93 % of what a thousand show


@dataclass(frozen=True)
class Thrift:
    """What an audit may save, and what it knows from an earlier one.

    Args:
        statistics: no likelihood audit where the search or the account fails the claim.
        close: it stops once it shows nearly all of a run that keeps to the claim; of own code that does not, the claim.
        pair: rows, sizes and target of the neighbours that an earlier audit used; used again unless the search finds
            neighbours that are clearly worse; one that does not fit the space is left aside.
        calls: of the tape for each run of the effort; where runs make more, there are fewer. 0: there never are.
        account: what the releases add up to is asked for alone: no likelihood audit.
        leaks: where runs make more, none is measured once something leaks (but a noise scale, or what secret choices
            may cover).
    """

    statistics: bool = False
    close: bool = False
    pair: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 0
    account: bool = False
    leaks: bool = False


def examine(
    instance: Instance,
    claim: PrivacyClaim,
    effort: Effort,
    searched: Searched,
    known: str = "",
    thrift: Thrift = Thrift(),
    own: bool = False,
) -> Assay:
    """Account and replay the longest run, audit its likelihood, add what the search found, and judge.

    Args:
        known: what the case says of itself.
        own: nobody says which of its runs is the longest, so what is accounted is the most of all runs of the search.
    """
    transcript, cost, stopped = spent(instance, claim, searched)
    broken = apparatus(transcript, cost, claim.delta)  # first: statistics believe it, and may raise where it is wrong
    seen, calls = replace(searched, findings=[*searched.findings, *broken]), len(transcript.events)
    failed = fails(claim, seen, cost)
    bound, losses = statistics(instance, claim, effort, seen, cost, thrift, calls, stopped, own, failed)
    realised, by = largest_realised(instance, claim, effort, bound, losses)
    if own and searched.gap and not cost.unknown:  # a longer run could not be accounted: no run bounds it
        cost = Account((), relation=claim.relation, gap=searched.gap, unknown=True)
    accounted, largest = cost.epsilon(claim.delta), searched.account
    larger = searched.measured or (searched.accounted or 0.0) > accounted
    if own and largest is not None and not cost.unknown and larger:
        cost = largest
    highest = max(accounted, searched.accounted or 0.0)  # what the releases of any run add up to at most
    findings = list(losses.findings)
    merge(findings, [finding for finding in searched.findings if not finding.kind.of_the_run])
    if searched.measured:  # the search has accounted each pair by its own movements
        findings = [one for one in findings if one.kind is not Kind.SENSITIVITY_EXCEEDED]
        accounted = highest = max(searched.accounted or 0.0, realised or 0.0) if not cost.unknown else accounted
    merge(findings, broken)
    idle = untested(instance, transcript, losses) if len(losses.loss) and by != "outputs" else ""
    found = Assay(
        verdict=judge(
            claimed=claim.epsilon,
            realised=realised,
            power=bound.power if isinstance(bound, SoundBound) else None,
            accounted=None if cost.unknown else highest,
            findings=findings,
            untested=idle or (f"not accounted: {cost.gap}" if cost.unknown else ""),
        ),
        why="",
        claimed=claim.epsilon,
        delta=claim.delta,
        account=cost,
        accounted=highest if own else accounted,
        realised=realised,
        by=by,
        findings=tuple(findings),
        movements=losses.movements,
        bound=bound,
        searched=searched,
        transcript=transcript,
        curves=curves(losses, cost, claim.epsilon, claim.delta, effort.confidence),
        stopped=stopped,
    )
    return replace(found, why=why(found, known, highest, instance.exact, idle))


def statistics(
    instance: Instance,
    claim: PrivacyClaim,
    effort: Effort,
    searched: Searched,
    cost: Account,
    thrift: Thrift,
    calls: int,
    stopped: str,
    own: bool,
    failed: bool,
) -> tuple[SoundBound | AssumedEstimate, Losses]:
    """The likelihood audit of an instance, or none.

    Args:
        calls: of the tape in its longest run.
        stopped: why there is none, if that run has shown it.
        failed: does the claim fail without it?

    Raises:
        Exception: whatever a run raises, unless the claim has failed without the likelihood audit.
    """
    if stopped or time_is_up() or thrift.account:
        return _none(claim, effort, stopped or _NO_TIME)
    if thrift.calls:
        share = min(1.0, thrift.calls / max(1, calls))
        runs, pilot = max(_RUNS, round(share * effort.runs)), max(_PILOT, round(share * effort.pilot))
        effort = replace(effort, runs=min(effort.runs, runs), pilot=min(effort.pilot, pilot))
    runs = effort.runs + effort.pilot
    if calls * runs > MOST:
        return _none(claim, effort, f"not made: a run makes {calls} calls of the tape, {runs} runs more than {MOST}")
    leaks = [one for one in searched.findings if one.kind.leaks and one.kind is not Kind.NOISE_SCALE]
    shown = thrift.leaks and thrift.calls < calls and not all(one.given_secrets for one in leaks)
    if shown or (thrift.statistics and failed):
        return _none(claim, effort, "not made: what the search or the account shows fails the claim already")
    if searched.worst is not None and searched.worst.lonely and not searched.findings:
        others = "what is released depends on which other records were drawn; without any"
        return _none(claim, effort, f"not made: {others} there is a bound: add 1 to the n of --space")
    enough = math.nextafter(claim.epsilon, math.inf) if thrift.close and own else None
    if thrift.close and not cost.unknown and not searched.findings:
        enough = max(_CLOSE * cost.epsilon(claim.delta), TIGHT_SHARE * claim.epsilon)
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
        if isinstance(error, ProgramBroken) or not failed:
            raise
        return _none(claim, effort, f"not made: a run raised {one_line(error)}")


def fails(claim: PrivacyClaim, searched: Searched, cost: Account) -> bool:
    """Does what the search or the account shows fail the claim? Measured movements are added up by the search alone."""
    accounted = max(0.0 if searched.measured else cost.epsilon(claim.delta), searched.accounted or 0.0)
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

    transcript, error = instance.longest_run(enough=None if searched.measured else enough)
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


def largest_realised(
    instance: Instance, claim: PrivacyClaim, effort: Effort, bound: SoundBound | AssumedEstimate, losses: Losses
) -> tuple[float | None, str]:
    """The largest sound lower bound there is, and what shows it; outputs are asked where nothing else refutes."""
    bare = [finding for finding in losses.findings if finding.kind is Kind.BARE_RELEASE]
    # a bare value may come up too rarely to matter (a test that fails): the likelihood counts how often
    if math.isinf(bound.epsilon) and any(isinstance(bound, SoundBound) or not one.given_secrets for one in bare):
        return math.inf, "replay"
    if instance.exact and instance.exact.at_infinity > claim.delta:
        return math.inf, "exact"
    refuted = isinstance(bound, SoundBound) and bound.epsilon > claim.epsilon
    leaves = any(finding.kind in (Kind.OUTPUT, Kind.REVEALED_VALUE) for finding in losses.findings)
    if leaves and len(losses.loss) and not refuted:
        found = epsilon_of_output(
            instance.mechanism,
            instance.pair,
            claim.delta,
            samples=effort.runs,
            confidence=effort.confidence,
            seed=effort.seed,
        )
        if found is not None and found > claim.epsilon:
            return found, "outputs"
    return (bound.epsilon, "likelihood") if isinstance(bound, SoundBound) else (None, bound.assumption)


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


_OUTPUTS = 0.1  # share of the error that is allowed: the number of the outputs comes on top of the likelihood's


def epsilon_of_output(
    run: Run[Any], pair: Pair[Any], delta: float, *, samples: int, confidence: float, seed: int
) -> float | None:
    """A lower bound of epsilon from fresh outputs alone; None where they cannot be compared as numbers.

    Where neighbours hand out different outputs for the same released values, the account says nothing. An adversary who
    sees the claimed output, and not the releases, gains this much; what was revealed on the way is part of it.
    """
    sides = []
    for side, problem in enumerate((pair.here, pair.there)):
        found = []
        for number in range(samples):
            tape = LiveTape(np.random.SeedSequence([seed, 12, side, number]))
            output = run(problem, tape)
            notes = [event for event in tape.transcript.events if isinstance(event, Note)]
            found.append(numbers_of([output, *(one.value for one in notes if one.kind == "reveal")]))
        sides.append(found)
    if not all(isinstance(one, list) and len(one) == len(sides[0][0] or ()) > 0 for side in sides for one in side):
        return None
    table, other = map(np.array, sides)
    try:
        rng = np.random.default_rng([seed, 11])
        return epsilon_of_outputs(table, other, delta, rng, 1 - _OUTPUTS * (1 - confidence)).epsilon
    except BadInput:  # too few outputs, or none that is finite
        return None


def numbers_of(output: Any) -> list[float] | None:
    """All numbers of an output, in order; None where it holds something else."""
    if isinstance(output, bool | int | float | np.generic | np.ndarray):
        array = np.asarray(output)
        return [float(one) for one in array.ravel()] if array.dtype.kind in "fiub" else None
    if is_dataclass(output) and not isinstance(output, type):
        output = [getattr(output, field.name) for field in fields(output)]
    if isinstance(output, dict):
        output = [output[key] for key in sorted(output, key=str)]
    if not isinstance(output, list | tuple):
        return None
    parts = [numbers_of(one) for one in output]
    return None if any(part is None for part in parts) else [one for part in parts if part is not None for one in part]
