"""Where the accounted epsilon of fixed-size batches is loose: the envelope of two pairs, or what neighbours can do?

    python benchmarks/sampled_accounting.py [--quick] [--write]

One step of fixed-size batches (replace-one) is bounded by the upper envelope of two pairs: the mixture
`(1 - q) N(0, 1) + q N(mu, 1)` against `N(0, 1)`, and the same the other way round (`reference/accounting/sampled.py`).
`accounted` composes the envelope. `one way` composes the first pair alone. `best mix` is the largest epsilon that an
algorithm can show which chooses the direction at each step, knowing all that was released: by backward induction,

    V_t(a) = max over both pairs of E_P[V_(t+1)(a dQ/dP)],    V_T(a) = (1 - a)_+,

on a grid of log a (step 1e-3, linear in between). `triangle` composes a third pair, in one step below the envelope too:
the batch without the target, with it and with its replacement have means that are all mu apart,
`(1 - q) N(0, 1) + q N(b, 1)` against `(1 - q) N(0, 1) + q N(b', 1)` with |b| = |b'| = |b - b'| = mu. A sensitivity
alone allows it; rows that are clipped to a ball do not, no three points of a ball are all as far apart as two may be.
For small q its loss has the variance q^2 (2 exp(mu^2) - 2 exp(mu^2 / 2)), above q^2 (exp(mu^2) - 1) of the first
pair: in many steps it shows more. `best of three` chooses among all three at each step. Between it and `accounted` lies
what no choice among them can show; whether other pairs of one step can, is open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import keep
import numpy as np
from scipy.signal import fftconvolve
from scipy.stats import norm

from dpassay.reference.accounting.cost import Account, Part
from dpassay.reference.types import Array

DELTA = 1e-5
ROWS = ((0.1, 0.8, 20), (0.1, 0.5, 100), (0.01, 1.0, 100), (0.01, 1.0, 1000), (0.5, 0.25, 100))  # q, mu, steps
LOW, HIGH, STEP = -8.0, 14.0, 1e-3  # log a


def losses(q: float, mu: float) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Losses and probabilities under P of the first pair, and of the second."""
    z = np.linspace(-8.0, 8.0, 3201)
    weight = norm.pdf(z) / norm.pdf(z).sum()

    def loss(x: Array) -> Array:
        return np.logaddexp(math.log1p(-q), math.log(q) + mu * x - mu**2 / 2)

    first = np.concatenate([loss(z), loss(z + mu)]), np.concatenate([(1 - q) * weight, q * weight])
    return first, (-loss(z), weight)


@dataclass(frozen=True)
class Shares:
    """A law of losses on the grid, each loss split between two points: ``probs`` of ``(first + k) STEP``."""

    first: int
    probs: Array

    @classmethod
    def of(cls, pair: tuple[Array, Array]) -> Shares:
        """From losses and their probabilities."""
        place = np.floor(pair[0] / STEP).astype(int)
        part, first = pair[0] / STEP - place, int(place.min())
        count = int(place.max()) - first + 2
        low = np.bincount(place - first, pair[1] * (1 - part), count)
        return cls(first, low + np.bincount(place - first + 1, pair[1] * part, count))


def step_back(values: Array, law: Shares) -> Array:
    """E_P[V(a dQ/dP)] at every grid point: a correlation."""
    pad = len(law.probs) + abs(law.first) + 1
    below = -np.expm1(LOW - STEP * np.arange(pad, 0, -1))
    padded = np.concatenate([below, values, np.full(pad, values[-1])])
    found = fftconvolve(padded, law.probs)[pad - law.first : pad - law.first + len(values)]
    return np.maximum(found, 0.0)


def shown(laws: Sequence[Shares], steps: int) -> float:
    """Epsilon at DELTA for the best choice among the pairs, step by step."""
    logs = np.arange(LOW, HIGH, STEP)
    values = np.maximum(0.0, -np.expm1(logs))
    for _ in range(steps):
        values = np.maximum.reduce([step_back(values, law) for law in laws])
    return float(np.interp(math.log(DELTA), np.log(values[::-1] + 1e-300), logs[::-1]))


def triangle(q: float, mu: float) -> tuple[Array, Array]:
    """Losses and probabilities under P of the third pair, in the plane."""
    z = np.linspace(-8.0, 8.0, 321)
    weight = norm.pdf(z) / norm.pdf(z).sum()
    both = np.outer(weight, weight).ravel()

    def loss(x: Array, y: Array) -> Array:
        logs = [np.logaddexp(math.log1p(-q), math.log(q) + mu * one - mu**2 / 2) for one in (x, y)]
        return np.asarray((logs[0] - logs[1]).ravel())

    along = np.add.outer(z, np.zeros_like(z)), np.add.outer(z / 2, z * math.sqrt(3) / 2)  # x along b, and along b'
    found = np.concatenate([loss(*along), loss(along[0] + mu, along[1] + mu / 2)])
    return found, np.concatenate([(1 - q) * both, q * both])


def measure(quick: bool) -> None:
    """One line a row."""
    names = ("q", "mu", "steps", "one way", "best mix", "triangle", "best of three", "accounted", "best / accounted")
    print(f"| {' | '.join(names)} |\n|" + "---|" * len(names))
    for q, mu, steps in ROWS[:1] if quick else ROWS:
        laws = [Shares.of(pair) for pair in (*losses(q, mu), triangle(q, mu))]
        found = [shown(some, steps) for some in (laws[:1], laws[:2], laws[2:], laws)]
        accounted = Account(((Part("sampled", mu, q), steps),)).epsilon(DELTA)
        cells = " | ".join(f"{value:.4f}" for value in (*found, accounted))
        print(f"| {q:g} | {mu:g} | {steps} | {cells} | {max(found) / accounted:.3f} |")


if __name__ == "__main__":
    keep.main(__file__, __doc__, measure)
