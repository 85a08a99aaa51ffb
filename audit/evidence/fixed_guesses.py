"""Right guesses about canaries of one run: against (epsilon, delta)-DP in closed form, against f-DP by a recursion.

The closed form, with what it assumes, stands in docs/statistics.md (a fixed number of guesses: R of c are right,
canaries are m, B ~ Binomial(c, e^epsilon / (1 + e^epsilon)), b(r) = P(B = r), S = P(B >= t)). Its bets on a guessed
canary are h(right ones among the other guesses), h(r) = S P(B <= r) / ((r + 1) b(r + 1)) for r < t and (1 - S) P(B >
r) / ((r + 1) b(r + 1)) from r = t - 1 on (both say the same there). From (c - r) e^epsilon b(r) = (r + 1) b(r + 1)
follows the identity there, because the right guesses add R h(R - 1) and the wrong ones take (c - R) e^epsilon h(R). As
the tails of a binomial law over its probabilities are monotone, h is largest at t - 1. The bound is the value of the
linear program over the number of right guesses that these inequalities allow, so it rises with epsilon. At delta = 0
it is the binomial tail.

The recursion of Mahloujifar, Melis and Chaudhuri 2024 (Algorithm 3) is for any trade-off curve, but with coarser
inequalities. Let P_i be the probability of at least i right guesses of c. Turning the coin of a guessed canary over
makes a right guess wrong and changes nothing else, and f-DP bounds how much more likely this makes an event. Summed
over the canaries, for the event 'at least i right':

    (c - i + 1) P_{i-1} - sum_{l >= i} P_l  >=  m f(1 - (i P_i + sum_{l > i} P_l) / m).

Each P_{i-1} is bounded from below by the larger ones, and the bound rises with them; so if P_c' = alpha leads to
P_0 > 1, at least c' right guesses have a probability below alpha.
"""

import math
from bisect import bisect_right

import numpy as np
from scipy.special import betaincc, expit, gammaln

from dpassay.audit.bounds import halved
from dpassay.reference.errors import require
from dpassay.reference.guarantee import Guarantee

HALVINGS = 34
FAR = 1e-200  # a tail below this is so far out that the ratios fall fast
_UP = 1 + 1e-10  # more than the tail of 1e9 guesses loses to rounding (6e-12 seen)
_TINIEST = 1e-300  # added: what is below is not a float with all its digits
_LOST = 4 * 2.0**-52  # of its largest term: more than a sum of logarithms of factorials loses
SMALLEST_P = 1e-9  # of the recursion: below, rounding would show
_LOST_OF_LEVEL, _LOST_AT_ONE = 1e-7, 1e-14  # of alpha, and of what is taken from 1: more than it loses to rounding


def check_guesses(canaries: int, guesses: int, correct: int) -> None:
    """0 <= correct <= guesses <= canaries, and at least one guess."""
    good, counts = 0 <= correct <= guesses <= canaries and guesses > 0, (correct, guesses, canaries)
    require(good, "correct, guesses, canaries", counts, "must be increasing from 0")


def _log_share(guesses: int, right: int, epsilon: float) -> float:
    """log(t b(t)) of the docstring above, for t = `right` >= 1, rounded down."""
    wrong = guesses - right
    ways = gammaln(guesses + 1), -gammaln(right + 1), -gammaln(wrong + 1)
    rates = -right * np.logaddexp(0.0, -epsilon), -wrong * np.logaddexp(0.0, epsilon)
    return float(np.log(right) + sum(ways) + sum(rates) - _LOST * (ways[0] - sum(rates)))


def guesses_p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """The largest P(at least `right` of `guesses` right) under (epsilon, delta)-DP, rounded up.

    Args:
        canaries: coins whose secrecy (epsilon, delta) is about, guessed or not.
        guesses: coins guessed, a number fixed before the judged coins are looked at.
        right: right ones among them.
        epsilon: not negative.
        delta: in [0, 1).
    """
    check_guesses(canaries, guesses, right)
    require(epsilon >= 0, "epsilon", epsilon, "must not be negative")
    if right == 0:
        return 1.0
    wrong = guesses - right  # whose rate keeps its digits where epsilon is large
    tail = float(betaincc(wrong + 1, right, expit(-epsilon)))
    if delta > 0:
        tail += canaries * delta * price_of_one(guesses, right, epsilon, tail)
    return min(1.0, tail * _UP + _TINIEST)


