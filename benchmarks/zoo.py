"""The bug zoo: what the black-box audit finds, with how many outputs, in how many seconds.

python benchmarks/zoo.py [--quick] [--write]
"""

from __future__ import annotations

import audit_figures as figures

from dpassay.audit.commands.zoo import judged
from dpassay.audit.lab.zoo import zoo

HEADER = ("mechanism", "correct", "claimed", "truth", "found with", "p-value there", "seconds there", "score there")
SIZES = (1000, 10_000, 100_000)
SEED = 0


def _verdict(name: str, size: int, seed: int) -> str:
    return next(str(row["verdict"]) for one, row in judged(size, seed, name) if one.name == name)


def main() -> None:
    """One line an entry: the smallest of the sizes at which it is called violated."""
    chosen = figures.options(__doc__)
    sizes = SIZES[:2] if chosen.quick else SIZES
    rows = []
    for entry in zoo():
        for size in sizes:
            found = next(row for one, row in judged(size, SEED, entry.name) if one.name == entry.name)
            if found["verdict"] == "violated":
                break
        where = f"{found['samples a side']:,} a side" if found["verdict"] == "violated" else "not found"
        truth = ("at least " if entry.at_least else "") + figures.text(entry.truth)
        numbers = (entry.claimed, truth, where, found["p_value"], found["seconds"], found["score"])
        rows.append((entry.name, "" if entry.broken else "correct", *numbers))
        figures.show(HEADER, rows[-1])
    bugs = [row for row in rows if not row[1]]
    labels = [f"{size:,} a side" for size in sizes]
    hits = [sum(row[4] in labels[: i + 1] for row in bugs) for i in range(len(sizes))]
    share = ", ".join(f"{hit} with {size:,}" for hit, size in zip(hits, sizes, strict=True))
    alarms = sum(row[4] != "not found" for row in rows if row[1])
    rarest, seeds = "rare branch, probability 0.0001", 12
    again = sum(_verdict(rarest, sizes[-1], seed) == "violated" for seed in range(seeds))
    notes = [
        f"Bugs found of {len(bugs)}: {share} outputs a side; {alarms} of {len(rows) - len(bugs)} correct ones accused.",
        f"Level 5 % at each size, seed 0; correct ones: {len(sizes)} looks (the level: `zoo_false_alarms`).",
        f"{rarest}: found with {again} of {seeds} seeds with {sizes[-1]:,} a side.",
    ]
    print("\n".join(notes))
    if chosen.write:
        figures.write("zoo", "What the black-box audit finds in the bug zoo", HEADER, rows, notes)


if __name__ == "__main__":
    main()
