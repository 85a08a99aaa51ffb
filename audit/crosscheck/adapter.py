"""Another implementation, in Python or called from it, on all vectors: one process beside this one, with a time limit.

The adapter is ``run(case, tape) -> output``. It cannot stop the campaign: what it prints is not read, what it raises
is an outcome, and where it does not answer in time its process is ended and a new one goes on with the next vector.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from dpassay.audit.running.programs import end_group, start
from dpassay.reference.errors import BadInput, printable

from .differences import Difference, compare, unstated

Outcome = Literal["pass", "fail", "unsupported", "error"]
LIMIT = 60.0  # seconds for one vector
STARTING = 120.0  # seconds until the adapter is loaded
LONGEST = 2**26  # bytes of one answer
Vector = dict[str, Any]


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


class _Silent(Exception):
    """No answer: in words why."""


class Process:
    """The adapter's process; started when it is needed, ended with everything that it started."""

    def __init__(self, adapter: str, limit: float):
        self._adapter, self._limit = adapter, limit
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def ask(self, vector: Vector) -> Vector:
        """The answer to one vector.

        Raises:
            BadInput: the adapter cannot be loaded.
            _Silent: it did not answer in time, or its process ended, or the answer is too long.
        """
        process = self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(vector).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            self.close()
            raise _Silent("the process ended") from None
        return self._read(self._limit)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            words = [sys.executable, "-m", "dpassay.audit.crosscheck.worker", self._adapter]
            self._process = start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._rest = b""
            try:
                said = self._read(STARTING)
            except _Silent as error:
                raise BadInput("adapter", self._adapter, f"cannot be loaded: {error}") from None
            if said.get("kind") == "bad":
                self.close()
                raise BadInput(str(said["field"]), said["value"], str(said["why"]))
        return self._process

    def _read(self, limit: float) -> Vector:
        process, end = self._process, time.monotonic() + limit
        assert process is not None and process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if len(self._rest) > LONGEST:
                    self.close()
                    raise _Silent(f"the answer is longer than {LONGEST} bytes")
                if not selector.select(max(0.0, end - time.monotonic())):
                    self.close()
                    raise _Silent(f"no answer within {limit:g} seconds")
                piece = os.read(process.stdout.fileno(), 2**16)
                if not piece:
                    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
                    self.close()
                    raise _Silent(f"the process ended with code {process.returncode}")
                self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        try:
            return dict(json.loads(line))
        except ValueError:
            self.close()
            raise _Silent("the answer is no JSON") from None

    def close(self) -> None:
        """End the process and its children, and wait for it."""
        process, self._process = self._process, None
        if process is not None:
            end_group(process)


def run_all(
    adapter: str, vectors: Iterable[Vector], *, float32: bool = False, limit: float = LIMIT
) -> Iterator[Result]:
    """The adapter (MODULE:FUNCTION) on these vectors, in order.

    Raises:
        BadInput: it cannot be loaded.
    """
    process = Process(adapter, limit)
    try:
        for vector in vectors:
            start = time.monotonic()
            if float32 and not vector["float32"]:
                yield _result(
                    vector, "unsupported", "not judged in single precision: its decisions are within rounding"
                )
                continue
            try:
                answers = process.ask(vector)
            except _Silent as error:
                yield _result(vector, "error", str(error), seconds=time.monotonic() - start)
                continue
            yield judged(vector, answers, float32, time.monotonic() - start)
    finally:
        process.close()


def judged(vector: Vector, answers: Vector, float32: bool, seconds: float = 0.0) -> Result:
    """One answer of the worker, held to its vector."""
    kind, text = answers["kind"], printable(str(answers.get("text", "")))
    if kind == "unsupported":
        return _result(vector, "unsupported", text, seconds=seconds)
    if vector["expect"] == "refused":
        released = any(event["event"] == "release" for event in answers["events"])
        if kind == "raised" and not released:
            return _result(vector, "pass", f"refused: {text}", seconds=seconds)
        said = "asked for a release" if released else "returned an output" if kind == "returned" else text
        return _result(vector, "fail", f"{said}; must be refused: {vector['why']}", seconds=seconds, answers=answers)
    if kind == "raised":
        return _result(vector, "error", text, seconds=seconds, answers=answers)
    found = compare(vector, {"output": None, **answers}, float32=float32)
    if kind == "diverged":  # the run could not go on: its output says nothing
        found = [one for one in found if one.name != "output"]
    more = {"differences": tuple(found), "unstated": unstated(vector, answers), "seconds": seconds, "answers": answers}
    return _result(vector, "fail" if found else "pass", str(found[0]) if found else "", **more)


def _result(vector: Vector, outcome: Outcome, message: str, **more: Any) -> Result:
    return Result(vector["id"], vector["algorithm"], outcome, message, tuple(vector["flags"]), **more)
