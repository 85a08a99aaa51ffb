"""What a black-box audit would have seen: violations planted in the outputs that it has just judged.

The planted mechanism runs the audited one, but in a share of its runs it shows the dataset instead: an output that only
one side gives. Its delta is at least that share for every epsilon, so it breaks any claim with a smaller delta. When a
random share of the outputs is replaced, these are exact draws from it, so no further run is needed. The audit refutes
whenever its bet on repeated outputs does, or its bet on outputs known from training with the least weight that it can
have; these two are simulated, without learning, which gives a lower limit of the audit's power.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.audit.bounds import clopper_pearson_lower
from dpassay.audit.scores.curve_claim import curve_log_wealth
from dpassay.audit.verdict import POWER_SHOWN
from dpassay.reference.guarantee import Guarantee
from dpassay.reference.types import Array

from .detect import BETS_SHARE, REPEATS_OF_BETS, TRAINING_SHARE
from .features import Atoms
from .learner import FIT_SHARE, LEAST_WEIGHT
from .repeats import repeats_log_wealth, row_hashes
from .table import to_table

RUNS = (1_000_000, 300_000, 100_000, 30_000, 10_000, 3000, 1000, 300, 100, 30, 10, 3)  # one in so many shows its side
REPETITIONS, MISSES = 24, 1  # simulations per share; a second miss ends them (22 of 24 would not show power 0.8)
CAP = 30_000  # outputs a side that are used
SHOWN, SIDES = 5, (-1.0, -2.0)  # a share gives at least so many shown sides, or it is not tried; their codes


@dataclass(frozen=True)
class Planted:
    """The rarest planted branch that is seen with power 0.8 or more; `runs` is None when none is."""

    runs: int | None  # one run in so many shows the dataset
    refuted: int
    outputs: int  # a side

    @property
    def at_least(self) -> float:
        """Clopper-Pearson lower limit of the power at 95 %."""
        return float(clopper_pearson_lower(self.refuted, REPETITIONS, 0.05))

    @property
    def evidence(self) -> dict[str, object]:
        """For a JSON report."""
        simulated = {"repetitions": REPETITIONS, "refuted": self.refuted, "outputs_a_side": self.outputs}
        return {"one_run_in": self.runs, "power_at_least": self.at_least, "simulated": simulated}

    @property
    def statement(self) -> str:
        """For a terminal."""
        if self.runs is None:
            return f"Planted: not even a branch that shows the dataset in one run of {RUNS[-1]} would be seen reliably."
        return (
            f"Planted: a branch that shows the dataset in one run of {self.runs:,} would be refuted with power "
            f"{self.at_least:.2f} or more ({self.refuted} of {REPETITIONS} simulations)."
        )


def planted_power(outputs_p: Any, outputs_q: Any, claim: Guarantee, confidence: float, seed: int) -> Planted:
    """Plant branches of growing probability in the outputs on D and on D' until they are refuted reliably."""
    p, q = (table[:CAP] for table in to_table(outputs_p, outputs_q))
    _, codes = np.unique(np.concatenate([row_hashes(p), row_hashes(q)]), return_inverse=True)
    sides = codes[: len(p)].astype(float), codes[len(p) :].astype(float)
    size, rng, needed = min(len(p), len(q)), np.random.default_rng([seed, 61]), -np.log(1 - confidence)
    for runs in RUNS:
        if size < SHOWN * runs or 1 / runs <= float(claim.deltas.min()):
            continue
        refuted = tried = 0
        while tried < REPETITIONS and tried - refuted <= MISSES:
            shown = [rng.random(one.size) < 1 / runs for one in sides]
            new_p, new_q = (np.where(shown[i], SIDES[i], sides[i]) for i in range(2))
            refuted, tried = refuted + _refuted(new_p, new_q, claim, needed, rng), tried + 1
        found = Planted(runs, refuted, size)
        if found.at_least >= POWER_SHOWN:
            return found
    return Planted(None, 0, size)


def _refuted(p: Array, q: Array, claim: Guarantee, needed: float, rng: np.random.Generator) -> bool:
    """Does one of the audit's two bets on exact outputs refute the claim, at the share of the stake it has?"""
    if repeats_log_wealth(p[:, None], q[:, None], claim, rng) + np.log(BETS_SHARE * REPEATS_OF_BETS) >= needed:
        return True
    cuts, mixed = [int(TRAINING_SHARE * one.size) for one in (p, q)], [rng.permutation(one)[:, None] for one in (p, q)]
    atoms = Atoms.fit(*(one[: max(1, int(FIT_SHARE * cut))] for one, cut in zip(mixed, cuts, strict=True)))
    if not atoms.codes.size:
        return False
    scores = [np.nan_to_num(atoms.score(one[cut:])) for one, cut in zip(mixed, cuts, strict=True)]
    wealth = curve_log_wealth(scores[0], scores[1], claim) + np.log(BETS_SHARE * (1 - REPEATS_OF_BETS) * LEAST_WEIGHT)
    return bool(wealth >= needed)
