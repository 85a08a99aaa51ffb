"""The one-run bound as canaries are added, beside a fixed number of guesses judged by Steinke et al.

    python benchmarks/one_run.py [--quick] [--write]

Independent Gaussian canaries. The fixed number is 3.2 sqrt(m), half from each end, near the best at delta = 0.
"""

from __future__ import annotations

import time
from itertools import product

import audit_figures as figures
import numpy as np

from dpassay.audit.scores.guessing import Canaries, Guessing
from dpassay.audit.scores.one_run import epsilon_one_run
from dpassay.audit.scores.steinke import epsilon_steinke
from dpassay.reference.accounting.gdp import gdp_epsilon

HEADER = ("mu", "delta", "true epsilon", "canaries", "dpassay", "low", "high", "Steinke et al.", "seconds")
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)


def row(mu: float, delta: float, count: int, runs: int) -> tuple[object, ...]:
    """Median, smallest and largest bound over the runs; median of the other; median processor seconds."""
    ours, theirs, seconds = [], [], []
    for seed in range(runs):
        rng = np.random.default_rng([11, seed])
        coins = rng.random(count) < 0.5
        scores = rng.normal(size=count) + mu * coins
        start = time.process_time()
        ours.append(epsilon_one_run(scores, coins, delta, rng).epsilon)
        seconds.append(time.process_time() - start)
        made, right = Guessing(3.2 / np.sqrt(count)).guess(Canaries.of(scores, coins), rng)
        theirs.append(epsilon_steinke(count, made, right, delta))
    truth = gdp_epsilon(mu, delta) if delta > 0 else float("inf")
    middle = (float(np.median(ours)), min(ours), max(ours), float(np.median(theirs)), float(np.median(seconds)))
    return (mu, delta, truth, count, *middle)


def main() -> None:
    """Print and keep."""
    chosen = figures.options(__doc__)
    sizes, runs = (SIZES[:3], 5) if chosen.quick else (SIZES, 20)
    cells = product((1.0, 2.0), (0.0, 1e-5, 1e-3, 1e-2), sizes)
    rows = figures.shown(HEADER, (row(*cell, runs) for cell in cells))
    if chosen.write:
        notes = ["Medians over 20 runs; low and high: the smallest and the largest bound. Confidence 95 %."]
        figures.write("one_run", "The one-run bound as canaries are added", HEADER, rows, notes)


if __name__ == "__main__":
    main()
