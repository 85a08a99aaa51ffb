"""The bug zoo: how often the black-box audit finds each bug, with 1,000 and with 10,000 outputs a side.

python benchmarks/zoo.py [--quick] [--write] [--partial FILE]

What is missed with 10,000 is tried with 100,000 once. Then the false alarms on its correct mechanisms: 63 seeds each
(2,016 audits), at the 5 % level.
"""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import audit_figures as figures
from scipy.stats import binomtest

from dpassay.audit.results import ClaimTest, Verdict

sys.path.append(str(Path(__file__).parents[1]))
from tests.zoo.entries import zoo

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


def _violated(found: list[ClaimTest]) -> int:
    return sum(one.verdict is Verdict.VIOLATED for one in found)


def _share(found: list[ClaimTest]) -> str:
    return f"{_violated(found)} of {len(found)}"


def _row(index: int, entry: Any, seeds: tuple[int, int], quick: bool) -> list[object]:
    """One line of the table, and before it the shares found with both sizes; seeds depend on the place in the zoo."""
    few, many = (
        [entry.judged(size, (seed, index)) for seed in range(count)] for size, count in zip(SIZES, seeds, strict=True)
    )
    more = _share([entry.judged(LAST, (0, index))]) if not _violated(many) and not quick else ""
    median = sorted(many, key=lambda one: one.p_value)[seeds[1] // 2]
    truth = ("at least " if entry.at_least else "") + figures.text(entry.truth)
    numbers = (_share(few), _share(many), more, median.p_value, median.seconds, median.evidence["score"])
    hits = [_violated(some) / len(some) for some in (few, many)]
    return [*hits, entry.name, figures.text(entry.claimed), truth, *numbers]


def main() -> None:
    """Both tables."""
    chosen = figures.options(__doc__)
    bugs_found(chosen)
    false_alarms(chosen)


def bugs_found(chosen: argparse.Namespace) -> None:
    """One line a bug."""
    seeds = (1, 1) if chosen.quick else SEEDS
    rows, hits, bugs = [], [0.0, 0.0], [(index, entry) for index, entry in enumerate(zoo()) if entry.broken]
    for index, entry in bugs:
        measure = partial(_row, index, entry, seeds, chosen.quick)
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


def _alarms(entry: Any, seeds: int) -> list[int]:
    return [_violated([entry.judged(SAMPLES, (9, seed)) for seed in range(seeds)])]


def _alarm_row(name: str, seeds: int, alarms: int) -> tuple[str, int, int, int, float, float, float]:
    interval = binomtest(alarms, seeds).proportion_ci(0.95)
    return name, seeds, SAMPLES, alarms, alarms / seeds, float(interval.low), float(interval.high)


if __name__ == "__main__":
    main()
