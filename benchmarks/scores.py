"""The score bounds against their targets: time for a million scores, power of the joint curve test.

python benchmarks/scores.py [--quick] [--write]
"""

from __future__ import annotations

import time
from collections.abc import Callable

import audit_figures as figures
import numpy as np
from scipy.stats import binomtest

from dpassay.audit.evidence.curves import refute_curve
from dpassay.audit.results import Verdict
from dpassay.audit.scores import labels, one_run, one_run_claim, thresholds
from dpassay.reference import guarantee

HEADER = ("target", "measured", "low", "high", "wanted", "met")
DELTA = 1e-5


def seconds(question: Callable[[], object], repeats: int) -> tuple[float, float, float]:
    """Median, smallest and largest processor time."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        question()
        found.append(time.process_time() - start)
    return float(np.median(found)), min(found), max(found)


def times(n: int, repeats: int) -> list[tuple[object, ...]]:
    """A million scores: 500,000 a side, or a million canaries."""
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=n // 2), rng.normal(1, 1, n // 2)
    coins = rng.random(n) < 0.5
    scores = rng.normal(size=n) + coins
    claim = guarantee.gdp(0.9)
    questions: list[tuple[str, Callable[[], object], float]] = [
        ("labels", lambda: labels.epsilon_labels(p, q, DELTA, rng), 0.5),
        ("one event, split", lambda: thresholds.epsilon_split(p, q, DELTA, rng), 0.5),
        ("joint curve test", lambda: refute_curve(p, q, claim, rng), 0.5),
        ("one run", lambda: one_run.epsilon_one_run(scores, coins, DELTA, rng), 1.0),
        ("one run, curve", lambda: one_run_claim.one_run_curve(scores, coins, claim, rng), 1.0),
    ]
    rows = []
    for name, question, wanted in questions:
        measured = seconds(question, repeats)
        row = (f"{name}: processor seconds for {n:,} scores", *measured, f"< {wanted:g}", measured[0] < wanted)
        figures.show(HEADER, row)
        rows.append(row)
    return rows


def power(mu: float, claimed: float, n: int, runs: int) -> tuple[object, ...]:
    """Share of samples of n a side in which the claim is refuted at 95 %."""
    claim, found = guarantee.gdp(claimed), 0
    for seed in range(runs):
        rng = np.random.default_rng([4, seed])
        p, q = rng.normal(size=n), rng.normal(mu, 1, n)
        found += refute_curve(p, q, claim, rng).verdict is Verdict.VIOLATED
    interval = binomtest(found, runs).proportion_ci(0.95)
    name = f"joint curve test: power, claim mu = {claimed:g}, true mu = {mu:g}, {n:,} scores a side"
    row = (name, found / runs, float(interval.low), float(interval.high), ">= 0.9", found / runs >= 0.9)
    figures.show(HEADER, row)
    return row


def main() -> None:
    """Print and keep."""
    chosen = figures.options(__doc__)
    rows = times(100_000 if chosen.quick else 1_000_000, 1 if chosen.quick else 7)
    runs = 20 if chosen.quick else 1000
    for mu in (0.5, 1.0, 2.0):
        rows.append(power(mu, 0.9 * mu, 10_000, runs))
    rows.append(power(1.0, 0.9, 5_000, runs))
    if chosen.write:
        notes = [
            "Low and high: smallest and largest of 7 repetitions for times, 95 % interval of 1,000 samples for power."
        ]
        figures.write("scores", "Score bounds against their targets", HEADER, rows, notes)


if __name__ == "__main__":
    main()
