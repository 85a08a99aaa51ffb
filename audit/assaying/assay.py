"""One row of the audit table: claimed, accounted and realised epsilon side by side, and why they are ordered so."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dpassay.audit.apparatus.checked import apparatus
from dpassay.audit.assaying.releases import releases_of, sequence_of
from dpassay.audit.certify.catalogue import certify_instance, states_records
from dpassay.audit.certify.certificate import Certificate, certify
from dpassay.audit.certify.tape import as_release
from dpassay.audit.evidence.assay import Assay as Assay
from dpassay.audit.phases import told
from dpassay.audit.plain_numpy.audited import assay_plain
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.plain_numpy.places import Doubtful, NotUnderstood
from dpassay.audit.plain_numpy.signature import is_plain
from dpassay.audit.results import AssumedEstimate
from dpassay.audit.row import NOT_RUN
from dpassay.audit.row import Effort as Effort
from dpassay.audit.row import Row as Row
from dpassay.audit.running.workers import rarely_collected, worked
from dpassay.audit.search.engine import search
from dpassay.audit.search.placing import bare_lines
from dpassay.audit.search.runner import Premises
from dpassay.audit.search.witness import Searched, Witness
from dpassay.audit.verdict import Verdict, judge, over_budget
from dpassay.reference import Pair, Space, account
from dpassay.reference.accounting.calibrate import Uncalibrated
from dpassay.reference.case import Case, Instance, PrivacyClaim, unscheduled
from dpassay.reference.errors import Broken, require
from dpassay.reference.findings import Kind
from dpassay.reference.transcript import Transcript

from . import row_fields
from .examine import LONG_RUN, Thrift, examine
from .why import without_bound
from .worst import chosen, with_exact_losses


def assay(
    run: Callable[..., Any],
    where: Space | Pair[Any],
    claim: PrivacyClaim,
    *,
    effort: Effort | None = None,
    thrift: Thrift | None = None,
) -> Assay:
    """Search, account, replay and audit an algorithm of yours, and judge its claim.

    Args:
        run: ``run(problem, tape) -> output``, or ``run(problem, schedule, tape)`` where the space makes schedules; what
            it releases goes through the tape, and so does all randomness. Or plain NumPy code, ``run(data, rng)``.
        where: the data that the claim covers (the likelihood audit then gets the worst pair that the search found), or
            one pair of neighbours (only the released values are searched then).
        claim: epsilon, delta and the neighbour relation.
        effort: how hard to look; default: 150 examples, 1,000 runs, confidence 95 %.
        thrift: where statistics may be saved, and the pair of neighbours of an earlier audit.

    Returns:
        An :class:`Assay`: the verdict, its cause, what is accounted and realised, the findings.

    Raises:
        BadInput: an effort or a claim that makes no sense, a run that changes its problem, or one that always raises.

    Example:
        >>> from dpassay.audit import Effort, assay
        >>> from dpassay.reference import Cite, Pair, PrivacyClaim
        >>> def noisy_sum(data, tape):
        ...     return tape.gaussian("sum", sum(data), std=2.0, sensitivity=1.0)
        >>> claim = PrivacyClaim(1.0, 1e-5, Cite("mine", "Theorem 1"))
        >>> found = assay(noisy_sum, Pair([0, 0], [0, 1], target=1), claim, effort=Effort(runs=200, pilot=100))
        >>> f"{found.verdict}: accounted {found.accounted:.2f}"
        'violated: accounted 1.99'

    Source: ``docs/auditor.md``, "What each audit assumes".
    """
    effort = effort or Effort()
    if isinstance(run, PlainMechanism) or is_plain(run):
        known = run if isinstance(run, PlainMechanism) else None
        plain = known or PlainMechanism(run, epsilon=claim.epsilon, delta=claim.delta)
        certificate = None
        if isinstance(where, Space) and where.schedule is None:
            certificate = certified(plain, where, claim.delta, effort.seed)
            told(f"{certificate}{' for all neighbours' if certificate.bounded else ''}; now neighbours are tried")
        thrift = replace(thrift or Thrift(close=True), calls=LONG_RUN)
        try:
            found = assay_plain(plain, where, claim, effort, partial(assay_on_tape, thrift=thrift))
        except NotUnderstood as error:
            if certificate is None or not certificate.bounded:
                raise
            if _within(certificate, claim.epsilon) and not isinstance(error, Doubtful):
                unread = _unread(certificate, claim, f"nothing was searched: {error.value}: {error.why.split(';')[0]}")
                if unread is not None:
                    return unread
            raise type(error)(error.field, error.value, f"{error.why}; {certificate} for all neighbours") from error
        return found if certificate is None else _with_certificate(found, certificate)
    return assay_on_tape(run, where, claim, effort, thrift)


def certified(plain: PlainMechanism, where: Space, delta: float, seed: int = 0) -> Certificate:
    """The certificate of plain code, which asks for its global names and for its line."""

    def run(data: Any, rng: Any) -> Any:
        return plain.once(data, rng, kept_only=True)

    run.__wrapped__ = plain.mechanism  # type: ignore[attr-defined]
    return certify(run, where, delta=delta, seed=seed)


def _with_certificate(found: Assay, certificate: Certificate) -> Assay:
    """The verdict with the upper bound beside it; where the apparatus is wrong, so is that bound, and none is added."""
    if any(one.kind is Kind.APPARATUS for one in found.findings):
        return found
    if certificate.epsilon is not None and found.realised is not None and found.realised > certificate.epsilon:
        raise Broken(
            f"realised {found.realised:.4g} is more than certified {certificate.epsilon:.4g}: an error of dpassay, or "
            "the chance that its lower bound leaves; please report it with the code"
        )
    words = [found.why] if certificate.bounded else [found.why, str(certificate)]
    if found.read_as is not None and certificate.epsilon is not None:
        words.reverse()  # of code that somebody wrote, what nothing bounds is said first
    why = "; ".join(words)
    if certificate.decides and found.verdict in (Verdict.CONSISTENT, Verdict.TIGHT):
        why = f"{certificate}; no two neighbours were found that it tells apart; {found.why}"
        return replace(found, certificate=certificate, verdict=Verdict.INCONCLUSIVE, why=why)
    if found.verdict.failed or not _within(certificate, found.claimed):
        return replace(found, certificate=certificate, why=why)
    why = _for_all(certificate)
    ended = "; ".join(filter(None, (found.searched.note, without_bound(found) if found.realised is None else "")))
    more = found.why if found.read_as is None else ended
    why = f"{why}; {more}" if more else why
    return replace(found, certificate=certificate, verdict=Verdict.CERTIFIED, why=why)


def _unread(certificate: Certificate, claim: PrivacyClaim, why: str) -> Assay | None:
    """What is certified, of code in which nothing can be searched; None where secret batches take part.

    What releases declare is what they are certified for, and the apparatus is held to its description as everywhere.
    """
    if any(-1 not in one.draws for one in certificate.releases):  # -1 stands for the whole data
        return None
    releases = [as_release(one, number, claim.relation) for number, one in enumerate(certificate.releases)]
    transcript = Transcript(events=[*releases])
    cost = account(transcript, claim.relation)
    broken = apparatus(transcript, cost, claim.delta)
    return Assay(
        verdict=judge(claimed=claim.epsilon, accounted=None, findings=broken) if broken else Verdict.CERTIFIED,
        why="; ".join([*map(str, broken), _for_all(certificate), why]),
        claimed=claim.epsilon,
        delta=claim.delta,
        account=cost,
        accounted=cost.epsilon(claim.delta),
        realised=None,
        by=NOT_RUN,
        findings=tuple(broken),
        movements={},
        bound=AssumedEstimate(epsilon=0.0, delta=claim.delta, confidence=0.5, method="none", assumption=why),
        searched=Searched(note=why),
        transcript=transcript,
        certificate=None if broken else certificate,
    )


def _within(certificate: Certificate, claimed: float) -> bool:
    return certificate.epsilon is not None and not over_budget(certificate.epsilon, claimed)


def _for_all(certificate: Certificate) -> str:
    count = len(certificate.releases)
    return f"certified for all neighbours, with {certificate.sizes}; {count} release{'s' * (count != 1)}"


def assay_on_tape(
    run: Callable[..., Any],
    where: Space | Pair[Any],
    claim: PrivacyClaim,
    effort: Effort,
    thrift: Thrift | None = None,
    premises: Premises | None = None,
) -> Assay:
    """:func:`assay` of what runs on a tape; ``premises`` as for `search`."""
    thrift = thrift or Thrift()
    calls = 2 * thrift.calls * effort.examples or None  # that all examples may make; None: as many as of any search
    if isinstance(where, Pair):
        given = Instance(unscheduled(run), None, where)
        searched = _search_pair(given, claim, effort, premises=premises, calls=calls)
    else:
        require(effort.examples >= 1, "effort.examples", effort.examples, "a space needs a search")
        of_the_space = f"the space is for {where.relation} neighbours"
        require(claim.relation == where.relation, "relation", claim.relation, of_the_space)
        searched = search(run, where, claim, examples=effort.examples, seed=effort.seed, premises=premises, calls=calls)
    if isinstance(run, PlainMechanism):
        run.settle(searched.shares)
        searched.measured = bool(searched.shares)
        # draws that may hide a leak: then outputs are to show it, however the code is read
        seen = run.noticed
        thrift = replace(thrift, leaks=not (seen.public or seen.alone or seen.again or seen.picked))
    if isinstance(where, Space):
        worst = chosen(searched.worst, run, where, thrift.pair)
        worst = searched.worst = with_exact_losses(worst, run, where)
        given = Instance(unscheduled(worst.mechanism), None, worst.pair)
    return examine(given, claim, effort, searched, thrift=thrift, own=True)


_OF_A_PAIR = 3  # a pair without a space has only its released values to search: this part of the examples will do


def _search_pair(instance: Instance, claim: PrivacyClaim, effort: Effort, **how: Any) -> Searched:
    """The search of the released values on the pair of an instance."""
    if effort.examples < 1:
        return Searched()
    few = max(1, effort.examples // _OF_A_PAIR)
    return search(instance.mechanism, instance.pair, claim, examples=few, seed=effort.seed, **how)


def search_case(case: Case, instance: Instance, effort: Effort, known: Sequence[Witness] = ()) -> Searched:
    """The search of a case of the catalogue: its space, its own pairs first; without a space, its pair.

    The schedule of the instance is used where the space makes none. What the search misses for a reason that the case
    gives is set apart.
    """
    if case.space is None or effort.examples < 1:
        searched = _search_pair(instance, case.claim, effort, known=known)
    else:
        space, seed = case.space(), effort.seed
        run = instance.mechanism if space.schedule is None else instance.run
        pairs = [(instance.mechanism, pair) for pair in (instance.pair, *instance.others)]
        searched = search(run, space, case.claim, examples=effort.examples, seed=seed, explicit=pairs, known=known)
    searched.coverage = searched.coverage.explained_by(case.unreached)
    return searched


def about_run(algorithm: str, space: str, claim: PrivacyClaim) -> dict[str, str | float]:
    """What a witness says was run."""
    return {
        "algorithm": algorithm,
        "space": space,
        "epsilon": claim.epsilon,
        "delta": claim.delta,
        "relation": claim.relation,
    }


def assay_case(
    case: Case, effort: Effort, thrift: Thrift | None = None, known: Sequence[Witness] = (), elsewhere: bool = False
) -> Row:
    """One case of the catalogue as a row of the table, held to what it declares.

    Args:
        thrift: as for `assay`.
        known: witnesses of earlier searches, which are tried first.
        elsewhere: the code runs in another process, where no value can be followed: no certificate.
    """
    start = time.perf_counter()
    try:
        instance = case.build()
    except Uncalibrated as error:
        made = bare_lines(error.finding.label, case.build) if error.finding is not None else ()
        return row_fields.unbuilt_row(case, effort, error, time.perf_counter() - start, made)
    searched = search_case(case, instance, effort, known)
    found = examine(instance, case.claim, effort, searched, case.known, thrift or Thrift())
    if states_records(instance.pair.here) and not elsewhere:
        found = _with_certificate(found, certify_instance(instance, case.claim, found.transcript, case.unreached))
    return Row(
        **row_fields.of_case(case),
        **row_fields.of_effort(effort, time.perf_counter() - start),
        **row_fields.of_shown(found.shown, set(case.declared)),
        **row_fields.of_assay(found, instance.run, about_run(case.key, "", case.claim), effort),
        facts=instance.facts,
        releases=releases_of(found.transcript),
        sequence=sequence_of(found.transcript),
    )


def run_suite(
    cases: Sequence[Case],
    effort: Effort,
    jobs: int,
    done: Sequence[Row] = (),
    each: Callable[[Row], None] = lambda _: None,
    known: Mapping[str, Sequence[Witness]] | None = None,
) -> list[Row]:
    """Assay all cases that are not ``done``; rows in the order of ``cases`` whatever the number of workers.

    ``each`` is called as soon as a row is finished (for progress and for saving).

    Args:
        jobs: worker processes on this machine.
        known: witnesses of earlier audits by the key of their case, which its search tries first.

    Raises:
        Broken: a case does not build or its algorithm raises; the finished rows have been handed to ``each``.
    """
    kept = {row.key: row for row in done}
    rows = {position: kept[case.key] for position, case in enumerate(cases) if case.key in kept}
    todo = [(position, case) for position, case in enumerate(cases) if position not in rows]
    tried = known or {}
    words = [(position, case, effort, tried.get(case.key, ())) for position, case in todo]
    for position, row in worked(_numbered, words, 1 if len(todo) < 2 else jobs):
        rows[position] = row
        each(row)
    return [rows[position] for position in range(len(cases))]


def _numbered(position: int, case: Case, effort: Effort, known: Sequence[Witness]) -> tuple[int, Row]:
    try:
        with rarely_collected():
            return position, assay_case(case, effort, Thrift(close=True), known)
    except (MemoryError, Broken):
        raise
    except Exception as error:
        raise Broken.at(case.key, error) from error
