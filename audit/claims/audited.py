"""One claim of the file as a row: the algorithm is searched, accounted and audited; outputs and scores are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from dpassay.audit.assaying.assay import assay_case
from dpassay.audit.assaying.scarce import Thrift
from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.row import Effort, Row
from dpassay.audit.subjects.own import open_space, own_row, row_of
from dpassay.audit.subjects.programs import audited as run_by_program
from dpassay.audit.subjects.programs import on_tape, own_program
from dpassay.audit.subjects.subject import Subject, subjects
from dpassay.audit.verdict import Verdict
from dpassay.reference.case import Case, PrivacyClaim
from dpassay.reference.errors import BadInput, require
from dpassay.reference.space import Space

from .model import Algorithm, Claim, Program
from .stored import judged_row

PER_PAIR = ("accounted", "realised", "upper_limit")  # kept for every claimed pair, among the facts of the row


def audited(claim: Claim, folder: Path, confidence: float, pair: Mapping[str, Any] | None = None) -> Row:
    """The verdict on one claim, and all that led to it.

    Args:
        folder: of the claims file; data files are named relative to it.
        confidence: of the claim's lower bounds, all of them together.
        pair: the neighbours on which the lock was made.

    Raises:
        BadInput: what the claim names cannot be used.
    """
    if isinstance(claim, Algorithm):
        row = algorithm_row(claim, confidence, pair or {})
    else:
        row = judged_row(claim, folder, confidence)
    return named(row, claim)


def named(row: Row, claim: Claim) -> Row:
    """The row under the name of the claim, with what is said about it."""
    return replace(row, claim=claim.name, owner=claim.owner, severity=claim.severity, cite=claim.cite)


def algorithm_row(claim: Algorithm, confidence: float, pair: Mapping[str, Any]) -> Row:
    """The worst of the rows at the claimed pairs; they share the level."""
    subject = resolve(claim)
    each = 1 - (1 - confidence) / len(claim.pairs)
    rows = [_at(claim, subject, PrivacyClaim(*one), each, pair) for one in claim.pairs]
    order = list(Verdict)
    worst = min(rows, key=lambda row: order.index(Verdict(row.verdict)))
    if len(rows) == 1:
        return worst
    held = ", ".join(f"({epsilon:.4g}, {delta:.0e})" for epsilon, delta in claim.pairs)
    facts = dict(worst.facts)
    for row in rows:
        for name in PER_PAIR:
            value = getattr(row, name)
            facts[f"{name} at delta {row.delta!r}"] = "none" if value is None else value
    where = f"at ({worst.claimed:.4g}, {worst.delta:.0e}), one of {held}"
    return replace(worst, why=f"{where}: {worst.why}", facts=facts, seconds=sum(row.seconds for row in rows))


def resolve(claim: Algorithm) -> Subject:
    """The one algorithm that a claim names.

    Raises:
        BadInput: none, or more than one; or it is for other neighbours.
    """
    if isinstance(claim, Program) and claim.space is not None:
        return _of_its_own(claim)
    found = subjects(claim.algorithm, space=claim.space, relation=claim.relation if is_code(claim.algorithm) else None)
    if found[0].case is None:
        _plain_name(claim)
        return found[0]
    kept = [one for one in found if one.case and claim.reading in (None, one.case.reading)]
    require(bool(kept), "reading", claim.reading, f"{claim.algorithm} has no such reading")
    kept = [one for one in kept if one.case and claim.variant in (None, one.case.variant)]
    require(bool(kept), "variant", claim.variant, f"{claim.algorithm} has no such variant")
    keys = ", ".join(one.key for one in kept[:6])
    require(len(kept) == 1, "algorithm", claim.algorithm, f"names {len(kept)} cases; a claim is about one: {keys}")
    (subject,) = kept
    assert subject.claim is not None
    why = f"the pair of {subject.key} is of {subject.claim.relation} neighbours"
    require(claim.relation in (None, subject.claim.relation), "relation", claim.relation, why)
    if claim.sizes and subject.case:
        space_at(subject.case, claim.sizes)
    return subject


def _of_its_own(claim: Program) -> Subject:
    """A program with a space of one's own: what it is told is its name."""
    _plain_name(claim)
    program = LiveProgram(claim.program, claim.algorithm, timeout=claim.timeout)  # nothing is started yet
    where = open_space(claim.space, claim.relation)
    return Subject(claim.algorithm, on_tape(program, where), where)


