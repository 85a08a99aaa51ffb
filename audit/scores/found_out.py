"""The weighted test of one run where coins may be found out together, as (epsilon, delta)-DP allows.

Coins are revealed, one after the other, as the output and the coins revealed so far say; some of the hidden ones are
guessed, each with a weight w_j, and epsilon is refuted if W, the weighted number of wrong guesses, is at most t.
Given what was revealed, let S = P(W <= t) if each guess is right with probability p = e^epsilon / (1 + e^epsilon) by
itself. Take the guesses in some order. With x_j = 1{j right} - e^epsilon 1{j wrong}, which has mean 0 under that law,

    1{W <= t} = S + sum_j g_j x_j,    g_j = (1 - p) P(t - w_j < W without j <= t | the guesses before j),

because P(W <= t | the first j guesses) moves by g_j x_j at j. It is an identity: it holds for every outcome. g_j
depends on the output and on the coins of the others alone: what is revealed does not depend on a coin that stays
hidden. Turning coin j over changes the law of the output by (epsilon, delta), so
E[g_j x_j] <= delta max g_j (`fixed_guesses.py`), and over m canaries

    P(refuted) <= E[S] + m delta max g.

The mean of both sides over several orders is an identity too, and the largest mean of g_j is far below 1 - p. The
guesses stand in a ring of `GROUPS` groups such that any l neighbouring groups hold l / GROUPS of each weight, rounded
down, at least (the i-th of n is in group floor(GROUPS i / n)); the orders begin at each group in turn. If l whole
groups come after j, what they add to W lies among any w_j neighbouring integers with probability Q(l) at most, so on
average

    g_j <= (1 - p) (1 + Q(1) + ... + Q(GROUPS - 1)) / GROUPS.

How the level is shared between S and max g is fixed beforehand, by cells of epsilon: max g may be `gain` (1 - p), p
at the low end of the cell. A cell is passed if its high end is refuted within the shares. If what is reported exceeds
the true epsilon, then in the cell of the truth a claim at least as large was refuted within the shares of that cell;
what was revealed says which, and the mechanism obeys that claim too. So the sum above holds for this event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit

from .weighted import MOST as LARGEST
from .weighted import Guesses, law_of, p_value

GROUPS = 16
CELL, HALVINGS = 0.25, 11  # of epsilon
_UP, _LOST = 1 + 1e-7, 2e-15  # for rounding


def largest_gain(classes: Sequence[Guesses], epsilon: float) -> float:
    """max g of the docstring above, over 1 - p, rounded up."""
    widest, seen = max(one.weight for one in classes), 1.0
    for groups in range(1, GROUPS):
        after = [Guesses(one.weight, one.count * groups // GROUPS) for one in classes]
        law = np.append(0.0, np.cumsum(law_of(after, epsilon)[1]))
        step = min(widest, law.size - 1)
        seen += min(1.0, float((law[step:] - law[:-step]).max()) + 1e-9)
    return min(1.0, seen / GROUPS * _UP)


@dataclass(frozen=True)
class FoundOut:
    """How the level is shared, fixed before any coin is seen.

    Attributes:
        expected: m delta, coins found out in expectation.
        level: of the whole test.
        gain: max g over 1 - p that is paid for.
    """

    expected: float
    level: float
    gain: float

    def left(self, low: float) -> float:
        """The level of the cell that begins at `low` less what coins that are found out cost there, rounded down."""
        return self.level * (1 - _LOST) - self.expected * self.gain * float(expit(-low)) * (1 + _LOST)

    def epsilon(self, classes: Sequence[Guesses], wrong: int) -> float:
        """The largest epsilon that so small a weighted number of wrong guesses refutes, rounded down."""
        if not sum(one.count for one in classes):
            return 0.0

        def refuted(left: float, epsilon: float) -> bool:
            return p_value(classes, wrong, epsilon) <= left and largest_gain(classes, epsilon) <= self.gain

        for low in np.arange(0.0, LARGEST, CELL):
            left = self.left(float(low))
            if not refuted(left, low + CELL):
                return _within(low, partial(refuted, left))
        return LARGEST


def _within(low: float, refuted: Callable[[float], bool]) -> float:
    """Halve the cell above `low`, whose high end is not refuted; `low` if nothing in it is."""
    step = CELL
    for _ in range(HALVINGS):
        step /= 2
        low += step if refuted(low + step) else 0.0
    return float(low)
