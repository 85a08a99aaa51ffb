"""Exact test of labels with weights: how much epsilon do so few wrong guesses refute?

Given the scores, an uncorrupted label is guessed wrong with probability at least sigmoid(-epsilon), coins being fair.
Guesses fall into classes with a weight each, fixed before their labels are looked at; the statistic is the
weighted number of wrong guesses, a sum of independent binomial ones in the worst case. Its law is computed by
convolution, so the test is exact, not asymptotic. Some labels may be corrupted (then always right): in the worst case
those with the largest weights, of each log odds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import expit, ndtr

from dpassay.audit.bounds import halved
from dpassay.reference.arrays import Array

SPREADS, EXTRA = 9.0, 40.0  # the law is computed so many standard deviations and counts around its mean: 1e-18 is lost
ROUNDING = 1e-11  # added to each p-value: what is lost there, and rounding in the convolutions
_LOST = 2e-15  # more of it, times the root of the number of guesses: what rounding of the odds moves the law by
_SAFELY = 1 - 1e-9  # of a level: more than sums of binomial probabilities lose
_CERTAIN = 800.0  # log odds: exp(-800) is zero
STEPS = 15  # halvings of the range of epsilon
MOST = 40.0  # no larger epsilon is reported
CORRUPTED_TAILS = (0.5, 0.2, 0.05, 0.005)  # of their number, where levels change
_SHARE = 0.02  # of the level for more corrupted labels than have levels of their own
MOVED, MOST_MOVED = 20.0, 0.07  # standard deviations by which a corrupted label moves a test, times the root of labels


@dataclass(frozen=True)
class Guesses:
    """One class: `count` guesses of this integer weight; `log_odds` of a right one before anything is seen."""

    weight: int
    count: int
    log_odds: float = 0.0


@dataclass(frozen=True)
class Allowance:
    """With `corrupted` labels corrupted, so much probability of a false refutation is allowed."""

    corrupted: int
    level: float


def independent(labels: int, delta: float, alpha: float) -> list[Allowance]:
    """Each of `labels` labels corrupted by itself with probability delta; the levels keep within alpha together.

    Their number is binomial, whatever is seen. To each number belongs a level of its own, fixed here: given the number,
    the test is wrong with at most this probability, so what counts is the mean of the levels; more than the last number
    are corrupted with a share of alpha. Where more are, more is allowed, as if each moved the test by `moved` standard
    deviations: one level for all of them would make the usual few pay for the rare many.
    """
    if delta == 0:
        return [Allowance(0, alpha)]
    from scipy.stats import binom  # takes longer to import than many an audit runs

    last = int(binom.isf(_SHARE * alpha, labels, delta))
    counts = np.unique([min(last, int(binom.isf(one, labels, delta))) for one in CORRUPTED_TAILS] + [last])
    chances = np.diff(np.append(0.0, binom.cdf(counts, labels, delta)))
    left = (alpha - float(binom.sf(last, labels, delta))) * _SAFELY
    moved = min(MOST_MOVED, MOVED / np.sqrt(labels))

    def levels(errors: float) -> Array:
        return np.asarray(ndtr(moved * counts - errors))

    _, errors = halved(lambda errors: float(chances @ levels(errors)) > left, -1e3, moved * last + 40.0, 60)
    return [Allowance(int(count), float(level)) for count, level in zip(counts, levels(errors), strict=True)]


def _part(guesses: Guesses, log_odds: float) -> tuple[int, Array]:
    """Smallest value and probabilities of weight * Binomial(count, expit(log_odds)), on consecutive integers.

    From each number to the next by their ratio: the logarithms of factorials of 1e6 would lose nine digits.
    """
    rate, rest = float(expit(log_odds)), float(expit(-log_odds))
    mean, spread = guesses.count * rate, np.sqrt(guesses.count * rate * rest)
    low = int(max(0.0, np.floor(mean - SPREADS * spread - EXTRA)))
    high = int(min(guesses.count, np.ceil(mean + SPREADS * spread + EXTRA)))
    k = np.arange(low, high, dtype=float)
    logs = np.append(0.0, np.cumsum(np.log((guesses.count - k) / (k + 1)) + np.clip(log_odds, -_CERTAIN, _CERTAIN)))
    found = np.exp(logs - logs.max())
    law = np.zeros((high - low) * guesses.weight + 1)
    law[:: guesses.weight] = found / found.sum()
    return low * guesses.weight, law


def law_of(classes: Sequence[Guesses], epsilon: float) -> tuple[int, Array]:
    """Smallest value and probabilities of the weighted number of wrong guesses, each as rare as epsilon allows."""
    start, law = 0, np.ones(1)
    for one in classes:
        if one.count:
            low, more = _part(one, -epsilon - one.log_odds)
            start += low
            small = min(law.size, more.size) < 256
            law = np.convolve(law, more) if small else np.maximum(_convolved(law, more), 0.0)
    return start, law


def p_value(classes: Sequence[Guesses], wrong: int, epsilon: float) -> float:
    """P(the weighted number of wrong guesses is `wrong` or less), when each is as rare as epsilon allows."""
    start, law = law_of(classes, epsilon)
    lost = ROUNDING + _LOST * float(np.sqrt(sum(one.count for one in classes)))
    return min(1.0, float(law[: max(0, wrong - start + 1)].sum()) + lost)


def _convolved(one: Array, other: Array) -> Array:
    """Their full convolution by real transforms (scipy.signal has it too, and takes half a second to import)."""
    size = one.size + other.size - 1
    length = next_fast_len(size, real=True)
    return np.asarray(irfft(rfft(one, length) * rfft(other, length), length)[:size])


def corrupt(classes: Sequence[Guesses], corrupted: int) -> list[Guesses]:
    """What is left when so many guesses are right for certain: no choice of them leaves fewer wrong ones.

    Among guesses of one log odds the heaviest are the worst choice. Between two log odds weight and rate of a wrong
    guess pull apart, so each of them loses that many.
    """
    left, found = {one.log_odds: corrupted for one in classes}, []
    for one in sorted(classes, key=lambda each: -each.weight):
        taken = min(left[one.log_odds], one.count)
        left[one.log_odds] -= taken
        found.append(Guesses(one.weight, one.count - taken, one.log_odds))
    return found


def weighted_epsilon(classes: Sequence[Guesses], wrong: int, allowances: Sequence[Allowance]) -> float:
    """The largest epsilon that is refuted within every allowance, rounded down; p-values rise with epsilon."""
    parts = [(corrupt(classes, one.corrupted), one.level) for one in allowances]

    def refuted(epsilon: float) -> bool:
        return all(p_value(left, wrong, epsilon) <= level for left, level in parts)

    if not sum(one.count for one in classes) or not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while high < MOST and refuted(high):
        low, high = high, 2 * high
    return halved(refuted, low, min(high, MOST), STEPS)[0]
