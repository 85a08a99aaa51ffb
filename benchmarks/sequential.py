"""Runs to detection: sequential audits against fixed-size ones, over the bug zoo and over mutants.

    python benchmarks/sequential.py [--quick] [--write] [--partial FILE]

Zoo: outputs of both sides together, one seed; fixed: the smallest of 1000, 3000, 9000, 27000 a side that an oracle
would choose. Mutants: runs whose losses count (pilots of 200 apart), median of three seeds; fixed: the audit's default
of 1,000 runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import audit_figures as figures
import numpy as np

from dpassay.audit.blackbox.detect import audit_mechanism
from dpassay.audit.evidence.processes import MeanProcess, hockey_stick, until_refuted
from dpassay.audit.likelihood.pilot import make_plan
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.mutate.tape import mutated
from dpassay.audit.results import Verdict
from dpassay.audit.sequential.black_box import audit_sequentially
from dpassay.audit.zoo.entries import Entry, zoo
from dpassay.audit.zoo.mutants import ATTAINED, CASES, first_repaired, planted, with_pair_claim
from dpassay.reference.case import Case
from dpassay.reference.catalogue import find

HEADER = ("kind", "what", "sequential", "fixed", "seeds")
SEEDS = (0, 1, 2)
LIMIT = 27_000  # outputs a side
DRAWN = (1000, 2000, 6000, 18_000, 54_000)  # outputs of both sides, for the table of those found
FIXED_RUNS = 1000


@dataclass
class Draws:
    """Hockey-stick values of fresh runs, block by block, under the tilts of a pilot."""

    sampler: LockstepSampler
    epsilon: float
    delta: float
    seed: int
    block: int = 0

    def __post_init__(self) -> None:
        self.plan, _ = make_plan(self.sampler, self.delta, 0.05, FIXED_RUNS, 200, self.seed)
        self.final = self.sampler.swapped() if self.plan.swapped else self.sampler

    def __call__(self, count: int) -> np.ndarray:
        self.block += 1
        losses = self.final.sample(self.plan.tilts, self.plan.shares, count, (self.seed, 41, self.block))
        return hockey_stick(losses.loss, losses.log_weight(np.log(self.plan.shares)), self.epsilon)


def of_zoo(entry: Entry, seeds: tuple[int, ...], limit: int) -> list[object]:
    """Medians over the seeds; infinite where the limit was not enough."""
    sequential, fixed = [], []
    pair = (entry.mechanism, entry.dataset, entry.neighbour)
    for seed in seeds:
        rng = np.random.default_rng([7, seed])
        result = audit_sequentially(pair[0], pair[1:], entry.claim, rng, limit, low_bits=entry.low_bits)
        sequential.append(result.runs if result.verdict is Verdict.VIOLATED else np.inf)
        fixed.append(np.inf)
        for size in (1000 * 3**k for k in range(5) if 1000 * 3**k <= limit):
            rng = np.random.default_rng([8, seed])
            found = audit_mechanism(*pair, entry.claim, size, rng, low_bits=entry.low_bits)
            if found.verdict is Verdict.VIOLATED:
                fixed[-1] = 2 * size
                break
    return ["zoo", entry.name, float(np.median(sequential)), float(np.median(fixed)), len(seeds)]


def of_mutants(case: Case, seeds: tuple[int, ...]) -> Iterator[tuple[object, ...]]:
    """Every mutant of one case with a finite epsilon above the claim."""
    instance = case.build()
    for mutation in planted(case, instance):
        if mutation.unbounded or mutation.name not in ("half the noise", "missing sqrt 2", "noise 10 % too small"):
            continue
        runs = []
        for seed in seeds:
            sampler = LockstepSampler(mutated(instance.mechanism, mutation), instance.pair, checks=0)
            draws = Draws(sampler, case.claim.epsilon, case.claim.delta, seed)
            process = MeanProcess.of_losses(case.claim.epsilon, case.claim.delta)
            result = until_refuted(process, draws, 2 * FIXED_RUNS, block=16)
            runs.append(result.runs if result.verdict is Verdict.VIOLATED else np.inf)
        name = f"{case.key}, {mutation.name}"
        yield "mutant", name, float(np.median(runs)), float(FIXED_RUNS), len(seeds)


def _mutants(case: Case, seeds: tuple[int, ...]) -> list[object]:
    return list(of_mutants(case, seeds))


def found_by(rows: list[tuple[Any, ...]]) -> list[str]:
    """The small table: how many bugs of the zoo have fallen when so many outputs are drawn."""
    zoo_rows = [row for row in rows if row[0] == "zoo"]
    drawn = [[sum(row[column] <= most for row in zoo_rows) for most in DRAWN] for column in (2, 3)]
    return [
        f"Of {len(zoo_rows)} bugs of the zoo found when so many outputs are drawn on both sides together:",
        "",
        "| outputs | " + " | ".join(f"{most:,}" for most in DRAWN) + " |",
        "|---" * (len(DRAWN) + 1) + "|",
        *(
            f"| {name} | " + " | ".join(map(str, counts)) + " |"  # the fixed sizes begin with 2,000 outputs
            for name, counts in zip(("sequential", "fixed size"), drawn, strict=True)
        ),
        "",
    ]


def main() -> None:
    """Print every line as it is measured; `--write` keeps them."""
    chosen = figures.options(__doc__)
    seeds, limit = (SEEDS[:1], 3000) if chosen.quick else (SEEDS, LIMIT)
    rows: list[tuple[object, ...]] = []
    cases = [find(name)[0] for name in CASES[1:]] + [with_pair_claim(first_repaired(name)) for name in ATTAINED]
    for case in cases[:1] if chosen.quick else cases:
        for found in figures.known_or(chosen.partial, case.key, partial(_mutants, case, seeds)):
            rows.append(tuple(found))
            figures.show(HEADER, found)
    for entry in (e for e in zoo() if e.broken):
        rows.append(tuple(figures.known_or(chosen.partial, entry.name, partial(of_zoo, entry, seeds[:1], limit))))
        figures.show(HEADER, rows[-1])
    notes = found_by(rows)
    for kind in ("mutant", "zoo"):
        of_kind = [row for row in rows if row[0] == kind]
        one, other = (figures.text(float(np.median([row[i] for row in of_kind]))) for i in (2, 3))
        notes.append(f"Median over {len(of_kind)} of kind {kind}: sequential {one}, fixed {other}.")
    notes.append(f"A fixed design for the zoo that must choose its size before looking needs {2 * limit:,} outputs.")
    print("\n".join(notes))
    if chosen.write:
        figures.write("sequential", "Runs to detection: sequential against fixed-size audits", HEADER, rows, notes)


if __name__ == "__main__":
    main()
