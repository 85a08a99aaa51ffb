"""Where the accounted epsilon of fixed-size batches is loose: the envelope of two pairs, or what neighbours can do?

    python benchmarks/sampled_accounting.py [--quick] [--write]

One step of fixed-size batches (replace-one) is bounded by the upper envelope of two pairs: the mixture
`(1 - q) N(0, 1) + q N(mu, 1)` against `N(0, 1)`, and the same the other way round (`reference/accounting/sampled.py`).
`accounted` composes the envelope. `one way` composes the first pair alone. `best mix` is the largest epsilon that an
algorithm can show which chooses the direction at each step, knowing all that was released: by backward induction,

    V_t(a) = max over both pairs of E_P[V_(t+1)(a dQ/dP)],    V_T(a) = (1 - a)_+,

on a grid of log a (step 1e-3, linear in between). Between `best mix` and `accounted` lies what no choice between the
two pairs can show; whether other pairs of one step can, is open.
"""

import math

import keep
import numpy as np
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


def step_back(values: Array, pair: tuple[Array, Array]) -> Array:
    """E_P[V(a dQ/dP)] at every grid point: a correlation, each loss split between two grid points."""
    place = np.floor(pair[0] / STEP).astype(int)
    part, start = pair[0] / STEP - place, int(place.min())
    count = int(place.max()) - start + 2
    share = np.bincount(place - start, pair[1] * (1 - part), count) + np.bincount(
        place - start + 1, pair[1] * part, count
    )
    pad = count + abs(start) + 1
    below = -np.expm1(LOW - STEP * np.arange(pad, 0, -1))
    padded = np.concatenate([below, values, np.full(pad, values[-1])])
    return np.convolve(padded, share)[pad - start : pad - start + len(values)]


def shown(q: float, mu: float, steps: int, ways: slice) -> float:
    """Epsilon at DELTA for the best choice among the pairs, step by step."""
    logs = np.arange(LOW, HIGH, STEP)
    values = np.maximum(0.0, -np.expm1(logs))
    for _ in range(steps):
        values = np.maximum.reduce([step_back(values, pair) for pair in losses(q, mu)[ways]])
    return float(np.interp(math.log(DELTA), np.log(values[::-1] + 1e-300), logs[::-1]))


def measure(quick: bool) -> None:
    print("| q | mu | steps | one way | best mix | accounted | best mix / accounted |\n|---|---|---|---|---|---|---|")
    for q, mu, steps in ROWS[:1] if quick else ROWS:
        one, mix = shown(q, mu, steps, slice(0, 1)), shown(q, mu, steps, slice(0, 2))
        accounted = Account(((Part("sampled", mu, q), steps),)).epsilon(DELTA)
        print(f"| {q:g} | {mu:g} | {steps} | {one:.4f} | {mix:.4f} | {accounted:.4f} | {mix / accounted:.3f} |")


if __name__ == "__main__":
    keep.main(__file__, __doc__, measure)
