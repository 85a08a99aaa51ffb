"""Where the cases of an audit are worked on: in this process, or in workers of this machine.

All random numbers come from the effort's seed, so neither the number of workers nor the order in which they finish
changes a number.
"""

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

_LOOK = 1.0  # seconds after which a worker looks whether its parent is there


def worked(function: Callable[..., Any], todo: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """What ``function`` gives for each tuple of arguments, in the order in which they finish.

    So many processes of this machine begin when this is called; 1 is this process.
    """
    if jobs == 1:
        return (function(*words) for words in todo)
    from joblib import Parallel, delayed, parallel_config  # here: most audits need no workers

    # one BLAS thread a worker: the matrices are small, and threads would fight over the cores
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with _deaf_to_interrupts(), parallel_config(backend="loky", initializer=end_with, initargs=(os.getpid(),)):
        made: Iterator[Any] = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(function)(*words) for words in todo
        )
        return made


def end_with(parent: int) -> None:
    """In a process that this package started: end when its parent is gone, which after ``kill -9`` nobody says."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that are started here never see Ctrl-C, which a terminal sends to the whole group.

    Their parent sees it, and ends them. A worker that was still loading its libraries used to die of it with a
    traceback. What comes to the parent in this moment waits, and is not lost.
    """
    mask = signal.pthread_sigmask
    for name in ("multiprocessing.resource_tracker", "joblib.externals.loky.backend.resource_tracker"):
        import_module(name).ensure_running()  # first: some versions let signals through when they have started it
    before = mask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        mask(signal.SIG_SETMASK, before)


@contextmanager
def rarely_collected() -> Iterator[None]:
    """What is loaded stays for the time of one row, so the collector need not look through it every 700 objects."""
    before, frozen = gc.get_threshold(), gc.get_freeze_count() > 0  # whoever froze something keeps it frozen
    if not frozen:
        gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not frozen:
            gc.unfreeze()
