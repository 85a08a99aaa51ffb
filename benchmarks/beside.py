"""Bounds of scores beside each other on laws whose epsilon is known (those of `coverage.py`): which one shows most.

    python benchmarks/beside.py [--quick]

Medians over 15, 9 and 5 samples of 1,000, 10,000 and 100,000 scores a side (or canaries), each bound at the whole 5 %,
delta = 1e-5 (0.01 for the rare branch and the common failure). Two laws without a finite epsilon are added, in which
one run in a hundred or a thousand shows its side. The tables of `docs/statistics.md` are made of it by hand.
"""

import sys
from collections import defaultdict

import numpy as np
from coverage import LEVEL, Law, laws

from dpassay.audit.evidence.label_bets import labelled, without
from dpassay.audit.evidence.weighted import independent
from dpassay.audit.scores.labels import epsilon_labels, read_event
from dpassay.audit.scores.one_run import check_canaries, epsilon_one_run
from dpassay.audit.scores.outward import read_outward
from dpassay.reference.arrays import Array
from dpassay.reference.guarantee import approx_dp

SAMPLES = {1000: 15, 10_000: 9, 100_000: 5}


def shown(rate: float) -> Law:
    """Scores that say nothing, but for a share of those of D', which stand out."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        p, q = rng.normal(size=n), rng.normal(size=n)
        return p, np.where(rng.random(n) < rate, 9.0 + rng.random(n), q)

    return Law(f"shown in {rate:g}", draw, np.inf, approx_dp(1.0))


def two_samples(p: Array, q: Array, delta: float, seed: int) -> dict[str, float]:
    """The bound, and each of its parts with the whole level."""
    rng = np.random.default_rng([seed, 1])
    of_p, of_q = labelled(p.size, q.size, rng)
    sides = np.sort(without(p, p.size - of_p, rng)), np.sort(without(q, q.size - of_q, rng))
    return {
        "bound": epsilon_labels(p, q, delta, np.random.default_rng([seed, 1])).epsilon,
        "outwards": read_outward(*sides, rng, LEVEL, independent(of_p + of_q, delta, LEVEL))[0],
        "one event": read_event(p, q, delta, rng, LEVEL)[0],
    }


if __name__ == "__main__":
    for law in (*laws(), shown(0.01), shown(0.001)):
        for n in [1000] if "--quick" in sys.argv else SAMPLES:
            found: dict[str, list[float]] = defaultdict(list)
            for seed in range(SAMPLES[n]):
                p, q = law.draw(np.random.default_rng([seed, n]), n)
                canaries = check_canaries(*law.canaries(np.random.default_rng([seed, n]), n), np.random.default_rng(2))
                one = epsilon_one_run(*canaries, law.delta, np.random.default_rng([seed, 1]))
                found["one run"].append(one.epsilon)
                for name, value in () if law.one_run_only else two_samples(p, q, law.delta, seed).items():
                    found[f"two samples, {name}"].append(value)
            print(f"{law.name}, {n:,}: " + "; ".join(f"{k} {np.median(v):.2f}" for k, v in found.items()), flush=True)