def price_of_one(guesses: int, right: int, epsilon: float, tail: float) -> float:
    """S (1 - S) / (t b(t)) of the docstring above, for S = `tail`: what one coin found out in expectation costs.

    Both S and b(t) fall below the smallest float where many coins may be shown, and their ratio does not: there it is
    bounded by the geometric series of b(t + 1) / b(t), as these ratios fall.
    """
    if tail > FAR:
        return tail * (1 - tail) * math.exp(min(700.0, -_log_share(guesses, right, epsilon)))
    falls = (guesses - right) / (right + 1) * math.exp(epsilon)
    return 1 / (right * (1 - falls))


def epsilon_guesses(
    canaries: int, guesses: int, right: int, delta: float, alpha: float = 0.05, above: float = 0.0
) -> float:
    """The largest epsilon for which (epsilon, delta)-DP is refuted at level alpha, rounded down; 0 if not `above`."""
    check_guesses(canaries, guesses, right)

    def refuted(epsilon: float) -> bool:
        return guesses_p_value(canaries, guesses, right, epsilon, delta) <= alpha

    low, high = above, math.log(guesses / alpha)  # there all are right with probability e^-alpha, about
    if high <= low or not refuted(low):
        return 0.0
    return halved(refuted, low, high, HALVINGS)[0]


# -- against a trade-off curve --------------------------------------------------------------------------------------
Envelope = tuple[list[float], list[float], list[float]]  # starts, heights, slopes of the lines


def envelope(curve: Guarantee) -> Envelope:
    """The curve as a convex piecewise linear function: its k-th line is the maximum from alpha = starts[k] on."""
    lines = zip((-np.exp(curve.epsilons)).tolist(), (1 - curve.deltas).tolist(), strict=True)
    found: Envelope = ([], [], [])
    starts, heights, slopes = found
    for slope, height in sorted(lines):  # steepest first
        while starts:
            cross = -math.inf  # of a parallel line, which is not below: it takes the other's place
            if slope != slopes[-1]:
                cross = (heights[-1] - height) / (slope - slopes[-1])
            if cross > starts[-1]:
                break
            for column in found:
                column.pop()
        starts.append(cross if starts else -math.inf)
        heights.append(height)
        slopes.append(slope)
    return found


def _refuted(lines: Envelope, canaries: int, guesses: int, correct: int, alpha: float) -> bool:
    """Would P(at least `correct` right) = alpha lead to P_0 > 1? In terms of W_i + R_i = guesses P_i / canaries.

    R_i and W_i are the expected right and wrong guesses over the number of canaries, in runs with at least i right.
    """
    starts, heights, slopes = lines
    whole = guesses / canaries
    right, wrong = alpha * correct / canaries, alpha * (guesses - correct) / canaries
    for i in range(correct, 0, -1):
        point = 1.0 - right
        line = bisect_right(starts, point) - 1
        more = max(wrong, heights[line] + slopes[line] * point)
        right += (i - 1) / (guesses - i + 1) * (more - wrong)
        wrong = more
        if right + wrong > whole:
            return True
    return right + wrong > whole


def fdp_p_value(curve: Guarantee, canaries: int, guesses: int, correct: int, steps: int = 12) -> float:
    """The smallest alpha at which `correct` right guesses refute the curve, rounded up (to half a percent)."""
    check_guesses(canaries, guesses, correct)
    lines = envelope(curve)

    def allowed(log_alpha: float) -> bool:
        return not _refuted(lines, canaries, guesses, correct, math.exp(log_alpha))

    _, high = halved(allowed, math.log(SMALLEST_P), 0.0, steps)
    return min(1.0, math.exp(high) * (1 + _LOST_OF_LEVEL) + _LOST_AT_ONE * canaries / max(1, correct))
