"""Audits from a single run with many canaries, each included by its own fair coin.

Some numbers of guesses, fixed beforehand, are judged by the closed form of `evidence/fixed_guesses.py`, each at its
part of the level. It holds however the canaries act on the output, alone or together, and pays little for delta: what
one coin that is found out decides.

Where coins are hardly ever found out, most of the level is for coins revealed from the middle of the scores outwards
(`outward.py`). With p = e^epsilon / (1 + e^epsilon), x_j = 1{j right} - e^epsilon 1{j wrong}, W the weighted number of
wrong guesses and S = P(W <= t) if guesses are right with probability p each by itself, every outcome satisfies

    1{W <= t} = S + sum_j g_j x_j,    g_j = (1 - p) P(t - w_j < W without j <= t | the guesses before j),

as P(W <= t | the first j guesses) moves by g_j x_j at j. g_j depends on the output and on the coins of the others
alone, so E[g_j x_j] <= delta max g <= delta (1 - p) (docs/statistics.md), and over m canaries, whatever was
revealed,

    P(W <= t) <= S + m delta (1 - p) <= S + m delta / 2.

So S may be as large as the level less m delta / 2.

Guessed are the most extreme scores, a number of them fixed beforehand. How many and at which end is decided before a
coin is looked at, each choice with a part of the level: some times the root of the number of canaries suits most laws,
all of them a law that says as much of each, a few at one end canaries that are known for certain. A number that a pilot
chooses shows no more on the known laws (`docs/statistics.md`).
"""

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from dpassay.audit.evidence.curves import check_scores
from dpassay.audit.evidence.fixed_guesses import epsilon_guesses, fdp_p_value
from dpassay.audit.evidence.label_bets import tops
from dpassay.audit.evidence.weighted import Allowance
from dpassay.audit.results import ClaimTest, SoundBound
from dpassay.reference.arrays import Array, Bools
from dpassay.reference.errors import require
from dpassay.reference.guarantee import Guarantee

from .outward import FEWEST, read_outward

ENDS = ("both ends", "high end", "low end")
ROOT = 3.2  # guesses per root of the number of canaries
MANY = 5.0  # guesses, times coins found out over the level: fewer say little
RELATION = "add-remove"  # of one canary
CHEAP, OUTWARD_SHARE = 0.25, 0.6  # coins found out over the level, up to which so much of it is for the outward reading
SHARES = tuple(math.exp2(-k / 2) for k in range(25))  # of the canaries, guessed against a claim: 1 to 1 / 4096
FEWEST_GUESSES = 8  # must be made, or a share is not looked at
MANY_GUESSES = 30_000  # are enough where one claim is tested
FEW_GUESSES = 3_000  # are enough for a comparison: the recursion takes them one by one


@dataclass(frozen=True)
class Guessing:
    """Which share of the canaries is guessed, from which end of the scores, with which part of the level."""

    share: float
    end: str
    level: float

    def guess(self, low: Array, high: Array, rng: np.random.Generator) -> tuple[int, int]:
        """(guesses, right ones): the extreme scores are guessed to be 'in' at the high end, 'out' at the low one.

        Args:
            low, high: the scores of the canaries that were out and that were in, each sorted.
            rng: draws the order of ties.
        """
        labels = low.size + high.size
        count = int(np.clip(round(self.share * labels), 2, labels))
        at, right, made = count // 2 if self.end == ENDS[0] else count, 0, 0
        for end, guessed, other in ((ENDS[1], high, low), (ENDS[2], -low[::-1], -high[::-1])):
            if self.end in (end, ENDS[0]):
                right, made = right + int(tops(guessed, other, np.array([at]), rng)[0]), made + at
        return made, right


def usual_share(canaries: int, delta: float, alpha: float) -> float:
    """The share of the canaries that suits most laws."""
    return min(1.0, max(ROOT / math.sqrt(canaries), MANY * delta / alpha))


def plans(share: float, level: float = 1.0) -> list[Guessing]:
    """The numbers of guesses that share `level`: most of it has `share`, the rest all canaries, and few at one end.

    Where so many coins may be found out that fewer guesses say little, all canaries have all of it.
    """
    if share > 0.5:
        return [Guessing(1.0, ENDS[0], level)]
    few = [Guessing(0.5 * share, end, 0.15 * level) for end in ENDS[1:]]
    return [Guessing(share, ENDS[0], 0.65 * level), Guessing(1.0, ENDS[0], 0.05 * level), *few]


