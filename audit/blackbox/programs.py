"""Mechanisms that are programs: one process a run, or one process that answers line by line.

A request is {"dataset": ..., "seed": ...} as one line of JSON on standard input, an answer one JSON value on standard
output. A program that is kept alive gets one request a line and must flush one answer a line, in order, until its input
ends. Programs run in a process group of their own, which is ended with all that they have started; what they print is
read up to a limit.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from dpassay.reference.errors import BadInput

MOST_BYTES = 16 * 2**20  # of one answer
SAID = 200  # last characters of standard error that a message quotes
_QUIET = 0.02  # seconds without output after the program has ended, before its descendants are no longer waited for


def _request(dataset: Any, rng: np.random.Generator) -> bytes:
    plain = dataset.tolist() if isinstance(dataset, np.ndarray) else dataset
    return json.dumps({"dataset": plain, "seed": int(rng.integers(2**31))}).encode() + b"\n"


def _end(process: subprocess.Popen[bytes]) -> None:
    """The program and all that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


class _Program:
    """What both kinds share."""

    def __init__(self, command: Sequence[str], timeout: float = 60.0) -> None:
        self.command = list(command)
        self.timeout = timeout

    def _fail(self, why: str) -> NoReturn:
        raise BadInput("command", self.command, why)

    def _start(self, stdin: Any, stderr: Any) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self.command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True
            )
        except OSError as error:
            self._fail(f"cannot be started: {error.strerror}")

    def _too_much(self) -> NoReturn:
        self._fail(f"printed more than {MOST_BYTES // 2**20} MiB in one run")

    def _late(self) -> NoReturn:
        self._fail(f"took longer than {self.timeout:g} s for one run")

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
            asked.write(_request(dataset, rng))
            asked.seek(0)
            process = self._start(asked, complaints)
            try:
                text = self._read(process)
                code = process.wait()
            finally:
                _end(process)
            if code != 0:
                complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - 10 * SAID))
                said = " ".join(complaints.read().decode(errors="replace").split())[-SAID:]
                self._fail(f"exit status {code}: {said}")
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
                        self._too_much()
                elif process.poll() is not None:
                    break
            while process.poll() is None:
                if time.monotonic() >= limit:
                    self._late()
                time.sleep(0.001)
        return bytes(found)


class KeptAlive(_Program):
    """One process for all runs: a line asks, a line answers."""

    def __init__(self, command: Sequence[str], timeout: float = 60.0) -> None:
        super().__init__(command, timeout)
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __call__(self, dataset: Any, rng: np.random.Generator) -> Any:
        """Ask once; raises BadInput when the program ends, is late, or answers with something else than JSON."""
        if self._process is None:
            self._process = self._start(subprocess.PIPE, subprocess.DEVNULL)
            weakref.finalize(self, _end, self._process)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(_request(dataset, rng))
            self._process.stdin.flush()
        except OSError:
            self._fail("ended before all runs were asked for: it must read line after line")
        return self._value(self._line())

    def _line(self) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        limit = time.monotonic() + self.timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, limit - time.monotonic())):
                    self.close()
                    self._late()
                part = os.read(self._process.stdout.fileno(), 1 << 16)
                if not part:
                    self.close()
                    self._fail("ended without an answer: it must print and flush one line for each line it reads")
                self._rest += part
                if len(self._rest) > MOST_BYTES:
                    self.close()
                    self._too_much()
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def close(self) -> None:
        """End the program, and what it started."""
        if self._process is not None:
            _end(self._process)
            self._process = None
