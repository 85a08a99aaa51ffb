"""Speed: milliseconds of a run of every row, seconds to a verdict, memory.

    python benchmarks/speed.py [--quick] [--write] [--partial FILE] [--only WORD]

Times are seconds of CPU. "tape" is a run that is recorded; "lockstep" a run of the audit, on both neighbours, in all
worlds that its secret batches need, with its exact loss under two tilts. The target is 20 seconds for 1,000 lockstep
runs: ten on two cores. What is measured goes to FILE as it comes, and is not measured again: a run that was cut short
goes on. With WORD the first table alone, of the rows whose name contains it.
"""

import os
import platform
import resource
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

import audit_figures as figures
import numpy as np

from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.lockstep.run import needs, places
from dpassay.audit.lockstep.tilting import PLAIN, Tilt
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.tape import LiveTape

TARGET, RUNS = 20.0, 1000  # CPU seconds for so many runs
VERDICTS = (
    "baselines/dp_sgd:poisson@baseline",
    "output_perturbation/algorithm2@repaired",
    "second_order_erm/opt@repaired",
    "dro/double_spider:chi_square@repaired",
    "minimax_sosp/dp_rgda:n9-d2-T4-K1-q2-b3@repaired",
    "adaptive_batch/stochastic_spider:d1-T7-O1@repaired",
    "dp_ftrl/dp_ftrl@repaired",
)


def milliseconds(calls: dict[str, Callable[[int], object]], at_least: float) -> dict[str, float]:
    """CPU milliseconds of one run of each: as many runs as take `at_least` seconds."""
    found = {}
    for name, call in calls.items():
        count, spent = 1, 0.0
        while spent < at_least:
            count *= 2
            start = process_time()
            call(count)
            spent = process_time() - start
        found[name] = 1e3 * spent / count
    return found


def times(run: Callable[..., Any], pair: Any, at_least: float) -> tuple[int, dict[str, float]]:
    """Worlds of a lockstep run, and milliseconds of one run: tape, lockstep."""
    what = needs(run, pair.here)
    sampler = LockstepSampler(run, pair, what=what, checks=0)
    tilts, shares = (PLAIN, Tilt(1.0)), np.array([0.1, 0.9])
    calls: dict[str, Callable[[int], object]] = {
        "tape": lambda count: [run(pair.here, LiveTape(seed)) for seed in range(count)],
        "lockstep": lambda count: sampler.sample(tilts, shares, count, (0,)),
    }
    return len(places(what, check=False)), milliseconds(calls, at_least)


def of_case(case: Case, at_least: float) -> list[Any]:
    """Worlds, and milliseconds a run."""
    instance = case.build()
    return list(times(instance.mechanism, instance.pair, at_least))


def catalogue(cases: list[Case], at_least: float, kept: Path | None) -> None:
    """Every row at the size at which it is audited."""
    rows: list[tuple[Any, ...]] = []
    missed = []
    for case in cases:
        worlds, found = figures.known_or(kept, case.key, partial(of_case, case, at_least))
        thousand = found["lockstep"]  # milliseconds a run are seconds a thousand
        per_second = [round(1e3 / found[name]) if found[name] < 100 else 1e3 / found[name] for name in found]
        ratio = found["lockstep"] / (found["tape"] * worlds)
        rows.append((case.key, *per_second, worlds, f"{ratio:.2f}", f"{thousand:.2f}"))
        if thousand > TARGET:
            missed.append(f"{case.key}: {thousand:.1f} s, {thousand / TARGET:.1f} times the target")
    parts = ("tape, runs/s", "lockstep, runs/s", "worlds", "lockstep / (worlds x tape)", "1,000 lockstep runs, s")
    print(figures.markdown(("row", *parts), rows))
    print(f"{len(rows) - len(missed)} of {len(rows)} rows make 1,000 lockstep runs in {TARGET:g} s. The others:\n")
    print("\n".join(f"- {one}" for one in missed) or "- none", flush=True)


def verdict(key: str) -> tuple[Any, ...]:
    """In a process of its own: seconds to a verdict by part, and the largest memory."""
    start = process_time()
    assay: Any = import_module("dpassay.audit.assaying.assay")
    search_case: Any = import_module("dpassay.audit.assaying.assay").search_case
    case = next(one for one in CASES if one.key == key)
    effort, marks = assay.Effort(), [start, process_time()]
    instance = case.build()
    marks.append(process_time())
    searched = search_case(case, instance, effort)
    marks.append(process_time())
    instance.accounted(case.claim.relation).epsilon(case.claim.delta)
    marks.append(process_time())
    found = assay.examine(instance, case.claim, effort, searched, case.known)
    marks.append(process_time())
    return key, *(f"{part:.2f}" for part in np.diff(marks)), f"{marks[-1] - start:.2f}", peak(), str(found.verdict)


def peak() -> int:
    """The largest memory of this process in MiB; what getrusage says on Linux is never below its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return round(int(lines["VmHWM"].split()[0]) / 1024)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024))


def verdicts(keys: tuple[str, ...], kept: Path | None) -> None:
    """With the effort of `dpassay audit`: 150 examples of the search, 400 runs of the pilot, 1,000 that count."""

    def alone(key: str) -> list[Any]:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as fresh:
            return list(fresh.submit(verdict, key).result())

    rows = [figures.known_or(kept, f"verdict {key}", partial(alone, key)) for key in keys]
    parts = ("imports, s", "build, s", "search, s", "accounting after it, s", "lockstep runs and bounds, s")
    print(figures.markdown(("row", *parts, "together, s", "peak memory, MiB", "verdict"), rows), flush=True)


def measure(quick: bool) -> None:
    """All parts."""
    chosen = figures.options(__doc__, only=True)
    kept = chosen.partial
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    print(f"{machine}, Python {platform.python_version()}, numpy {np.__version__}. Seconds are of CPU.\n")
    print("## Every row at the size at which it is audited\n")
    catalogue(
        [one for one in CASES if (one.quick or not quick) and chosen.only in one.key], 0.02 if quick else 0.05, kept
    )
    if chosen.only:
        return
    print("\n## To a verdict, each row in a fresh process\n")
    verdicts(VERDICTS[:2] if quick else VERDICTS, kept)


if __name__ == "__main__":
    figures.keep_printed(__file__, __doc__ or "", measure, only=True)
