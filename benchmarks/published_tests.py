"""False alarms and power of the one-model tests behind `dpassay published` (seeds fixed, seconds).

    python benchmarks/published_tests.py

The attacked mechanism is randomised response on membership, pair by pair: the strongest attacker that (epsilon, 0)-DP
allows, with scores as dependent as they can be. The claim under test is epsilon = 1; alarms at true epsilon 1 are
false.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import expit

from dpassay.audit.matching import auc_p_value, grouped_auc_p_value, tpr_p_value

CLAIM, LEVEL, TRIALS = 1.0, 0.05, 20_000


def alarms(pairs: int, epsilon: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Share of trials rejected by the AUC test, the AUC test with delta = 1e-6, and the grouped test."""
    counts, times = np.unique(rng.binomial(pairs, expit(epsilon), TRIALS), return_counts=True)
    auc = counts / pairs
    plain = [auc_p_value(a, pairs, pairs, CLAIM, 0.0) <= LEVEL for a in auc]
    slack = [auc_p_value(a, pairs, pairs, CLAIM, 1e-6) <= LEVEL for a in auc]
    weight = times / TRIALS
    return float(weight @ plain), float(weight @ slack), grouped_alarms(pairs, epsilon, rng)


def grouped_alarms(pairs: int, epsilon: float, rng: np.random.Generator) -> float:
    """Members 9 : 1 and non-members 1 : 1 over two groups; pairs across groups are won, within them as often as
    allowed."""
    groups = [(9 * pairs, 5 * pairs), (pairs, 5 * pairs)]
    weights = np.array([0.9 * 0.5, 0.1 * 0.5])
    rates = [rng.binomial(m, expit(epsilon), TRIALS // 10) / m for m in (5 * pairs, pairs)]
    aucs = weights @ np.array(rates) + 1.0 - weights.sum()
    return float(np.mean([grouped_auc_p_value(float(a), groups, CLAIM, 0.0) <= LEVEL for a in aucs]))


def main() -> None:
    """Print the tables."""
    rng = np.random.default_rng(20)
    table = Table("pairs", "true epsilon", "AUC test", "AUC test, delta 1e-6", "grouped test",
                  title=f"share rejected at level {LEVEL:g}, claim epsilon = {CLAIM:g}")  # fmt: skip
    for pairs in (50, 500, 5_000):
        for epsilon in (1.0, 1.1, 1.5, 2.0):
            table.add_row(str(pairs), f"{epsilon:g}", *(f"{share:.4f}" for share in alarms(pairs, epsilon, rng)))
    console = Console(width=120)
    console.print(table)
    rates = Table("TPR", "FPR", "pairs", "p-value", title="TPR test, claim epsilon = 1, delta = 1e-6")
    for tpr, fpr, pairs in ((0.03, 0.01, 5_000), (0.05, 0.01, 5_000), (0.1, 0.01, 5_000), (0.1, 0.01, 500)):
        rates.add_row(f"{tpr:g}", f"{fpr:g}", str(pairs), f"{tpr_p_value(tpr, fpr, pairs, pairs, 1.0, 1e-6):.3g}")
    console.print(rates)


if __name__ == "__main__":
    main()
