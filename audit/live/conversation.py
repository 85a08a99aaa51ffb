"""One case of a program: every line that it says becomes a call on a tape, and what the tape hands back is the answer.

The tape decides where values come from, as for an algorithm in Python: a recording, a script, or the hub of a lockstep
run, in which case the call switches to another world while this program waits for its line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
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
from .messages import (
    LAW_ASKS,
    QUERY,
    Malformed,
    Output,
    ProgramRefused,
    ProgramUnsupported,
    Refused,
    Unsupported,
    law_of,
    numbers,
    read_line,
)

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
            self._leave()
            said = self._next()
            if isinstance(said, Output):
                return said.output
            if isinstance(said, Unsupported):
                raise ProgramUnsupported(self._process.name, f"does not implement this case: {said.unsupported}")
            if isinstance(said, Refused):
                self._over = True
                raise ProgramRefused(said.refused)
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
                self._pending = read_line(self._process.receive(_PATIENCE))
                if isinstance(self._pending, Output):
                    return True
            if self._pending is None:
                return False
            self._tape, self._finishing, self._failure = LiveTape(0), True, None
            self._process.timeout = _PATIENCE
            for _ in range(_CUT_OFF):
                self._process.send(self._answer(self._pending))
                self._pending = self._next()
                if isinstance(self._pending, Output):
                    return True
        except (BadInput, ProgramEnded, Malformed):
            pass
        finally:
            self._process.timeout = timeout
        return False

    def _leave(self) -> None:
        """Where other worlds run beside this one, their programs may work while this one does."""
        if isinstance(self._tape, WorldTape):
            self._working = True
            self._tape.wait()
            self._working = False

    def _next(self, what: Any = None) -> Any:
        try:
            return read_line(self._process.receive(), what)
        except Malformed as error:
            raise ProgramBroken(self._process.name, f"{error}{self._process.complaint}") from None

    # -- calls --------------------------------------------------------------------------------------------
    def _answer(self, said: Any) -> bytes:
        if isinstance(said, messages.Batch | messages.Poisson | messages.Fresh):
            return _drawn(self._draw(said))
        return _value(_CALLS[type(said)](self, said))

    def _draw(self, said: Any) -> Batch:
        tape = self._tape
        if isinstance(said, messages.Batch):
            found = tape.batch(said.label, said.n, said.size)
        elif isinstance(said, messages.Poisson):
            found = tape.poisson(said.label, said.n, said.rate)
        else:
            found = tape.fresh(said.label, said.n, said.size, order=said.order)
        self._batches.append(found)
        return found

    def _of(self, said: Any) -> tuple[Batch, ...] | None:
        """The batches that a release depends on."""
        if self._finishing:
            return None
        for number in said.batches:
            if number >= len(self._batches):
                why = f"said that {said.label!r} depends on batch {number}; it has drawn {len(self._batches)} so far"
                raise ProgramBroken(self._process.name, why)
        return tuple(self._batches[number] for number in said.batches) or None

    def _array(self, value: Any, place: str) -> Any:
        try:
            return numbers(value, place)
        except Malformed as error:
            raise ProgramBroken(self._process.name, f"said {error}") from None

    def _gaussian(self, said: messages.Gaussian) -> Any:
        query = self._array(said.query, f"query of {said.label!r}")
        return self._tape.gaussian(said.label, query, std=said.std, sensitivity=said.sensitivity, batch=self._of(said))

    def _laplace(self, said: messages.Laplace) -> Any:
        query = self._array(said.query, f"query of {said.label!r}")
        return self._tape.laplace(
            said.label, query, scale=said.scale, sensitivity=said.sensitivity, batch=self._of(said)
        )

    def _law(self, said: Any) -> Any:
        return self._tape.release(said.label, law_of(said), sensitivity=said.sensitivity, batch=self._of(said))

    def _above_threshold(self, said: messages.AboveThreshold) -> Any:
        return self._tape.above_threshold(
            said.label,
            self._queries(said),
            threshold=said.threshold,
            threshold_scale=said.threshold_scale,
            query_scale=said.query_scale,
            sensitivity=said.sensitivity,
            count=said.count,
            falls=said.falls,
            batch=self._of(said),
        )

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
        found = self._array(self._next(QUERY).query, f"query {index} of {label!r}")
        if found.shape != ():
            raise ProgramBroken(self._process.name, f"said query {index} of {label!r} with shape {found.shape}")
        if not math.isfinite(found):
            self._failure = BadInput("query", float(found), "must be finite")
            return 0.0
        return float(found)

    def _random(self, said: messages.Random) -> Any:
        ask = self._tape.public if said.ask == "public" else self._tape.secret
        return ask(said.label, _drawer(said))

    def _noise(self, said: messages.Noise) -> Any:
        return self._tape.noise(said.label, said.std, _small(said.shape))

    def _reveal(self, said: messages.Reveal) -> Any:
        return self._tape.reveal(said.label, said.value)


_CALLS: dict[type, Callable[[Conversation, Any], Any]] = {
    messages.Gaussian: Conversation._gaussian,
    messages.Laplace: Conversation._laplace,
    messages.AboveThreshold: Conversation._above_threshold,
    **dict.fromkeys(LAW_ASKS, Conversation._law),
    messages.Random: Conversation._random,
    messages.Noise: Conversation._noise,
    messages.Reveal: Conversation._reveal,
}


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


def _drawn(batch: Batch) -> bytes:
    return b'{"batch": %d, "indices": %s}\n' % (batch.draw, json.dumps(batch.indices.tolist()).encode())


def _value(value: Any) -> bytes:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:  # what is not finite is a string, as in the program's lines
        text = json.dumps(plain(value))
    return b'{"value": %s}\n' % text.encode()
