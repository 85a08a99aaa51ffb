"""False alarms and power of the one-model tests behind `dpassay published` (seeds fixed, seconds).

    python benchmarks/published_tests.py [--quick] [--write]

The attacked mechanism is randomised response on membership, pair by pair: the strongest attacker that (epsilon, 0)-DP
allows, with scores as dependent as they can be. The claim under test is epsilon = 1 at level 0.05; alarms at true
epsilon 1 are false.
"""

from __future__ import annotations

import audit_figures as figures
import numpy as np
from scipy.special import expit

from dpassay.audit.published.matching import auc_p_value, grouped_auc_p_value, tpr_p_value

CLAIM, LEVEL, TRIALS = 1.0, 0.05, 20_000
RATES = ((0.03, 0.01, 5_000), (0.05, 0.01, 5_000), (0.1, 0.01, 5_000), (0.1, 0.01, 500))
HEADER = ("pairs", "true epsilon", "AUC test", "AUC test, delta 1e-6", "grouped test")


def alarms(pairs: int, epsilon: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Share of trials rejected by the AUC test, the AUC test with delta = 1e-6, and the grouped test."""
    counts, times = np.unique(rng.binomial(pairs, expit(epsilon), TRIALS), return_counts=True)
    auc = counts / pairs
    plain = [auc_p_value(a, pairs, pairs, CLAIM, 0.0) <= LEVEL for a in auc]
    slack = [auc_p_value(a, pairs, pairs, CLAIM, 1e-6) <= LEVEL for a in auc]
    weight = times / TRIALS
    return float(weight @ plain), float(weight @ slack), grouped_alarms(pairs, epsilon, rng)


def grouped_alarms(pairs: int, epsilon: float, rng: np.random.Generator) -> float:
    """Members 9 : 1 and non-members 1 : 1 over two groups; pairs across groups are won, within as often as allowed."""
    groups = [(9 * pairs, 5 * pairs), (pairs, 5 * pairs)]
    weights = np.array([0.9 * 0.5, 0.1 * 0.5])
    rates = [rng.binomial(m, expit(epsilon), TRIALS // 10) / m for m in (5 * pairs, pairs)]
    aucs = weights @ np.array(rates) + 1.0 - weights.sum()
    return float(np.mean([grouped_auc_p_value(float(a), groups, CLAIM, 0.0) <= LEVEL for a in aucs]))


def main() -> None:
    """Print the table, and keep it with --write."""
    options = figures.options(__doc__)
    rng, rows = np.random.default_rng(20), []
    for pairs in (50, 500) if options.quick else (50, 500, 5_000):
        for epsilon in (1.0, 1.1, 1.5, 2.0):
            rows.append([pairs, epsilon, *alarms(pairs, epsilon, rng)])
            figures.show(HEADER, rows[-1])
    notes = [f"TPR {tpr:g} at FPR {fpr:g}, {pairs} pairs, claim (1, 1e-6): p-value "
             f"{tpr_p_value(tpr, fpr, pairs, pairs, 1.0, 1e-6):.3g}." for tpr, fpr, pairs in RATES]  # fmt: skip
    print("\n".join(notes))
    if options.write:
        text = "  \n".join(notes)
        figures.write("published_tests", "Share of trials in which a claim of epsilon = 1 is refuted at level 0.05",
                      HEADER, rows, [f"{TRIALS} trials a cell (grouped: {TRIALS // 10}).  ", text])  # fmt: skip


if __name__ == "__main__":
    main()
