"""One case of a program: every line that it says becomes a call on a tape, and what the tape hands back is the answer.

The tape decides where values come from, as for an algorithm in Python: a recording, a script, or the hub of a lockstep
run, in which case the call switches to another world while this program waits for its line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dpassay.audit.lockstep.worlds import WorldTape
from dpassay.audit.plain import plain
from dpassay.audit.running import programs
from dpassay.audit.running.programs import Process, ProgramBroken, ProgramEnded
from dpassay.reference.errors import BadInput
from dpassay.reference.tape import LiveTape, Tape
from dpassay.reference.transcript import Batch

from . import messages
from .messages import Malformed

MOST_CALLS = 100_000  # of one case
_CUT_OFF = 200  # calls that a run which was cut off may still make before its program is ended instead
_PATIENCE = 0.2  # seconds for each of them


class Conversation:
    """The harness's side of one case.

    Args:
        process: waits for a case.
        tape: where values come from.
    """

    def __init__(self, process: Process, tape: Tape) -> None:
        self._process, self._tape = process, tape
        self._batches: list[Batch] = []
        self._failure: Exception | None = None  # in a query that somebody else asked for
        self._pending: Any = None  # the ask that waits for its answer
        self._over = False  # the program waits for a case
        self._working = False  # the program is at work, and nobody waits for it yet
        self._finishing = False  # the run was cut off: any answer will do

    def hold(self, case: bytes) -> Any:
        """Send the case, answer until its output comes, and return that.

        Raises:
            ProgramUnsupported: the program does not know the algorithm or the problem.
            ProgramBroken: a line that the protocol does not know, or a limit.
            ProgramEnded: the program ended before its output.
            ProgramRefused: it says that its input is bad.
            BadInput: a call that no tape takes (a query that is not finite, a batch larger than the data).
        """
        self._process.budget = programs.MOST_CASE
        self._process.send(case)
        for _ in range(MOST_CALLS):
            if isinstance(self._tape, WorldTape):  # the programs of other worlds may work while this one does
                self._working = True
                self._tape.wait()
                self._working = False
            said = self._next()
            if isinstance(said, messages.Output):
                return said.output
            if isinstance(said, messages.Unsupported):
                why = f"does not implement this case: {said.unsupported}"
                raise messages.ProgramUnsupported(self._process.name, why)
            if isinstance(said, messages.Refused):
                self._over = True
                raise messages.ProgramRefused(said.refused)
            self._pending = said
            value = self._answer(said)
            self._pending = None
            if self._failure:
                raise self._failure
            self._process.send(value)
        raise ProgramBroken(self._process.name, f"made more than {MOST_CALLS} calls in one case")

    def finish(self) -> bool:
        """After a run that was cut off: answer anything until the case ends; False where it does not end soon."""
        if self._over:
            return True
        timeout = self._process.timeout
        try:
            if self._working:
                self._pending = messages.read_line(self._process.receive(_PATIENCE))
                if isinstance(self._pending, messages.Output):
                    return True
            if self._pending is None:
                return False
            self._tape, self._finishing, self._failure = LiveTape(0), True, None
            self._process.timeout = _PATIENCE
            for _ in range(_CUT_OFF):
                self._process.send(self._answer(self._pending))
                self._pending = self._next()
                if isinstance(self._pending, messages.Output):
                    return True
        except (BadInput, ProgramEnded, Malformed):
            pass
        finally:
            self._process.timeout = timeout
        return False

    def _next(self, what: Any = None) -> Any:
        try:
            return messages.read_line(self._process.receive(), what)
        except Malformed as error:
            raise ProgramBroken(self._process.name, f"{error}{self._process.complaint}") from None

    # -- calls --------------------------------------------------------------------------------------------
    def _answer(self, said: Any) -> bytes:
        """An ask has the name of a method of the tape, and its fields are named as the arguments."""
        how = {name: getattr(said, name) for name in type(said).model_fields}
        ask: Any = getattr(self._tape, how.pop("ask"), self._tape.release)  # a law has no method of its own
        if isinstance(said, messages.Batch | messages.Poisson | messages.Fresh):
            found = ask(**how)
            self._batches.append(found)
            return b'{"batch": %d, "indices": %s}\n' % (found.draw, json.dumps(found.indices.tolist()).encode())
        if "batches" in how:
            how["batch"] = self._of(how.pop("batches"), said.label)
        if isinstance(said, messages.LAW_ASKS):
            value = ask(said.label, messages.law_of(said), sensitivity=said.sensitivity, batch=how["batch"])
        elif isinstance(said, messages.Random):
            value = ask(said.label, _drawer(said))
        else:
            if isinstance(said, messages.AboveThreshold):
                how["queries"] = self._queries(said)
            elif isinstance(said, messages.Noise):
                how["shape"] = _small(said.shape)
            elif "query" in how:
                how["query"] = self._array(said.query, f"query of {said.label!r}")
            value = ask(**how)
        value = value.tolist() if isinstance(value, np.ndarray) else value
        return b'{"value": %s}\n' % json.dumps(plain(value), allow_nan=False).encode()

    def _of(self, draws: Sequence[int], label: str) -> tuple[Batch, ...] | None:
        """The batches that a release depends on."""
        if self._finishing:
            return None
        for number in draws:
            if number >= len(self._batches):
                why = f"said that {label!r} depends on batch {number}; it has drawn {len(self._batches)} so far"
                raise ProgramBroken(self._process.name, why)
        return tuple(self._batches[number] for number in draws) or None

    def _array(self, value: Any, place: str) -> Any:
        try:
            return messages.numbers(value, place)
        except Malformed as error:
            raise ProgramBroken(self._process.name, f"said {error}") from None

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
        self._process.send(b'{"query": %d}\n' % index)
        found = self._array(self._next(messages.QUERY).query, f"query {index} of {label!r}")
        if found.shape != ():
            raise ProgramBroken(self._process.name, f"said query {index} of {label!r} with shape {found.shape}")
        if not math.isfinite(found):
            self._failure = BadInput("query", float(found), "must be finite")
            return 0.0
        return float(found)


def _small(shape: list[int]) -> tuple[int, ...]:
    """A shape that somebody else chose, if it is not too large."""
    if math.prod(shape) > 10**6:
        raise BadInput("shape", shape, "holds more than 1e6 numbers")
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
