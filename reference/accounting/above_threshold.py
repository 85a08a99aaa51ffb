"""What one AboveThreshold release costs, tighter than its pure epsilon: the worst queries, by dynamic programming.

The threshold noise does not depend on the data, so telling it can only cost more (joint convexity of the hockey-stick
divergence). With it told, each query is one test by Laplace noise, and the first success ends the run. Let ``V_m(a)``
be the largest ``P - a P'`` over the last m queries, of which each moves by at most its own sensitivity in any
direction. As P' is affine in the law of each test, the extreme moves are the worst ones; and the first test leaves

    V_m(a) = sup_x (H(x) - a H'(x))_+ + F(x) V_{m-1}(a F'(x) / F(x)),    V_0(a) = (1 - a)_+,

with F the probability that a query at distance x (in units of the query noise) stays below, F' its neighbour's and
H = 1 - F. Where V_{m-1} is a chord, the supremum over x is a hockey-stick divergence of two Laplace laws: closed form.
So values kept on a grid of ``log a`` with chords between them (V_m is convex) bound every V_m from above; their limit
holds for any number of queries. A number of queries that is public ends the recursion there, and queries that move less
and less (a line search along shrinking steps) enter with their own sensitivity, rounded up to the grid: halved each
time, they show no more together than the first one alone. The pure epsilon of Dwork and Roth 2014, Theorem 3.23, bounds
the same curve, so does `hidden_threshold`, where the first query moves most, and so does the convex hull of all.

A pointwise bound on the curve of every pair is a dominating pair and composes adaptively: Zhu, Dong and Wang 2022,
Definition 7, Proposition 8 and Theorem 10.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy

from dpassay.reference.arrays import Array
from dpassay.reference.laws.above_threshold import MOST_QUERIES, below

from .gdp import UP, gdp_deltas

_PER = 32  # grid points for each `shift` of log a: 64 changes the fifth digit
_SMALL, _LARGE = 1e-7, 5.0  # shifts outside: rounding, or a grid too coarse to help; the pure epsilon is used alone
_HUGE = 100.0  # pure epsilon from which on a grid up to it takes too much; it is used alone
_UP = 1 + 1e-12  # more than the roundings of a quantile
_COARSE = 4  # one in so many grid points has the bound of a hidden threshold; the hull fills the rest
_REACH = 60.0  # shifts; beyond, the chord to the pure epsilon will do (delta is below 1e-17)
_CELLS = 250  # for each scale of the threshold noise, or of the query noise if that is less: costs one part in 500
_FAR = 22.0  # in scales of the query noise: e^-22 = 3e-10 is what G may be beyond
_SUM_UP = 1 + 1e-9  # more than the roundings of sums of positive terms
_LEAST = 0.125  # share below which the cells would be too many, and little is gained


def _laplace_share(log_ratio: Array, shift: float) -> Array:
    """``sup_x F(x) - r F(x - shift)``: the hockey-stick divergence of two Laplace laws at ``r = exp(log_ratio)``."""
    inside = -np.expm1((np.clip(log_ratio, -shift, shift) - shift) / 2)
    return np.where(log_ratio >= shift, 0.0, np.where(log_ratio <= -shift, -np.expm1(log_ratio), inside))


def _hull(logs: Array, values: Array) -> Array:
    """The largest convex function of ``exp(logs)`` below the values."""
    at = np.expm1(logs)
    kept = [0]
    for k in range(1, len(at)):
        while len(kept) > 1:
            i, j = kept[-2], kept[-1]
            if (values[j] - values[i]) * (at[k] - at[i]) < (values[k] - values[i]) * (at[j] - at[i]):
                break
            kept.pop()
        kept.append(k)
    return np.asarray(np.interp(at, at[kept], values[kept]), dtype=float)


def _one_more(logs: Array, values: Array, step: float, moved: int) -> Array:
    """One more query before those that ``values`` bounds (at ``a >= 1``; below, the curve is symmetric).

    It moves by ``moved`` grid points, ``_PER`` at most, of the distance ``step``.
    """
    back, shift = 2 * _PER, moved * step
    offsets = np.arange(-moved - 1, moved + 1)  # of the chords that one test can reach: log a moves by a shift at most
    low = -step * np.arange(back, 0, -1)
    curve = np.concatenate([-np.expm1(low) + np.exp(low) * values[back:0:-1], values])
    slope = (curve[:-1] - curve[1:]) / math.expm1(step)  # of each chord, downward, times a at its left end
    height = np.maximum(curve[:-1] + slope, 0.0)  # of the chord at a = 0
    chord = np.arange(len(logs))[:, None] + back + offsets
    # a test that raises `a` pays only where its success still counts, up to one shift: chords beyond the reach do not
    told = chord < len(slope)
    chord = np.minimum(chord, len(slope) - 1)
    top, fall = height[chord], slope[chord] * np.exp(-offsets * step)
    at = np.exp(logs)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        stops = top * _laplace_share(np.log(fall) - np.log(top), shift)  # a success counts for nothing
        ratio = np.log1p(-np.minimum(top, 1.0)) - np.log(at - fall)
        counts = 1 - at + (at - fall) * _laplace_share(ratio, shift)  # a success counts for P
    found = np.fmax(stops, np.where(logs[:, None] <= shift, counts, 0.0))
    best = np.fmax(values, np.fmax.reduce(np.where(told, found, 0.0), axis=1))
    return np.asarray(np.maximum(_hull(logs, best), values))


def _movements(count: int, falls: float) -> tuple[tuple[int, int], ...]:
    """How far a query moves, in grid points rounded up, and how many do; the last ones, which move least, first."""
    if not count:
        return ((_PER, MOST_QUERIES),)
    moved, times = np.unique(np.ceil(_PER * falls ** np.arange(count)).clip(1).astype(int), return_counts=True)
    return tuple(zip(moved.tolist(), times.tolist(), strict=True))


@lru_cache
def worst_tests(shift: float, reach: float, count: int = 0, falls: float = 1.0) -> tuple[Array, Array]:
    """``log a`` from 0 to ``reach`` shifts, and a bound on ``P - a P'`` over tests that stop at a success.

    The iteration ends early when a query more raises no value by more than the share ``still``; as a factor on the
    values before is at most one on those after, as many queries as one release may ask raise them that many times at
    most.

    Args:
        shift: sensitivity over the scale of the query noise.
        reach: how far the curve is needed, in shifts; at least 3.
        count: of the tests at most; 0 for any number.
        falls: each test moves by at most this times the shift of the one before; heeded where the count is told.
    """
    still = 1e-12 + 1e-15 / shift
    logs: Array = np.arange(math.ceil(reach * _PER) + 1, dtype=float) * (shift / _PER)
    values = np.zeros(len(logs))
    for moved, times in _movements(count, falls):
        for _ in range(times):
            before, values = values, _one_more(logs, values, shift / _PER, moved)
            if not np.any(values - before > still * values):
                break
    return logs, values * (1 + 2 * MOST_QUERIES * still)


def costs_its_epsilon(pure: float, share: float) -> bool:
    """Is the pure epsilon all that is known of these scales."""
    return not _SMALL <= pure * share <= _LARGE or pure > _HUGE


@lru_cache
def _curve(pure: float, share: float, count: int, falls: float) -> tuple[Array, Array]:
    """Epsilons from 0 to ``pure``, and a convex bound on delta there."""
    logs, values = worst_tests(pure * share, min(_REACH, max(3.0, math.ceil(1 / share))), count, falls)
    values = np.append(np.minimum(values, response_delta(logs, pure))[logs < pure], 0.0)
    logs = np.append(logs[logs < pure], pure)
    return logs, _hull(logs, values)


@lru_cache
def _hidden_curve(pure: float, share: float, count: int, falls: float) -> tuple[Array, Array]:
    """`_curve`, and no more than with the threshold noise hidden from the first query, where that helps."""
    logs, values = _curve(pure, share, count, falls)
    if not helps(share, count, falls):
        return logs, values
    shift = pure * share
    some = np.arange(0, len(logs) - 1, _COARSE)
    later, shown = np.zeros(1), np.zeros(1)  # nothing is left after the first query
    if count > 1:
        later, shown = worst_tests(shift * falls, min(_REACH, 2 + (pure / shift + 1) / falls), count - 1, falls)
    at = np.exp(later)
    steepest = float(np.max(-np.diff(shown) / np.diff(at), initial=1.0))

    def after(a: Array) -> Array:
        found = np.interp(np.maximum(a, 1 / a), at, shown)  # beyond the grid the last value, which is too large
        return np.asarray(np.where(a >= 1, found, 1 - a + a * found))

    values = values.copy()
    values[some] = np.minimum(values[some], hidden_threshold(logs[some], shift, share, after, steepest))
    return logs, _hull(logs, values)


def helps(share: float, count: int, falls: float) -> bool:
    """Is this bound worth its time: the first query must be the one that shows the most."""
    return _LEAST <= share <= 0.45 and (count == 1 or (count > 1 and falls <= 0.75))


def hidden_threshold(
    logs: Array, shift: float, share: float, after: Callable[[Array], Array], steepest: float
) -> Array:
    """A bound on ``P - a P'`` at each ``log a >= 0`` where the threshold noise is not told before the first query.

    :func:`worst_tests` tells the threshold noise z first, so that every query may lie where it shows the most. But
    queries are values of the data and do not know z: one distance x of the first query from the threshold holds for
    all z. Here only the later queries may depend on z (which they cannot either: the bound stays above the truth). So

        V(a) <= sup_x E_z G(x + z),   G(y) = max (H(y) - a H'(y))_+ + F(y) W(a F'(y) / F(y)),

    the maximum over the first query's move by its sensitivity, up or down (for each z: what is maximised is convex in
    F'(y), and extreme moves are the worst), with F, H = 1 - F the law of its test and W the told bound of those after
    it. That is much less where they move less: halved each time, 3/4 of the told bound.

    The supremum over x is over a grid of cells, and everything is rounded up. On a cell of width h, G exceeds its
    larger end by at most h/2 times a bound on its slope,

        |G'| <= f(y) (|a e^s - 1| + |a e^-s - 1| + W(a e^-s) + 2 a sinh(s) max|W'|),

    s the first query's move in units of its noise, f(y) = e^-|y| / 2 the density of its test, which at a place s away
    differs by e^s at most. Between grid points of x the density of z, of scale b, grows by exp(h / 2b) at most. Beyond
    the cells G is at most a constant on either side, and there E_z G is monotone in x, so that its ends bound it.

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
    number = math.ceil((_FAR + shift) / width)
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
        left = math.exp(shift - _FAR)  # F(y) W <= F(y), and H - a H' <= F' there
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
    return np.asarray(found) * _SUM_UP


