"""Test of a claimed trade-off curve from a single run with many canaries: labels are read, and coins are guessed.

The f-DP recursion (`fdp.py`) needs a fixed number of guesses, the readers (`reading.py`) a pair of the claim; each has
a share of the level.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from dpassay.audit.results import ClaimTest
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import Guarantee
from dpassay.reference.types import Array, Bools

from .fdp import fdp_p_value
from .guessing import ENDS, PILOT_CASES, SHARES, Canaries, Guessing, best_guessing
from .labels import ladder_gains, stakes_on
from .one_run import PILOT_FROM, PILOT_SHARE, RELATION, check_canaries
from .reading import log_wealths, tally, tally_both_ends

READING_SHARE = 0.3  # of the level
OTHER_SHARES = SHARES[::4]  # of the canaries, that a pilot may choose beside the one that the claim suggests
CORRUPTED = 0.01  # coins that the pair read against may corrupt, in expectation
MANY_GUESSES = 30_000  # are enough where one claim is tested
FEW_GUESSES = 3_000  # are enough for a comparison: the recursion takes them one by one


def telling_share(curve: Guarantee, canaries: int) -> float:
    """The share of canaries to guess against a claimed curve, from the claim alone.

    If scores were the best that the claim allows, and their log odds half as large again: where is the p-value least?
    """
    false = np.geomspace(1e-9, 0.5, 400)  # canaries left out, among the guesses at one end
    true = 1 - curve.trade_off(false)
    best, least = 1.0, math.inf
    for share in (one for one in SHARES if one * canaries >= PILOT_CASES):
        rate = float(expit(1.5 * logit(np.interp(share, false + true, true / (false + true)))))
        guesses = int(min(share * canaries, FEW_GUESSES))
        p_value = fdp_p_value(curve, int(guesses / share), guesses, int(rate * guesses), steps=8)
        if p_value < least:
            best, least = share, p_value
    return best


def levels_of(share: float) -> dict[float, float]:
    """The part of the level of each share of the canaries that a pilot may choose, this one suggested by the claim."""
    return {one: 0.5 / len(OTHER_SHARES) for one in OTHER_SHARES} | {share: 0.5}


def one_run_curve(
    scores: ArrayLike,
    included: ArrayLike,
    curve: Guarantee,
    rng: np.random.Generator,
    confidence: float = 0.95,
    guesses: int | None = None,
) -> ClaimTest:
    """Test a claimed trade-off curve on one run; arguments as in `epsilon_one_run`.

    A part of the level is for reading labels against one pair of the claim, the rest for guesses: their number and end
    are learned on a tenth of the canaries, whose coins are then public. Each number that may be learned has a share of
    the level, half of it the one that the claim suggests: a mechanism could break each seldom. Of few canaries, or if
    the number of `guesses` is given, they are made at both ends with half of this level, at the high and at the low end
    with a quarter.
    """
    start = time.perf_counter()
    values, coins = check_canaries(scores, included, rng)
    if values.size < 2:
        raise BadInput("scores", f"{values.size} canary", "a test of a curve needs at least two")
    if guesses is not None and not 2 <= guesses <= values.size:
        raise BadInput("guesses", guesses, f"must lie in 2..{values.size}, the number of canaries")
    share = telling_share(curve, values.size) if guesses is None else guesses / values.size
    plans, order = [(Guessing(share, end), part) for end, part in zip(ENDS, (0.5, 0.25, 0.25), strict=True)], None
    if guesses is None and values.size >= PILOT_FROM:
        known, order = np.split(rng.permutation(values.size), [int(PILOT_SHARE * values.size)])
        levels, count = levels_of(share), int(order.size)
        level_of = {int(one * order.size): level for one, level in levels.items()}

        def promise(made: int, right: int, above: float) -> float:
            part = min(1.0, FEW_GUESSES / made)
            p_value = fdp_p_value(curve, int(count * part), int(made * part), int(right * part), steps=8)
            return math.log(level_of[made] / p_value)

        pilot = Canaries.of(values[known], coins[known])
        plan, _ = best_guessing(pilot, count, Guessing(share), promise, rng, list(levels))
        plans = [(plan, levels[plan.share])]
    order = rng.permutation(values.size) if order is None else order
    found = []
    for plan, part in plans:
        used = order[: max(2, int(MANY_GUESSES / plan.share))]
        canaries = Canaries.of(values[used], coins[used])
        made, right = plan.guess(canaries, rng)
        p_value = fdp_p_value(curve, canaries.count, made, right) / (part * (1 - READING_SHARE))
        found.append((p_value, {"used": canaries.count, "guesses": made, "correct": right, "end": plan.end}))
    read, pair = _read_against(values, coins, curve, rng)
    found.append((read / READING_SHARE, {"used": values.size, "read against": pair}))
    p_value, evidence = min(found, key=lambda one: one[0])
    return ClaimTest(
        claim=curve.name,
        p_value=min(1.0, p_value),
        confidence=confidence,
        method="one run, f-DP recursion",
        relation=RELATION,
        runs=1,
        seconds=time.perf_counter() - start,
        evidence={"canaries": values.size, **evidence},
    )


def _read_against(
    values: Array, coins: Bools, curve: Guarantee, rng: np.random.Generator
) -> tuple[float, tuple[float, float]]:
    """p-value of the readers against the pair of the claim that corrupts next to no coin, and the pair."""
    usable = curve.epsilons >= 0
    epsilons, deltas = curve.epsilons[usable], curve.deltas[usable]
    cheap = np.flatnonzero(values.size * deltas <= CORRUPTED)
    pick = int(cheap[0]) if cheap.size else int(np.argmin(deltas))
    epsilon, expected = float(epsilons[pick]), values.size * float(deltas[pick])
    high, low = (side for side in (np.sort(values[coins]), np.sort(values[~coins])))
    tallies = [tally(high, low, rng), tally(-low[::-1], -high[::-1], rng), tally_both_ends(high, low, rng)]
    targets, shares = stakes_on(values.size)
    hit, miss = ladder_gains(np.array([epsilon]), targets)
    wealth = float(log_wealths([one for one in tallies if one[0].size], hit, miss, shares)[0])
    allowed = np.arange(200.0) if expected > 0 else np.zeros(1)
    found = np.exp(np.minimum(allowed * np.log1p(np.exp(-epsilon)) - wealth, 0.0)) + expected / (allowed + 1)
    return float(min(1.0, found.min())), (epsilon, float(deltas[pick]))
