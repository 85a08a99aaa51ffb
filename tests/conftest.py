"""What all tests share: one thread of linear algebra, no clock and no foreign constants in hypothesis, less garbage."""

import functools
import gc
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

# before NumPy is loaded: two workers that each start a thread a core spin while they wait for each other
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# no test is timed, and so no example of hypothesis is either: a busy machine must not fail a check
settings.register_profile("dpassay", deadline=None)
settings.load_profile("dpassay")
# it would draw the constants of every module that is loaded: so what a test tries would depend on the tests beside it
providers.HypothesisProvider._maybe_draw_constant = lambda *_, **__: None
# and its plugin would look for them in all that source after collection, in each worker (3 s)
providers._get_local_constants = providers.Constants

sys.path.append(str(Path(__file__).parent / "bugs"))  # `source_bugs` (the benchmarks import it as well), `broken`
FAST = "not slow and not more"  # of the Makefile
BUDGET = 195  # seconds of CPU of all fast tests, their workers included
_OF_WORKERS: list[float] = []


def pytest_configure() -> None:
    """Nothing that collection makes is garbage: no use to look through it."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)  # before ``-m`` is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked ``some(k)`` the first k of its parameters stay as they are, the others are ``more``."""
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("some")
        if mark is not None and item.get_closest_marker("slow") is None:
            test = item.nodeid.partition("[")[0]
            seen[test] += 1
            if seen[test] > mark.args[0]:
                item.add_marker("more")


def pytest_collection_finish() -> None:
    """What is there now stays to the end: the collector leaves it out, and looks at the rest less often."""
    gc.freeze()
    gc.get_freeze_count = functools.cache(gc.get_freeze_count)  # it walks a million objects, for each row of an audit
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Nor is anything left worth looking through at the end, which pytest does five times in each worker."""
    gc.freeze()
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["cpu"] = _cpu()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of xdist has ended."""
    _OF_WORKERS.append(getattr(node, "workeroutput", {}).get("cpu", 0.0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How much the tests cost: wall time says little on a busy machine. No test is timed, so nothing fails."""
    seconds, config = sum(_OF_WORKERS) + _cpu(children=not _OF_WORKERS), terminalreporter.config  # workers tell theirs
    whole = config.option.markexpr == FAST and not config.option.keyword and config.args == ["tests"]
    told = f"{seconds:.0f} s of CPU"
    if whole:
        told += f"; the fast tests are to take {BUDGET} at most on two idle cores (CONTRIBUTING.md)"
        if seconds > BUDGET:
            terminalreporter.write_line(f"{told}: over the budget", yellow=True)
            return
    terminalreporter.write_line(told)


def _cpu(children: bool = True) -> float:
    """Seconds of this process, and of its children that have ended."""
    used = os.times()
    return used.user + used.system + children * (used.children_user + used.children_system)
