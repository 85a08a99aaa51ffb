"""A program in any language as an algorithm: ``run(problem, schedule, tape)``, by the protocol of ``docs/live.md``.

Each world of a lockstep run needs a process of its own, because all of them stand in the middle of one case at once.
Processes are kept alive between cases: the next case gets one that is idle, if possible one that was given the same
problem before, and another is started if there is none.

Every line that a program says becomes a call on a tape, and what the tape hands back is the answer. The tape decides
where values come from, as for an algorithm in Python: a recording, a script, or the hub of a lockstep run, in which
case the call switches to another world while this program waits for its line.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from typing import Any

import numpy as np
from greenlet import GreenletExit

from dpassay.audit.crosscheck.adapter import Result, Vector, answer, results
from dpassay.audit.crosscheck.encoding import encode
from dpassay.audit.lockstep.worlds import WorldTape
from dpassay.audit.plain import plain
from dpassay.audit.running import programs
from dpassay.audit.running.programs import Process, ProgramBroken, ProgramEnded, close_all
from dpassay.reference.errors import BadInput, require
from dpassay.reference.tape import LiveTape, Tape
from dpassay.reference.transcript import Batch

from . import messages
from .messages import GREETING, VERSION, Malformed, ProgramRefused, ProgramUnsupported, read_line

MOST_PROCESSES = 128  # at once: a world for each fresh batch, and a program may draw thousands
MOST_CALLS = 100_000  # of one case
TIMEOUT = 10.0  # seconds for one line
_CUT_OFF = 200  # calls that a run which was cut off may still make before its program is ended instead
_PATIENCE = 0.2  # seconds for each of them


def _line(do: str, **more: Any) -> bytes:
    """A line of the harness that asks for something to be done."""
    return json.dumps({"dpassay": VERSION, "do": do, **more}, allow_nan=False).encode() + b"\n"


class LiveProgram(AbstractContextManager["LiveProgram"]):
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
        try:
            self.command = tuple(shlex.split(command) if isinstance(command, str) else command)
        except ValueError as error:
            raise BadInput("--program", command, str(error)) from None
        require(any(self.command[:1]), "--program", command, "names no program")
        self.name = command if isinstance(command, str) else shlex.join(command)
        self.algorithm, self.reading = algorithm, reading
        require(0 < timeout < 1e6, "--timeout", timeout, "must be positive")
        self.timeout = timeout
        self.__name__ = self.name
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._broken: ProgramBroken | None = None
        self.started = 0  # processes, in all

    def __call__(self, problem: Any, schedule: Any, tape: Tape) -> Any:
        """Run the program on a problem; its output as JSON data."""
        if self._broken:
            raise self._broken
        worker, usable = self._worker(problem, schedule), False
        self._busy.append(worker)
        try:
            output = worker.hold(self._case(worker, problem, schedule), tape)
            usable = True
            return output
        except (ProgramUnsupported, ProgramRefused):
            usable = True
            raise
        except ProgramBroken as error:
            self._broken = error
            raise
        except (GreenletExit, Exception) as error:  # the run was cut off; or refused: a query that is not finite, say
            usable = not isinstance(error, ProgramEnded) and worker.finish()
            raise
        finally:
            self._busy.remove(worker)
            if usable:
                self._idle.append(worker)
            else:
                worker.process.close()

    def _case(self, worker: Worker, problem: Any, schedule: Any) -> bytes:
        if worker.again and worker.has(problem, schedule):
            return _line("again")
        worker.given = problem, schedule
        told = {"problem": encode(problem), "schedule": encode(schedule)}
        return _line("case", algorithm=self.algorithm, reading=self.reading, **told)

    # -- processes ----------------------------------------------------------------------------------------
    def _worker(self, problem: Any, schedule: Any) -> Worker:
        """One that waits, if possible with the same problem, else the one that has waited longest; or a new one."""
        if not self._idle:
            return self._started()
        worker = next((one for one in self._idle if one.has(problem, schedule)), self._idle[0])
        self._idle.remove(worker)
        return worker

    def _started(self) -> Worker:
        process = None
        try:
            if len(self._busy) >= MOST_PROCESSES:
                raise ProgramBroken(self.name, f"is needed {MOST_PROCESSES + 1} times at once, which is too often")
            process = Process(self.command, self.name, self.timeout)
            self.started += 1
            process.send(_line("hello"))
            greeting = heard(process, GREETING, 'answered hello, and not with {"dpassay": 1}: ')
            if greeting.dpassay != VERSION:
                raise ProgramBroken(self.name, f"speaks version {greeting.dpassay} of the protocol, not {VERSION}")
            return Worker(process, greeting.again)
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
        close_all([worker.process for worker in self._idle], _line("end"))
        self._idle, self._busy = [], []

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.close()


def heard(process: Process, what: Any = None, before: str = "") -> Any:
    """The next message of a program, of the type ``what``; ProgramBroken where the protocol does not know it."""
    try:
        return read_line(process.receive(), what)
    except Malformed as error:
        raise ProgramBroken(process.name, f"{before}{error}{process.complaint}") from None


class Worker:
    """A process of a program that waits for a case, and the harness's side of the case; may it be told ``again``?"""

    def __init__(self, process: Process, again: bool) -> None:
        self.process, self.again = process, again
        self.given: tuple[Any, Any] = (None, None)  # problem and schedule of its last case

    def has(self, problem: Any, schedule: Any) -> bool:
        """It was given these last."""
        return self.given[0] is problem and self.given[1] is schedule

    def hold(self, case: bytes, tape: Tape) -> Any:
        """Send the case, answer from the tape until its output comes, and return that.

        Raises:
            ProgramUnsupported: the program does not know the algorithm or the problem.
            ProgramBroken: a line that the protocol does not know, or a limit.
            ProgramEnded: the program ended before its output.
            ProgramRefused: it says that its input is bad.
            BadInput: a call that no tape takes (a query that is not finite, a batch larger than the data).
        """
        self._tape = tape
        self._batches: list[Batch] = []
        self._failure: Exception | None = None  # in a query that somebody else asked for
        self._pending: Any = None  # the ask that waits for its answer; None: the program is at work
        self.process.budget = programs.MOST_CASE
        self.process.send(case)
        return self._to_its_end(MOST_CALLS)

    def finish(self) -> bool:
        """After a run that was cut off: answer anything until the case ends; False where it does not end soon."""
        self._tape, self._failure = LiveTape(0), None
        timeout, self.process.timeout = self.process.timeout, _PATIENCE
        with suppress(BadInput, ProgramEnded, ProgramRefused):
            self._to_its_end(_CUT_OFF)
            self.process.timeout = timeout
            return True
        return False

    def _to_its_end(self, calls: int) -> Any:
        for _ in range(calls):
            if isinstance(self._tape, WorldTape) and self._pending is None:
                self._tape.wait()  # the programs of other worlds may work while this one does
            said = self._pending = self._pending or heard(self.process)
            if isinstance(said, messages.Output):
                return said.output
            if isinstance(said, messages.Unsupported):
                raise ProgramUnsupported(self.process.name, f"does not implement this case: {said.unsupported}")
            if isinstance(said, messages.Refused):
                raise ProgramRefused(said.refused)
            value = self._answer(said)
            if self._failure:
                raise self._failure
            self._pending = None
            self.process.send(value)
        raise ProgramBroken(self.process.name, f"made more than {calls} calls in one case")

    # -- calls --------------------------------------------------------------------------------------------
    def _answer(self, said: Any) -> bytes:
        """An ask that is no law has the name of a method of the tape, and its fields are named as the arguments."""
        how = {name: getattr(said, name) for name in type(said).model_fields if name != "ask"}
        if "batches" in how:
            how["batch"] = self._of(how.pop("batches"), said.label)
        if isinstance(said, messages.LAW_ASKS):
            law = messages.law_of(said)
            value = self._tape.release(said.label, law, sensitivity=said.sensitivity, batch=how["batch"])
        elif isinstance(said, messages.Random):
            value = getattr(self._tape, said.ask)(said.label, _drawer(said))
        else:
            if isinstance(said, messages.AboveThreshold):
                how["queries"] = self._queries(said)
            elif isinstance(said, messages.Noise):
                how["shape"] = _small(said.shape)
            value = getattr(self._tape, said.ask)(**how)
        if isinstance(value, Batch):
            self._batches.append(value)
            return b'{"batch": %d, "indices": %s}\n' % (value.draw, json.dumps(value.indices.tolist()).encode())
        value = value.tolist() if isinstance(value, np.ndarray) else value
        return b'{"value": %s}\n' % json.dumps(plain(value), allow_nan=False).encode()

    def _of(self, draws: Sequence[int], label: str) -> tuple[Batch, ...] | None:
        """The batches that a release depends on."""
        for number in draws:
            if number >= len(self._batches):
                why = f"said that {label!r} depends on batch {number}; it has drawn {len(self._batches)} so far"
                raise ProgramBroken(self.process.name, why)
        return tuple(self._batches[number] for number in draws) or None

    def _queries(self, said: messages.AboveThreshold) -> Iterator[float]:
        """Each query is asked for when somebody needs it: the tape, or the hub that compares it with the neighbour's.

        What fails then is this run's end, not that of whoever asked: it is raised where the run goes on. Once the
        index is released, the program has gone on, and can be asked no more.
        """
        for index in range(said.count):
            if self._pending is not said:
                return
            found = 0.0
            try:
                if not self._failure:
                    found = self._query(index, said.label)
            except ProgramEnded as error:
                self._failure = error
            yield found

    def _query(self, index: int, label: str) -> float:
        self.process.send(b'{"query": %d}\n' % index)
        found = heard(self.process, messages.QUERY).query
        if found.shape != ():
            raise ProgramBroken(self.process.name, f"said query {index} of {label!r} with shape {found.shape}")
        if not math.isfinite(found):
            self._failure = BadInput("query", float(found), "must be finite")
            return 0.0
        return float(found)


