"""Programs on the live protocol as what is audited: in place of a case's reference, or on data of one's own.

At first each is probed: has it an outcome, and is that a function of data and tape, whatever runs beside it?
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpassay.audit.assaying.assay import assay_case
from dpassay.audit.assaying.examine import Thrift
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.lockstep.outcome import caught
from dpassay.audit.plain_numpy.audited import random_rows
from dpassay.audit.row import Effort, Row
from dpassay.audit.running.programs import ProgramBroken, ProgramEnded
from dpassay.audit.search.ground import AllOf, Data, Setting
from dpassay.reference import LiveTape, Space
from dpassay.reference.case import Case, Instance, PrivacyClaim, bind
from dpassay.reference.catalogue import CASES
from dpassay.reference.equality import same
from dpassay.reference.errors import require
from dpassay.reference.laws.law import Law
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.transcript import Release, Transcript

from .own import row_of

BESIDE = 20  # runs in the midst of one; with secret batches not every one has the record that differs


def probe(mechanism: Run[Any], pair: Pair[Any], name: str) -> None:
    """A program that ends early whatever the data are has no outcome to judge; nor has one that remembers.

    Args:
        mechanism: the program with its schedule bound in; it raises what it raises.
        name: the command, for messages.

    Raises:
        ProgramBroken: it ends early on both sides, or the same data and tape do not give the same run again: after a
            run on other data, or with one in its midst. In lockstep its processes stand in the midst of their cases
            together, and what they share (a file with a fixed name) would make neighbours look alike.
    """
    runs = [_run(mechanism, problem) for problem in (pair.here, pair.there, pair.here)]
    ends = [output for _, output in runs if isinstance(output, ProgramEnded)]
    if len(ends) == len(runs):
        raise ProgramBroken(name, ends[0].how)
    different = _difference(runs[0], runs[2])
    if different:
        why = f"is no function of data and tape: run again, {different} is another; it remembers, or draws by itself"
        raise ProgramBroken(name, why)
    beside = _run(mechanism, pair.here, _Beside(lambda seed: _run(mechanism, pair.there, LiveTape(seed))))
    different = _difference(runs[0], beside)
    if different:
        why = f"is no function of data and tape: with runs on other data in its midst, {different} is another"
        raise ProgramBroken(name, f"{why}; its processes share something, a file perhaps")


class _Beside(LiveTape):
    """A live tape that runs something else before it answers a release."""

    def __init__(self, other: Callable[[int], Any]):
        super().__init__(0)
        self._other, self._count = other, 0

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        self._count += 1
        if self._count <= BESIDE:
            self._other(self._count)
        return super()._released(label, law, sensitivity, draws)


def _run(mechanism: Run[Any], problem: Any, tape: LiveTape | None = None) -> tuple[Transcript, Any]:
    tape = tape or LiveTape(0)
    try:
        return tape.transcript, mechanism(problem, tape)
    except ProgramBroken:
        raise
    except Exception as error:
        return tape.transcript, error


def _difference(one: tuple[Transcript, Any], other: tuple[Transcript, Any]) -> str:
    """What of a run is not as it was; empty if nothing is."""
    for a, b in zip(one[0].events, other[0].events, strict=False):
        if type(a) is not type(b) or a.label != b.label:
            return f"call {a.label!r}"
        if isinstance(a, Release) and isinstance(b, Release):  # of AboveThreshold: the queries that were needed
            public = a.law.public_difference(b.law) is None and a.sensitivity == b.sensitivity
            if not public or not a.law.agrees(b.law) or (a.law.query is None and a.law.distance(b.law) != 0):
                return f"release {a.label!r}"
    if len(one[0].events) != len(other[0].events):
        return "the number of calls"
    failed = isinstance(one[1], Exception) or isinstance(other[1], Exception)
    alike = type(one[1]) is type(other[1]) if failed else same(one[1], other[1])
    return "" if alike else "the output"


def audited(case: Case, program: LiveProgram, effort: Effort) -> Row:
    """The row of a case of the catalogue, run by a program in place of the reference.

    Every finding counts, whatever the paper's own pseudocode is known to do.

    Raises:
        ProgramBroken: the program does not keep to the protocol, ends early whatever the data are, or is no function of
            data and tape.
    """
    instance = case.build()
    probe(bind(program, instance.schedule), instance.pair, program.name)
    run_by = replace(case, build=partial(with_program, case, program), known="", declared=())
    return replace(_by_program(assay_case(run_by, effort, elsewhere=True), program), code="")


def _by_program(row: Row, program: LiveProgram) -> Row:
    """The row, with the command in its witnesses."""
    witnesses = [one | {"about": one["about"] | {"program": program.name}} for one in row.witnesses]
    return replace(row, reading="program", witnesses=witnesses)


def with_program(case: Case, program: LiveProgram) -> Instance:
    """The instance of a case with the program in place of the reference."""
    return replace(case.build(), run=partial(caught, program), exact=None)  # exact: of the reference's own output


def on_tape(program: LiveProgram, where: Space | Pair[Any]) -> Callable[..., Any]:
    """``run(problem, schedule, tape)`` where the space makes schedules, else ``run(problem, tape)``.

    Without a schedule the program is told ``null``. That it ends early is an outcome of the run, as an exception is.
    """
    ends = partial(caught, program)
    scheduled = isinstance(where, Space) and where.schedule is not None
    run: Callable[..., Any] = ends if scheduled else lambda problem, tape: ends(problem, None, tape)
    if not scheduled:
        run.__name__ = program.name
    return run


def checked(program: LiveProgram, where: Space | Pair[Any]) -> Callable[..., Any]:
    """:func:`on_tape`, after a first look at the program.

    Raises:
        ProgramBroken: it does not keep to the protocol, ends early whatever the data are, or is no function of data
            and tape.
    """
    if isinstance(where, Pair):
        setting = Setting(bind(program, None), where)
    else:  # neighbours of the smallest sizes
        ground = AllOf(program if where.schedule is not None else bind(program, None), where)
        sizes = ground.combinations[0]
        rows = random_rows(where, sizes, sizes["n"] + 1, np.random.default_rng(0))
        setting = ground.setting(Data(sizes, rows[:-1], rows[-1], 0))
    probe(setting.mechanism, setting.pair, program.name)
    return on_tape(program, where)


def own_program(
    program: LiveProgram, name: str, where: Space, claim: PrivacyClaim, effort: Effort, thrift: Thrift | None = None
) -> Row:
    """The audit of a program on a space of one's own, as a row.

    Args:
        name: MODULE:SPACE, as the user named the space.

    Raises:
        ProgramBroken: as :func:`checked`.
    """
    return _by_program(row_of(program.algorithm, checked(program, where), where, name, claim, effort, thrift), program)


def space_of(program: LiveProgram) -> Space | Pair[Any] | None:
    """The data of the one case of the catalogue that the program is told to run; None where it is told another name.

    Raises:
        BadInput: several cases of that name have data of their own.
    """
    found = [one for one in CASES if one.id == program.algorithm and program.reading in ("", one.reading)]
    if not found:
        return None
    keys = ", ".join(one.key for one in found[:6])
    why = f"names {len(found)} cases ({keys}): return (program, space)"
    require(len(found) == 1, "program", program.algorithm, why)
    (case,) = found
    return case.space() if case.space else case.build().pair
