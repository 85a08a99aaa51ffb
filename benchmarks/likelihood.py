"""The likelihood audit: tightness (20 seeds) and coverage (1,000 seeds; sampled laws 300) on laws of known epsilon.

    python benchmarks/likelihood.py [--quick] [--write]

Gaussian compositions have a closed form; T sampled steps that all pull one way have the epsilon of the composed
privacy loss distribution (grid 1e-4, so the truth is known to about 1e-3).
"""

from __future__ import annotations

import time

import keep
import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from joblib import Parallel, delayed
from scipy.stats import binomtest

from dpassay.audit.likelihood import audit_likelihood
from dpassay.audit.losses import GaussianSampler, Losses
from dpassay.reference.gdp import gdp_mu

DELTA, LEVEL = 1e-5, 0.05
HEADER = "| law | true epsilon | median bound / truth | lowest | above the truth | 95 % interval | ms an audit |"


class SampledSampler:
    """T steps of (1-q) N(0,1) + q N(mu,1) against N(0,1): what lockstep does, vectorised over runs."""

    has_hidden = True

    def __init__(self, rate: float, mu: float, steps: int, back: bool = False):
        self._rate, self._mu, self._steps, self._back = rate, mu, steps, back

    def swapped(self) -> SampledSampler:
        return SampledSampler(self._rate, self._mu, self._steps, not self._back)

    def sample(self, tilts, shares, count, seed):
        rng = np.random.default_rng(list(seed))
        q, mu, shape = self._rate, self._mu, (count, self._steps)
        chosen = rng.choice(len(tilts), size=count, p=shares)
        shifts = np.array([tilt.shift for tilt in tilts])
        raised = q * np.exp([tilt.odds for tilt in tilts])
        odds = raised / (1 - q + raised)  # of having the target, under each tilt
        noise = rng.standard_normal(shape)
        if self._back:  # D has no target: one state, moved away from the average mean of D'
            centres = -shifts * q * mu
            x = centres[chosen, None] + noise
            here = -(x**2) / 2
        else:
            target = rng.random(shape) < odds[chosen, None]
            x = noise + target * (mu * (1 + shifts))[chosen, None]
            here = np.logaddexp(np.log1p(-q) - x**2 / 2, np.log(q) - (x - mu) ** 2 / 2)
        there = np.logaddexp(np.log1p(-q) - x**2 / 2, np.log(q) - (x - mu) ** 2 / 2) if self._back else -(x**2) / 2
        weights = np.empty((count, len(tilts)))
        for c in range(len(tilts)):
            if self._back:
                proposal = -((x - centres[c]) ** 2) / 2
            else:
                up = np.log(odds[c]) - (x - mu * (1 + shifts[c])) ** 2 / 2
                proposal = np.logaddexp(np.log1p(-odds[c]) - x**2 / 2, up)
            weights[:, c] = (here - proposal).sum(axis=1)
        return Losses((here - there).sum(axis=1), weights)


def sampled_epsilon(rate: float, mu: float, steps: int) -> float:
    """Both directions, each composed with itself."""
    pld = privacy_loss_distribution.from_gaussian_mechanism(
        1 / mu, value_discretization_interval=1e-4, sampling_prob=rate
    )
    return float(pld.self_compose(steps).get_epsilon_for_delta(DELTA))


def laws():
    for epsilon in (2.0, 4.4, 10.0):
        yield f"Gaussian composition, epsilon {epsilon:g}", GaussianSampler(gdp_mu(epsilon, DELTA)), epsilon
    for rate, mu, steps in ((0.01, 2.0, 100), (0.1, 0.5, 100), (0.1, 1.0, 20), (0.5, 0.3, 30)):
        truth = sampled_epsilon(rate, mu, steps)
        yield f"sampled, q {rate:g}, mu {mu:g}, T {steps}", SampledSampler(rate, mu, steps), truth


def line(name, sampler, truth, seeds):
    start = time.perf_counter()
    bounds = Parallel(n_jobs=2, batch_size=10)(
        delayed(lambda seed: audit_likelihood(sampler, DELTA, seed=seed)[0].epsilon)(seed) for seed in range(seeds)
    )
    seconds = 2 * (time.perf_counter() - start) / seeds
    ratios = np.array(bounds) / truth
    above = int(np.sum(ratios > 1))
    interval = binomtest(above, seeds).proportion_ci()
    flag = " **above the level**" if interval.low > LEVEL else ""
    return (
        f"| {name} | {truth:.3f} | {np.median(ratios[:20]):.3f} | {ratios.min():.3f} | "
        f"{above} of {seeds}{flag} | {interval.low:.3f} to {interval.high:.3f} | {1000 * seconds:.0f} |"
    )


def measure(quick: bool) -> None:
    print(HEADER + "\n|---|---|---|---|---|---|---|")
    for name, sampler, truth in laws():
        print(line(name, sampler, truth, 40 if quick else 300 if sampler.has_hidden else 1000), flush=True)


if __name__ == "__main__":
    keep.main(__file__, __doc__, measure)
