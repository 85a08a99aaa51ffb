"""What an entry of the bug zoo is, its mechanisms drawn in bulk, and the closed forms of their exact privacy.

The six sparse vector algorithms of Lyu, Su and Li 2017 (Figure 1) are solved by integration. Threshold 0, sensitivity
1. Output of a run: one column per query, 1 above, 0 below, -1 not reached; with released values a second block of
columns holds the noisy answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.arrays import Array
from dpassay.reference.guarantee import Guarantee, approx_dp, gaussian_delta, gdp


@dataclass(frozen=True)
class SparseVector:
    """Noise scales and cutoff of one variant; `query_scale` 0 means no noise on the queries."""

    threshold_scale: float
    query_scale: float
    cutoff: int | None
    resample_scale: float | None = None  # scale of a fresh threshold after each positive answer
    values: bool = False

    def many(self, dataset: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        """`size` runs on the query answers `dataset`, shape (size, k) or (size, 2 k)."""
        answers = np.asarray(dataset, dtype=float)
        noisy = np.tile(answers, (size, 1))
        if self.query_scale > 0:
            noisy = noisy + rng.laplace(0, self.query_scale, noisy.shape)
        threshold = rng.laplace(0, self.threshold_scale, size)
        seen, above = np.zeros(size, dtype=int), np.full(noisy.shape, -1.0)
        for i in range(answers.size):
            live = np.ones(size, dtype=bool) if self.cutoff is None else seen < self.cutoff
            positive = live & (noisy[:, i] >= threshold)
            above[live, i] = positive[live]
            seen += positive
            if self.resample_scale is not None:
                threshold = np.where(positive, rng.laplace(0, self.resample_scale, size), threshold)
        return np.hstack([above, np.where(above == 1, noisy, 0.0)]) if self.values else above


def lyu_variant(number: int, epsilon: float, cutoff: int) -> SparseVector:
    """Algorithm 1 to 6 of the paper's Figure 1 at budget `epsilon` with at most `cutoff` positive answers."""
    half, quarter = epsilon / 2, epsilon / 4
    return {
        1: SparseVector(1 / half, 2 * cutoff / half, cutoff),
        2: SparseVector(cutoff / half, 2 * cutoff / half, cutoff, resample_scale=cutoff / half),
        3: SparseVector(1 / half, cutoff / half, cutoff, values=True),
        4: SparseVector(1 / quarter, 1 / (epsilon - quarter), cutoff),
        5: SparseVector(1 / half, 0.0, None),
        6: SparseVector(1 / half, 1 / half, None),
    }[number]


def _laplace_upper(x: Array, scale: float) -> Array:
    """P(Laplace(scale) >= x), or the step function when there is no noise."""
    if scale == 0:
        return np.asarray(np.where(x <= 0, 1.0, 0.0))
    return np.asarray(np.where(x > 0, 0.5 * np.exp(-np.abs(x) / scale), 1 - 0.5 * np.exp(-np.abs(x) / scale)))


def _grid(scale: float) -> tuple[Array, Array]:
    """Midpoints and masses of the threshold's Laplace law: 40,000 cells out to 30 scales, exact masses."""
    edges = np.linspace(-30 * scale, 30 * scale, 40_001)
    return (edges[1:] + edges[:-1]) / 2, -np.diff(_laplace_upper(edges, scale))


def pattern_probabilities(mechanism: SparseVector, answers: Sequence[float]) -> dict[tuple[int, ...], float]:
    """P(pattern of answers) for every pattern, by integrating over the threshold between resamplings."""
    scales = [one for one in (mechanism.threshold_scale, mechanism.resample_scale) if one is not None]
    grids = [_grid(scale) for scale in scales]
    above = [[_laplace_upper(grid[0] - a, mechanism.query_scale) for a in answers] for grid in grids]
    below = [[1 - table for table in tables] for tables in above]
    found: dict[tuple[int, ...], float] = {}

    def extend(pattern: tuple[int, ...], seen: int, total: float, current: Array, which: int) -> None:
        """All patterns that begin so: ``current`` is P(answers since the last resampling) given the threshold."""
        at = len(pattern)
        if at == len(answers) or (mechanism.cutoff is not None and seen >= mechanism.cutoff):
            found[pattern] = total * float(current @ grids[which][1])
            return
        extend((*pattern, 0), seen, total, current * below[which][at], which)
        current = current * above[which][at]
        if mechanism.resample_scale is not None:
            total *= float(current @ grids[which][1])
            which, current = 1, np.ones(grids[1][0].size)
        extend((*pattern, 1), seen + 1, total, current, which)

    extend((), 0, 1.0, np.ones(grids[0][0].size), 0)
    return found


