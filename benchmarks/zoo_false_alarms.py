"""False alarms of the black-box audit on the zoo's correct mechanisms: 200 seeds each, 5 % level.

python benchmarks/zoo_false_alarms.py [seeds] [samples]
"""

import sys

import numpy as np
from scipy.stats import binomtest

from dpassay.audit.blackbox.detect import audit_mechanism
from dpassay.audit.blackbox.zoo import zoo
from dpassay.audit.results import Verdict


def main(seeds: int = 200, samples: int = 2000) -> None:
    total = alarms = 0
    print(f"{'mechanism':28s} alarms of {seeds} ({samples} samples a side)")
    for entry in (e for e in zoo() if not e.broken):
        pair = (entry.mechanism, entry.dataset, entry.neighbour, entry.claim, samples)
        results = (
            audit_mechanism(*pair, np.random.default_rng([9, seed]), low_bits=entry.low_bits)
            for seed in range(seeds)
        )
        found = sum(result.verdict is Verdict.VIOLATED for result in results)
        print(f"{entry.name:28s} {found}", flush=True)
        total, alarms = total + seeds, alarms + found
    interval = binomtest(alarms, total).proportion_ci(0.95)
    print(f"all: {alarms} of {total}, 95 % interval [{interval.low:.4f}, {interval.high:.4f}]; allowed 0.05")


if __name__ == "__main__":
    main(*(int(arg) for arg in sys.argv[1:]))
