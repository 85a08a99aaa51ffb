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

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.arrays import Array

Parts = Sequence[tuple[float, int, int]]

_EMPTY = {"here": 0.25, "opposite": 0.25, "absent": 0.25, "removed": 0.5}  # no record is drawn, at rate 1/2
_PARTS: dict[str, Parts] = {  # the sum over C, gradients that are not clipped, records: target alone, other alone, both
    "here": ((1.0, 0, 1), (0.0, 1, 1), (1.0, 1, 2)),
    "opposite": ((-1.0, 0, 1), (0.0, 1, 1), (-1.0, 1, 2)),
    "absent": ((0.0, 1, 1), (0.0, 1, 1), (0.0, 2, 2)),  # a record without a gradient in its place
    "removed": ((0.0, 1, 1),),
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


def shown(
    relation: Relation, multiplier: float, deviation: float, steps: int, delta: float, removed: bool = False
) -> float:
    """Epsilon that some steps realise at least, for whoever sees weights, clipping bounds and where it ends.

    Args:
        relation: of the record that is the target; what is added takes the place of one without a gradient.
        multiplier: ``noise_multiplier`` of ``make_private``.
        deviation: ``unclipped_num_std``.
        steps: of the training.
        delta: of the claim.
        removed: what is not there has nothing in its place: one record is left. More is shown, as the number counts.
    """
    other = "opposite" if relation == "replace-one" else "removed" if removed else "absent"
    sides = [(_cells(one, multiplier, deviation), _EMPTY[one]) for one in ("here", other)]
    return max(_one_way(a, b, steps, delta) for a, b in (sides, sides[::-1]))


def _cells(name: str, multiplier: float, deviation: float) -> Array:
    """What a step shows if its batch is not empty, by cells; the sum is the chance that it is not empty."""
    scale, parts = adjusted(multiplier, deviation), _PARTS[name]
    found = [
        np.outer(np.diff(norm.cdf(_SUMS, move, scale)), np.diff(norm.cdf(_SHARES, kept / size, deviation / size)))
        for move, kept, size in parts
    ]
    return np.asarray((1 - _EMPTY[name]) * np.mean(found, axis=0))


def _one_way(one_side: tuple[Array, float], other: tuple[Array, float], steps: int, delta: float) -> float:
    """Where the hockey-stick divergence of all ends together comes down to delta."""
    (here, empty), (there, empty_there) = one_side, other
    seen = (here > 1e-300) & (there > 1e-300)
    places = np.floor(np.log(here[seen] / there[seen]) / _GRID).astype(int)
    first, one = int(places.min()), np.bincount(places - places.min(), weights=here[seen])
    ended = math.log(empty / empty_there) if empty else 0.0  # the loss of an error, which comes where a batch is empty
    ends, law, start = [], np.ones(1), 0
    for _ in range(steps):
        ends.append((empty * law, (np.arange(len(law)) + start) * _GRID + ended))
        size = len(law) + len(one) - 1
        law = np.maximum(np.fft.irfft(np.fft.rfft(law, size) * np.fft.rfft(one, size), size), 0.0)
        start += first
    ends.append((law, (np.arange(len(law)) + start) * _GRID))

    def excess(epsilon: float) -> float:
        parts = [mass[losses > epsilon] @ -np.expm1(epsilon - losses[losses > epsilon]) for mass, losses in ends]
        return float(sum(parts) - delta - _ROUNDING)

    return float(brentq(excess, 0.0, 100.0)) if excess(0.0) > 0 else 0.0
