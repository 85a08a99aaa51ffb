"""The likelihood audit: tightness (20 seeds) and coverage (1,000 seeds; sampled laws 300) on laws of known epsilon.

    python benchmarks/likelihood.py [--quick] [--write]

Gaussian compositions have a closed form; T sampled steps that all pull one way have the epsilon of the composed
privacy loss distribution (grid 1e-4, so the truth is known to about 1e-3).
"""

import time
from runpy import run_path

import audit_figures as figures
import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from joblib import Parallel, delayed
from scipy.stats import binomtest

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.reference.accounting.gdp import gdp_mu

DELTA, LEVEL = 1e-5, 0.05
LAWS = run_path(f"{figures.RESULTS.parents[1]}/tests/audit/likelihood/known_laws.py")  # lie with the tests
HEADER = "| law | true epsilon | median bound / truth | lowest | above the truth | 95 % interval | ms an audit |"


def sampled_epsilon(rate: float, mu: float, steps: int) -> float:
    """Both directions, each composed with itself."""
    pld = privacy_loss_distribution.from_gaussian_mechanism(
        1 / mu, value_discretization_interval=1e-4, sampling_prob=rate
    )
    return float(pld.self_compose(steps).get_epsilon_for_delta(DELTA))


def laws():
    for epsilon in (2.0, 4.4, 10.0):
        yield f"Gaussian composition, epsilon {epsilon:g}", LAWS["gaussian"](gdp_mu(epsilon, DELTA)), epsilon
    for rate, mu, steps in ((0.01, 2.0, 100), (0.1, 0.5, 100), (0.1, 1.0, 20), (0.5, 0.3, 30)):
        truth = sampled_epsilon(rate, mu, steps)
        yield f"sampled, q {rate:g}, mu {mu:g}, T {steps}", LAWS["SampledGaussianSampler"](rate, mu, steps), truth


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
    figures.keep_printed(__file__, __doc__, measure)