def response_delta(epsilons: Array, pure: float) -> Array:
    """Randomised response, which dominates every pure release: ``(e^pure - e^eps)_+ / (1 + e^pure)``, rounded up."""
    return np.asarray(-np.expm1(-np.maximum(pure - epsilons, 0.0)) / (1 + math.exp(-pure)) * UP)


def above_threshold_delta(epsilons: Array, pure: float, share: float, count: int = 0, falls: float = 1.0) -> Array:
    """A bound on delta at each epsilon (any sign) of one AboveThreshold release, whatever its queries.

    Args:
        epsilons: any shape.
        pure: its pure epsilon, ``sensitivity (1 / threshold_scale + 2 / query_scale)``.
        share: ``sensitivity / query_scale`` as a share of ``pure``, in (0, 1/2].
        count: the number of queries at most, where it is public; 0 for any number.
        falls: query ``i`` moves by at most ``falls**i`` sensitivities; heeded where the count is told.

    Example:
        >>> import numpy as np
        >>> above_threshold_delta(np.array([0.0, 0.5, 1.0]), 1.0, 0.25).round(4)
        array([0.1612, 0.0494, 0.    ])
        >>> above_threshold_delta(np.array([0.0, 0.5, 1.0]), 1.0, 0.25, count=4, falls=0.5).round(4)
        array([0., 0., 0.    ])
    """
    epsilons = np.asarray(epsilons, dtype=float)
    size = np.minimum(np.abs(epsilons), pure)
    if costs_its_epsilon(pure, share):
        found = np.minimum(response_delta(size, pure), 1.0)
    else:
        logs, values = _hidden_curve(pure, share, count, falls)
        found = np.interp(np.expm1(size), np.expm1(logs), values)  # chords in a
    mirrored = -np.expm1(-np.abs(epsilons)) + np.exp(-np.abs(epsilons)) * found
    return np.asarray(np.where(epsilons >= 0, found, mirrored))


