"""Programs of others: each in a process group of its own, and ended with all that it has started."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

MARK = "DPASSAY_STARTED"  # in the environment of a program, and of what it starts
_numbers = itertools.count()
_marks: WeakKeyDictionary[subprocess.Popen[bytes], str] = WeakKeyDictionary()


def start(command: Sequence[str], **pipes: Any) -> subprocess.Popen[bytes]:
    """Start a program; no shell is involved.

    Raises:
        OSError, ValueError: it cannot be started.
    """
    mark = f"{os.getpid()}-{next(_numbers)}"
    started = subprocess.Popen(list(command), start_new_session=True, env={**os.environ, MARK: mark}, **pipes)
    _marks[started] = mark
    return started


def runs(pid: int) -> bool:
    """Is there a process of this number? Where that cannot be asked, there may be."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


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
        for one in _later(process.pid):
            with suppress(OSError):
                if mark in (Path("/proc") / str(one) / "environ").read_bytes().split(b"\0"):
                    os.kill(one, signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _later(pid: int) -> list[int]:
    """Processes that began after one: their numbers are larger, until the system runs out of numbers."""
    with suppress(OSError):
        return sorted(int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit() and int(one.name) > pid)
    return []