def _small(shape: list[int]) -> tuple[int, ...]:
    """A shape that somebody else chose, if it is not too large."""
    require(math.prod(shape) <= 10**6, "shape", shape, "holds more than 1e6 numbers")
    return tuple(shape)


def _drawer(said: messages.Random) -> Callable[[np.random.Generator], Any]:
    """The distribution that the program named."""
    shape = _small(said.shape)

    def draw(rng: np.random.Generator) -> Any:
        if said.draw == "normal":
            return rng.normal(size=shape)
        if said.draw == "uniform":
            return rng.uniform(size=shape)
        if said.draw == "integers":
            return rng.integers(said.below, size=shape)
        if said.draw == "permutation":
            return rng.permutation(_small([said.below])[0])
        direction = rng.normal(size=shape)
        direction = direction / np.linalg.norm(direction.ravel())
        length = rng.uniform() ** (1 / max(1, direction.size)) if said.draw == "ball" else 1.0
        return said.radius * length * direction

    return draw


# -- on test vectors: the reference's recorded values are the answers, what the program asks for is compared
def run_live(
    command: str, vectors: Iterable[Vector], *, float32: bool = False, timeout: float = TIMEOUT
) -> Iterator[Result]:
    """The program on these vectors, in order; its processes are kept from one to the next.

    ``float32``: it computes in single precision; vectors whose decisions are within rounding are not judged then.
    """
    programs: dict[tuple[str, str], LiveProgram] = {}
    with ExitStack() as stack:

        def ask(vector: Vector) -> Vector:
            key = str(vector["algorithm"]), str(vector["reading"])
            if key not in programs:
                programs[key] = stack.enter_context(LiveProgram(command, *key, timeout=timeout))
            run = partial(programs[key], vector["problem"], vector["schedule"])
            return answer(run, vector, (BadInput, ProgramEnded, ProgramRefused))

        yield from results(ask, vectors, float32)
