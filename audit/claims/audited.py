"""The claims of a file audited, in parallel; each row is there as soon as it is finished."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from dpassay.audit.assaying.assay import assay_case
from dpassay.audit.assaying.examine import Thrift
from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.phases import reporting, time_left
from dpassay.audit.row import Row
from dpassay.audit.running.workers import worked
from dpassay.audit.subjects.own import open_own, open_space, own_row
from dpassay.audit.subjects.programs import audited as run_by_program
from dpassay.audit.subjects.programs import on_tape, own_program
from dpassay.reference import Space, find
from dpassay.reference.case import Case, PrivacyClaim
from dpassay.reference.errors import BadInput, Broken, require

from .model import Claim, ClaimsFile, Lines


def chosen(file: ClaimsFile, only: Sequence[str]) -> list[int]:
    """Positions of the claims with these names (``*`` stands for anything), if each has some; of all without names."""
    names = [one.name for one in file.claim]
    found = {pattern: {n for n, name in enumerate(names) if fnmatchcase(name, pattern)} for pattern in only}
    for pattern, numbers in found.items():
        require(bool(numbers), "--only", pattern, f"is the name of no claim; there are {', '.join(names[:20])}")
    return sorted(set().union(*found.values())) if only else list(range(len(names)))


def placed(error: BadInput, number: int, claim: Claim, lines: Lines) -> BadInput:
    """An error with the claim that it is about."""
    return BadInput(lines.where(number, error.field.removeprefix("--"), claim.name), error.value, error.why)


def run_claims(
    file: ClaimsFile,
    numbers: Sequence[int],
    lines: Lines,
    jobs: int,
    pairs: Mapping[int, Mapping[str, Any]],
    each: Callable[[int, Row], None],
    ended: Callable[[str], None],
) -> dict[int, BadInput | Broken]:
    """Make the rows of these claims in the time that is left; ``each`` is handed one as soon as it is finished.

    By position: the ``pairs`` of the lock, which are audited again, and what the claims that could not be run ended in:
    one of them costs no other its row.
    """
    until = time.monotonic() + time_left()  # the clock is the same for all processes
    todo = ((one, file.claim[one], file.confidence, pairs.get(one, {}), sys.path, until) for one in numbers)
    errors: dict[int, BadInput | Broken] = {}
    for number, answer in worked(_answer, todo, min(jobs, max(1, len(numbers)))):
        if isinstance(answer, BadInput):
            errors[number] = placed(answer, number, file.claim[number], lines)
        elif isinstance(answer, Broken):
            errors[number] = answer
        else:
            each(number, answer)
        ended(file.claim[number].name)
    return dict(sorted(errors.items()))


def _answer(
    number: int, claim: Claim, confidence: float, pair: Mapping[str, Any], path: Sequence[str], until: float
) -> tuple[int, Row | BadInput | Broken]:
    sys.path += [one for one in path if one not in sys.path]  # of the process that asked
    try:
        with reporting(seconds=until - time.monotonic()):
            return number, audited(claim, confidence, pair)
    except (BadInput, Broken) as error:
        return number, error
    except (MemoryError, OSError):
        raise
    except Exception as error:
        return number, Broken.at(f"claim {claim.name}", error)


def audited(claim: Claim, confidence: float, pair: Mapping[str, Any]) -> Row:
    """The row of one claim, with this confidence of its lower bound, on the neighbours of the lock if it has some."""
    subject, stated = resolve(claim), PrivacyClaim(claim.epsilon, claim.delta)
    effort, thrift = claim.effort_at(confidence), Thrift(statistics=True, close=True, pair=pair)
    if subject.case is not None:
        held = replace(stated, cite=subject.case.claim.cite, relation=subject.case.claim.relation)
        case = replace(subject.case, claim=held, declared=(), known="")
        if claim.program is None:
            return named(assay_case(case, effort, thrift), claim)
        with LiveProgram(claim.program, case.id, case.reading, timeout=claim.timeout) as program:
            return named(run_by_program(case, program, effort), claim)
    assert subject.where is not None
    held = replace(stated, relation=subject.where.relation)
    if claim.program is not None:
        with LiveProgram(claim.program, claim.algorithm, timeout=claim.timeout) as program:
            return named(own_program(program, claim.space or "", subject.where, held, effort, thrift), claim)
    try:
        return named(own_row(subject.key, claim.space, held, effort, thrift), claim)
    except BadInput as error:
        if error.field == "run":  # says what the algorithm raised
            raise BadInput("algorithm", claim.algorithm, f"{error.value}: {error.why}") from None
        raise


def named(row: Row, claim: Claim) -> Row:
    """The row under the name of the claim, with what is said about it."""
    return replace(row, claim=claim.name, owner=claim.owner, severity=claim.severity, cite=claim.cite)


class Subject(NamedTuple):
    """The algorithm that a claim names: its key, how it is run, the data that the claim covers, or its case."""

    key: str
    run: Callable[..., Any]
    where: Space | None
    case: Case | None = None


def resolve(claim: Claim) -> Subject:
    """The one algorithm that a claim names; BadInput if it names none or several, or one for other neighbours."""
    if claim.program is not None and claim.space is not None:  # what it is told is its name
        program = LiveProgram(claim.program, claim.algorithm, timeout=claim.timeout)  # nothing is started yet
        where = open_space(claim.space, claim.relation)
        return Subject(claim.algorithm, on_tape(program, where), where)
    if is_code(claim.algorithm):
        return Subject(claim.algorithm, *open_own(claim.algorithm, claim.space, claim.relation))
    why = f"is for an algorithm of your own; {claim.algorithm} has its own"
    require(claim.space is None, "space", claim.space, why)
    found = find(claim.algorithm)
    keys = ", ".join(one.key for one in found[:6])
    require(len(found) == 1, "algorithm", claim.algorithm, f"names {len(found)} cases; a claim is about one: {keys}")
    (case,) = found
    why = f"the pair of {case.key} is of {case.claim.relation} neighbours"
    require(claim.relation in (None, case.claim.relation), "relation", claim.relation, why)
    return Subject(case.key, case.build().run, None, case)
