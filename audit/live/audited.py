"""The audit of a program: the case's space, schedule and claim, with the program in place of the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from dpassay.audit.assaying.assay import assay_case
from dpassay.audit.lockstep.outcome import Raised
from dpassay.audit.row import Effort, Row
from dpassay.reference.case import Case, Instance, bind
from dpassay.reference.tape import Tape

from .errors import ProgramBroken
from .probe import probe
from .program import LiveProgram


def audited(case: Case, program: LiveProgram, effort: Effort, declared: bool = False) -> Row:
    """The row of a case of the catalogue, run by a program in place of the reference.

    Args:
        declared: the program is meant to be this printed reading: it is held to what the reading declares. Without,
            every finding counts, whatever the paper's own pseudocode is known to do.

    Raises:
        ProgramBroken: the program does not keep to the protocol, ends early whatever the data are, or is no function of
            data and tape.
    """
    instance = case.build()
    probe(bind(program, instance.schedule), instance.pair, program.name)
    ours = by_program(case, program)
    if not declared:
        ours = replace(ours, known="", declared=())
    row = assay_case(ours, effort)
    about = {"program": program.name}
    witnesses = [one | {"about": one["about"] | about} for one in row.witnesses]
    return replace(row, reading="program", witnesses=witnesses, code="")


def to_its_end(program: Callable[..., Any], problem: Any, schedule: Any, tape: Tape) -> Any:
    """A run whose exceptions are its outcome: a neighbour that ends otherwise is a finding, not the audit's end."""
    try:
        return program(problem, schedule, tape)
    except ProgramBroken:
        raise
    except Exception as error:
        return Raised(type(error).__name__, f"{type(error).__name__}: {' '.join(str(error).split())}")


def by_program(case: Case, program: LiveProgram) -> Case:
    """The case with the program in place of the reference."""
    return replace(case, build=partial(with_program, case, program))


def with_program(case: Case, program: LiveProgram) -> Instance:
    """The instance of a case with the program in place of the reference."""
    return replace(case.build(), run=partial(to_its_end, program), exact=None)  # exact: of the reference's own output
