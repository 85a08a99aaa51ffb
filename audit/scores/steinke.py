"""Steinke, Nasr and Jagielski 2023 (Theorem 5.2, Appendix D): a number of guesses fixed in advance, abstaining on the
rest.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from dpassay.reference.errors import BadInput

_UP = 1 + 1e-11  # more than a tail loses to rounding: two parts in 1e13


def check_guesses(canaries: int, guesses: int, correct: int) -> None:
    """0 <= correct <= guesses <= canaries, and at least one guess."""
    if not (0 <= correct <= guesses <= canaries and guesses > 0):
        raise BadInput("correct, guesses, canaries", (correct, guesses, canaries), "must be increasing from 0")


def steinke_p_value(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """P(at least `correct` of `guesses` right | (epsilon, delta)-DP), bounded above."""
    check_guesses(canaries, guesses, correct)
    from scipy.stats import binom  # takes longer to import than many an audit runs

    rate = expit(epsilon)
    tail = float(binom.sf(correct - 1, guesses, rate)) * _UP
    if delta == 0 or correct == 0:
        return min(1.0, tail)
    shift = np.arange(1, correct + 1)
    between = binom.sf(correct - 1 - shift, guesses, rate) - tail
    return min(1.0, tail + 2 * canaries * delta * float((between / shift).max()))


def epsilon_steinke(canaries: int, guesses: int, correct: int, delta: float, confidence: float = 0.95) -> float:
    """The largest epsilon refuted (the p-value rises in epsilon)."""
    low, high = 0.0, 50.0
    if steinke_p_value(canaries, guesses, correct, low, delta) > 1 - confidence:
        return 0.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        refuted = steinke_p_value(canaries, guesses, correct, middle, delta) <= 1 - confidence
        low, high = (middle, high) if refuted else (low, middle)
    return low