def exact_epsilon(mechanism: SparseVector, answers: Sequence[float], neighbour: Sequence[float]) -> float:
    """max |log ratio| over all patterns of positive probability; infinite when one side has none (no values)."""
    p, q = pattern_probabilities(mechanism, answers), pattern_probabilities(mechanism, neighbour)
    pairs = [(p[pattern], q[pattern]) for pattern in p if max(p[pattern], q[pattern]) >= 1e-15]
    return max(float("inf") if min(a, b) < 1e-15 else abs(float(np.log(a / b))) for a, b in pairs)


EPSILON = 1.0  # the claim of every pure mechanism
DELTA = 1e-5  # where Gaussian claims are read
INFINITE = float("inf")


@dataclass(frozen=True)
class Entry:
    """One animal: a mechanism, the pair that shows it, the claim, and the truth."""

    name: str
    mechanism: Any  # has `many(dataset, rng, size)`
    dataset: Any
    neighbour: Any
    claim: Guarantee
    claimed: float  # the claim's epsilon at `delta`
    truth: float
    delta: float = 0.0
    at_least: bool = False
    low_bits: bool = False  # judge the floats as they are, not the real numbers they stand for

    @property
    def broken(self) -> bool:
        """Does the pair exceed the claim?"""
        return self.truth > self.claimed * (1 + 1e-4)


def pure(name: str, mechanism: Any, pair: tuple[Any, Any], truth: float, **more: Any) -> Entry:
    """Claimed: (EPSILON, 0)-DP."""
    return Entry(name, mechanism, *pair, approx_dp(EPSILON), EPSILON, truth, **more)


def gauss(name: str, mechanism: Any, pair: tuple[Any, Any], mu: float, true_mu: float) -> Entry:
    """Claimed: mu-GDP; the truth is that of `true_mu`, read at DELTA."""
    truth = INFINITE if np.isinf(true_mu) else gdp_epsilon(true_mu, DELTA)
    return Entry(name, mechanism, *pair, gdp(mu), gdp_epsilon(mu, DELTA), truth, DELTA)


# -- mechanisms ---------------------------------------------------------------------------------------------------
Rng = np.random.Generator
Noise = Callable[[Rng, tuple[int, ...]], Array]  # of all outputs and their columns
P = ParamSpec("P")


@dataclass(frozen=True)
class Bulk:
    """A mechanism given by its bulk sampler: `many(dataset, rng, size)`."""

    many: Callable[[Any, Rng, int], Any]


def bulk(sampler: Callable[Concatenate[Any, Rng, int, P], Any]) -> Callable[P, Bulk]:
    """A family of mechanisms from `sampler(value, rng, size, ...)`: called with the rest, it gives one of them."""

    @wraps(sampler)
    def made(*how: P.args, **named: P.kwargs) -> Bulk:
        return Bulk(lambda value, rng, size: sampler(value, rng, size, *how, **named))

    return made


def one_by_one(sampler: Callable[Concatenate[float, Rng, P], Any]) -> Callable[P, Bulk]:
    """The same from `sampler(value, rng, ...)`, which gives one output."""

    @wraps(sampler)
    def made(*how: P.args, **named: P.kwargs) -> Bulk:
        return Bulk(lambda value, rng, size: [sampler(float(value), rng, *how, **named) for _ in range(size)])

    return made


@bulk
def noisy(
    value: Any,
    rng: Rng,
    size: int,
    noise: Noise,
    answer: Callable[[Any], Any] = lambda value: value,
    after: Callable[[Array], Any] = lambda table: table,
) -> Any:
    """`noise` on the answer, a number or a row of them; `after` makes outputs of the noisy table."""
    row = np.atleast_1d(np.asarray(answer(value), dtype=float))
    return after(row + noise(rng, (size, row.size)))


