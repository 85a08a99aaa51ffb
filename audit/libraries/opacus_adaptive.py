"""Adaptive clipping under Poisson sampling: a lower bound of epsilon from the law of what every step shows.

No likelihood audit on the tape is made of it: a batch matters by its other records too (they are counted), and an empty
one ends the training with an error. Two records at rate 1/2 are few enough to write the law down. The target's gradient
has the clipping norm ``C`` and is clipped; the other one has none and is not. A batch that is not empty holds the
target, the other or both, each with probability 1/3, and the step then shows two numbers: the noisy sum over ``C``,
along the target's gradient, and the noisy number of gradients that are not clipped over the size of the batch, which
the next clipping bound tells. Both are counted in cells: that hides something and adds nothing, and losses are rounded
towards the other side, so the bound holds exactly, but for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.types import Array

Parts = Sequence[tuple[float, int, int]]

_EMPTY = 0.25  # of two records at rate 1/2, none
_PARTS: dict[str, Parts] = {  # the sum over C, gradients that are not clipped, records: target alone, other alone, both
    "here": ((1.0, 0, 1), (0.0, 1, 1), (1.0, 1, 2)),
    "opposite": ((-1.0, 0, 1), (0.0, 1, 1), (-1.0, 1, 2)),
    "absent": ((0.0, 1, 1), (0.0, 1, 1), (0.0, 2, 2)),  # a record without a gradient in its place
}
_SUMS, _SHARES = np.linspace(-13.0, 13.0, 1301), np.linspace(-15.0, 16.0, 776)  # edges; what lies outside is left out
_GRID = 1e-3  # of losses
_ROUNDING = 1e-9  # of delta: transforms of some 1e5 numbers, each with an error of 1e-16


def adjusted(multiplier: float, deviation: float) -> float:
    """The noise of the sum that leaves room for the number of gradients: Theorem 1 of arXiv 1905.03871."""
    return float((multiplier**-2 - (2 * deviation) ** -2) ** -0.5)


def densities(parts: Parts, multiplier: float, deviation: float, sums: Array, shares: Array) -> Array:
    """The law of a step, given that its batch is not empty, at pairs of a sum and a share."""
    scale = adjusted(multiplier, deviation)
    found = [
        norm.pdf(sums, move, scale) * norm.pdf(shares, kept / size, deviation / size) for move, kept, size in parts
    ]
    return np.asarray(np.mean(found, axis=0))


def shown(relation: Relation, multiplier: float, deviation: float, steps: int, delta: float) -> float:
    """Epsilon that some steps realise at least, for whoever sees weights, clipping bounds and where it ends.

    Args:
        relation: of the record that is the target; what is added takes the place of one without a gradient.
        multiplier: ``noise_multiplier`` of ``make_private``.
        deviation: ``unclipped_num_std``.
        steps: of the training.
        delta: of the claim.
    """
    here = _cells(_PARTS["here"], multiplier, deviation)
    there = _cells(_PARTS["opposite" if relation == "replace-one" else "absent"], multiplier, deviation)
    return max(_one_way(a, b, steps, delta) for a, b in ((here, there), (there, here)))


def _cells(parts: Parts, multiplier: float, deviation: float) -> Array:
    scale = adjusted(multiplier, deviation)
    found = [
        np.outer(np.diff(norm.cdf(_SUMS, move, scale)), np.diff(norm.cdf(_SHARES, kept / size, deviation / size)))
        for move, kept, size in parts
    ]
    return np.asarray(np.mean(found, axis=0))


def _one_way(here: Array, there: Array, steps: int, delta: float) -> float:
    """Where the hockey-stick divergence of all ends together comes down to delta."""
    seen = (here > 1e-300) & (there > 1e-300)
    places = np.floor(np.log(here[seen] / there[seen]) / _GRID).astype(int)
    first, one = int(places.min()), np.bincount(places - places.min(), weights=here[seen])
    ends, law, start = [], np.ones(1), 0
    for step in range(1, steps + 1):
        size = len(law) + len(one) - 1
        law, start = np.fft.irfft(np.fft.rfft(law, size) * np.fft.rfft(one, size), size), start + first
        chance = (1 - _EMPTY) ** step * (1.0 if step == steps else _EMPTY)
        ends.append((chance * np.maximum(law, 0.0), (np.arange(size) + start) * _GRID))

    def excess(epsilon: float) -> float:
        parts = [mass[losses > epsilon] @ -np.expm1(epsilon - losses[losses > epsilon]) for mass, losses in ends]
        return float(sum(parts) - delta - _ROUNDING)

    return float(brentq(excess, 0.0, 100.0)) if excess(0.0) > 0 else 0.0
