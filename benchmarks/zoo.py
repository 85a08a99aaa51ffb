"""The bug zoo: how often the black-box audit finds each bug, with 1,000 and with 10,000 outputs a side.

python benchmarks/zoo.py [--quick] [--write] [--partial FILE]

What is missed with 10,000 is tried with 100,000 once.
"""

from __future__ import annotations

from functools import partial

import audit_figures as figures

from dpassay.audit.commands.zoo import judged
from dpassay.audit.zoo.entries import zoo

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
    return [next(row for one, row in judged(size, seed, name) if one.name == name) for seed in range(seeds)]


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
    """One line a bug."""
    chosen = figures.options(__doc__)
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


if __name__ == "__main__":
    main()
