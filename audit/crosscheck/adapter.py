"""Another implementation, in Python or called from it, on all vectors: one process beside this one, with a time limit.

The adapter is ``run(case, tape) -> output``. It cannot stop the campaign: what it prints is not read, what it raises
is an outcome, and where it does not answer in time its process is ended and a new one goes on with the next vector.
The process runs this file, ``python -m dpassay.audit.crosscheck.adapter MODULE:FUNCTION``: it reads a vector a line,
and writes a line of what was asked and returned.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from dpassay.audit.inputs.foreign import load_callable
from dpassay.audit.lockstep.outcome import NotJudged
from dpassay.audit.running.programs import MOST_CASE, Process, ProgramBroken, ProgramEnded
from dpassay.audit.running.workers import end_with
from dpassay.reference.errors import BadInput, printable

from .differences import Difference, compare, unstated
from .encoding import encode
from .recording import Diverged, VectorTape, events_of

Outcome = Literal["pass", "fail", "unsupported", "error"]
LIMIT = 60.0  # seconds for one vector
STARTING = 120.0  # seconds until the adapter is loaded
Vector = dict[str, Any]
Ends = tuple[type[BaseException], ...]
HIDDEN = ("events", "output", "rounding", "expect", "why", "float32", "seed", "flags")  # would give the answer away


@dataclass(frozen=True)
class Result:
    """What became of one vector."""

    id: str
    algorithm: str
    outcome: Outcome
    message: str
    flags: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    unstated: int = 0  # sensitivities that the adapter did not give
    seconds: float = 0.0
    answers: Vector = field(default_factory=dict, repr=False, compare=False)


class Adapter:
    """The adapter's process; started when it is needed, ended with everything that it started."""

    def __init__(self, name: str, limit: float):
        self._name, self._limit = name, limit
        self._process: Process | None = None

    def ask(self, vector: Vector) -> Vector:
        """The answer to one vector; of the kind ``error`` where there is none in time, or the process ended.

        Raises:
            BadInput: the adapter cannot be loaded.
        """
        process = self._process = self._process or self._started()
        process.budget = MOST_CASE
        try:
            process.send(json.dumps(vector).encode() + b"\n")
            return dict(json.loads(process.receive()))
        except (ProgramBroken, ProgramEnded) as error:
            why = getattr(error, "why", str(error))
        except ValueError:
            why = "the answer is no JSON"
        self.close()
        return {"kind": "error", "text": why}

    def _started(self) -> Process:
        words = [sys.executable, "-m", "dpassay.audit.crosscheck.adapter", self._name]
        process = Process(words, self._name, self._limit, shown=True)
        try:
            said = json.loads(process.receive(STARTING))
        except (ProgramBroken, ProgramEnded) as error:
            process.close()
            why = getattr(error, "why", str(error))
            raise BadInput("adapter", self._name, f"cannot be loaded: {why}") from None
        if said.get("kind") == "bad":
            process.close()
            raise BadInput(str(said["field"]), said["value"], str(said["why"]))
        return process

    def close(self) -> None:
        """End the process and its children, and wait for it."""
        process, self._process = self._process, None
        if process is not None:
            process.close()


def run_all(
    adapter: str, vectors: Iterable[Vector], *, float32: bool = False, limit: float = LIMIT
) -> Iterator[Result]:
    """The adapter (MODULE:FUNCTION) on these vectors, in order.

    Raises:
        BadInput: it cannot be loaded.
    """
    with closing(Adapter(adapter, limit)) as process:
        yield from results(process.ask, vectors, float32)


def results(ask: Callable[[Vector], Vector], vectors: Iterable[Vector], float32: bool) -> Iterator[Result]:
    """What becomes of these vectors, in order, by what ``ask`` answers."""
    for vector in vectors:
        start = time.monotonic()
        if float32 and not vector["float32"]:
            why = "not judged in single precision: its decisions are within rounding"
            found = {"kind": "unsupported", "text": why}
        else:
            found = ask(vector)
        yield replace(judged(vector, found, float32), seconds=time.monotonic() - start)


def judged(vector: Vector, answers: Vector, float32: bool) -> Result:
    """One answer of the worker, held to its vector."""
    result = partial(Result, vector["id"], vector["algorithm"], flags=tuple(vector["flags"]), answers=answers)
    kind, text = answers["kind"], printable(str(answers.get("text", "")))
    if kind in ("unsupported", "error"):
        return result(kind, text)
    if vector["expect"] == "refused":
        released = any(event["event"] == "release" for event in answers["events"])
        if kind == "raised" and not released:
            return result("pass", f"refused: {text}")
        said = "asked for a release" if released else "returned an output" if kind == "returned" else text
        return result("fail", f"{said}; must be refused: {vector['why']}")
    if kind == "raised":
        return result("error", text)
    found = compare(vector, {"output": None, **answers}, float32=float32)
    if kind == "diverged":  # the run could not go on: its output says nothing
        found = [one for one in found if one.name != "output"]
    missing = unstated(vector, answers)
    if found:
        return result("fail", str(found[0]), differences=tuple(found), unstated=missing)
    return result("pass", "", unstated=missing)


def answer(
    run: Callable[[VectorTape], Any], vector: Vector, ends: Ends, said: Callable[[BaseException], str] = str
) -> Vector:
    """What an implementation asks for on one vector, and how it ends.

    Args:
        ends: what it may raise; anything else is a bug of this side, and no outcome.
        said: what it raises, in words.

    Returns:
        ``kind``: ``returned`` (with ``output``), ``raised`` (with ``text``), ``diverged``, ``unsupported``; and
        ``events``, everything that was asked of the tape, the call without an answer last.

    Raises:
        NotJudged: it cannot be judged at all.
    """
    tape = VectorTape(vector["events"], refusing=vector["expect"] == "refused")
    expected: Ends = (Diverged, *ends)
    try:
        output = run(tape)
        if output is NotImplemented:
            return {"kind": "unsupported", "text": "", "events": []}
        return {"kind": "returned", "output": encode(output, "output"), "events": events_of(tape)}
    except expected as error:
        if isinstance(error, NotImplementedError):
            return {"kind": "unsupported", "text": getattr(error, "why", str(error)), "events": []}
        if isinstance(error, NotJudged):
            raise
        # it may wrap what the tape raises
        kind = "diverged" if tape.diverged or isinstance(error, Diverged) else "raised"
        return {"kind": kind, "text": said(error), "events": events_of(tape)}


# in the process ------------------------------------------------------------------------------------------------------


def _said(error: BaseException) -> str:
    here = Path(__file__).parent
    theirs = [one for one in traceback.extract_tb(error.__traceback__) if here not in Path(one.filename).parents]
    if not theirs:  # what they returned is no output
        return str(error)
    place = f"{Path(theirs[-1].filename).name}, line {theirs[-1].lineno}"
    return f"{type(error).__name__} ({place}): {error}"[:1000]


def main(name: str) -> None:
    """The process: answer until the input ends."""
    end_with(os.getppid())
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever is printed is for people
        try:
            adapter = load_callable(name, "adapter")
        except BadInput as error:
            said = {"kind": "bad", "field": error.field, "value": str(error.value), "why": error.why}
            print(json.dumps(said), file=out)
            return
        print(json.dumps({"kind": "ready"}), file=out, flush=True)
        for line in sys.stdin:
            vector = json.loads(line)
            case = {name: entry for name, entry in vector.items() if name not in HIDDEN}
            found = answer(partial(adapter, case), vector, (Exception, SystemExit), _said)
            print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