def pure_mu(epsilon: float) -> float:
    """The smallest mu for which every pure release is mu-GDP, rounded up: ``-2 Phi^-1(1 / (1 + exp(epsilon)))``."""
    if epsilon < 1:  # near one half a quantile loses its digits
        return 2 * math.sqrt(2) * float(scipy.special.erfinv(math.tanh(epsilon / 2))) * _UP
    # in logarithms: exp(epsilon) overflows
    return float(-2 * scipy.special.ndtri_exp(-np.logaddexp(0.0, epsilon))) * _UP


@lru_cache(maxsize=4096)
def above_threshold_mu(pure: float, share: float, count: int = 0, falls: float = 1.0) -> float:
    """A mu for which one AboveThreshold release is mu-GDP, whatever its queries; hardly more than the smallest one.

    Arguments as in :func:`above_threshold_delta`.

    A Gaussian's delta is convex in ``a = exp(epsilon)``: where its tangent at one end of a chord is above the chord, so
    is the curve.
    """
    if costs_its_epsilon(pure, share):
        return pure_mu(pure)
    logs, values = _curve(pure, share, count, falls)
    at = np.exp(logs)

    def holds(mu: float) -> bool:
        gauss = gdp_deltas(logs, mu)
        slope, width = scipy.special.ndtr(-logs / mu - mu / 2), np.diff(at)
        left = (values[:-1] <= gauss[:-1]) & (values[1:] <= gauss[:-1] - width * slope[:-1])
        right = (values[1:] <= gauss[1:]) & (values[:-1] <= gauss[1:] + width * slope[1:])
        return bool(np.all(left | right))

    low, high = 0.0, pure_mu(pure)
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
