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

Guesses of one weight have an identity of their own, and a smaller max g in closed form (`fixed_guesses.py`).

max g is over ALL that may be revealed, and E[S] over what is: a mechanism can keep its delta for the outcomes where it
buys most. So how the level is shared between S and max g is fixed before anything is seen, by cells of epsilon (a test
within S + m delta max g <= level for each outcome by itself may be wrong in nearly twice the level): max g may be
`price(low)`, low being the low end of the cell. A cell is passed if its high end is refuted within the shares. If what
is reported exceeds the true epsilon, then in the cell of the truth a claim at least as large was refuted within the
shares of that cell; what was revealed says which, and the mechanism obeys that claim too. So the sum above holds for
this event, whichever of several tests what was revealed picked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.special import betaincc, expit

from .fixed_guesses import price_of_one
from .weighted import MOST as LARGEST
from .weighted import Guesses, law_of, p_value

GROUPS = 16
CELL, HALVINGS = 0.25, 11  # of epsilon
MANY = 2.5  # guesses, times coins found out over the level: fewer say little
LEAST_GAIN, GAIN_RISES = 0.6, 0.16  # the smaller epsilon, the more guesses, and the less one of them decides
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


def tail_and_price(classes: Sequence[Guesses], wrong: int, epsilon: float) -> tuple[float, float]:
    """(S, max g) of the docstring above, both rounded up."""
    if len(classes) > 1:
        return p_value(classes, wrong, epsilon), largest_gain(classes, epsilon) * float(expit(-epsilon))
    (one,) = classes
    missed = wrong // one.weight
    if missed >= one.count:
        return 1.0, 0.0
    tail = float(betaincc(missed + 1, one.count - missed, expit(-epsilon)))
    return tail * _UP, price_of_one(one.count, one.count - missed, epsilon, tail) * _UP


@lru_cache(maxsize=4096)
def planned_price(expected: float, level: float, guesses: int, epsilon: float) -> float:
    """max g at the edge of what `guesses` right and wrong ones refute, or twice, four times, ... as many if none do.

    Any number is sound here: that of about as many guesses as will be made leaves most for S.
    """
    while guesses < 2**40:
        if math.exp(-guesses * math.log1p(math.exp(-epsilon))) < level:  # all of them right
            low, high = 0, guesses  # right ones that do not refute, and that do
            while high - low > 1:
                middle = (low + high) // 2
                tail, price = tail_and_price([Guesses(1, guesses)], guesses - middle, epsilon)
                low, high = (low, middle) if tail + expected * price < level else (middle, high)
            tail, price = tail_and_price([Guesses(1, guesses)], guesses - high, epsilon)
            if tail + expected * price < level:
                return price
        guesses *= 2
    return 0.0


@dataclass(frozen=True)
class FoundOut:
    """How the level is shared, fixed before any coin is seen.

    Attributes:
        expected: m delta, coins found out in expectation.
        level: of the whole test.
        gain: max g over 1 - p that is paid for where epsilon is large, 1 - p at the low end of a cell; for guesses of
            several weights.
        planned: if not 0: max g that is paid for is that of so many guesses of one weight (`planned_price`), of fewer
            where epsilon is larger.
    """

    expected: float
    level: float
    gain: float = 1.0
    planned: int = 0

    def price(self, low: float) -> float:
        """max g that is paid for in the cell that begins at `low`."""
        if self.planned:
            guesses = max(self.planned / (1 + low), MANY * self.expected / self.level)
            return planned_price(self.expected, self.level, math.ceil(guesses), float(low))
        return self.gain * min(1.0, LEAST_GAIN + GAIN_RISES * float(low)) * float(expit(-low))

    def affords(self, classes: Sequence[Guesses], epsilon: float) -> bool:
        """Whether what one coin decides is paid for there and in the first cell, between which it is about linear."""
        return self.expected == 0 or all(
            largest_gain(classes, one) * float(expit(-one)) <= self.price(CELL * math.floor(one / CELL))
            for one in (epsilon, 0.999 * CELL)
        )

    def left(self, low: float) -> float:
        """The level of the cell that begins at `low` less what coins that are found out cost there, rounded down."""
        return self.level * (1 - _LOST) - self.expected * self.price(low) * (1 + _LOST)

    def epsilon(self, classes: Sequence[Guesses], wrong: int, above: float = 0.0) -> float:
        """The largest epsilon that so small a weighted number of wrong guesses refutes, rounded down.

        0 if it is not more than `above`, to a cell: who only wants more need not know how much less it is.
        """
        if not sum(one.count for one in classes):
            return 0.0

        def refuted(low: float, epsilon: float) -> bool:
            tail, price = tail_and_price(classes, wrong, epsilon)
            return tail <= self.left(low) and (price <= self.price(low) or self.expected == 0)

        first = CELL * math.floor(above / CELL)
        if first and not refuted(first - CELL, first):
            return 0.0
        for low in np.arange(0.0, LARGEST, CELL):
            if not refuted(float(low), low + CELL):
                return _within(low, partial(refuted, float(low)))
        return LARGEST


def _within(low: float, refuted: Callable[[float], bool]) -> float:
    """Halve the cell above `low`, whose high end is not refuted; `low` if nothing in it is."""
    step = CELL
    for _ in range(HALVINGS):
        step /= 2
        low += step if refuted(low + step) else 0.0
    return float(low)
