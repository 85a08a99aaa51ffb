"""Lower bounds of a tiny mean, side by side: why the likelihood audit bets.

    python benchmarks/means.py [--quick] [--write]

The variable is what the audit bounds: W (1 - exp(epsilon - L))_+ of runs of a Gaussian mechanism with epsilon 4.38,
drawn from nine parts tilted law and one part plain law, at an epsilon a little below the true one, so that its mean is
a little above delta = 1e-5. The bounds other than betting need a largest value: what 400 more runs had, beyond which
the variable is cut off (a lower bound of the smaller mean is one of the mean). The same runs choose the one bet of the
second line, which is how the audit bets; the first mixes bets that nothing is known about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import audit_figures as figures
import numpy as np

from dpassay.audit.bounds import betting_lower, clopper_pearson_lower
from dpassay.audit.likelihood.pilot import excess, weight_of
from dpassay.audit.likelihood.samplers import GaussianSampler
from dpassay.audit.lockstep.tilting import PLAIN, Tilt
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon
from dpassay.reference.types import Array

HEADER = ("bound", "runs", "bound / mean", "low", "high", "above the mean", "samples")
ALPHA, DELTA, SHARES, PILOT = 0.05, 1e-5, np.array([0.1, 0.9]), 400
BETS = np.geomspace(0.01, 0.95, 60)


def bentkus(x: Array) -> float:
    """Bentkus 2004: P(sum >= s) <= e P(Binomial(n, mean) >= floor(s)), for variables in [0, 1]."""
    return float(clopper_pearson_lower(math.floor(x.sum()), x.size, ALPHA / math.e))


def empirical_bernstein(x: Array) -> float:
    """Maurer and Pontil 2009, Theorem 4, for variables in [0, 1]."""
    log_term = math.log(2 / ALPHA)
    slack = math.sqrt(2 * x.var(ddof=1) * log_term / x.size) + 7 * log_term / (3 * (x.size - 1))
    return max(0.0, float(x.mean()) - slack)


def hoeffding(x: Array) -> float:
    """Hoeffding 1963, Theorem 1, for variables in [0, 1]: n kl(mean of x, bound) = log(1 / alpha)."""
    mean, low, high = float(x.mean()), 0.0, float(x.mean())
    for _ in range(60):
        middle = 0.5 * (low + high)
        divergence = mean * math.log(mean / middle) + (1 - mean) * math.log((1 - mean) / (1 - middle))
        low, high = (middle, high) if x.size * divergence >= -math.log(ALPHA) else (low, middle)
    return low


BOUNDS = {"Bentkus": bentkus, "empirical Bernstein": empirical_bernstein, "Hoeffding": hoeffding}


def sample(runs: int, epsilon: float, seed: tuple[int, ...]) -> Array:
    """What the audit bounds the mean of."""
    losses = GaussianSampler(1.0).sample((PLAIN, Tilt(4.0)), SHARES, runs, seed)
    return excess(losses.loss, weight_of(losses.log_weight(np.log(SHARES))), epsilon)


def best_bet(pilot: Array, runs: int) -> float:
    """The bet that grows fastest on the pilot against the largest mean that `runs` of its like would refute."""
    best = float(BETS[-1])
    for share in np.linspace(0.05, 0.99, 95):
        growth = np.log1p(BETS[:, None] * (pilot / (share * pilot.mean()) - 1)).mean(axis=1)
        if runs * growth.max() < -math.log(ALPHA):
            break
        best = float(BETS[growth.argmax()])
    return best


def measured(samples: int) -> Iterator[tuple[object, ...]]:
    """Every bound at three numbers of runs; all see the same samples."""
    epsilon = 0.97 * gdp_epsilon(1.0, DELTA)
    mean = gdp_delta(epsilon, 1.0)
    for runs in (100, 1000, 10_000):
        names = ("betting, mixture", "betting, bet from the pilot", *BOUNDS)
        found: dict[str, list[float]] = {name: [] for name in names}
        for seed in range(samples):
            x = sample(runs, epsilon, (13, runs, seed))
            pilot = sample(PILOT, epsilon, (17, runs, seed))
            top, largest = float(pilot.max()), float(x.max())
            for name, bets in zip(names, (None, [best_bet(pilot, runs)]), strict=False):
                found[name].append(betting_lower(x / largest, ALPHA, bets) * largest / mean)
            for name, bound in BOUNDS.items():
                found[name].append(top * bound(np.minimum(x / top, 1.0)) / mean)
        for name, shares in found.items():
            wrong = sum(share > 1 for share in shares)
            yield name, runs, float(np.median(shares)), min(shares), max(shares), wrong, samples


def main() -> None:
    """Print and keep."""
    chosen = figures.options(__doc__)
    rows = figures.shown(HEADER, measured(20 if chosen.quick else 500))
    if chosen.write:
        notes = ["Median, smallest and largest of the samples; 5 % of them may lie above the mean."]
        figures.write("means", "Lower bounds of a tiny mean", HEADER, rows, notes)


if __name__ == "__main__":
    main()
