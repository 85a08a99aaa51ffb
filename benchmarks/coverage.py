"""False claims of every bound and test on laws whose truth is known, at the 5 % level, with 95 % intervals.

    python benchmarks/coverage.py [--quick] [--write] [--resume] [--largest N]      (default: N = 10,000)

Larger samples take hours (100,000: about 0.2 s a repetition and law for all score bounds together). The bounds of a
mean, the fixed number of guesses and one order of the labels bound are computed from counts up to a million.

2,000 repetitions a cell (20,000 for the bounds of a mean, which are computed from counts). A claim is false when it
exceeds the exact epsilon of the pair at delta = 1e-5 (or refutes the exact curve); a cell is flagged when the whole
interval lies above the level. All bounds of scores see the same samples.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import audit_figures as figures
import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from dpassay.audit import bounds
from dpassay.audit.blackbox.zoo_laws import mixture_epsilon
from dpassay.audit.likelihood import audit_likelihood
from dpassay.audit.losses import GaussianSampler
from dpassay.audit.results import Verdict
from dpassay.audit.scores import curve, labels, one_run, reading, thresholds
from dpassay.audit.scores.assumed import bayesian, gdp_fit
from dpassay.audit.scores.curve_test import refute_curve
from dpassay.audit.sequential import MeanProcess, hockey_stick
from dpassay.reference.gdp import gdp_epsilon

Array = NDArray[np.float64]
LEVEL, DELTA, MU, RATE = 0.05, 1e-5, 1.0, 0.1
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
HEADER = ("bound", "law", "n", "repetitions", "false", "share", "low", "high", "ms a bound", "")
SLACK = 1e-9  # rounding of the exact epsilon


@dataclass(frozen=True)
class Law:
    """Scores on D and D' with their exact epsilon at DELTA and exact curve."""

    name: str
    draw: Callable[[np.random.Generator, int], tuple[Array, Array]]
    truth: float
    claim: curve.Curve


