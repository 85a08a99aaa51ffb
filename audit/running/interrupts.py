"""What Ctrl-C and SIGTERM do to a command: it ends once, in order, and takes its workers with it."""

import atexit
import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

from dpassay.audit.exit_codes import INTERRUPTED

_PATIENCE = 3  # signals: the first interrupts, the next one is already being obeyed, this one ends without any order


class Interrupts:
    """The handler of SIGINT and SIGTERM while a command runs.

    The first signal raises ``KeyboardInterrupt``, so that what is finished is kept and told. A second one changes
    nothing: the first is being obeyed. With the third the process ends at once, and with a first one that Python
    swallows, as it does where an object is thrown away, or a module's lock is: all that is finished is on the disk.
    """

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[int, Any] = {}
        self._ended: list[int] = []
        self._hook: Any = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle one signal."""
        self.count += 1
        if self.count == 1:
            raise KeyboardInterrupt
        if self.count >= _PATIENCE:
            _end()

    def _swallowed(self, what: Any) -> None:
        """Python's hook for exceptions that it cannot raise."""
        if self.count and issubclass(what.exc_type, KeyboardInterrupt):
            _end()
        self._hook(what)

    def end_at_once(self) -> None:
        """From now on a signal ends the process, without a word: all is done but what Python does before it ends."""
        for number in self._before:
            signal.signal(number, lambda *_: os._exit(INTERRUPTED))
        self._ended, self._before = list(self._before), {}

    def deaf_at_last(self) -> None:
        """To be called before anything else asks to run at the end of the process: then this is done after it.

        Python gives signals back their default action before it takes its modules apart, and one that came in that last
        moment made an end by a signal of a result that was told already. What is ignored stays ignored.
        """
        atexit.register(lambda: [signal.signal(number, signal.SIG_IGN) for number in self._ended])

    def __enter__(self) -> "Interrupts":
        """Begin to listen, unless this is not the main thread of a process, or its caller wants the signal ignored."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if (before := signal.getsignal(number)) is not signal.SIG_IGN:
                    self._before[number] = before
                    signal.signal(number, self)
            self._hook, sys.unraisablehook = sys.unraisablehook, self._swallowed
        return self

    def __exit__(self, *_: object) -> None:
        """What was interrupted leaves no workers, and still listens: more signals may come until the process ends."""
        if self._hook is not None:
            self._hook, sys.unraisablehook = None, self._hook
        if self.count:
            end_workers()
            return
        for number, before in self._before.items():
            signal.signal(number, before)


def _end() -> NoReturn:
    end_workers(wait=False)
    os._exit(INTERRUPTED)


def end_workers(wait: bool = True) -> None:
    """End the worker processes of joblib that this process has started, if any; nothing that they do is waited for."""
    module: Any = sys.modules.get("joblib.externals.loky.reusable_executor")
    executor = getattr(module, "_executor", None)
    if executor is not None:
        with suppress(Exception):  # they may be gone, or about to go
            executor.shutdown(wait=wait, kill_workers=True)
