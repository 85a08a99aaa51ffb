"""Audits from a single run with many canaries, each included by its own fair coin.

Three ways to a bound; m delta, known before any score is seen, says how they are used:

- *Reading* coins from the most extreme score inwards (`reading.py`), stopping anywhere: given the output, coin i is
  known with probability at most e^eps / (1 + e^eps), except for at most m delta corrupted coins in expectation: for one
  coin let D be P(right) - e^eps P(wrong) given the output and the other coins read so far, or 0 if that is negative.
  Then E[D] <= delta (`fixed_guesses.py`, with h = 1 where D > 0), and right with probability
  (e^eps + D) / (1 + e^eps) means: with probability D for certain, else as above. (Steinke, Nasr and Jagielski 2023,
  Theorem 5.2, pay for 2 m delta.)
- Revealing coins *outwards* (`outward.py`), the same law of the hidden ones, at a depth that the others teach,
  judged by `found_out.py`.
- *Guessing* coins that all weigh the same, judged by the closed form of `fixed_guesses.py`: how many, and at which end
  of the scores, is learned on a pilot, whose coins are then public, and, unless it shows a step (`steps.py` looks for
  short ones), on coins that are revealed outwards. As what was seen chooses their number, the level is shared
  beforehand (`found_out.py`).

Few corrupted coins are cheap for the first two, many for the last alone.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from dpassay.audit.results import SoundBound
from dpassay.reference.errors import BadInput
from dpassay.reference.types import Array, Bools

from .curve_claim import check_scores
from .fixed_guesses import epsilon_guesses
from .found_out import LEAST_GAIN, MANY, FoundOut
from .guessing import Canaries, Guessing, best_guessing
from .labels import LADDER, beyond, ladder_gains, stakes_on
from .outward import FEWEST, judge, plan_outward, read_outward
from .ranked import blocks_of, with_told
from .reading import refuted_steps, tally, tally_both_ends
from .steps import step_of, tell
from .weighted import Guesses

RELATION = "add-remove"  # of one canary
GUESSING, OUTWARDS = "one run, a fixed number of guesses", "one run, coins revealed outwards"
PILOT_FROM, PILOT_SHARE = 400, 0.1
PILOT, LEAST_PILOT = 5000, 0.05  # canaries, and a share, that are enough where the others are revealed outwards
LONG = 20  # coins of the pilot in a step; a shorter one is looked for on more of them (`steps.py`)
KEPT = 0.25  # canaries at either end that are never revealed, by planned guess
OUTWARD_SHARE = 0.9  # of the level for coins revealed outwards, the rest for reading inwards
MIXED_SHARE = 0.97  # the same, where guessing gets the rest
CHEAP, DEAR = 0.25, 3.0  # corrupted coins in expectation, over the level: reading below the first, guessing beyond
MIXED_FROM = 1000  # canaries; of fewer, corrupted coins are too many of those that would be judged
NEARLY_FREE = 0.04  # corrupted coins in expectation, over the level: below it any gain is paid for
GAINS = (0.5, 0.42)  # of the outward reading, paid for below `CHEAP` and beyond (`found_out.py`)
ROOT, SHARE = 3.2, 0.007  # guesses per root of the number of canaries, and per canary, that suit most laws


def check_canaries(scores: ArrayLike, included: ArrayLike, rng: np.random.Generator) -> tuple[Array, Bools]:
    """Comparable scores, no two of them equal, and one coin for each.

    Where there are ties, ranks take the place of scores, with equal scores in random order: nobody is guessed twice.
    The order comes from a child of `rng`: scores or coins drawn from the same seed would otherwise decide it.
    """
    values, coins = check_scores(scores, "scores"), np.asarray(included)
    if coins.shape != values.shape or not bool(np.isin(coins, (0, 1)).all()):
        raise BadInput("included", coins.shape, "must be one coin (0 or 1) per score")
    ordered = np.sort(values)
    if bool((ordered[1:] == ordered[:-1]).any()):
        order = np.lexsort((rng.spawn(1)[0].random(values.size), values))
        values = np.empty(values.size)
        values[order] = np.arange(values.size)
    return values, coins.astype(bool)


def epsilon_one_run(
    scores: ArrayLike,
    included: ArrayLike,
    delta: float,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> SoundBound:
    """Lower bound of epsilon from one run.

    Args:
        scores: one per canary; high ones must speak for 'in' (negate losses). Infinities are allowed, NaN is not.
        included: the coins, 0 or 1, one per canary.
        delta: in [0, 1).
        rng: draws the order of ties and the pilot.
        confidence: one-sided.
    """
    start = time.perf_counter()
    values, coins = check_canaries(scores, included, rng)
    if not 0 <= delta < 1:
        raise BadInput("delta", delta, "must lie in [0, 1)")
    alpha = 1 - confidence
    dear = values.size * delta / alpha
    if values.size < 2:
        found = _by_reading(values, coins, delta, rng, alpha)
    elif dear > DEAR and values.size >= PILOT_FROM:
        found = _outwards_or_step(values, coins, delta, rng, alpha)
    elif dear > DEAR or values.size < (FEWEST if dear <= CHEAP else MIXED_FROM):
        found = _by_guessing(values, coins, delta, rng, alpha)
    else:
        share = OUTWARD_SHARE if dear <= CHEAP else MIXED_SHARE
        found = _outwards(values, coins, delta, rng, share * alpha)
        if dear <= CHEAP:
            other = _by_reading(values, coins, delta, rng, (1 - share) * alpha, found.epsilon)
        else:
            other = _by_guessing(values, coins, delta, rng, (1 - share) * alpha)
        found = max(found, other, key=lambda bound: bound.epsilon)
    return replace(found, confidence=confidence, seconds=time.perf_counter() - start)


def _by_reading(
    values: Array, coins: Bools, delta: float, rng: np.random.Generator, alpha: float, above: float = 0.0
) -> SoundBound:
    """From the high end, from the low end, from both in turn; the bettors share the stake. 0 if not `above`."""
    canaries = Canaries.of(values, coins)
    high, low = canaries.high, canaries.low
    tallies = [tally(high, low, rng), tally(-low[::-1], -high[::-1], rng), tally_both_ends(high, low, rng)]
    tallies = [one for one in tallies if one[0].size]
    targets, shares = stakes_on(values.size)
    hit, miss = ladder_gains(LADDER, targets)
    needed = needed_log_wealth(LADDER, values.size, delta, alpha)
    steps = refuted_steps(tallies, hit, miss, needed, shares, beyond(above))
    epsilon = float(LADDER[steps - 1]) if steps else 0.0
    return _bound(epsilon, delta, alpha, "one run, labels of extreme scores", {"canaries": int(values.size)})


def _outwards(values: Array, coins: Bools, delta: float, rng: np.random.Generator, alpha: float) -> SoundBound:
    """Coins revealed from the middle of the scores outwards, the extreme ones judged."""
    canaries = Canaries.of(values, coins)
    expected = values.size * delta
    gain = 1 / LEAST_GAIN if expected <= NEARLY_FREE * alpha else GAINS[expected > CHEAP * alpha]
    allowed = FoundOut(expected, alpha, gain)
    epsilon, seen = read_outward(canaries.low, canaries.high, rng, alpha, allowed, signs=(1,))
    return _bound(epsilon, delta, alpha, OUTWARDS, {"canaries": int(values.size), **seen})


def needed_log_wealth(epsilons: Array, canaries: int, delta: float, alpha: float) -> Array:
    """Log wealth that refutes each epsilon: at most c coins are corrupted except with probability m delta / (c + 1).

    The best c is taken; a corrupted coin is worth at most the factor 1 + exp(-epsilon) of a right guess.
    """
    expected = canaries * delta
    allowed = np.unique(np.round(np.geomspace(max(1.0, expected / alpha), 1e3 * (1 + expected / alpha), 200)))
    allowed = np.append(0.0, allowed)
    left = level_beside(allowed, expected, alpha)
    allowed, left = allowed[left > 0], left[left > 0]
    return np.asarray((allowed * np.log1p(np.exp(-epsilons))[:, None] - np.log(left)).min(axis=1))


def level_beside(allowed: Array, expected: float, alpha: float) -> Array:
    """The level less the chance that more than so many coins are corrupted (Markov), rounded down."""
    return np.asarray(alpha * (1 - 1e-15) - expected / (allowed + 1) * (1 + 1e-15))


def _by_guessing(values: Array, coins: Bools, delta: float, rng: np.random.Generator, alpha: float) -> SoundBound:
    """A number of guesses that nothing seen has chosen, or of many canaries one that a pilot teaches."""
    if values.size >= PILOT_FROM:
        return _by_pilot(values, coins, delta, rng, alpha)
    used, plan = Canaries.of(values, coins), _usual(values.size, delta, alpha)
    guesses, right = plan.guess(used, rng)
    seen = {"canaries": values.size, "used": values.size, "guesses": guesses, "correct": right, "end": plan.end}
    return _bound(epsilon_guesses(values.size, guesses, right, delta, alpha), delta, alpha, GUESSING, seen)


def _usual(canaries: int, delta: float, alpha: float) -> Guessing:
    """A share that suits most laws."""
    return Guessing(min(1.0, max(ROOT / math.sqrt(canaries), MANY * delta / alpha)))


def _by_pilot(values: Array, coins: Bools, delta: float, rng: np.random.Generator, alpha: float) -> SoundBound:
    """A share learned on a pilot, its right guesses held against (epsilon, delta)-DP for growing epsilon."""
    many = values.size
    known, rest = np.split(rng.permutation(many), [int(PILOT_SHARE * many)])
    told, used = Canaries.of(values[known], coins[known]), Canaries.of(values[rest], coins[rest])
    allowed = _alike(many, used.count, delta, alpha)
    plan, _ = best_guessing(told, used.count, _usual(many, delta, alpha), partial(_shown, allowed), rng)
    return _guessed(allowed, many, used, delta, plan.end, *plan.guess(used, rng))


def _outwards_or_step(values: Array, coins: Bools, delta: float, rng: np.random.Generator, alpha: float) -> SoundBound:
    """Unless coins told show a step, the others are revealed outwards until those worth a guess are left."""
    many = values.size
    in_pilot, known = tell(values, min(PILOT_SHARE, max(LEAST_PILOT, PILOT / many)), rng)
    pilot, told, used = (Canaries.of(values[one], coins[one]) for one in (in_pilot, known, ~known))
    # which of the others are told depends on the scores: each of them may have been found out
    allowed = _alike(many, int((~in_pilot).sum()), delta, alpha)
    long, step = best_guessing(pilot, used.count, _usual(many, delta, alpha), partial(_shown, allowed), rng)
    if step and long.share * pilot.count >= LONG:
        return _guessed(allowed, many, used, delta, long.end, *long.guess(used, rng))
    blocks = blocks_of(used.low, used.high, rng)
    helped = with_told(blocks, used.high, used.low, told.high, told.low)
    plan = plan_outward(helped, alpha, signs=(1,), alike=allowed, kept=int(KEPT * allowed.planned))
    short = step_of(told, used, blocks, plan, partial(_shown, allowed)) if plan else None
    if short:
        return _guessed(allowed, many, used, delta, short.end, short.guesses, short.right(used))
    epsilon, seen = judge(blocks, plan, allowed) if plan else (0.0, {})
    return _bound(epsilon, delta, alpha, OUTWARDS, {"canaries": many, "used": used.count, **seen})


def _alike(many: int, able: int, delta: float, alpha: float) -> FoundOut:
    """The levels of guesses that all weigh the same, of so many canaries that could have been guessed."""
    return FoundOut(able * delta, alpha, planned=math.ceil(max(ROOT * math.sqrt(many), SHARE * many)))


def _shown(allowed: FoundOut, guesses: int, right: int, above: float = 0.0) -> float:
    """The epsilon that so many right guesses show."""
    return allowed.epsilon([Guesses(1, guesses)], guesses - right, above)


def _guessed(
    allowed: FoundOut, many: int, used: Canaries, delta: float, end: str, guesses: int, right: int
) -> SoundBound:
    """The bound of a number of guesses that other coins have chosen."""
    seen = {"canaries": many, "used": used.count, "guesses": guesses, "correct": right, "end": end}
    return _bound(_shown(allowed, guesses, right), delta, allowed.level, GUESSING, seen)


def _bound(epsilon: float, delta: float, alpha: float, method: str, seen: dict[str, object]) -> SoundBound:
    return SoundBound(
        epsilon=epsilon,
        delta=delta,
        confidence=1 - alpha,
        method=method,
        relation=RELATION,
        runs=1,
        evidence=seen,
    )
