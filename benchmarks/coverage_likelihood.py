"""False claims and tightness of the likelihood audit and of the sequential processes on laws of known epsilon.

    python benchmarks/coverage_likelihood.py [--quick] [--write] [--resume]        (about two processor hours)

Level 5 %, delta = 1e-5, 100 to a million runs; 2,000 repetitions a cell on the five laws of the other bounds, 500 on
laws made to tempt the bets. A claim is false when it exceeds the exact epsilon of the pair, or refutes the exact claim
at any time. Continuous laws are drawn as they are up to 10,000 runs and rounded to 2,000 cells above (rounding is
post-processing: the rounded law has an exact epsilon of its own, and of a million runs only the counts matter).
Repetition k has seed k, whatever the number of workers.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator

import audit_figures as figures
import likelihood_laws as one
import numpy as np
from joblib import Parallel, delayed
from likelihood_laws import DELTA, DRAWN, LEVEL, PILOT, SIZES
from scipy.stats import binomtest

REPETITIONS, FIVE = 2000, 5  # FIVE: the laws that everything is measured on with all repetitions
SLACK = 1e-9  # rounding of the exact epsilon
BOUND, PROCESS, CURVE, POWER = "likelihood, tilted", "sequential likelihood", "sequential curve test", "runs to refute"
HEADER = ("audit", "law", "epsilon", "n", "repetitions", "false", "share", "low", "high", "tightness", "lowest", "")


def measured(kind: str, name: str, n: int, numbers: range) -> list[float]:
    """Results of these repetitions."""
    if kind == CURVE:
        return [one.largest_curve_wealth(name, n, k) for k in numbers]
    measures: dict[str, Callable[[one.Law, int, int], float]]
    measures = {BOUND: one.bound, PROCESS: one.largest_wealth, POWER: one.runs_to_refute}
    return [measures[kind](one.laws()[name], n, k) for k in numbers]


def repeated(kind: str, name: str, n: int, repetitions: int) -> np.ndarray:
    """All repetitions, in order."""
    parts = [range(k, min(k + 50, repetitions)) for k in range(0, repetitions, 50)]
    return np.concatenate(Parallel(n_jobs=2)(delayed(measured)(kind, name, n, part) for part in parts))


def cell(kind: str, name: str, n: int, repetitions: int) -> tuple[object, ...]:
    """One row of the table."""
    results = repeated(kind, name, n, repetitions)
    tightness: object = "-"
    lowest: object = "-"
    truth: object = "curve"
    if kind == CURVE:
        wrong = results >= -math.log(LEVEL)
    else:
        exact = one.laws()[name].at(n)[1]
        truth = exact if exact > SLACK else 0.0
        wrong = results > exact + SLACK if kind == BOUND else results >= -math.log(LEVEL)
        if kind == BOUND and exact > SLACK:
            tightness, lowest = float(np.median(results) / exact), float(results.min() / exact)
        elif kind == PROCESS and exact > SLACK and n == DRAWN:
            runs = float(np.median(repeated(POWER, name, n, max(20, repetitions // 40))))
            tightness = f"{runs:.0f} runs" if math.isfinite(runs) else f"over {n} runs"
    count = int(wrong.sum())
    interval = binomtest(count, repetitions).proportion_ci(0.95)
    flag = "above the level" if interval.low > LEVEL else ""
    low, high = float(interval.low), float(interval.high)
    return kind, name, truth, n, repetitions, count, count / repetitions, low, high, tightness, lowest, flag


def cells(quick: bool) -> Iterator[tuple[str, str, int, int]]:
    """What is measured: the five laws first, then scores, then the laws made to tempt the bets."""
    names, scores = list(one.laws()), list(one.score_laws())
    usual, tempting = (names[:FIVE], REPETITIONS), (names[FIVE:], REPETITIONS // 4)
    for kind, (group, number) in (
        (BOUND, usual),
        (PROCESS, usual),
        (CURVE, (scores, REPETITIONS)),
        (BOUND, tempting),
        (PROCESS, tempting),
    ):
        for n in SIZES:
            if not quick:
                yield from ((kind, name, n, number) for name in group if kind == CURVE or n <= one.laws()[name].largest)
            elif n <= SIZES[1]:
                yield from ((kind, name, n, 40) for name in group)


def main() -> None:
    """Measure and print; `--write` keeps every cell as soon as it is known, `--resume` goes on from there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="40 repetitions, 100 and 1,000 runs")
    parser.add_argument("--write", action="store_true", help="keep every cell as soon as it is known")
    parser.add_argument("--resume", action="store_true", help="go on from what was kept")
    chosen = parser.parse_args()
    one.check_paths()
    kept = figures.RESULTS / "coverage_likelihood.json"
    stored = json.loads(kept.read_text())["rows"] if chosen.resume and kept.exists() else []
    rows = [tuple(row[name] for name in HEADER) for row in stored]
    done = {(row[0], row[1], row[3]) for row in rows}
    for kind, name, n, repetitions in cells(chosen.quick):
        if (kind, name, n) in done:
            continue
        rows.append(cell(kind, name, n, repetitions))
        figures.show(HEADER, rows[-1])
        if chosen.write:
            _write(rows)


def _write(rows: list[tuple[object, ...]]) -> None:
    flagged = [f"{row[0]} on {row[1]}, n = {row[3]}" for row in rows if row[-1]]
    most = max(rows, key=lambda row: row[6])
    notes = [
        f"Level {LEVEL:g}, delta {DELTA:g}, pilot of {PILOT} runs. A cell is flagged when its whole 95 % interval lies",
        "above the level. False: the bound exceeds the exact epsilon; for the sequential processes, the exact claim is",
        "refuted at any time (likelihood: after any run; curve test: after any of four blocks of n / 4 scores a side).",
        "Tightness: median of bound / epsilon and the lowest of all repetitions; of the sequential likelihood the",
        "median number of runs until a claim 5 % too small falls (a fortieth of the repetitions).",
        f"Above {DRAWN:,} runs Laplace, Gaussian and sampled Gaussian are rounded to 2,000 cells.",
        f"{len(rows)} cells, flagged: {'; '.join(flagged) or 'none'}. Largest share of false claims: {most[6]:.4g}",
        f"({most[0]} on {most[1]}, n = {most[3]}).",
    ]
    figures.write("coverage_likelihood", "False claims and tightness of the likelihood audits", HEADER, rows, notes)


if __name__ == "__main__":
    main()
