"""What an entry of the bug zoo is, its mechanisms drawn in bulk, and the closed forms of their exact privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import laplace, norm

from dpassay.audit.blackbox.outputs import Mechanism
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.guarantee import Guarantee, approx_dp, gaussian_delta, gdp
from dpassay.reference.types import Array

EPSILON = 1.0  # the claim of every pure mechanism
DELTA = 1e-5  # where Gaussian claims are read
INFINITE = float("inf")


@dataclass(frozen=True)
class Entry:
    """One animal: a mechanism, the pair that shows it, the claim, and the truth."""

    name: str
    mechanism: Mechanism
    dataset: Any
    neighbour: Any
    claim: Guarantee
    claimed: float  # the claim's epsilon at `delta`
    truth: float
    delta: float = 0.0
    at_least: bool = False
    low_bits: bool = False  # judge the floats as they are, not the real numbers they stand for
    source: str = ""

    @property
    def broken(self) -> bool:
        """Does the pair exceed the claim?"""
        return self.truth > self.claimed * (1 + 1e-4)


def pure(name: str, mechanism: Mechanism, pair: tuple[Any, Any], truth: float, **more: Any) -> Entry:
    """Claimed: (EPSILON, 0)-DP."""
    return Entry(name, mechanism, *pair, approx_dp(EPSILON), EPSILON, truth, **more)


def gauss(name: str, mechanism: Mechanism, pair: tuple[Any, Any], mu: float, true_mu: float) -> Entry:
    """Claimed: mu-GDP; the truth is that of `true_mu`, read at DELTA."""
    truth = INFINITE if np.isinf(true_mu) else gdp_epsilon(true_mu, DELTA)
    return Entry(name, mechanism, *pair, gdp(mu), gdp_epsilon(mu, DELTA), truth, DELTA)


Draw = Callable[[Any, np.random.Generator, int], Any]


@dataclass(frozen=True)
class Bulk:
    """A mechanism given by its bulk sampler; calling it draws one output."""

    many: Draw

    def __call__(self, dataset: Any, rng: np.random.Generator) -> Any:
        """One output on `dataset`."""
        return self.many(dataset, rng, 1)[0]


def additive(noise: Callable[[np.random.Generator, tuple[int, ...]], Array]) -> Bulk:
    """query value(s) + noise of the same shape."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        base = np.atleast_1d(np.asarray(value, dtype=float))
        return np.asarray(base + noise(rng, (size, base.size)))

    return Bulk(many)


def laplace_noise(scale: float) -> Bulk:
    """Laplace mechanism."""
    return additive(lambda rng, shape: rng.laplace(0, scale, shape))


def gaussian_noise(std: float) -> Bulk:
    """Gaussian mechanism."""
    return additive(lambda rng, shape: rng.normal(0, std, shape))


def half_normal_noise(std: float) -> Bulk:
    """Gaussian mechanism that takes the absolute value of its noise."""
    return additive(lambda rng, shape: np.abs(rng.normal(0, std, shape)))


