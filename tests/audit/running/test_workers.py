"""Rows do not depend on who makes them, nor in which order."""

import gc
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.audit.assaying import assay as assaying
from dpassay.audit.row import Effort
from dpassay.audit.running.workers import rarely_collected, worked
from dpassay.reference.catalogue import find

EFFORT = Effort(runs=60, pilot=60, examples=0)


def plain(rows):
    return [replace(row, seconds=0.0) for row in rows]


@pytest.mark.more
def test_rows_do_not_depend_on_the_order_in_which_they_are_made(monkeypatch):
    """Worked on from the last to the first; the rows come in the order of the cases, with the same content."""
    cases = [find(name)[0] for name in ("output_perturbation/algorithm1@repaired", "baselines/dp_sgd:digits")]
    forwards = assaying.run_suite(cases, EFFORT, 1)
    monkeypatch.setattr(assaying, "worked", lambda function, todo, *_: (function(*words) for words in reversed(todo)))
    seen = []
    backwards = assaying.run_suite(cases, EFFORT, 1, each=lambda row: seen.append(row.key))
    assert plain(backwards) == plain(forwards) and seen == [case.key for case in reversed(cases)]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no masks of signals")
def test_ctrl_c_is_for_the_parent_alone():
    """A terminal sends it to the whole group; a worker that was loading its libraries died with a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    blocked = list(worked(signal.pthread_sigmask, [(signal.SIG_BLOCK, ())] * 2, 2))
    assert all(signal.SIGINT in one and signal.SIGTERM not in one for one in blocked) and len(blocked) == 2
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before and signal.SIGINT not in before


SLEEPERS = """
import time
from dpassay.audit.running.workers import worked
print("begun", flush=True)
list(worked(time.sleep, [(0.01,), (0.01,), (60,)], 2))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for workers in /proc")
def test_no_worker_outlives_a_parent_that_is_killed():
    parent = subprocess.Popen([sys.executable, "-c", SLEEPERS], stdout=subprocess.PIPE, start_new_session=True)
    group = f" {parent.pid} "

    def workers() -> int:
        found = 0
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (process / "cmdline").read_bytes()
                found += group in (process / "stat").read_text() and b"popen_loky" in words
        return found

    deadline = time.monotonic() + 30
    while workers() < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(2)  # until one of them works and the other one waits
    assert workers() == 2
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 20
    while workers() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not workers()


def test_a_row_leaves_the_collector_as_it_was(monkeypatch):
    monkeypatch.setattr(gc, "get_freeze_count", gc.get_freeze_count.__wrapped__)  # it is kept by tests/conftest.py
    before = gc.get_threshold(), gc.get_freeze_count() > 0
    with pytest.raises(ZeroDivisionError), rarely_collected():
        assert gc.get_threshold()[0] == 20_000 and gc.get_freeze_count() > 0
        raise ZeroDivisionError
    assert (gc.get_threshold(), gc.get_freeze_count() > 0) == before
