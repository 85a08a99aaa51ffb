"""Where the cases of an audit are worked on: in this process, in workers of this machine, or on a Dask cluster.

What is sent to a worker is a case's key and an effort; what comes back is a row. All random numbers come from the
effort's seed, so neither the number of workers nor the order in which they finish changes a number.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from dpassay.reference.errors import BadInput, require
from dpassay.reference.extras import missing

_ADDRESS = re.compile(r"(tcp|tls|ucx)://[\w.\-\[\]:%]+:\d{1,5}|[\w.\-]+:\d{1,5}")
_SECONDS = 15  # to reach a scheduler
_LOOK = 1.0  # seconds after which a worker looks whether its parent is there
FIELD = "--scheduler"


def worked(
    function: Callable[..., Any], todo: Iterable[tuple[Any, ...]], jobs: int, scheduler: str = ""
) -> Iterator[Any]:
    """What ``function`` gives for each tuple of arguments, in the order in which they finish.

    Args:
        function: of a module that the workers have, too.
        jobs: processes of this machine, where there is no scheduler; 1 is this process.
        scheduler: address of a Dask scheduler, or empty.

    Raises:
        BadInput: the scheduler cannot be reached, or the cluster goes away while it works.
    """
    if scheduler:
        with _cluster(scheduler):
            yield from _spread(function, todo, -1)
    elif jobs == 1:
        yield from (function(*words) for words in todo)
    else:
        yield from in_processes(function, todo, jobs)


def in_processes(function: Callable[..., Any], todo: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """The same in so many processes of this machine, which begin when this is called."""
    from joblib import parallel_config  # here and below: most audits need no workers

    # one BLAS thread a worker: the matrices are small, and threads would fight over the cores
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with _deaf_to_interrupts(), parallel_config(backend="loky", initializer=end_with, initargs=(os.getpid(),)):
        return _spread(function, todo, jobs)


def _spread(function: Callable[..., Any], todo: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    from joblib import Parallel, delayed

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
    mask: Any = getattr(signal, "pthread_sigmask", None)
    if mask is None:  # Windows
        yield
        return
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


def require_address(scheduler: str) -> None:
    """An address as ``dask scheduler`` prints it."""
    good = _ADDRESS.fullmatch(scheduler) is not None
    require(good, FIELD, scheduler, "must be an address such as tcp://127.0.0.1:8786")


@contextmanager
def _cluster(scheduler: str) -> Iterator[None]:
    """joblib works on this cluster; what goes wrong with it is one line, not a traceback."""
    from joblib import parallel_config

    require_address(scheduler)
    try:
        distributed: Any = import_module("distributed")
    except ModuleNotFoundError as error:
        raise (missing(error) or error) from None
    try:
        client = distributed.Client(scheduler, timeout=_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise BadInput(FIELD, scheduler, f"cannot be reached ({' '.join(str(error).split())[:200]})") from None
    gone: tuple[type[BaseException], ...] = (CancelledError, distributed.KilledWorker)
    gone += (distributed.comm.CommClosedError, distributed.client.FutureCancelledError)
    try:
        with parallel_config(backend="dask", client=client):
            yield
    except gone as error:
        why = f"the cluster is gone ({type(error).__name__}); finished rows are kept, --resume goes on from there"
        raise BadInput(FIELD, scheduler, why) from None
    finally:
        client.close(timeout=_SECONDS)
