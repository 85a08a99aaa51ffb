"""Gradient canaries in one run of DP-SGD: is the right noise let pass, and half of it found out?

    python benchmarks/gradient_canaries.py [--quick] [--write]

1,000 canaries, 20 full-batch steps on breast cancer, 12 seeds; the claim is what the stated noise multiplier accounts
for, the noise drawn is that or half of it.
"""

from collections.abc import Iterator

import audit_figures as figures
import numpy as np

from dpassay.audit.attacks.estimators import dp_sgd_mu
from dpassay.audit.attacks.play import GRADIENTS, Plan, play_plan
from dpassay.audit.results import SoundBound, decide
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.guarantee import Guarantee, gdp

HEADER = ("canaries", "noise multiplier stated", "drawn", "epsilon claimed", "refuted", "seeds", "largest bound", "AUC")
CONFIDENCE = 0.95


class HalfNoise(Plan):
    """Draws half the noise that its claim accounts for."""

    @property
    def claim(self) -> Guarantee:
        """Of twice the noise drawn."""
        return gdp(dp_sgd_mu(2 * self.noise))

    @property
    def claimed(self) -> float:
        """Of twice the noise drawn."""
        return gdp_epsilon(dp_sgd_mu(2 * self.noise), self.delta)


def row(stated: float, plan: Plan, seeds: int) -> tuple[object, ...]:
    """The canaries at one noise."""
    refuted, bounds, areas = 0, [], []
    for seed in range(seeds):
        found = play_plan(plan, np.random.default_rng(seed), CONFIDENCE)
        refuted += decide(found) == "violated"
        bounds += [one.epsilon for one in found if isinstance(one, SoundBound)]
        areas.append(float(str(found[0].evidence["auc"])))
    return (GRADIENTS, stated, plan.noise, plan.claimed, refuted, seeds, max(bounds), float(np.mean(areas)))


def measured(seeds: int) -> Iterator[tuple[object, ...]]:
    """At two noises, with the stated noise and with half of it."""
    for noise in (9.0, 4.5):
        right = Plan(canaries=GRADIENTS, noise_multiplier=noise)
        for plan in (right, HalfNoise(**{**vars(right), "noise_multiplier": noise / 2})):
            yield row(noise, plan, seeds)


def main() -> None:
    """Print and keep."""
    chosen = figures.options(__doc__)
    rows = []
    for row in measured(2 if chosen.quick else 12):
        figures.show(HEADER, row)
        rows.append(row)
    if chosen.write:
        notes = ["AUC: of the scores, mean over the seeds. Level 5 % for test and bound together."]
        figures.write("gradient_canaries", "Gradient canaries in one run of DP-SGD", HEADER, rows, notes)


if __name__ == "__main__":
    main()