def check_canaries(scores: ArrayLike, included: ArrayLike, rng: np.random.Generator) -> tuple[Array, Bools]:
    """Comparable scores, no two of them equal, and one coin for each.

    Where there are ties, ranks take the place of scores, with equal scores in random order: nobody is guessed twice.
    The order comes from a child of `rng`: scores or coins drawn from the same seed would otherwise decide it.
    """
    values, coins = check_scores(scores, "scores"), np.asarray(included)
    good = coins.shape == values.shape and bool(np.isin(coins, (0, 1)).all())
    require(good, "included", coins.shape, "must be one coin (0 or 1) per score")
    ordered = np.sort(values)
    if bool((ordered[1:] == ordered[:-1]).any()):
        order = np.lexsort((rng.spawn(1)[0].random(values.size), values))
        values = np.empty(values.size)
        values[order] = np.arange(values.size)
    return values, coins.astype(bool)


def epsilon_one_run(
    scores: ArrayLike, included: ArrayLike, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Lower bound of epsilon from one run.

    Args:
        scores: one per canary; high ones must speak for 'in' (negate losses). Infinities are allowed, NaN is not.
        included: the coins, 0 or 1, one per canary.
        delta: in [0, 1).
        rng: draws the order of ties.
        confidence: one-sided.
    """
    start = time.perf_counter()
    values, coins = check_canaries(scores, included, rng)
    require(0 <= delta < 1, "delta", delta, "must lie in [0, 1)")
    count, alpha, low, high = values.size, 1 - confidence, np.sort(values[~coins]), np.sort(values[coins])
    outward, best, seen = 0.0, 0.0, dict[str, object]()
    if count * delta <= CHEAP * alpha and count >= FEWEST:
        outward = OUTWARD_SHARE
        left = outward * alpha - count * delta / 2 * (1 + 1e-15)  # less what coins found out cost
        best, seen = read_outward(low, high, rng, left, [Allowance(0, left)], signs=(1,))
    for plan in plans(usual_share(count, delta, alpha), 1 - outward) if count > 1 else ():
        guesses, right = plan.guess(low, high, rng)
        shown = epsilon_guesses(count, guesses, right, delta, plan.level * alpha, best)
        if shown > best or not seen:
            best, seen = max(best, shown), {"guesses": guesses, "correct": right, "end": plan.end}
    return SoundBound(
        epsilon=best,
        delta=delta,
        confidence=confidence,
        method="one run, extreme scores guessed",
        relation=RELATION,
        runs=1,
        seconds=time.perf_counter() - start,
        evidence={"canaries": count, **seen},
    )


def telling_share(curve: Guarantee, canaries: int) -> float:
    """The share of canaries to guess against a claimed curve, from the claim alone.

    If scores were the best that the claim allows, and their log odds half as large again: where is the p-value least?
    """
    false = np.geomspace(1e-9, 0.5, 400)  # canaries left out, among the guesses at one end
    true = 1 - curve.trade_off(false)
    best, least = 1.0, math.inf
    for share in (one for one in SHARES if one * canaries >= FEWEST_GUESSES):
        rate = float(expit(1.5 * logit(np.interp(share, false + true, true / (false + true)))))
        guesses = int(min(share * canaries, FEW_GUESSES))
        p_value = fdp_p_value(curve, int(guesses / share), guesses, int(rate * guesses), steps=8)
        if p_value < least:
            best, least = share, p_value
    return best


def one_run_curve(
    scores: ArrayLike, included: ArrayLike, curve: Guarantee, rng: np.random.Generator, confidence: float = 0.95
) -> ClaimTest:
    """Test a claimed trade-off curve on one run; arguments as in `epsilon_one_run`."""
    start = time.perf_counter()
    values, coins = check_canaries(scores, included, rng)
    require(values.size >= 2, "scores", f"{values.size} canary", "a test of a curve needs at least two")
    order, found = rng.permutation(values.size), []
    for plan in plans(telling_share(curve, values.size)):
        used = order[: max(2, int(MANY_GUESSES / plan.share))]
        some, inside = values[used], coins[used]
        made, right = plan.guess(np.sort(some[~inside]), np.sort(some[inside]), rng)
        p_value = fdp_p_value(curve, some.size, made, right) / plan.level
        found.append((p_value, {"used": some.size, "guesses": made, "correct": right, "end": plan.end}))
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