def _plain_name(claim: Algorithm) -> None:
    for field in ("reading", "variant", "sizes"):
        value = getattr(claim, field)
        require(not value, field, value, f"is for names of the catalogue, not for {claim.algorithm}")


def _at(claim: Algorithm, subject: Subject, stated: PrivacyClaim, confidence: float, pair: Mapping[str, Any]) -> Row:
    effort, thrift = claim.effort_at(confidence), Thrift(statistics=True, pair=pair)
    if subject.case is not None:
        assert subject.claim is not None
        held = replace(stated, cite=subject.claim.cite, relation=subject.claim.relation)
        case = replace(subject.case, claim=held, declared=(), known="")
        if claim.sizes:
            return row_at(case, claim.sizes, held, effort, thrift)
        if isinstance(claim, Program):
            with LiveProgram(claim.program, case.id, case.reading, timeout=claim.timeout) as program:
                return run_by_program(case, program, effort)
        return assay_case(case, effort, thrift)
    assert isinstance(subject.where, Space)
    relation = subject.where.relation
    if isinstance(claim, Program):
        with LiveProgram(claim.program, claim.algorithm, timeout=claim.timeout) as program:
            held = replace(stated, relation=relation)
            return own_program(program, claim.space or "", subject.where, held, effort, thrift)
    try:
        row, _ = own_row(subject.key, claim.space, replace(stated, relation=relation), effort, thrift)
    except BadInput as error:
        if error.field == "run":  # says what the algorithm raised
            raise BadInput("algorithm", claim.algorithm, f"{error.value}: {error.why}") from None
        raise
    return row


def space_at(case: Case, sizes: Mapping[str, int]) -> Space:
    """The space of a case with these sizes; those that are not named keep the values that are tried.

    A case knows which of the sizes that it tries go together. Where all are named, its schedule is asked instead.

    Raises:
        BadInput: the case knows no such size, or has no schedule for them.
    """
    if case.space is None:
        raise BadInput("sizes", dict(sizes), f"{case.key} has one pair of neighbours and no other sizes")
    space = case.space()
    for name in sizes:
        require(name in space.sizes, f"sizes.{name}", sizes[name], f"{case.key} has the sizes {', '.join(space.sizes)}")
    at = replace(space, sizes={**space.sizes, **{name: (value,) for name, value in sizes.items()}})
    if len(sizes) == len(space.sizes):
        at = replace(at, fits=lambda _: True)
        try:
            if at.schedule:
                at.schedule(sizes)
        except Exception as error:  # of a schedule that was written for other sizes
            raise BadInput("sizes", dict(sizes), f"{case.key} has no schedule for them: {error}") from None
        return at
    every = (dict(zip(at.sizes, values, strict=True)) for values in product(*at.sizes.values()))
    why = f"go with none of the other sizes that {case.key} tries: name all of {', '.join(space.sizes)}"
    require(any(at.fits(one) for one in every), "sizes", dict(sizes), why)
    return at


def row_at(
    case: Case, sizes: Mapping[str, int], stated: PrivacyClaim, effort: Effort, thrift: Thrift | None = None
) -> Row:
    """The audit of a case at these sizes, on the worst neighbours that the search finds there.

    Raises:
        BadInput: as :func:`space_at`.
    """
    instance, where = case.build(), space_at(case, sizes)
    run = instance.mechanism if where.schedule is None else instance.run
    row, _ = row_of(case.key, run, where, "", stated, effort, thrift)
    told = ", ".join(f"{name} = {value}" for name, value in sizes.items())
    return replace(row, algorithm=case.id, variant=case.variant, reading=case.reading, data=told)
