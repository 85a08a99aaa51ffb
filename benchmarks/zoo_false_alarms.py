"""False alarms of the black-box audit on the zoo's correct mechanisms: 63 seeds each (2,016 audits), 5 % level.

python benchmarks/zoo_false_alarms.py [--quick] [--write] [--partial FILE]
"""

from __future__ import annotations

from functools import partial

import audit_figures as figures
import numpy as np
from scipy.stats import binomtest

from dpassay.audit.blackbox.detect import audit_mechanism
from dpassay.audit.results import Verdict
from dpassay.audit.zoo.entries import zoo
from dpassay.audit.zoo.laws import Entry

HEADER = ("mechanism", "seeds", "samples a side", "alarms", "share", "low", "high")
SAMPLES, LEVEL = 1000, 0.05


def main() -> None:
    """One line a mechanism, and all together."""
    chosen = figures.options(__doc__)
    seeds = 5 if chosen.quick else 63
    rows = []
    for entry in (e for e in zoo() if not e.broken):
        rows.append(
            _row(entry.name, seeds, *figures.known_or(chosen.partial, entry.name, partial(_alarms, entry, seeds)))
        )
        figures.show(HEADER, rows[-1])
    rows.append(_row("all", seeds * len(rows), sum(row[3] for row in rows)))
    figures.show(HEADER, rows[-1])
    worst = min(binomtest(row[3], row[1], LEVEL, alternative="greater").pvalue for row in rows[:-1])
    notes = [
        f"Allowed: {LEVEL:g}. Smallest p-value of 'more alarms than allowed' over the mechanisms: {worst:.3g}.",
        f"95 % interval of all together: [{rows[-1][5]:.4f}, {rows[-1][6]:.4f}].",
    ]
    print("\n".join(notes))
    if chosen.write:
        figures.write("zoo_false_alarms", "False alarms on the zoo's correct mechanisms", HEADER, rows, notes)


def _alarms(entry: Entry, seeds: int) -> list[int]:
    pair = (entry.mechanism, entry.dataset, entry.neighbour, entry.claim, SAMPLES)
    results = (
        audit_mechanism(*pair, np.random.default_rng([9, seed]), low_bits=entry.low_bits) for seed in range(seeds)
    )
    return [sum(result.verdict is Verdict.VIOLATED for result in results)]


def _row(name: str, seeds: int, alarms: int) -> tuple[str, int, int, int, float, float, float]:
    interval = binomtest(alarms, seeds).proportion_ci(0.95)
    return name, seeds, SAMPLES, alarms, alarms / seeds, float(interval.low), float(interval.high)


if __name__ == "__main__":
    main()