def laplace(scale: Any) -> Noise:
    """Of one scale, or one a column."""
    return lambda rng, shape: rng.laplace(0, scale, shape)


def normal(std: Any) -> Noise:
    """Of one deviation, or one a column."""
    return lambda rng, shape: rng.normal(0, std, shape)


def tied(first: int, second: int, sign: float) -> Noise:
    """Laplace noise of which one column is that of another one, perhaps with the other sign."""

    def noise(rng: Rng, shape: tuple[int, ...]) -> Array:
        table = rng.laplace(0, 1 / EPSILON, shape)
        table[:, second] = sign * table[:, first]
        return table

    return noise


def rare_branch(probability: float) -> Bulk:
    """Laplace mechanism that skips the noise with the given probability."""
    return noisy(lambda rng, shape: rng.laplace(0, 1 / EPSILON, shape) * (rng.random(shape) >= probability))


def discrete_laplace(epsilon: float) -> Bulk:
    """Integer count plus the difference of two geometric variables."""
    stop = 1 - np.exp(-epsilon)
    return noisy(lambda rng, shape: (rng.geometric(stop, shape) - rng.geometric(stop, shape)).astype(float))


@bulk
def noisy_max(answers: Any, rng: Rng, size: int, scale: float, release: str) -> Array:
    """Report noisy max with Laplace noise: release the "index" or the noisy "value"."""
    counts = np.asarray(answers, dtype=float) + rng.laplace(0, scale, (size, len(answers)))
    chosen = counts.argmax(axis=1) if release == "index" else counts.max(axis=1)
    return np.asarray(chosen, dtype=float)[:, None]


def noisy_max_epsilon(scale: float, answers: Array, neighbour: Array) -> float:
    """max over the index of |log ratio|, each probability by integration over the noise of the largest answer."""
    noise, masses = _grid(scale)

    def probability(values: Array, i: int) -> float:
        below = [1 - _laplace_upper(noise + values[i] - other, scale) for other in np.delete(values, i)]
        return float(np.prod(below, axis=0) @ masses)

    pairs = [(probability(answers, i), probability(neighbour, i)) for i in range(len(answers))]
    return max(abs(float(np.log(a / b))) for a, b in pairs)


@bulk
def exponential_mechanism(answers: Any, rng: Rng, size: int, epsilon: float) -> Array:
    """Index with probability proportional to exp(epsilon score / 2)."""
    logits = epsilon * np.asarray(answers, dtype=float) / 2 + rng.gumbel(size=(size, len(answers)))
    return np.asarray(logits.argmax(axis=1).astype(float)[:, None])


@bulk
def sampled_gaussian(value: Any, rng: Rng, size: int, rate: float, steps: int, std: float, how: str) -> Array:
    """`steps` noisy sums of one record's value, included "poisson", "once" for all steps, or "shuffle"d."""
    if how == "poisson":
        taken = rng.random((size, steps)) < rate
    elif how == "once":
        taken = np.repeat(rng.random((size, 1)) < rate, steps, axis=1)
    else:
        taken = np.arange(steps)[None, :] == rng.integers(0, steps, (size, 1))
    return np.asarray(float(value) * taken + rng.normal(0, std, (size, steps)))


def mixture_epsilon(rate: float, mu: float, delta: float) -> float:
    """Epsilon of (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1): q times a Gaussian hockey stick, solved for delta."""

    def excess(epsilon: float) -> float:
        return float(rate * gaussian_delta(np.log1p(np.expm1(epsilon) / rate), mu)) - delta

    return float(brentq(excess, 0.0, mu * (mu + 12))) if excess(0.0) > 0 else 0.0


def shuffle_epsilon(steps: int, std: float, delta: float) -> float:
    """Lower bound for one shuffled epoch from the event 'the largest coordinate exceeds a', best a."""
    cuts = np.linspace(-4 * std, 1 + 6 * std, 4001)
    log_q = np.log(-np.expm1(steps * stats.norm.logcdf(cuts / std)))
    p = -np.expm1((steps - 1) * stats.norm.logcdf(cuts / std) + stats.norm.logcdf((cuts - 1) / std))
    with np.errstate(divide="ignore"):
        return max(0.0, float((np.log(np.maximum(p - delta, 0.0)) - log_q).max()))
