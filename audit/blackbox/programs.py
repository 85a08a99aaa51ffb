"""Mechanisms that are programs: one process a run, or one process that answers line by line.

A request is {"dataset": ..., "seed": ...} as one line of JSON on standard input, an answer one JSON value on standard
output. A program that is kept alive gets one request a line and must flush one answer a line, in order, until its input
ends. Its requests may have a "count": then it may give that many independent outputs at once, as {"outputs": [...]}.
Programs run in a process group of their own, which is ended with all that they have started; what they print is read up
to a limit.
"""

import json
import os
import selectors
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from dpassay.audit.running import programs
from dpassay.reference.errors import BadInput

MOST_BYTES = 16 * 2**20  # of one answer, for a process a run; kept alive: ``MOST_LINE``
_FIRST, _MOST_AT_ONCE = 16, 10_000  # outputs for one request of a program that is kept alive
_LINE = 2**20  # bytes that an answer with many outputs should have
_QUIET = 0.02  # seconds without output after the program has ended, before its descendants are no longer waited for


def _request(dataset: str, rng: np.random.Generator, count: int | None = None) -> bytes:
    """One line; the dataset is JSON already."""
    many = "" if count is None else f', "count": {count}'
    return f'{{"dataset": {dataset}, "seed": {int(rng.integers(2**31))}{many}}}\n'.encode()


def _json(dataset: Any) -> str:
    try:
        return json.dumps(dataset.tolist() if isinstance(dataset, np.ndarray) else dataset)
    except (TypeError, RecursionError) as error:  # an array of bytes; lists within lists without end
        raise BadInput("dataset", type(dataset).__name__, f"cannot be sent as JSON: {error}") from None


class _Program:
    """What both kinds share."""

    def __init__(self, command: Sequence[str], timeout: float = 60.0) -> None:
        self.command = list(command)
        self.timeout = timeout

    def _fail(self, why: str) -> NoReturn:
        raise BadInput("command", self.command, why)

    def _value(self, text: bytes) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            self._fail(f"stdout is not JSON: {error}")


class CommandLine(_Program):
    """A process for each run."""

    def __call__(self, dataset: Any, rng: np.random.Generator) -> Any:
        """Run once with a seed drawn from `rng`; raises BadInput on a failing program or on no JSON."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as complaints:
            asked.write(_request(_json(dataset), rng))
            asked.seek(0)
            try:
                process = programs.start(self.command, stdin=asked, stdout=subprocess.PIPE, stderr=complaints)
            except OSError as error:
                self._fail(f"cannot be started: {error.strerror}")
            try:
                text = self._read(process)
            finally:
                programs.end_group(process)
            if process.returncode != 0:
                complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - 10 * programs.SAID))
                said = " ".join(complaints.read().decode(errors="replace").split())[-programs.SAID :]
                self._fail(f"exit status {process.returncode}: {said}")
        return self._value(text)

    def _read(self, process: subprocess.Popen[bytes]) -> bytes:
        """All that it prints until it ends; descendants that keep the output open are not waited for."""
        assert process.stdout is not None
        found, limit = bytearray(), time.monotonic() + self.timeout
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while time.monotonic() < limit:
                if selector.select(_QUIET):
                    part = os.read(process.stdout.fileno(), 1 << 16)
                    if not part:
                        break
                    found += part
                    if len(found) > MOST_BYTES:
                        self._fail(f"printed more than {MOST_BYTES // 2**20} MiB in one run")
                elif programs.status_of(process) is not None:
                    break
            while programs.status_of(process) is None:
                if time.monotonic() >= limit:
                    self._fail(f"took longer than {self.timeout:g} s for one run")
                time.sleep(0.001)
        return bytes(found)


class KeptAlive(_Program):
    """One process for all runs: a line asks, a line answers."""

    def __init__(self, command: Sequence[str], timeout: float = 60.0) -> None:
        super().__init__(command, timeout)
        self._process: programs.Process | None = None
        self._told: tuple[Any, str] = (None, "null")  # the last dataset, with its JSON
        self._singly = False  # it gives one output for each request

    def __call__(self, dataset: Any, rng: np.random.Generator) -> Any:
        """Ask once; raises BadInput when the program ends, is late, or answers with something else than JSON."""
        return self._value(self._ask(dataset, rng))

    def many(self, dataset: Any, rng: np.random.Generator, size: int) -> list[Any]:
        """``size`` independent outputs, as many at once as the program gives and a line may hold."""
        found: list[Any] = []
        count = _FIRST
        while len(found) < size and not self._singly:
            wanted = min(count, size - len(found))
            line = self._ask(dataset, rng, wanted)
            answer = self._value(line)
            if not (isinstance(answer, dict) and set(answer) == {"outputs"}):
                self._singly = True
                found.append(answer)
            else:
                outputs = answer["outputs"]
                if not isinstance(outputs, list) or len(outputs) != wanted:
                    given = len(outputs) if isinstance(outputs, list) else type(outputs).__name__
                    self._fail(f"gave {given} outputs where the count was {wanted}")
                found += outputs
                count = max(1, min(_MOST_AT_ONCE, _LINE * wanted // max(1, len(line))))
        return found + [self(dataset, rng) for _ in range(size - len(found))]

    def _ask(self, dataset: Any, rng: np.random.Generator, count: int | None = None) -> bytes:
        if self._told[0] is not dataset:
            self._told = dataset, _json(dataset)
        try:
            if self._process is None:
                self._process = programs.Process(self.command, shlex.join(self.command), self.timeout)
            self._process.budget = programs.MOST_LINE
            self._process.send(_request(self._told[1], rng, count))
            return self._process.receive()
        except programs.ProgramBroken as error:
            self.close()
            self._fail(error.why)
        except programs.ProgramEnded as error:
            self.close()
            self._fail(f"{error.how}; it must print one line for each line that it reads")

    def close(self) -> None:
        """End the program, and what it started."""
        if self._process is not None:
            self._process.close()
            self._process = None
