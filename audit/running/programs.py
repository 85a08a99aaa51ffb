"""Programs of others: each in a process group of its own, ended with all that it has started, heard within limits.

Nothing that a program does makes the harness wait for longer than the time-out of a line, or keep more than
``MOST_LINE`` bytes of it.
"""

import itertools
import os
import select
import signal
import subprocess
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from dpassay.audit.lockstep.outcome import NotJudged
from dpassay.reference.errors import printable

MARK = "DPASSAY_STARTED"  # in the environment of a program, and of what it starts
MOST_LINE = 16 * 2**20  # bytes of one line of the program
MOST_CASE = 256 * 2**20  # bytes of one case
SAID = 200  # last characters of standard error that a message quotes
_KEPT = 4096  # bytes of standard error that are kept
_UNASKED = "said more than one line without waiting for an answer"
_TICK = 0.05  # seconds between two looks at whether a silent program is still there
_GRACE = 0.5  # seconds that a program has to end by itself once it was told to
_PART = 1 << 16
_numbers = itertools.count()
_marks: weakref.WeakKeyDictionary[subprocess.Popen[bytes], str] = weakref.WeakKeyDictionary()


def start(command: Sequence[str], **pipes: Any) -> subprocess.Popen[bytes]:
    """Start a program; no shell is involved. OSError or ValueError: it cannot be started."""
    mark = f"{os.getpid()}-{next(_numbers)}"
    started = subprocess.Popen(list(command), start_new_session=True, env={**os.environ, MARK: mark}, **pipes)
    _marks[started] = mark
    return started


