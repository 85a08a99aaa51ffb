"""Rare signals at one end of the scores of one run: 1e5 canaries, of which one in a thousand or so is known.

    python benchmarks/one_run_steps.py [--quick] [--write]

delta = 1e-5, 95 %, medians. "Event known": all canaries beyond the step are guessed, judged by the closed form of
`fixed_guesses.py`; "as if independent": Clopper-Pearson limits of that event, which assume that no two canaries are
found out together.
"""

from __future__ import annotations

import audit_figures as figures
import numpy as np

from dpassay.audit.scores.fixed_guesses import epsilon_guesses
from dpassay.audit.scores.one_run import epsilon_one_run
from dpassay.audit.scores.thresholds import epsilon_from_counts
from dpassay.reference.types import Array, Bools

MANY, DELTA, ALPHA, SEEDS = 100_000, 1e-5, 0.05, 40
HEADER = ("the others", "known, of those in", "samples", "bound", "quarter below", "event known", "as if independent")
LAWS = ("nothing", "Gaussian, mu 0.25", "randomised response, 1")


def drawn(law: str, share: float, rng: np.random.Generator) -> tuple[Array, Bools, Bools]:
    """Scores, coins, and which canaries are known."""
    coins = rng.random(MANY) < 0.5
    scores = rng.normal(size=MANY) + (0.25 * coins if law == LAWS[1] else 0.0)
    if law == LAWS[2]:
        scores = np.where(rng.random(MANY) < np.e / (1 + np.e), coins, ~coins).astype(float)
    known = coins & (rng.random(MANY) < share)
    scores[known] = 9 + rng.random(int(known.sum()))
    return scores, coins, known


def main() -> None:
    """Print one line a cell."""
    chosen = figures.options(__doc__)
    rows = []
    for law in LAWS:
        for share in (0.001, 0.002, 0.003, 0.01, 0.03):
            found = []
            for seed in range(4 if chosen.quick else SEEDS):
                scores, coins, known = drawn(law, share, np.random.default_rng([5, seed]))
                count, inside = int(known.sum()), int(coins.sum())
                bound = epsilon_one_run(scores, coins, DELTA, np.random.default_rng([1, seed])).epsilon
                best = epsilon_guesses(MANY, count, count, DELTA, ALPHA)
                alone = float(epsilon_from_counts(count, inside, 0, MANY - inside, DELTA, ALPHA))
                found.append((bound, best, alone))
            bounds, best, alone = np.array(found).T
            low, middle = np.quantile(bounds, (0.25, 0.5))
            rows.append((law, share, len(found), middle, low, np.median(best), np.median(alone)))
            figures.show(HEADER, rows[-1])
    if chosen.write:
        notes = ["A step of so few canaries is found on coins told at the ends (`audit/scores/steps.py`)."]
        figures.write("one_run_steps", "Rare signals at one end of one run", HEADER, rows, notes)


if __name__ == "__main__":
    main()
