"""Are these numbers independent and uniform on (0, 1)? One set of tests, whatever law they come from."""

from collections.abc import Iterator

import numpy as np
import scipy

from dpassay.reference.arrays import Array

LEAST = 1e-12  # a p-value below is a finding: one in a million that any of a million tests errs
_COLUMNS = 40  # whose correlations are looked at
_ROOM = 1e-9  # of a probability that was computed


def surprise(count: Array | int, trials: Array | int, probability: Array | float) -> float:
    """The least two-sided p-value of these binomial counts."""
    low = scipy.stats.binom.cdf(count, trials, probability)
    high = scipy.stats.binom.sf(np.asarray(count) - 1, trials, probability)
    return float(np.min(2 * np.minimum(low, high)))


def not_uniform(numbers: Array, continuous: bool) -> Iterator[str]:
    """What is wrong with probability integral transforms, shape (draws, coordinates); ``continuous``: none twice."""
    if np.min(numbers) < 0 or np.max(numbers) > 1 or not np.isfinite(numbers).all():
        yield "some values lie outside the support"
        return
    flat = numbers.ravel()
    if continuous and len(np.unique(flat)) < flat.size:
        yield f"{flat.size - len(np.unique(flat))} of {flat.size} draws come again"
    if scipy.stats.kstest(flat, "uniform").pvalue < LEAST:
        yield "the draws follow another law (Kolmogorov-Smirnov)"
    normal = scipy.special.ndtri(np.clip(numbers, _ROOM, 1 - _ROOM))
    size = float(np.sum(normal**2))
    if 2 * min(scipy.stats.chi2.cdf(size, flat.size), scipy.stats.chi2.sf(size, flat.size)) < LEAST:
        yield f"the spread of the noise is {np.sqrt(size / flat.size):.3g} times what it says"
    yield from tails(flat, (0.05, 1e-3))
    yield from _dependence(normal)


def tails(flat: Array, levels: tuple[float, ...]) -> Iterator[str]:
    """Are there as many draws as there should be in each tail?"""
    for level in levels:
        for side, count in (("lower", np.sum(flat < level)), ("upper", np.sum(flat > 1 - level))):
            if surprise(int(count), flat.size, level) < LEAST:
                yield f"{count} of {flat.size} draws are in the {side} tail of probability {level:.2g}"
                return


def _dependence(normal: Array) -> Iterator[str]:
    draws, width = normal.shape
    for what, one, other in (("a draw and the next one", normal[:-1], normal[1:]), ("coordinates", normal, normal)):
        columns = np.unique(np.linspace(0, width - 1, min(width, _COLUMNS)).astype(int))
        for power, how in ((1, ""), (2, " of squares")):
            with np.errstate(invalid="ignore", divide="ignore"):
                both = np.corrcoef(one[:, columns] ** power, other[:, columns] ** power, rowvar=False)
            r = np.nan_to_num(both[: len(columns), len(columns) :])
            if what == "coordinates":
                r = r[np.triu_indices(len(columns), 1)]
            t = np.abs(r) * np.sqrt((draws - 3) / np.maximum(1 - r**2, 1e-12))
            # squares are skewed, and what is said of them asks for more
            if r.size and 2 * scipy.stats.t.sf(np.max(t), draws - 3) < LEAST ** (1 if power == 1 else 3):
                yield f"{what} depend on each other (correlation{how} {r.flat[int(np.argmax(t))]:.2g})"
                return
