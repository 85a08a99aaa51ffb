"""The bug zoo: how often the black-box audit finds each bug, with 1,000 and with 10,000 outputs a side.

python benchmarks/zoo.py [--quick] [--write] [--partial FILE]

What is missed with 10,000 is tried with 100,000 once. Then the false alarms on its correct mechanisms: 63 seeds each
(2,016 audits), at the 5 % level.
"""

from __future__ import annotations

import argparse
from functools import partial

import audit_figures as figures
import numpy as np
from scipy.stats import binomtest

from dpassay.audit.blackbox.detect import audit_mechanism
from dpassay.audit.commands.zoo import judged
from dpassay.audit.results import Verdict
from dpassay.audit.zoo.entries import zoo
from dpassay.audit.zoo.laws import Entry

HEADER = (
    "mechanism",
    "claimed",
    "truth",
    "found with 1,000",
    "found with 10,000",
    "found with 100,000",
    "median p-value",
    "seconds each",
    "score",
)
SIZES, SEEDS, LAST = (1000, 10_000), (3, 3), 100_000


def _found(name: str, size: int, seeds: int) -> list[dict[str, object]]:
    return [next(row for row in judged(size, seed, name) if row["mechanism"] == name) for seed in range(seeds)]


def _share(rows: list[dict[str, object]]) -> str:
    return f"{sum(row['verdict'] == 'violated' for row in rows)} of {len(rows)}"


def _row(name: str, claimed: float, truth: str, seeds: tuple[int, int], quick: bool) -> list[object]:
    """One line of the table, and before it the shares found with both sizes."""
    found = [_found(name, size, count) for size, count in zip(SIZES, seeds, strict=True)]
    hits = [sum(row["verdict"] == "violated" for row in some) / len(some) for some in found]
    more = _share(_found(name, LAST, 1)) if not hits[1] and not quick else ""
    median = sorted(found[1], key=lambda row: float(str(row["p_value"])))[seeds[1] // 2]
    numbers = (_share(found[0]), _share(found[1]), more, median["p_value"], median["seconds"], median["score"])
    return [*hits, name, figures.text(claimed), truth, *numbers]


def main() -> None:
    """Both tables."""
    chosen = figures.options(__doc__)
    bugs_found(chosen)
    false_alarms(chosen)


def bugs_found(chosen: argparse.Namespace) -> None:
    """One line a bug."""
    seeds = (1, 1) if chosen.quick else SEEDS
    rows, hits, bugs = [], [0.0, 0.0], [entry for entry in zoo() if entry.broken]
    for entry in bugs:
        truth = ("at least " if entry.at_least else "") + figures.text(entry.truth)
        measure = partial(_row, entry.name, entry.claimed, truth, seeds, chosen.quick)
        few, many, *row = figures.known_or(chosen.partial, entry.name, measure)
        hits = [hits[0] + few, hits[1] + many]
        rows.append(row)
        figures.show(HEADER, row)
    notes = [
        f"Of {len(bugs)} bugs, {hits[0]:.1f} are found with 1,000 outputs a side and {hits[1]:.1f} with 10,000",
        f"(means over {seeds[0]} and {seeds[1]} seeds), at a level of 5 % each.",
        "P-value, seconds and score: with 10,000, on a busy machine. False alarms: `zoo_false_alarms`.",
    ]
    print("\n".join(notes))
    if chosen.write:
        figures.write("zoo", "What the black-box audit finds in the bug zoo", HEADER, rows, notes)


ALARM_HEADER = ("mechanism", "seeds", "samples a side", "alarms", "share", "low", "high")
SAMPLES, LEVEL = 1000, 0.05


def false_alarms(chosen: argparse.Namespace) -> None:
    """One line a correct mechanism, and all together."""
    seeds = 5 if chosen.quick else 63
    rows = []
    for entry in (e for e in zoo() if not e.broken):
        rows.append(
            _alarm_row(entry.name, seeds, *figures.known_or(chosen.partial, entry.name, partial(_alarms, entry, seeds)))
        )
        figures.show(ALARM_HEADER, rows[-1])
    rows.append(_alarm_row("all", seeds * len(rows), sum(row[3] for row in rows)))
    figures.show(ALARM_HEADER, rows[-1])
    worst = min(binomtest(row[3], row[1], LEVEL, alternative="greater").pvalue for row in rows[:-1])
    notes = [
        f"Allowed: {LEVEL:g}. Smallest p-value of 'more alarms than allowed' over the mechanisms: {worst:.3g}.",
        f"95 % interval of all together: [{rows[-1][5]:.4f}, {rows[-1][6]:.4f}].",
    ]
    print("\n".join(notes))
    if chosen.write:
        title, command = "False alarms on the zoo's correct mechanisms", "python benchmarks/zoo.py --write"
        figures.write("zoo_false_alarms", title, ALARM_HEADER, rows, notes, command)


def _alarms(entry: Entry, seeds: int) -> list[int]:
    pair = (entry.mechanism, entry.dataset, entry.neighbour, entry.claim, SAMPLES)
    results = (
        audit_mechanism(*pair, np.random.default_rng([9, seed]), low_bits=entry.low_bits) for seed in range(seeds)
    )
    return [sum(result.verdict is Verdict.VIOLATED for result in results)]


def _alarm_row(name: str, seeds: int, alarms: int) -> tuple[str, int, int, int, float, float, float]:
    interval = binomtest(alarms, seeds).proportion_ci(0.95)
    return name, seeds, SAMPLES, alarms, alarms / seeds, float(interval.low), float(interval.high)


if __name__ == "__main__":
    main()
