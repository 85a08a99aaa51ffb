"""Crafted initialisation: is one record of DP-SGD more visible than from the usual start?

    python benchmarks/crafted_start.py [--quick] [--write]

Area under the ROC curve of the plain loss of one record over many models, half of them trained with it (softmax
regression, 20 full-batch steps, noise multiplier 4), mean over records with its standard error. The best that any
attack on all releases could reach is Phi(mu / sqrt 2), mu = sqrt(20) / 4.
"""

from __future__ import annotations

import keep
import numpy as np
from scipy.stats import norm

from dpassay.audit.attacks.estimators import dp_sgd_mu
from dpassay.audit.attacks.plans import RECORDS, STARTS, Plan
from dpassay.audit.attacks.play import play_plan

NOISE, DATA = 4.0, "breast cancer"


def areas(data: str, canaries: str, start: str, models: int, records: int) -> np.ndarray:
    """AUC of the loss for each of a few records (one seed each)."""
    plan = Plan(data=data, candidates=1, models=models, canaries=canaries, initialisation=start, noise_multiplier=NOISE)
    found = [play_plan(plan, np.random.default_rng(seed), 0.95)[0].evidence["auc"] for seed in range(records)]
    return np.asarray(found, dtype=float)


def measure(quick: bool) -> None:
    """Three kinds of records, two starts."""
    models, records = (100, 2) if quick else (150, 5)
    print(f"{models} models a record, {records} records; ceiling {norm.cdf(dp_sgd_mu(NOISE) / np.sqrt(2)):.3f}")
    print(f"{'data':<15}{'record':<22}{'usual start':<18}{'crafted start':<18}")
    for canaries in RECORDS:
        cells = []
        for start in STARTS:
            area = areas(DATA, canaries, start, models, records)
            cells.append(f"{area.mean():.3f} +- {area.std(ddof=1) / np.sqrt(records):.3f}")
        kind = "ordinary" if canaries == "none" else canaries
        print(f"{DATA:<15}{kind:<22}{cells[0]:<18}{cells[1]:<18}", flush=True)


if __name__ == "__main__":
    keep.main(__file__, __doc__ or "", measure)
