"""The progress of every long command, on standard error: a bar with the time left on a terminal, else plain lines.

Where there is no terminal (a pipe, a CI log) a line is written every few seconds, also while nothing is finished:
short commands say nothing. ``NO_COLOR`` takes the colours away, ``--quiet`` everything.
"""

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Annotated, TypeVar

import typer
from rich import progress as bars
from rich.console import Console
from rich.table import Column

from dpassay.audit.phases import Shown, reporting
from dpassay.reference.errors import printable

PACE = 10.0  # seconds between plain lines
T = TypeVar("T")
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]


@contextmanager
def progress(what: str, total: int, *, done: int = 0, quiet: bool = False, pace: float = PACE) -> Iterator[Shown]:
    """Progress of work in ``total`` steps, of which an earlier run has ``done`` some; on a terminal it goes away.

    Where there is none, ``pace`` seconds lie between plain lines; 0 writes a line each time.
    """
    console = Console(stderr=True)
    if quiet or (console.is_terminal and not console.is_dumb_terminal):
        with _bar(console, counts=total > 1, silent=quiet) as bar:
            yield _Bar(bar, bar.add_task(what, total=total, completed=done, now=""))
    else:
        lines, ended = _Lines(what, total, done, pace), threading.Event()
        threading.Thread(target=lines.until, args=(ended,), daemon=True).start()
        try:
            yield lines
        finally:
            ended.set()


def _bar(console: Console, counts: bool, silent: bool) -> bars.Progress:
    columns: list[bars.ProgressColumn] = [bars.SpinnerColumn(), bars.TextColumn("{task.description}")]
    if counts:
        left = bars.TextColumn("left", style="progress.remaining")
        columns += [bars.BarColumn(bar_width=20), bars.MofNCompleteColumn()]
    now = bars.TextColumn("{task.fields[now]}", table_column=Column(no_wrap=True, ratio=1))
    columns += [bars.TimeElapsedColumn(), *((bars.TimeRemainingColumn(), left) if counts else ()), now]
    return bars.Progress(*columns, console=console, transient=True, expand=True, disable=silent)


class _Bar:
    def __init__(self, bar: bars.Progress, task: bars.TaskID):
        self._bar, self._task = bar, task

    def __call__(self, text: str = "", steps: int = 1) -> None:
        self._bar.update(self._task, advance=steps, now=printable(text).replace("[", "\\["))

    def phase(self, what: str, total: int) -> None:
        self._bar.reset(self._task, total=total, description=what, now="")

    def told(self, text: str) -> None:
        if not self._bar.disable:  # --quiet
            self._bar.console.print(printable(text), markup=False, highlight=False)


class _Lines:
    def __init__(self, what: str, total: int, done: int, pace: float):
        self._what, self._total, self._done, self._first, self._pace = what, total, done, done, pace
        self._start = self._said = time.monotonic()
        self._now, self._waiting = "", list[str]()

    def until(self, ended: threading.Event) -> None:
        """A line whenever nothing was said for a while."""
        while not ended.wait(PACE):
            if time.monotonic() - self._said >= PACE:
                self(self._now, steps=0)

    def phase(self, what: str, total: int) -> None:
        self(steps=0)
        self._what, self._total, self._done, self._first, self._start = what, total, 0, 0, time.monotonic()

    def told(self, text: str) -> None:
        self._waiting.append(printable(text))  # until a line is due: short work says nothing

    def __call__(self, text: str = "", steps: int = 1) -> None:
        self._done, self._now = self._done + steps, text
        now = time.monotonic()
        if now - self._said < (self._pace if steps else PACE):
            return
        self._said = now
        parts = [f"{self._what}: {self._done} of {self._total}", printable(text), self._left(now - self._start)]
        known = self._waiting if self._done < self._total else []  # what is finished says itself what is known
        lines, self._waiting = [*known, "  ".join(part for part in parts if part)], []
        with suppress(OSError):  # nobody reads it: that is no reason to stop
            print("\n".join(lines), file=sys.stderr, flush=True)

    def _left(self, elapsed: float) -> str:
        made, missing = self._done - self._first, self._total - self._done
        if made <= 0 or missing <= 0 or elapsed < 1:
            return f"for {duration(elapsed)}" if missing > 0 and elapsed >= PACE else ""
        return f"about {duration(elapsed / made * missing)} left"


class _Within:
    """What is done within one of the steps, told beside how many of them are done."""

    def __init__(self, steps: Shown):
        self._steps, self._what, self._total, self._done = steps, "", 0, 0
        self.told = steps.told

    def phase(self, what: str, total: int) -> None:
        self._what, self._total, self._done = what, total, 0
        self(steps=0)

    def __call__(self, text: str = "", steps: int = 1) -> None:
        self._done += steps
        self._steps(f"{self._what}: {self._done} of {self._total}", steps=0)


@contextmanager
def within(steps: Shown, names: Sequence[str], jobs: int) -> Iterator[Callable[[str], None]]:
    """Say what the steps of these names are at: their phase where they are made in this process, else their names.

    What is yielded is to be called with the name of each that is finished.
    """
    left = list(names)

    def at_work(name: str = "") -> None:
        if name in left:
            left.remove(name)
        if left and jobs > 1 and len(names) > 1:
            steps(f"at work: {', '.join(left[:jobs])}", steps=0)

    at_work()
    with reporting(_Within(steps)) if jobs == 1 or len(names) == 1 else nullcontext():
        yield at_work


def duration(seconds: float) -> str:
    """Seconds as a person says them: ``40 s``, ``3 min``, ``1.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def tracked(items: Sequence[T], what: str, quiet: bool = False) -> Iterator[T]:
    """The items, each counted when the next one is asked for."""
    with progress(what, len(items), quiet=quiet) as say:
        for item in items:
            yield item
            say()


@contextmanager
def session_progress(limit: int, quiet: bool = False) -> Iterator[Callable[[int, float], None]]:
    """Runs of a session with the wealth that it has reached; gives what has to be called with both."""
    known = 0
    with progress("betting", limit, quiet=quiet) as say:

        def told(runs: int, log_wealth: float) -> None:
            nonlocal known
            say(f"wealth 10^{log_wealth / math.log(10):.1f}", steps=runs - known)
            known = runs

        yield told
