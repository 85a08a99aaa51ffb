"""Outputs (both sides together) to detection over the zoo: sequential against fixed-size audits.

python benchmarks/sequential_zoo.py [limit a side]
"""

import sys

import numpy as np

from dpassay.audit.blackbox.detect import audit_mechanism
from dpassay.audit.blackbox.zoo import zoo
from dpassay.audit.results import Verdict
from dpassay.audit.sequential import audit_sequentially

SEEDS = (0, 1, 2)


def main(limit: int = 100_000) -> None:
    print(f"{'mechanism':34s} {'sequential':>10s} {'smallest fixed size of 1000 * 3^k':>34s}")
    sequential, fixed = [], []
    for entry in (e for e in zoo() if e.broken):
        runs, sizes = [], []
        for seed in SEEDS:
            result = audit_sequentially(
                entry.mechanism,
                (entry.dataset, entry.neighbour),
                entry.claim,
                np.random.default_rng([7, seed]),
                limit,
                low_bits=entry.low_bits,
            )
            runs.append(result.runs if result.verdict is Verdict.VIOLATED else np.inf)
            size = 1000
            while size <= limit:
                pair = (entry.mechanism, entry.dataset, entry.neighbour, entry.claim, size)
                rng = np.random.default_rng([8, seed])
                if audit_mechanism(*pair, rng, low_bits=entry.low_bits).verdict is Verdict.VIOLATED:
                    break
                size *= 3
            sizes.append(2 * size if size <= limit else np.inf)
        sequential.append(np.median(runs))
        fixed.append(np.median(sizes))
        print(f"{entry.name:34s} {sequential[-1]:10.0f} {fixed[-1]:34.0f}", flush=True)
    print(
        f"median over the zoo: sequential {np.median(sequential):.0f}, oracle fixed size {np.median(fixed):.0f},"
    )
    print(f"a fixed design that must choose its size before looking: {2 * limit}")


if __name__ == "__main__":
    main(*(int(arg) for arg in sys.argv[1:]))