def status_of(process: subprocess.Popen[bytes]) -> Any:
    """How it ended; None while it runs. It stays a zombie until `end_group`: its number is not used again."""
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return None


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it has started; then its leader is no zombie any more.

    What left the group is known by its environment. A process that cleared that as well is not found.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        mark = f"{MARK}={_marks[process]}".encode()
        with suppress(OSError):
            # processes that began later have larger numbers, until the system runs out of numbers
            later = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
            for one in sorted(number for number in later if number > process.pid):
                with suppress(OSError):
                    if mark in (Path("/proc") / str(one) / "environ").read_bytes().split(b"\0"):
                        os.kill(one, signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


# how a program fails: by not keeping to the protocol, or by ending within a case
class ProgramBroken(NotJudged):
    """It cannot be started, is late, or says what the protocol does not know: nothing it says can be judged."""

    def __init__(self, command: str, why: str):
        super().__init__("program", command, why)


class ProgramEnded(RuntimeError):
    """It ended within a case. That may depend on the data, so it is an outcome of the run, as an exception is."""

    def __init__(self, how: str):
        super().__init__(f"the program {printable(how)}")
        self.how = printable(how)


class Process:
    """A running program: ``name`` is the command as the user gave it, for messages; ``timeout`` is for one line.

    If ``shown``, its standard error goes where ours goes; else it is kept, and a message quotes the end of it.
    """

    def __init__(self, command: Sequence[str], name: str, timeout: float, *, shown: bool = False) -> None:
        self.name, self.timeout = name, timeout
        pipe = subprocess.PIPE
        try:
            self._popen = start(command, stdin=pipe, stdout=pipe, stderr=None if shown else pipe, bufsize=0)
        except (OSError, ValueError) as error:
            raise ProgramBroken(name, f"cannot be started: {getattr(error, 'strerror', None) or error}") from None
        weakref.finalize(self, end_group, self._popen)
        assert self._popen.stdin and self._popen.stdout
        self._in, self._out = self._popen.stdin.fileno(), self._popen.stdout.fileno()
        self._complaints = self._popen.stderr.fileno() if self._popen.stderr else -1
        self._poll = select.poll()
        for end in [self._out] if shown else [self._out, self._complaints]:
            self._poll.register(end, select.POLLIN)
        for end in [self._in] if shown else [self._in, self._complaints]:
            os.set_blocking(end, False)
        self._hint = "; nothing has come so far: output to a pipe is buffered, so flush each line (docs/live.md)"
        self._rest = bytearray()  # what it has said beyond the last line
        self._said = bytearray()  # the end of its standard error
        self.budget = MOST_CASE  # bytes that it may still say in this case

    def send(self, line: bytes) -> None:
        """Write one line; the program is broken if it has said more than it was asked for, or does not read."""
        left, limit = memoryview(line), time.monotonic() + self.timeout
        while left:
            if self._rest:  # it speaks in place of reading
                self._broken(_UNASKED)
            try:
                left = left[os.write(self._in, left) :]
            except BlockingIOError:
                if time.monotonic() >= limit:
                    self._broken(f"did not read its input for {self.timeout:g} s")
                self._poll.register(self._in, select.POLLOUT)
                self._listen(_TICK)
                self._poll.unregister(self._in)
            except OSError:
                self._ended()

    def receive(self, timeout: float | None = None) -> bytes:
        """The next line, without its end; the program is broken if it is late, or says too much."""
        seconds = self.timeout if timeout is None else timeout
        limit, searched = time.monotonic() + seconds, 0
        while (end := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            if searched > MOST_LINE:
                self._broken(f"said more than {MOST_LINE // 2**20} MiB in one line")
            left = limit - time.monotonic()
            if left <= 0:
                self._broken(f"took longer than {seconds:g} s for an answer{self._hint}")
            if not self._listen(min(_TICK, left)) and status_of(self._popen) is not None:
                self._ended()  # a descendant may hold its output open
        line, self._hint = bytes(self._rest[:end]), ""
        del self._rest[: end + 1]
        self.budget -= end + 1
        if self.budget < 0:
            self._broken(f"said more than {MOST_CASE // 2**20} MiB in one case")
        return line

    def _listen(self, seconds: float) -> bool:
        """Take what is there, or comes; False if there was nothing."""
        events = self._poll.poll(1000 * seconds)
        for end, _ in events:
            if end == self._out:
                part = os.read(self._out, _PART)
                if not part:
                    self._ended()
                self._rest += part
            elif end == self._complaints and not self._complain():
                self._poll.unregister(end)
        return bool(events)

    def _complain(self) -> bool:
        """Keep the end of its standard error; False if nothing is there, or it is closed."""
        with suppress(OSError):
            part = os.read(self._complaints, _PART)
            self._said = (self._said + part)[-_KEPT:]
            return bool(part)
        return False

    # -- ends ---------------------------------------------------------------------------------------------
    @property
    def running(self) -> bool:
        """It has not ended."""
        return status_of(self._popen) is None

    def _ended(self) -> NoReturn:
        limit = time.monotonic() + _GRACE
        while (status := status_of(self._popen)) is None and time.monotonic() < limit:
            time.sleep(0.002)
        how = "closed its output"
        if status is not None:
            code, how = status.si_status, f"ended with exit status {status.si_status}"
            if status.si_code in (os.CLD_KILLED, os.CLD_DUMPED):
                known = code in {one.value for one in signal.Signals}
                how = f"was killed by {signal.Signals(code).name if known else f'signal {code}'}"
        half = " in the middle of a line" if self._rest else ""
        raise ProgramEnded(f"{how}{half}{self.complaint}")

    def _broken(self, why: str) -> NoReturn:
        raise ProgramBroken(self.name, why + self.complaint)

    @property
    def complaint(self) -> str:
        """The end of what it said on standard error, for a message."""
        for _ in range(16):  # what it said just now may still be in the pipe
            if not self._complain():
                break
        text = " ".join(self._said.decode(errors="replace").split())
        return f"; it said: {'...' if len(text) > SAID else ''}{text[-SAID:]}" if text else ""

    def tell(self, last: bytes) -> None:
        """Say that it should end: a last line, and the end of its input."""
        assert self._popen.stdin
        with suppress(OSError):
            if not self._rest:
                os.write(self._in, last)
            self._popen.stdin.close()

    def close(self) -> None:
        """End it, and all that it has started."""
        end_group(self._popen)


def close_all(processes: Sequence[Process], last: bytes) -> None:
    """Tell all of them to end, give them a moment together, and end what is left."""
    for process in processes:
        process.tell(last)
    limit = time.monotonic() + _GRACE
    while time.monotonic() < limit and any(process.running for process in processes):
        time.sleep(0.002)
    for process in processes:
        process.close()
