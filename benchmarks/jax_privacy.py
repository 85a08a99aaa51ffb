"""Head to head with jax-privacy's auditor on identical scores in one process: tightness, time, coverage.

    python benchmarks/jax_privacy.py [--quick] [--write]

jax-privacy is no dependency of dpassay: install it beside (`pip install jax-privacy`) to run this; without it nothing
is measured, and one line says so. The scores are N(0, 1) without and N(mu, 1) with the canary, the case that its
documentation treats; delta = 1e-5, confidence 95 %. Only bounds that need no assumption on the trade-off curve take
part, each at its library's default settings unless named; bounds that assume a Gaussian curve are shown apart, on laws
that are not Gaussian.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import audit_figures as figures
import numpy as np
from scipy.stats import binomtest

from dpassay.audit.scores import labels, one_run, thresholds
from dpassay.audit.scores.assumed import gdp_fit
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.types import Array, Bools

# this file shares its name with the package: look for it elsewhere than beside this file
sys.path = [entry for entry in sys.path if not entry.endswith("benchmarks")]
sys.modules.pop("jax_privacy", None)
try:
    from jax_privacy import auditing as theirs
except ImportError:
    figures.options(__doc__)  # --help works all the same
    print("skipped: benchmarks/jax_privacy.py compares with jax-privacy, which is not installed")
    sys.exit()  # 0: `make bench` goes on with the others

Bound = Callable[[Array, Array, np.random.Generator], float]
DELTA, ALPHA = 1e-5, 0.05
HEADER = ("part", "library", "bound", "law", "n", "repetitions", "value", "low", "high", "seconds each")


def _theirs(method: str, strategy: Any = None) -> Bound:
    def bound(p: Array, q: Array, rng: np.random.Generator) -> float:
        chosen = strategy(int(rng.integers(2**31))) if strategy else theirs.Bonferroni()
        auditor = theirs.CanaryScoreAuditor(q, p)
        return float(getattr(auditor, method)(ALPHA, DELTA, threshold_strategy=chosen))

    return bound


def _coins(p: Array, q: Array) -> tuple[Array, Bools]:
    return np.concatenate([p, q]), np.arange(p.size + q.size) >= p.size


TWO_SAMPLES: dict[tuple[str, str], Bound] = {
    ("jax-privacy", "Clopper-Pearson, all thresholds"): _theirs("epsilon_clopper_pearson"),
    ("jax-privacy", "Clopper-Pearson, split"): _theirs("epsilon_clopper_pearson", lambda s: theirs.Split(seed=s)),
    ("dpassay", "Clopper-Pearson, simultaneous"): lambda p, q, rng: (
        thresholds.epsilon_simultaneous(p, q, DELTA).epsilon
    ),
    ("dpassay", "labels"): lambda p, q, rng: labels.epsilon_labels(p, q, DELTA, rng).epsilon,
}
ONE_RUN: dict[tuple[str, str], Bound] = {
    ("jax-privacy", "one run, all thresholds (default)"): _theirs("epsilon_one_run"),
    ("jax-privacy", "one run, split"): _theirs("epsilon_one_run", lambda s: theirs.Split(seed=s)),
    ("dpassay", "one run"): lambda p, q, rng: one_run.epsilon_one_run(*_coins(p, q), DELTA, rng).epsilon,
}
ASSUMED: dict[tuple[str, str], Bound] = {
    ("jax-privacy", "GDP bound (assumes a Gaussian curve)"): lambda p, q, rng: float(
        theirs.CanaryScoreAuditor(q, p).epsilon_from_gdp(ALPHA, DELTA)
    ),
    ("dpassay", "GDP fit (an estimate by type)"): lambda p, q, rng: gdp_fit(p, q, DELTA, rng).epsilon,
}


def gaussian(mu: float, n: int, rng: np.random.Generator, coins: bool) -> tuple[Array, Array]:
    """Scores without and with the canary: n a side, or n in all by fair coins."""
    with_it = int((rng.random(n) < 0.5).sum()) if coins else n
    return rng.normal(size=n - with_it if coins else n), rng.normal(mu, size=with_it)


def tightness(bounds: dict[tuple[str, str], Bound], mu: float, n: int, runs: int, coins: bool) -> list[Any]:
    """Mean bound and seconds of each, on the same scores."""
    rows = []
    for (library, name), bound in bounds.items():
        values, seconds = [], []
        for seed in range(runs if n < 100_000 else min(runs, 2)):
            rng = np.random.default_rng([int(10 * mu), n, seed])
            p, q = gaussian(mu, n, rng, coins)
            start = time.perf_counter()
            values.append(bound(p, q, rng))
            seconds.append(time.perf_counter() - start)
        law = f"Gaussian, mu {mu:g}, true epsilon {gdp_epsilon(mu, DELTA):.2f}"
        part = "one run" if coins else "two samples"
        spread = (float(min(values)), float(max(values)))
        rows.append(
            (part, library, name, law, n, len(values), float(np.mean(values)), *spread, float(np.median(seconds)))
        )
        figures.show(HEADER, rows[-1])
    return rows


def false_claims(bounds: dict[tuple[str, str], Bound], law: str, n: int, runs: int, coins: bool) -> list[Any]:
    """Share of runs in which the bound exceeds the truth, with its 95 % interval."""
    low = 1 / (1 + np.e)
    rows = []
    for (library, name), bound in bounds.items():
        wrong, start = 0, time.perf_counter()
        for seed in range(runs):
            rng = np.random.default_rng([77, n, seed])
            k = int((rng.random(n) < 0.5).sum()) if coins else n
            sizes = (n - k, k) if coins else (n, n)
            if law == "null":
                (p, q), truth = (rng.normal(size=size) for size in sizes), 0.0
            elif law == "Laplace":
                (p, q), truth = (rng.laplace(side, 1, size) for side, size in enumerate(sizes)), 1.0
            else:
                rates = (low, 1 - low)
                (p, q), truth = (1.0 * (rng.random(size) < r) for r, size in zip(rates, sizes, strict=True)), 1.0
            wrong += bound(p, q, rng) > truth + 1e-9
        interval = binomtest(wrong, runs).proportion_ci(0.95)
        each = (time.perf_counter() - start) / runs
        row = ("false claims, allowed 0.05", library, name, law, n, runs, wrong / runs)
        rows.append((*row, float(interval.low), float(interval.high), each))
        figures.show(HEADER, rows[-1])
    return rows


def main() -> None:
    """Print every line as it is measured; `--write` keeps them."""
    chosen = figures.options(__doc__)
    sizes = (1000, 10_000) if chosen.quick else (1000, 10_000, 100_000, 1_000_000)
    runs, repetitions = (2, 50) if chosen.quick else (5, 2000)
    rows: list[Any] = []
    for mu in (1.0, 2.0, 4.0):
        for n in sizes:
            rows += tightness(TWO_SAMPLES, mu, n, runs, coins=False)
    for n in sizes:
        rows += tightness(ONE_RUN, 1.0, n, runs, coins=True)
    for law in ("null", "randomised response"):
        rows += false_claims(TWO_SAMPLES, law, 1000, repetitions, coins=False)
        rows += false_claims(ONE_RUN, law, 200, repetitions, coins=True)
    for law in ("null", "Laplace"):
        rows += false_claims(ASSUMED, law, 10_000, min(repetitions, 200), coins=False)
    if chosen.write:
        notes = [
            "Value: the lower bound (mean over the repetitions; low and high: smallest and largest), or the share of",
            "false claims with its 95 % interval. Both libraries see the same scores; seconds are medians.",
            "Only ratios between lines mean something: the machine was shared.",
        ]
        figures.write("jax_privacy", "Against jax-privacy on identical scores", HEADER, rows, notes)


if __name__ == "__main__":
    main()
