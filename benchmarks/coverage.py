"""False claims of every bound and test on laws whose truth is known: 2,000 repetitions each, with 95 %
intervals.

    python benchmarks/coverage.py [repetitions] [largest n]

A line is flagged when the whole interval lies above the level of 5 %. Largest n = 1000000 takes hours on
one core; the
count-based bounds are vectorised and always run up to 1e6.
"""

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import binomtest

from dpassay.audit import bounds
from dpassay.audit.blackbox.zoo_laws import mixture_epsilon
from dpassay.audit.results import Verdict
from dpassay.audit.scores import curve, labels, one_run, thresholds
from dpassay.audit.scores.assumed import gdp_epsilon
from dpassay.audit.scores.curve_test import refute_curve

LEVEL, DELTA, MU, RATE = 0.05, 1e-5, 1.0, 0.1
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)


def laws() -> Iterator[tuple[str, Callable, float, curve.Curve]]:
    """(name, draw(rng, n) -> scores on D and D', epsilon at DELTA, the exact curve)."""
    e = np.e

    def mixture(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.normal(size=n), rng.normal(size=n) + 2 * MU * (rng.random(n) < RATE)

    sampled = curve.from_pairs(
        [(x, max(_one(x), _other(x))) for x in np.linspace(0, 8, 81)], "sampled Gaussian"
    )
    yield "null", lambda rng, n: (rng.normal(size=n), rng.normal(size=n)), 0.0, curve.approx_dp(0.0)
    yield "Laplace", lambda rng, n: (rng.laplace(size=n), rng.laplace(1, size=n)), 1.0, curve.approx_dp(1.0)
    yield (
        "randomised response",
        lambda rng, n: (1.0 * (rng.random(n) < 1 / (1 + e)), 1.0 * (rng.random(n) < e / (1 + e))),
        1.0,
        curve.approx_dp(1.0),
    )
    yield (
        "Gaussian",
        lambda rng, n: (rng.normal(size=n), rng.normal(MU, size=n)),
        gdp_epsilon(MU, DELTA),
        curve.gdp(MU),
    )
    yield "sampled Gaussian", mixture, mixture_epsilon(RATE, 2 * MU, DELTA), sampled


def _one(epsilon: float) -> float:
    return float(RATE * curve.gaussian_delta(np.log1p(np.expm1(epsilon) / RATE), 2 * MU))


def _other(epsilon: float) -> float:
    """Q = N(0,1) against the mixture, on the half-line where Q is the larger."""
    x = np.linspace(-12, 12, 20_001)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    mixed = density * (1 - RATE + RATE * np.exp(2 * MU * x - 2 * MU**2))
    gap = np.maximum(density - np.exp(epsilon) * mixed, 0.0)
    return float(np.trapezoid(gap, x)) + 1e-9


def score_methods(truth: float, claim: curve.Curve) -> dict[str, Callable]:
    """Each returns True for a false claim."""
    return {
        "labels": lambda p, q, rng: labels.epsilon_labels(p, q, DELTA, rng).epsilon > truth + 1e-9,
        "CP simultaneous": lambda p, q, rng: (
            thresholds.epsilon_simultaneous(p, q, DELTA).epsilon > truth + 1e-9
        ),
        "CP split": lambda p, q, rng: thresholds.epsilon_split(p, q, DELTA, rng).epsilon > truth + 1e-9,
        "joint curve": lambda p, q, rng: refute_curve(p, q, claim, rng).verdict is Verdict.VIOLATED,
        "one run, labels": lambda p, q, rng: _one_run(p, q, rng) > truth + 1e-9,
        "one run, f-DP": lambda p, q, rng: _fdp(p, q, claim, rng),
    }


def _coins(p: np.ndarray, q: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    coins = rng.random(p.size) < 0.5
    return np.where(coins, q, p), coins


def _one_run(p: np.ndarray, q: np.ndarray, rng: np.random.Generator) -> float:
    return one_run.epsilon_one_run(*_coins(p, q, rng), DELTA, rng).epsilon


def _fdp(p: np.ndarray, q: np.ndarray, claim: curve.Curve, rng: np.random.Generator) -> bool:
    return one_run.one_run_curve(*_coins(p, q, rng), claim, rng).verdict is Verdict.VIOLATED


def report(name: str, law: str, n: int, wrong: int, runs: int, seconds: float) -> None:
    interval = binomtest(wrong, runs).proportion_ci(0.95)
    flag = "  ABOVE THE LEVEL" if interval.low > LEVEL else ""
    print(
        f"{name:24s} {law:20s} {n:8d} {wrong / runs:8.4f} [{interval.low:.4f}, {interval.high:.4f}] "
        f"{seconds / runs:9.5f} s{flag}",
        flush=True,
    )


def mean_bounds(runs: int) -> None:
    """Bounds of a mean on tiny Bernoulli rates, by counts: a sample is its number of ones."""
    rng = np.random.default_rng(1)
    for n in SIZES:
        for rate in (3.0 / n, 0.05):
            start = time.perf_counter()
            counts = rng.binomial(n, rate, max(runs, 20_000))
            distinct, repeats = np.unique(counts, return_counts=True)
            for name in ("Clopper-Pearson", "Bentkus", "betting"):
                wrong = 0
                for count, times in zip(distinct, repeats, strict=True):
                    wrong += times * _count_bound_errs(name, int(count), n, rate)
                law = f"Bernoulli({rate:.2g})"
                report(name, law, n, int(wrong), counts.size, time.perf_counter() - start)


def _count_bound_errs(name: str, count: int, n: int, rate: float) -> bool:
    if name == "Clopper-Pearson":
        return bool(bounds.clopper_pearson_lower(count, n, LEVEL) > rate)
    if name == "Bentkus":
        return bool(bounds.clopper_pearson_lower(count, n, LEVEL / np.e) > rate)
    shares = bounds.default_bets(n)
    logs = count * np.log1p(shares * (1 / rate - 1)) + (n - count) * np.log1p(-shares)
    return bool(np.logaddexp.reduce(logs) - np.log(shares.size) >= -np.log(LEVEL))


def steinke(runs: int) -> None:
    """The fixed number of guesses of Steinke et al. on its extremal mechanism."""
    rng = np.random.default_rng(2)
    for m in SIZES[:4]:
        start = time.perf_counter()
        right = rng.binomial(m, np.e / (1 + np.e), runs)
        refuted = {int(v): one_run.steinke_p_value(m, m, int(v), 1.0, 0.0) <= LEVEL for v in np.unique(right)}
        wrong = sum(refuted[int(v)] for v in right)
        report("one run, Steinke et al.", "randomised response", m, wrong, runs, time.perf_counter() - start)


def main(runs: int = 2000, largest: int = 10_000) -> None:
    print(f"{'bound':24s} {'law':20s} {'n':>8s} {'errors':>8s} {'95 % interval':18s} time a bound")
    mean_bounds(runs)
    steinke(runs)
    for law, draw, truth, claim in laws():
        for name, claims_falsely in score_methods(truth, claim).items():
            for n in (size for size in SIZES if size <= largest):
                rng = np.random.default_rng([3, n])
                start = time.perf_counter()
                wrong = sum(bool(claims_falsely(*draw(rng, n), rng)) for _ in range(runs))
                report(name, law, n, wrong, runs, time.perf_counter() - start)


if __name__ == "__main__":
    main(*(int(arg) for arg in sys.argv[1:]))
