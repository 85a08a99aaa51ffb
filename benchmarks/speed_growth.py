"""How the time of a run grows with n, d, T and runs, for benchmarks/speed.py: exponents of a power law."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from audit_figures import known_or, markdown

from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.lockstep.tilting import PLAIN
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.case import bind
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses

BASE = {"n": 200, "d": 20, "T": 10}
WIDE = {"n": (200, 800, 3200, 12800), "d": (20, 80, 320, 1280), "T": (10, 40, 160)}
RUNS = (50, 200, 800)

Times = Callable[[Callable[..., Any], Any], tuple[int, dict[str, float]]]


def instance(n: int, d: int, steps: int, poisson: bool) -> tuple[Callable[..., Any], Pair[Any]]:
    """DP-SGD on linear losses, full batches or Poisson batches of n / 10; neighbours differ in the first record."""
    alike = LinearLosses(np.zeros((n, d)))
    pair = Pair(alike.replace(0, np.eye(d)[0]), alike, 0)
    batch = n // 10 if poisson else None
    return bind(dp_sgd.run, dp_sgd.with_multiplier(steps, 0.1, 1.0, 4.0, batch, poisson)), pair


def exponent(sizes: Any, values: Any) -> str:
    """Slope in logarithms, by least squares."""
    return f"{np.polyfit(np.log(sizes), np.log(values), 1)[0]:.2f}"


def growth(times: Times, quick: bool, kept: Path | None) -> None:
    """One size grows, the others stay."""

    def measured(now: dict[str, int], poisson: bool) -> list[Any]:
        return [times(*instance(now["n"], now["d"], now["T"], poisson))[1]]

    rows = []
    for poisson in (False, True):
        for name, sizes in WIDE.items():
            used = sizes[:2] if quick else sizes
            found = []
            for size in used:
                now = BASE | {name: size}
                key = f"growth {'Poisson' if poisson else 'full'} {name} {size}"
                found += known_or(kept, key, partial(measured, now, poisson))
            slopes = [exponent(used, [one[kind] for one in found]) for kind in found[0]]
            spread = f"{found[0]['lockstep']:.2f} to {found[-1]['lockstep']:.2f}"
            rows.append(("Poisson" if poisson else "full", name, f"{used[0]} to {used[-1]}", *slopes, spread))
    header = ("batches", "size", "from, to", "loop", "tape", "lockstep", "lockstep, ms a run")
    print(f"DP-SGD, {', '.join(f'{name} = {size}' for name, size in BASE.items())} where it does not grow.\n")
    print(markdown(header, rows))
    print("Memory of lockstep runs, by runs (what Python holds at its peak, both batches as above):\n")
    rows = [tuple(known_or(kept, f"memory {poisson}", partial(memory, poisson))) for poisson in (False, True)]
    print(markdown(("batches", *(f"{count} runs, KiB" for count in RUNS), "exponent"), rows))


def memory(poisson: bool) -> list[Any]:
    """Runs are not kept, only their losses: memory hardly grows."""
    run, pair = instance(**{"steps" if name == "T" else name: size for name, size in BASE.items()}, poisson=poisson)
    sample = partial(LockstepSampler(run, pair, checks=0).sample, (PLAIN,), np.ones(1))
    sample(count=5, seed=(0,))
    peaks = []
    for count in RUNS:
        tracemalloc.start()
        sample(count=count, seed=(0,))
        peaks.append(tracemalloc.get_traced_memory()[1] / 1024)
        tracemalloc.stop()
    return ["Poisson" if poisson else "full", *(round(peak) for peak in peaks), exponent(RUNS, peaks)]
