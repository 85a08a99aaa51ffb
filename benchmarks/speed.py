"""Speed: runs per second of every row, seconds to a verdict, memory, growth with n, d, T and runs.

    python benchmarks/speed.py [--quick] [--write] [--partial FILE] [--only WORD]

All times are seconds of CPU, not of the clock, and what is compared is measured in turn in one process. "loop" is the
algorithm on a tape that keeps nothing (speed_tape.py); "tape" a run that is recorded; "lockstep" a run of the audit, on
both neighbours, in all worlds that its secret batches need, with its exact loss under two tilts. The target is 20
seconds for 1,000 lockstep runs: ten on two cores. Runs differ in length, so a row that seems to miss it makes all of
them. What is measured goes to FILE as it comes, and is not measured again: a run that was cut short goes on. With
WORD the first table alone, of the rows whose name contains it.
"""

from __future__ import annotations

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

import keep
import numpy as np
import speed_peers
from audit_figures import known_or, markdown, options
from speed_growth import growth
from speed_tape import Bare, milliseconds

from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.lockstep.run import needs, places
from dpassay.audit.lockstep.tilting import PLAIN, Tilt
from dpassay.reference.accounting.gdp import gdp_epsilon
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


def times(run: Callable[..., Any], pair: Any, at_least: float) -> tuple[int, dict[str, float]]:
    """Worlds of a lockstep run, and milliseconds of one run: loop, tape, lockstep."""
    what = needs(run, pair.here)
    sampler = LockstepSampler(run, pair, what=what, checks=0)
    tilts, shares = (PLAIN, Tilt(1.0)), np.array([0.1, 0.9])
    calls: dict[str, Callable[[int], object]] = {
        "loop": lambda count: [run(pair.here, Bare(seed)) for seed in range(count)],
        "tape": lambda count: [run(pair.here, LiveTape(seed)) for seed in range(count)],
        "lockstep": lambda count: sampler.sample(tilts, shares, count, (0,)),
    }
    found = milliseconds(calls, at_least)
    if found["lockstep"] * RUNS > 1e3 * TARGET:
        start = process_time()
        calls["lockstep"](RUNS)
        found["lockstep"] = 1e3 * (process_time() - start) / RUNS
    return len(places(what, check=False)), found


def of_case(case: Case, at_least: float) -> list[Any]:
    """Worlds, and milliseconds a run."""
    instance = case.build()
    return list(times(instance.mechanism, instance.pair, at_least))


def catalogue(cases: list[Case], at_least: float, kept: Path | None) -> None:
    """Every row at the size at which it is audited."""
    rows, missed = [], []
    for case in cases:
        worlds, found = known_or(kept, case.key, partial(of_case, case, at_least))
        thousand = found["lockstep"]  # milliseconds a run are seconds a thousand
        per_second = [round(1e3 / found[name]) if found[name] < 100 else 1e3 / found[name] for name in found]
        ratios = [found["tape"] / found["loop"], found["lockstep"] / (found["tape"] * worlds)]
        rows.append((case.key, *per_second, worlds, *(f"{ratio:.2f}" for ratio in ratios), f"{thousand:.2f}"))
        if thousand > TARGET:
            missed.append(f"{case.key}: {thousand:.1f} s, {thousand / TARGET:.1f} times the target")
    header = ("row", "loop, runs/s", "tape, runs/s", "lockstep, runs/s", "worlds")
    print(markdown((*header, "tape / loop", "lockstep / (worlds x tape)", "1,000 lockstep runs, s"), rows))
    print(f"{len(rows) - len(missed)} of {len(rows)} rows make 1,000 lockstep runs in {TARGET:g} s. The others:\n")
    print("\n".join(f"- {one}" for one in missed) or "- none", flush=True)


def verdict(key: str) -> tuple[Any, ...]:
    """In a process of its own: seconds to a verdict by part, and the largest memory."""
    start = process_time()
    assay: Any = import_module("dpassay.audit.assaying.assay")
    search_case: Any = import_module("dpassay.audit.assaying.searching").search_case
    case = next(one for one in CASES if one.key == key)
    effort, marks = assay.Effort(), [start, process_time()]
    instance = case.build()
    marks.append(process_time())
    searched = search_case(case, instance, effort)
    marks.append(process_time())
    instance.accounted(case.claim.relation).epsilon(case.claim.delta)
    marks.append(process_time())
    found = assay.examine(instance, case.claim, effort, case.known, searched=searched)
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

    rows = [known_or(kept, f"verdict {key}", partial(alone, key)) for key in keys]
    parts = ("imports, s", "build, s", "search, s", "accounting after it, s", "lockstep runs and bounds, s")
    print(markdown(("row", *parts, "together, s", "peak memory, MiB", "verdict"), rows), flush=True)


def measure(quick: bool) -> None:
    """All parts."""
    chosen = options(__doc__, only=True)
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
    print("## Growth: exponents fitted to milliseconds a run\n")
    growth(partial(times, at_least=0.02 if quick else 0.05), quick, kept)
    print("## The accountant and dp-accounting on identical work\n")
    print(
        "Epsilon of DP-SGD, Poisson batches, add/remove, on a grid of 1e-3 (ours may choose another one). At rate 1 the"
    )
    exact = ", ".join(f"{gdp_epsilon(1.5, delta):.4f} (delta {delta:g})" for delta in (1e-5, 1e-14))
    print(f"exact values are {exact}.\n")
    work = speed_peers.WORK[:1] if quick else speed_peers.WORK
    rows = [known_or(kept, f"peers {one}", partial(speed_peers.row, *one)) for one in work]
    print(markdown(speed_peers.HEADER, rows))


if __name__ == "__main__":
    keep.main(__file__, __doc__ or "", measure, only=True)
