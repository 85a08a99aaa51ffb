"""A program in any language as an algorithm: ``run(problem, schedule, tape)``, by the protocol of ``docs/live.md``.

Each world of a lockstep run needs a process of its own, because all of them stand in the middle of one case at once.
Processes are kept alive between cases: a pool hands out one that is idle, if possible one that was given the same
problem before, and starts another if there is none.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from greenlet import GreenletExit

from dpassay.audit.crosscheck.adapter import Result, results
from dpassay.audit.crosscheck.encode import encode
from dpassay.audit.crosscheck.recording import Diverged, VectorTape, asked
from dpassay.audit.running.programs import Process, ProgramBroken, ProgramEnded, close_all
from dpassay.reference.errors import BadInput, require
from dpassay.reference.tape import Tape

from .conversation import Conversation
from .messages import GREETING, VERSION, Malformed, ProgramRefused, ProgramUnsupported, read_line

MOST_PROCESSES = 128  # at once
TIMEOUT = 10.0  # seconds for one line
Vector = dict[str, Any]
_REMEMBERED = 8  # cases whose lines are kept, so that several worlds need not write them anew
_HELLO = b'{"dpassay": %d, "do": "hello"}\n' % VERSION
_AGAIN = b'{"dpassay": %d, "do": "again"}\n' % VERSION
_END = b'{"dpassay": %d, "do": "end"}\n' % VERSION


@dataclass(eq=False)
class _Worker:
    """A process, what it was given last, and whether it can be told "again"."""

    process: Process
    again: bool
    given: tuple[Any, Any] | None = None


class LiveProgram:
    """A program that speaks the live protocol, as a ``run(problem, schedule, tape)``.

    Args:
        command: program and arguments, as a text (split like a shell does; no shell is run) or a list.
        algorithm: what the program is told to run: an id of the catalogue.
        reading: of the schedule (``printed``, ``repaired``, ``baseline``).
        timeout: seconds for one line of the program.

    Raises:
        BadInput: a command that cannot be split, or a time-out that is none.
        ProgramBroken: by a run: the program does not keep to the protocol; every further run raises the same.
        ProgramEnded: by a run: the program ended within the case. The next run starts another.

    Example:
        >>> from dpassay.audit.live.program import LiveProgram
        >>> program = LiveProgram("./dp_sgd --live", "baselines/dp_sgd")
        >>> program.command
        ('./dp_sgd', '--live')

    Source: the project's own (``docs/live.md``).
    """

    def __init__(
        self, command: str | list[str], algorithm: str, reading: str = "", *, timeout: float = TIMEOUT
    ) -> None:
        self.command = split(command)
        self.name = command if isinstance(command, str) else shlex.join(command)
        self.algorithm, self.reading = algorithm, reading
        require(0 < timeout < 1e6, "--timeout", timeout, "must be positive")
        self.timeout = timeout
        self.__name__ = self.name
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._lines: list[tuple[Any, Any, bytes]] = []
        self._broken: ProgramBroken | None = None
        self._home = os.getpid()
        self.started = 0  # processes, in all

    @property
    def running(self) -> int:
        """Processes that are there now."""
        return len(self._idle) + len(self._busy)

    def __call__(self, problem: Any, schedule: Any, tape: Tape) -> Any:
        """Run the program on a problem; its output as JSON data."""
        if self._broken:
            raise self._broken
        if self._home != os.getpid():  # a copy in a forked worker: the processes are the parent's
            self._idle, self._busy, self._home = [], [], os.getpid()
        worker = self._worker(problem, schedule)
        self._busy.append(worker)
        talk, usable = Conversation(worker.process, tape), False
        try:
            output = talk.hold(self._case(worker, problem, schedule))
            usable = True
            return output
        except ProgramUnsupported:
            usable = True
            raise
        except ProgramBroken as error:
            self._broken = error
            raise
        except (GreenletExit, Exception) as error:  # the run was cut off; or refused: a query that is not finite, say
            usable = not isinstance(error, ProgramEnded) and talk.finish()
            raise
        finally:
            self._busy.remove(worker)
            if usable:
                self._idle.append(worker)
            else:
                worker.process.close()

    def _case(self, worker: _Worker, problem: Any, schedule: Any) -> bytes:
        given, worker.given = worker.given, (problem, schedule)
        if worker.again and given is not None and given[0] is problem and given[1] is schedule:
            return _AGAIN
        for one, other, line in self._lines:
            if one is problem and other is schedule:
                return line
        document = {
            "dpassay": VERSION,
            "do": "case",
            "algorithm": self.algorithm,
            "reading": self.reading,
            "problem": encode(problem),
            "schedule": encode(schedule),
        }
        line = json.dumps(document, allow_nan=False).encode() + b"\n"
        self._lines = [*self._lines[1 - _REMEMBERED :], (problem, schedule, line)]
        return line

    # -- processes ----------------------------------------------------------------------------------------
    def _worker(self, problem: Any, schedule: Any) -> _Worker:
        for number, worker in enumerate(self._idle):
            if worker.given is not None and worker.given[0] is problem and worker.given[1] is schedule:
                return self._idle.pop(number)
        if self._idle:
            return self._idle.pop(0)  # the one that has waited longest
        process = None
        try:
            if len(self._busy) >= MOST_PROCESSES:
                raise ProgramBroken(self.name, f"is needed {MOST_PROCESSES + 1} times at once, which is too often")
            process = Process(self.command, self.name, self.timeout)
            self.started += 1
            process.send(_HELLO)
            line = process.receive()
            try:
                greeting = read_line(line, GREETING)
            except Malformed as error:
                raise ProgramBroken(self.name, f"answered hello as follows: {error}{process.complaint}") from None
            if greeting.dpassay != VERSION:
                raise ProgramBroken(self.name, f"speaks version {greeting.dpassay} of the protocol, not {VERSION}")
            return _Worker(process, greeting.again)
        except ProgramEnded as error:
            self._broken = ProgramBroken(self.name, f"did not answer hello: {error}")
        except ProgramBroken as error:
            self._broken = error
        if process is not None:
            process.close()
        raise self._broken

    def close(self) -> None:
        """End all processes: those that wait for a case are told, and given a moment."""
        for worker in self._busy:
            worker.process.close()
        close_all([worker.process for worker in self._idle], _END)
        self._idle, self._busy = [], []

    def __enter__(self) -> LiveProgram:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.close()


# -- on test vectors: the reference's recorded values are the answers, what the program asks for is compared
def run_live(
    command: str, vectors: Iterable[Vector], *, float32: bool = False, timeout: float = TIMEOUT
) -> Iterator[Result]:
    """The program on these vectors, in order; its processes are kept from one to the next.

    Args:
        float32: it computes in single precision; vectors whose decisions are within rounding are not judged then.

    Raises:
        ProgramBroken: it does not keep to the protocol.
    """
    programs: dict[tuple[str, str], LiveProgram] = {}
    with ExitStack() as stack:

        def ask(vector: Vector) -> Vector:
            key = str(vector["algorithm"]), str(vector["reading"])
            if key not in programs:
                programs[key] = stack.enter_context(LiveProgram(command, *key, timeout=timeout))
            return answered(programs[key], vector)

        yield from results(ask, vectors, float32)


def answered(program: LiveProgram, vector: Vector) -> Vector:
    """What the program asks for on one vector, in the form of ``crosscheck.worker``.

    Raises:
        ProgramBroken: it does not keep to the protocol.
    """
    tape = VectorTape(vector["events"], refusing=vector["expect"] == "refused")
    try:
        output = program(vector["problem"], vector["schedule"], tape)
    except ProgramUnsupported as error:
        return {"kind": "unsupported", "text": error.why, "events": []}
    except ProgramBroken:
        raise
    except Diverged as error:
        return {"kind": "diverged", "text": str(error), "events": asked(tape), "output": None}
    except (BadInput, ProgramEnded, ProgramRefused) as error:
        return {"kind": "raised", "text": str(error), "events": asked(tape), "output": None}
    return {"kind": "returned", "output": output, "events": asked(tape)}


def split(command: str | list[str], option: str = "--program") -> tuple[str, ...]:
    """Program and arguments.

    Raises:
        BadInput: nothing, or quotes that do not close.
    """
    try:
        found = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise BadInput(option, command, str(error)) from None
    require(bool(found) and bool(found[0]), option, command, "names no program")
    return tuple(found)