def coarse_laplace(scale: float, bits: int) -> Bulk:
    """Laplace by inverting a uniform variable that has only `bits` random bits: the support has holes."""

    def noise(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        uniform = (rng.integers(0, 2**bits, shape) + 0.5) / 2**bits
        return np.asarray(laplace.ppf(uniform, scale=scale))

    return additive(noise)


def same_seed(std: float) -> Bulk:
    """Gaussian mechanism that starts its generator anew in each run."""

    def noise(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return np.tile(np.random.default_rng(0).normal(0, std, (1, *shape[1:])), (shape[0], 1))

    return additive(noise)


def rare_branch(inner: Bulk, probability: float) -> Bulk:
    """Skips the noise with the given probability."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        noisy = np.asarray(inner.many(value, rng, size))
        skip = rng.random(size) < probability
        return np.where(skip[:, None], np.atleast_1d(np.asarray(value, dtype=float)), noisy)

    return Bulk(many)


def noisy_max(scale: float, release: str) -> Bulk:
    """Report noisy max with Laplace noise: release the "index" or the noisy "value"."""

    def many(answers: Any, rng: np.random.Generator, size: int) -> Array:
        noisy = np.asarray(answers, dtype=float) + rng.laplace(0, scale, (size, len(answers)))
        chosen = noisy.argmax(axis=1) if release == "index" else noisy.max(axis=1)
        return np.asarray(chosen, dtype=float)[:, None]

    return Bulk(many)


def noisy_max_epsilon(scale: float, answers: Array, neighbour: Array) -> float:
    """max over the index of |log ratio|, each probability by quadrature of f_i prod F_j."""

    def probability(values: Array, i: int) -> float:
        others = np.delete(values, i)

        def density(x: float) -> float:  # asked for thousands of times: `scipy.stats` takes ten times as long
            away = (x - others) / scale
            below = np.where(away > 0, 1.0 - 0.5 * np.exp(-away), 0.5 * np.exp(away))
            return float(0.5 * np.exp(-abs((x - values[i]) / scale)) / scale * np.prod(below))

        return float(quad(density, -60 * scale, 60 * scale, points=sorted(set(values)), limit=400)[0])

    pairs = [(probability(answers, i), probability(neighbour, i)) for i in range(len(answers))]
    return max(abs(float(np.log(a / b))) for a, b in pairs)


def exponential_mechanism(epsilon: float) -> Bulk:
    """Index with probability proportional to exp(epsilon score / 2)."""

    def many(answers: Any, rng: np.random.Generator, size: int) -> Array:
        logits = epsilon * np.asarray(answers, dtype=float) / 2 + rng.gumbel(size=(size, len(answers)))
        return np.asarray(logits.argmax(axis=1).astype(float)[:, None])

    return Bulk(many)


def randomised_response(keep: float) -> Bulk:
    """Tell the bit with probability `keep`, its complement otherwise."""
    return Bulk(lambda bit, rng, size: np.where(rng.random(size) < keep, bit, 1 - bit).astype(float)[:, None])


def discrete_laplace(epsilon: float) -> Bulk:
    """Integer count plus the difference of two geometric variables."""
    stop = 1 - np.exp(-epsilon)
    return additive(lambda rng, shape: (rng.geometric(stop, shape) - rng.geometric(stop, shape)).astype(float))


def sampled_gaussian(rate: float, steps: int, std: float, how: str) -> Bulk:
    """`steps` noisy sums of one record's value, included "poisson", "once" for all steps, or "shuffle"d."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        if how == "poisson":
            taken = rng.random((size, steps)) < rate
        elif how == "once":
            taken = np.repeat(rng.random((size, 1)) < rate, steps, axis=1)
        else:
            taken = np.arange(steps)[None, :] == rng.integers(0, steps, (size, 1))
        return np.asarray(float(value) * taken + rng.normal(0, std, (size, steps)))

    return Bulk(many)


def mixture_epsilon(rate: float, mu: float, delta: float) -> float:
    """Epsilon of (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1): q times a Gaussian hockey stick, solved for delta."""

    def excess(epsilon: float) -> float:
        return float(rate * gaussian_delta(np.log1p(np.expm1(epsilon) / rate), mu)) - delta

    return float(brentq(excess, 0.0, mu * (mu + 12))) if excess(0.0) > 0 else 0.0


def shuffle_epsilon(steps: int, std: float, delta: float) -> float:
    """Lower bound for one shuffled epoch from the event 'the largest coordinate exceeds a', best a."""

    cuts = np.linspace(-4 * std, 1 + 6 * std, 4001)
    log_q = np.log(-np.expm1(steps * norm.logcdf(cuts / std)))
    p = -np.expm1((steps - 1) * norm.logcdf(cuts / std) + norm.logcdf((cuts - 1) / std))
    with np.errstate(divide="ignore"):
        return max(0.0, float((np.log(np.maximum(p - delta, 0.0)) - log_q).max()))


def on_a_grid(inner: Bulk, spacing: float) -> Bulk:
    """Round to a grid far coarser than floating point: no low-order bit of the noise survives."""

    def many(value: Any, rng: np.random.Generator, size: int) -> Array:
        return np.round(np.asarray(inner.many(value, rng, size)) / spacing) * spacing

    return Bulk(many)


def tree_gaussian(std: float, silent: bool) -> Bulk:
    """Noisy nodes of a binary tree over four leaves; with `silent` the second leaf's node gets no noise."""

    def many(leaves: Any, rng: np.random.Generator, size: int) -> Array:
        a = np.asarray(leaves, dtype=float)
        nodes = np.array([*a, a[0] + a[1], a[2] + a[3], a.sum()])
        noise = rng.normal(0, std, (size, nodes.size))
        if silent:
            noise[:, 1] = 0.0
        return np.asarray(nodes + noise)

    return Bulk(many)


def clipped_mean(scale: float, clip_each: bool) -> Bulk:
    """Laplace mean of records clipped to [-1, 1], or (the bug) the mean clipped instead of the records."""

    def many(records: Any, rng: np.random.Generator, size: int) -> Array:
        values = np.asarray(records, dtype=float)
        mean = np.clip(values, -1, 1).mean() if clip_each else np.clip(values.mean(), -1, 1)
        return np.asarray(mean + rng.laplace(0, scale, (size, 1)))

    return Bulk(many)


def leaking_report(scale: float) -> Bulk:
    """A dict with a noisy sum and a text that gives the exact number of records."""

    def many(records: Any, rng: np.random.Generator, size: int) -> list[dict[str, Any]]:
        noisy = float(np.sum(records)) + rng.laplace(0, scale, size)
        return [{"sum": float(x), "note": f"{len(records)} records read"} for x in noisy]

    return Bulk(many)
