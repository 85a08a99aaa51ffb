"""What one AboveThreshold release costs where its threshold noise is not told before the first query is placed.

``above_threshold.worst_tests`` tells the threshold noise z first, so that every query may lie where it shows the most.
But queries are values of the data and do not know z: one distance x of the first query from the threshold holds for
all z. Here only the later queries may depend on z (which they cannot either: the bound stays above the truth). So

    V(a) <= sup_x E_z G(x + z),   G(y) = max (H(y) - a H'(y))_+ + F(y) W(a F'(y) / F(y)),

the maximum over the first query's move by its sensitivity, up or down (for each z: what is maximised is convex in
F'(y), and extreme moves are the worst), with F, H = 1 - F the law of its test and W the told bound of those after it.
That is much less where they move less: halved each time, 3/4 of the told bound.

The supremum over x is over a grid of cells, and everything is rounded up. On a cell of width h, G exceeds its larger
end by at most h/2 times a bound on its slope,

    |G'| <= f(y) (|a e^s - 1| + |a e^-s - 1| + W(a e^-s) + 2 a sinh(s) max|W'|),

s the first query's move in units of its noise, f(y) = e^-|y| / 2 the density of its test, which at a place s away
differs by e^s at most. Between grid points of x the density of z, of scale b, grows by exp(h / 2b) at most. Beyond the
cells G is at most a constant on either side, and there E_z G is monotone in x, so that its ends bound it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpassay.reference.arrays import Array

_CELLS = 250  # for each scale of the threshold noise, or of the query noise if that is less: costs one part in 500
_REACH = 22.0  # in scales of the query noise: e^-22 = 3e-10 is what G may be beyond
_UP = 1 + 1e-9  # more than the roundings of sums of positive terms
_LEAST = 0.125  # share below which the cells would be too many, and little is gained


def helps(share: float, count: int, falls: float) -> bool:
    """Is this bound worth its time: the first query must be the one that shows the most."""
    return _LEAST <= share <= 0.45 and (count == 1 or (count > 1 and falls <= 0.75))


def below(y: Array) -> Array:
    """F: the probability that Laplace noise of scale one is below."""
    tail = np.exp(-np.abs(y)) / 2
    return np.where(y < 0, tail, 1 - tail)


def hidden_threshold(
    logs: Array, shift: float, share: float, after: Callable[[Array], Array], steepest: float
) -> Array:
    """A bound on ``P - a P'`` at each ``log a >= 0``.

    Args:
        logs: log a.
        shift: s, sensitivity over the scale of the query noise.
        share: ``shift`` as a share of the pure epsilon: the threshold noise has scale share / (1 - 2 share).
        after: W, a bound on what the later queries show, at a > 0; not increasing.
        steepest: the largest |W'|.
    """
    from scipy.signal import lfilter  # takes longer to import than many an audit runs

    scale = share / (1 - 2 * share)
    width = min(scale, 1.0) / _CELLS
    number = math.ceil((_REACH + shift) / width)
    ends: Array = np.asarray(width * np.arange(-number, number + 1), dtype=float)
    here, fades = below(ends), math.exp(-width / scale)
    density = np.exp(width - np.minimum(np.abs(ends[:-1]), np.abs(ends[1:]))) / 2  # at most, in each cell
    found = []
    for a in np.exp(logs):
        best = np.zeros(len(ends))
        for move in (-shift, shift):
            there = below(ends + move)
            shown = np.maximum((1 - here) - a * (1 - there), 0.0) + here * after(a * there / here)
            best = np.maximum(best, shown)
        left = math.exp(shift - _REACH)  # F(y) W <= F(y), and H - a H' <= F' there
        right = left + float(after(np.array([a * (1 - left)]))[0])
        slope = abs(a * math.exp(shift) - 1) + abs(a * math.exp(-shift) - 1) + 2 * a * math.sinh(shift) * steepest
        slope += float(after(np.array([a * math.exp(-shift)]))[0])
        cells = np.maximum(best[:-1], best[1:]) + width / 2 * slope * density
        # P(z in cell k | x = its left end) is (1 - fades) / 2; each cell further weighs `fades` times that
        upward = lfilter([1.0], [1.0, -fades], cells[::-1])[::-1]  # of the cells from here on
        downward = lfilter([1.0], [1.0, -fades], cells)
        mean = (1 - fades) / 2 * (np.append(upward, 0.0) + np.append(0.0, downward))
        places = np.arange(2 * number + 1)
        mean += (left * fades**places + right * fades ** places[::-1]) / 2  # what lies beyond the cells
        found.append(max(left, right, float(mean.max()) * math.exp(width / (2 * scale))))
    return np.asarray(found) * _UP
