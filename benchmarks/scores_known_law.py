"""What the tests behind the score bounds would show if the law were known: where the rest up to the ceiling is lost.

    python benchmarks/scores_known_law.py [--quick]      (about two processor minutes; printed, not kept)

Every block has its exact log odds, so nothing is revealed and no level is spent on anything else. Gaussian scores, the
samples of `jax_privacy.py --near`; medians. "No price": as if no coin were ever found out.
"""

from __future__ import annotations

import audit_figures as figures
import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from dpassay.audit.scores import one_run, outward
from dpassay.audit.scores.alike import promise_alike
from dpassay.audit.scores.found_out import FoundOut
from dpassay.audit.scores.outward import Plan, judge
from dpassay.audit.scores.ranked import Blocks, blocks_of
from dpassay.audit.scores.weighted import Allowance, independent
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.types import Array

DELTA, ALPHA = 1e-5, 0.05
CELLS = ((1.0, 100_000, False, 250), (4.38, 10_000, True, 600), (1.0, 100_000, True, 600), (1.0, 1_000_000, True, 60))
HEADER = ("true epsilon", "n", "one run", "seeds", "level of the test", "all of the level", "no price")


def log_odds(blocks: Blocks, shift: float) -> Array:
    """Exact log odds that a label of each block is of D'."""
    x = np.linspace(-9, 9, 4001)
    above = 0.5 * (norm.sf(x) + norm.sf(x - shift))
    return np.asarray(shift * np.interp(ndtr(blocks.places), above[::-1], x[::-1]) - shift**2 / 2)[blocks.point]


def weighed(blocks: Blocks, guess: Array, allowed: list[Allowance] | FoundOut, level: float) -> float:
    """The bound from the best weights for these log odds of right guesses."""
    corrupted = 0 if isinstance(allowed, FoundOut) else allowed[len(allowed) // 2].corrupted
    even, errors = np.zeros(guess.size), float(-ndtri(level))
    epsilon, cap = max(
        (outward._promise(blocks.size, guess, even, cap, errors, corrupted), cap) for cap in outward.CAPS
    )
    graded = np.round(outward.GRADES * np.clip((guess - epsilon) / cap, 0, 1))
    weights = np.where(guess > epsilon, np.clip(graded, 1, outward.GRADES), 0).astype(np.int64)
    middle = int(np.searchsorted(blocks.places[blocks.point], 0.0))
    plan = Plan(middle, middle, 1, weights, epsilon)
    if isinstance(allowed, FoundOut) and allowed.expected:
        plan = outward._affordable(blocks, plan, allowed)
    return judge(blocks, plan, allowed)[0]


def alike(blocks: Blocks, guess: Array, allowed: FoundOut) -> float:
    """The bound from guesses that all weigh the same."""
    epsilon, cut = promise_alike(blocks.size, guess, allowed)
    middle = int(np.searchsorted(blocks.places[blocks.point], 0.0))
    return judge(blocks, Plan(middle, middle, 1, (guess > cut).astype(np.int64), epsilon), allowed)[0]


def bounds(blocks: Blocks, guess: Array, n: int, coins: bool) -> list[float]:
    """With the level that the test has, with all of it, and without a price for coins that are found out."""
    free = weighed(blocks, guess, FoundOut(0.0, ALPHA), ALPHA)
    if not coins:
        return [weighed(blocks, guess, independent(2 * n, DELTA, one), one) for one in (0.9506 * ALPHA, ALPHA)] + [free]
    if n * DELTA > one_run.DEAR * ALPHA:
        planned = int(max(one_run.ROOT * np.sqrt(n), one_run.SHARE * n)) + 1
        same = alike(blocks, guess, FoundOut(n * DELTA, ALPHA, planned=planned))
        return [same, same, free]
    levels = (one_run.MIXED_SHARE * ALPHA, ALPHA)
    return [weighed(blocks, guess, FoundOut(n * DELTA, one, one_run.GAINS[1]), one) for one in levels] + [free]


def main() -> None:
    """Print one line a cell."""
    quick = figures.options(__doc__).quick
    for truth, n, coins, seeds in CELLS:
        shift = float(brentq(lambda mu, truth=truth: gdp_epsilon(mu, DELTA) - truth, 0.05, 5.0))
        found = []
        for seed in range(4 if quick else seeds):
            rng = np.random.default_rng([int(100 * truth), n, coins, seed])
            inside = int((rng.random(n) < 0.5).sum()) if coins else n
            low, high = rng.normal(0, 1, n - inside if coins else n), rng.normal(shift, 1, inside)
            blocks = blocks_of(np.sort(low), np.sort(high), np.random.default_rng(5))
            side = np.where(blocks.places[blocks.point] < 0, 1.0, -1.0)
            found.append(bounds(blocks, side * log_odds(blocks, shift), n, coins))
        figures.show(HEADER, (truth, n, coins, len(found), *(float(one) for one in np.median(found, axis=0))))


if __name__ == "__main__":
    main()