def laws() -> Iterator[Law]:
    """Null, Laplace, randomised response, Gaussian, subsampled Gaussian."""
    low = 1 / (1 + np.e)

    def response(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return 1.0 * (rng.random(n) < low), 1.0 * (rng.random(n) < 1 - low)

    def mixture(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return rng.normal(size=n), rng.normal(size=n) + 2 * MU * (rng.random(n) < RATE)

    pairs = [(float(x), max(_one(x), _other(x))) for x in np.linspace(0, 8, 81)]
    sampled = curve.from_pairs(pairs, "sampled Gaussian")
    one = curve.approx_dp(1.0)
    yield Law("randomised response", response, 1.0, one)
    yield Law("Gaussian", lambda r, n: (r.normal(size=n), r.normal(MU, size=n)), gdp_epsilon(MU, DELTA), curve.gdp(MU))
    yield Law("null", lambda r, n: (r.normal(size=n), r.normal(size=n)), 0.0, curve.approx_dp(0.0))
    yield Law("Laplace", lambda r, n: (r.laplace(size=n), r.laplace(1, size=n)), 1.0, one)
    yield Law("sampled Gaussian", mixture, mixture_epsilon(RATE, 2 * MU, DELTA), sampled)


def _one(epsilon: float) -> float:
    return float(RATE * curve.gaussian_delta(np.log1p(np.expm1(epsilon) / RATE), 2 * MU))


def _other(epsilon: float) -> float:
    """Q = N(0,1) against the mixture, on the half-line where Q is the larger."""
    x = np.linspace(-12, 12, 20_001)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    mixed = density * (1 - RATE + RATE * np.exp(2 * MU * x - 2 * MU**2))
    return float(np.trapezoid(np.maximum(density - np.exp(epsilon) * mixed, 0.0), x)) + 1e-9


def claims_falsely(law: Law, p: Array, q: Array, rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Name and question of every bound of scores."""
    top = law.truth + SLACK
    coins = rng.random(p.size) < 0.5
    scores = np.where(coins, q, p)
    yield "labels", lambda: labels.epsilon_labels(p, q, DELTA, rng).epsilon > top
    yield "Clopper-Pearson, simultaneous", lambda: thresholds.epsilon_simultaneous(p, q, DELTA).epsilon > top
    yield "Clopper-Pearson, split", lambda: thresholds.epsilon_split(p, q, DELTA, rng).epsilon > top
    yield "joint curve", lambda: refute_curve(p, q, law.claim, rng).verdict is Verdict.VIOLATED
    yield "one run, labels", lambda: one_run.epsilon_one_run(scores, coins, DELTA, rng).epsilon > top
    yield "one run, f-DP", lambda: one_run.one_run_curve(scores, coins, law.claim, rng).verdict is Verdict.VIOLATED
    if p.size == 1000:  # labelled estimates: shown so that nobody takes them for bounds
        yield "(assumed) GDP fit", lambda: gdp_fit(p, q, DELTA, rng).epsilon > top
        yield "(assumed) Bayesian", lambda: bayesian(p, q, DELTA, rng).epsilon > top


def row(name: str, law: str, n: int, wrong: int, runs: int, seconds: float) -> tuple[object, ...]:
    """One cell."""
    interval = binomtest(int(wrong), runs).proportion_ci(0.95)
    flag = "above the level" if interval.low > LEVEL else ""
    cost = 1e3 * seconds / runs
    return (name, law, n, runs, int(wrong), wrong / runs, float(interval.low), float(interval.high), cost, flag)


def of_scores(law: Law, n: int, runs: int) -> Iterator[tuple[object, ...]]:
    """All score bounds on one law at one size."""
    wrong: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for number in range(runs):
        rng = np.random.default_rng([3, n, number])
        p, q = law.draw(rng, n)
        for name, question in claims_falsely(law, p, q, rng):
            start = time.process_time()
            wrong[name] = wrong.get(name, 0) + bool(question())
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
    for name in wrong:
        yield row(name, law.name, n, wrong[name], runs, seconds[name])


def of_means(runs: int) -> Iterator[tuple[object, ...]]:
    """Bounds of a mean on small Bernoulli rates: a sample is its number of ones, equal samples are judged once."""
    rng = np.random.default_rng(1)
    for n in SIZES:
        for rate in (3.0 / n, 0.05):
            counts, repeats = np.unique(rng.binomial(n, rate, runs), return_counts=True)
            for name in ("Clopper-Pearson", "Bentkus", "Hoeffding", "empirical Bernstein", "betting"):
                start = time.process_time()
                errs = np.array([_mean_bound_errs(name, int(count), n, rate) for count in counts])
                seconds = (time.process_time() - start) * runs / counts.size
                yield row(f"mean: {name}", f"Bernoulli({rate:.2g})", n, int(repeats[errs].sum()), runs, seconds)


def _mean_bound_errs(name: str, count: int, n: int, rate: float) -> bool:
    """Is the lower bound of `count` ones in n above the rate? Closed forms of `audit.bounds` on 0/1 samples."""
    mean = count / n
    if name == "Clopper-Pearson":
        return bool(bounds.clopper_pearson_lower(count, n, LEVEL) > rate)
    if name == "Bentkus":
        return bool(bounds.clopper_pearson_lower(count, n, LEVEL / np.e) > rate)
    if name == "Hoeffding":
        divergence = sum(a * np.log(a / b) for a, b in ((mean, rate), (1 - mean, 1 - rate)) if a > 0)
        return bool(mean > rate and n * divergence >= -np.log(LEVEL))
    if name == "empirical Bernstein":
        spread, log_term = mean * (1 - mean) * n / (n - 1), np.log(2 / LEVEL)
        return bool(mean - np.sqrt(2 * spread * log_term / n) - 7 * log_term / (3 * (n - 1)) > rate)
    shares = bounds.default_bets(n)
    logs = count * np.log1p(shares * (1 / rate - 1)) + (n - count) * np.log1p(-shares)
    return bool(np.logaddexp.reduce(logs) - np.log(shares.size) >= -np.log(LEVEL))


def of_fixed_guesses(runs: int) -> Iterator[tuple[object, ...]]:
    """The fixed number of guesses of Steinke et al. on randomised response, which attains it."""
    rng = np.random.default_rng(2)
    for m in SIZES:
        start = time.process_time()
        right = rng.binomial(m, np.e / (1 + np.e), runs)
        refuted = {int(v): one_run.steinke_p_value(m, m, int(v), 1.0, 0.0) <= LEVEL for v in np.unique(right)}
        wrong = sum(refuted[int(v)] for v in right)
        yield row("one run, Steinke et al.", "randomised response", m, wrong, runs, time.process_time() - start)


def of_likelihoods(runs: int) -> Iterator[tuple[object, ...]]:
    """The tilted likelihood audit, and the anytime-valid process looked at after every run (Gaussian, mu = 1)."""
    truth = gdp_epsilon(MU, DELTA)
    for n in (100, 1000):
        start, wrong = time.process_time(), 0
        for seed in range(runs):
            bound, _ = audit_likelihood(GaussianSampler(MU), DELTA, runs=n, pilot=200, seed=seed)
            wrong += bound.epsilon > truth + SLACK
        yield row("likelihood, tilted", "Gaussian", n, wrong, runs, time.process_time() - start)
        start, wrong = time.process_time(), 0
        shift = 4.0  # close to where the losses that make delta(epsilon) lie
        for seed in range(runs):
            rng = np.random.default_rng([5, seed])
            loss = MU**2 * (0.5 + shift) + MU * rng.standard_normal(n)
            log_weight = -shift * (loss - MU**2 / 2) + 0.5 * shift**2 * MU**2
            process = MeanProcess.of_losses(truth, DELTA)
            process.update(hockey_stick(loss, log_weight, truth))
            wrong += process.best >= -np.log(LEVEL)
        yield row("sequential likelihood, at any time", "Gaussian", n, wrong, runs, time.process_time() - start)


def of_counts(runs: int) -> Iterator[tuple[object, ...]]:
    """The labels bound on large samples of randomised response, drawn as counts at its depths (n labels in all).

    The first half of the cards read is right with probability e / (1 + e), the rest otherwise. A claim is false when
    the first step of the ladder above the truth is refuted, at the half of the level that one reading order has.
    """
    rng, rate = np.random.default_rng(6), np.e / (1 + np.e)
    step = labels.LADDER[labels.LADDER > 1.0][:1]
    for n in SIZES[3:]:
        start, wrong, at = time.process_time(), 0, reading.depths(n)
        hit, miss = labels.ladder_gains(step)
        corruption = n * np.log1p(DELTA * np.expm1(hit.max()))
        for _ in range(runs):
            half = int(rng.binomial(n, 0.5))
            inside, outside = np.diff(np.minimum(at, half), prepend=0), np.diff(np.maximum(at, half), prepend=half)
            hits = np.cumsum(rng.binomial(inside, rate) + rng.binomial(outside, 1 - rate)).astype(float)
            wealth = reading.log_wealths([(hits, at - hits)], hit, miss)[0] - corruption
            wrong += wealth >= -np.log(LEVEL / 2)
        yield row("labels, one order, from counts", "randomised response", n, wrong, runs, time.process_time() - start)


Key = tuple[str, str, int]


def jobs(runs: int, largest: int) -> Iterator[tuple[Key, Callable[[], Iterator[tuple[object, ...]]]]]:
    """Parts by the (bound, law, n) of one of their rows, cheap ones first: an interrupted measurement can go on."""
    yield ("mean: betting", "Bernoulli(0.05)", SIZES[-1]), lambda: of_means(10 * runs)
    yield ("one run, Steinke et al.", "randomised response", SIZES[-1]), lambda: of_fixed_guesses(runs)
    yield ("labels, one order, from counts", "randomised response", SIZES[-1]), lambda: of_counts(runs)
    for n in (size for size in SIZES if size <= largest):
        for law in laws():
            yield ("joint curve", law.name, n), lambda law=law, n=n: of_scores(law, n, runs)
        if n == SIZES[2]:
            yield ("likelihood, tilted", "Gaussian", SIZES[1]), lambda: of_likelihoods(runs)


def main() -> None:
    """Measure and print; `--write` keeps what is finished after every part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--quick", "--write", "--resume"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--largest", type=int, default=SIZES[2])
    chosen = parser.parse_args()
    runs, largest = (100, 1000) if chosen.quick else (2000, chosen.largest)
    kept = figures.RESULTS / "coverage.json"
    stored = json.loads(kept.read_text())["rows"] if chosen.resume and kept.exists() else []
    rows = [tuple(one[name] for name in HEADER) for one in stored]
    done = {(one[0], one[1], one[2]) for one in rows}
    for key, part in jobs(runs, largest):
        if key in done:
            continue
        for found in part():
            figures.show(HEADER, found)
            rows.append(found)
        if chosen.write:
            _write(rows)


def _write(rows: list[tuple[object, ...]]) -> None:
    flagged = [f"{one[0]} on {one[1]}, n = {one[2]}" for one in rows if one[-1]]
    notes = [
        f"Level {LEVEL:g}, delta {DELTA:g}. A cell is flagged when its whole 95 % interval lies above the level.",
        "Rows marked (assumed) are estimates that never decide a verdict; they are shown to tell what they are worth.",
        f"{len(rows)} cells, flagged: {'; '.join(flagged) or 'none'}.",
    ]
    figures.write("coverage", "False claims of every bound", HEADER, rows, notes)


if __name__ == "__main__":
    main()
