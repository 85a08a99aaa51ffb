"""f-DP and the number of right guesses about many canaries (Mahloujifar, Melis and Chaudhuri 2024, Algorithm 3).

Let P_i be the probability of at least i right guesses of c, about m canaries with fair coins. Turning the coin of a
guessed canary over makes a right guess wrong and changes nothing else, and f-DP bounds how much more likely this makes
an event. Summed over the canaries, for the event 'at least i right':

    (c - i + 1) P_{i-1} - sum_{l >= i} P_l  >=  m f(1 - (i P_i + sum_{l > i} P_l) / m).

Each P_{i-1} is bounded from below by the larger ones, and the bound rises with them; so if P_c' = alpha leads to
P_0 > 1, at least c' right guesses have a probability below alpha. Nothing is assumed about the runs: the canaries may
be found out together or not at all.
"""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np

from dpassay.audit.bounds import halved
from dpassay.reference.guarantee import Guarantee

from .fixed_guesses import check_guesses

SMALLEST_P = 1e-9  # below, rounding would show
_LOST, _LOST_AT_ONE = 1e-7, 1e-14  # of alpha, and of what is taken from 1: more than the recursion loses to rounding


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
    return min(1.0, math.exp(high) * (1 + _LOST) + _LOST_AT_ONE * canaries / max(1, correct))
