"""False claims of every bound and test on laws whose truth is known, at the 5 % level, with 95 % intervals.

    python benchmarks/coverage.py [--quick] [--write] [--resume] [--least N] [--largest N] [--workers K]
                                  [--only PART]

`--write` keeps what was measured before and is not measured now.

A million scores a side take about 0.7 s a repetition and law for all bounds together, two processor hours in all. The
black box learns anew in every repetition: its cells of 1,000 outputs a side have a quarter of the repetitions, and
there are no larger ones. The numbers do not depend on the number of workers.

2,000 repetitions a cell (20,000 for the bounds of a mean, which are computed from counts). A claim is false when it
exceeds the exact epsilon of the pair at delta = 1e-5 (or refutes the exact curve); a cell is flagged when the whole
interval lies above the level. All bounds of two samples see the same samples, and so do those of one run. The last law
of the runs fails in one run of 25, for a quarter of its canaries together: the worst that delta = 0.01 allows.
"""

import argparse
import json
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import audit_figures as figures
import numpy as np
from joblib import Parallel, delayed
from scipy.stats import binomtest

from dpassay.audit import bounds
from dpassay.audit.blackbox.detect import audit_outputs, epsilon_of_outputs
from dpassay.audit.evidence.curves import refute_curve
from dpassay.audit.evidence.fixed_guesses import fdp_p_value, guesses_p_value
from dpassay.audit.results import Verdict
from dpassay.audit.scores import labels, one_run
from dpassay.audit.sequential.black_box import audit_sequentially
from dpassay.reference import guarantee
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon
from dpassay.reference.arrays import Array, Bools, Indices

sys.path.append(str(Path(__file__).parents[1]))
from tests.zoo.laws import mixture_epsilon

LEVEL = 0.05
Key = tuple[str, str, int]
Row = tuple[object, ...]
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
HEADER = ("bound", "law", "n", "repetitions", "false", "share", "low", "high", "ms a bound", "")
SLACK = 1e-9  # rounding of the exact epsilon
DELTA, MU, RATE = 1e-5, 1.0, 0.1
FAILURE, SHOWN = 0.04, 0.25
SHOWN_ALONE = 0.01  # of the outputs say which side they are from


Questions = Iterator[tuple[str, Callable[[], bool]]]
Asking = Callable[[np.random.Generator], Questions]


# -- pairs of laws of scores whose exact epsilon and trade-off curve are known
@dataclass(frozen=True)
class Law:
    """Scores on D and D' with their exact epsilon at `delta` and exact curve; scores of canaries in one run."""

    name: str
    draw: Callable[[np.random.Generator, int], tuple[Array, Array]]
    truth: float
    claim: guarantee.Guarantee
    delta: float = DELTA
    one_run_only: bool = False

    def canaries(self, rng: np.random.Generator, count: int) -> tuple[Array, Bools]:
        """Scores of independent canaries and the coins that included them."""
        if self.one_run_only:
            return common_failure(rng, count)
        without, within = self.draw(rng, count)
        coins = rng.random(count) < 0.5
        return np.where(coins, within, without), coins


def common_failure(rng: np.random.Generator, count: int) -> tuple[Array, Bools]:
    """Randomised response at epsilon 1 that in one run of 25 shows the coins of a quarter of the canaries: (1, 0.01)-DP
    for each canary, and as bad for all of them together as this allows.
    """
    coins = rng.random(count) < 0.5
    answers = np.where(rng.random(count) < np.e / (1 + np.e), coins, ~coins)
    scores = np.where(answers, 1.0, -1.0)
    if rng.random() < FAILURE:
        shown = rng.random(count) < SHOWN
        scores[shown] = np.where(coins[shown], 2.0, -2.0)
    return scores, coins


def laws() -> Iterator[Law]:
    """Randomised response, Gaussian, null, Laplace, rare branch, common failure, subsampled Gaussian."""
    low = 1 / (1 + np.e)

    def response(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return 1.0 * (rng.random(n) < low), 1.0 * (rng.random(n) < 1 - low)

    def branch(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        p, q = response(rng, n)
        return np.where(rng.random(n) < SHOWN_ALONE, -1.0, p), np.where(rng.random(n) < SHOWN_ALONE, 2.0, q)

    def mixture(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return rng.normal(size=n), rng.normal(size=n) + 2 * MU * (rng.random(n) < RATE)

    pairs = [(float(x), max(_one(x), _other(x))) for x in np.linspace(0, 8, 81)]
    sampled = guarantee.from_pairs(pairs, "sampled Gaussian")
    one = guarantee.approx_dp(1.0)
    yield Law("randomised response", response, 1.0, one)
    yield Law(
        "Gaussian", lambda r, n: (r.normal(size=n), r.normal(MU, size=n)), gdp_epsilon(MU, DELTA), guarantee.gdp(MU)
    )
    yield Law("null", lambda r, n: (r.normal(size=n), r.normal(size=n)), 0.0, guarantee.approx_dp(0.0))
    yield Law("Laplace", lambda r, n: (r.laplace(size=n), r.laplace(1, size=n)), 1.0, one)
    yield Law("rare branch", branch, 1.0, guarantee.approx_dp(1.0, SHOWN_ALONE), SHOWN_ALONE)
    together = FAILURE * SHOWN
    yield Law("common failure", response, 1.0, guarantee.approx_dp(1.0, together), together, one_run_only=True)
    yield Law("sampled Gaussian", mixture, mixture_epsilon(RATE, 2 * MU, DELTA), sampled)


def _one(epsilon: float) -> float:
    return float(RATE * gdp_delta(np.log1p(np.expm1(epsilon) / RATE), 2 * MU))


def _other(epsilon: float) -> float:
    """Q = N(0,1) against the mixture, on the half-line where Q is the larger."""
    x = np.linspace(-12, 12, 20_001)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    mixed = density * (1 - RATE + RATE * np.exp(2 * MU * x - 2 * MU**2))
    return float(np.trapezoid(np.maximum(density - np.exp(epsilon) * mixed, 0.0), x)) + 1e-9


# -- what is asked of them
def two_samples(law: Law, n: int) -> Asking:
    """Name and question of every bound from n scores a side."""
    top = law.truth + SLACK

    def ask(rng: np.random.Generator) -> Questions:
        p, q = law.draw(rng, n)
        yield "labels", lambda: labels.epsilon_labels(p, q, law.delta, rng).epsilon > top
        yield "one event, split", lambda: labels.read_event(p, q, law.delta, rng, 0.05)[0] > top
        yield "joint curve", lambda: refute_curve(p, q, law.claim, rng).verdict is Verdict.VIOLATED

    return ask


def one_training_run(law: Law, n: int) -> Asking:
    """Name and question of every bound from one run with n canaries."""
    top = law.truth + SLACK
    guesses = max(2, round(n * one_run.telling_share(law.claim, n)))  # what the test would choose, once for all

    def ask(rng: np.random.Generator) -> Questions:
        scores, coins = law.canaries(rng, n)
        yield "one run", lambda: one_run.epsilon_one_run(scores, coins, law.delta, rng).epsilon > top
        test = partial(one_run.one_run_curve, scores, coins, law.claim, rng, guesses=guesses)
        yield "one run, curve", lambda: test().verdict is Verdict.VIOLATED

    return ask


def black_box(law: Law, n: int) -> Asking:
    """Name and question of every audit of n outputs a side; the sequential one draws its own and may stop any time."""
    top = law.truth + SLACK

    def ask(rng: np.random.Generator) -> Questions:
        p, q = law.draw(rng, n)
        yield "black box", lambda: audit_outputs(p, q, law.claim, rng).verdict is Verdict.VIOLATED
        yield "black box, epsilon", lambda: epsilon_of_outputs(p, q, law.delta, rng).epsilon > top
        drawing = partial(audit_sequentially, Drawing(law), (0, 1), law.claim, rng, limit=n, first=min(250, n // 4))
        yield "black box, sequential", lambda: drawing().verdict is Verdict.VIOLATED

    return ask


@dataclass(frozen=True)
class Drawing:
    """A law as a mechanism on the datasets 0 and 1."""

    law: Law

    def __call__(self, side: int, rng: np.random.Generator) -> float:
        """One output."""
        return float(self.many(side, rng, 1)[0])

    def many(self, side: int, rng: np.random.Generator, size: int) -> Array:
        """Independent outputs."""
        return self.law.draw(rng, size)[side]


@dataclass(frozen=True)
class Group:
    """Bounds that see the same samples: the last of them, and how far they are measured."""

    questions: Callable[[Law, int], Asking]
    last: str
    thorough: int = SIZES[-1]  # with fewer repetitions above
    largest: int = SIZES[-1]


GROUPS = {
    "two samples": Group(two_samples, "joint curve"),
    "one run": Group(one_training_run, "one run, curve"),
    "black box": Group(black_box, "black box, sequential", SIZES[0], SIZES[1]),
}


def row(name: str, law: str, n: int, wrong: int, runs: int, seconds: float) -> Row:
    """One cell."""
    interval = binomtest(int(wrong), runs).proportion_ci(0.95)
    flag = "above the level" if interval.low > LEVEL else ""
    cost = 1e3 * seconds / runs
    return (name, law, n, runs, int(wrong), wrong / runs, float(interval.low), float(interval.high), cost, flag)


def of_scores(group: str, law: str, n: int, runs: int, workers: int) -> Iterator[Row]:
    """All bounds of a group on one law at one size."""
    parts = np.array_split(np.arange(runs), min(runs, 40 * workers))
    found = Parallel(n_jobs=workers)(delayed(_block)(group, law, n, part) for part in parts)
    for name in found[0]:
        wrong, seconds = np.sum([block[name] for block in found], axis=0)
        yield row(name, law, n, int(wrong), runs, float(seconds))


def _block(group: str, name: str, n: int, numbers: Indices) -> dict[str, tuple[int, float]]:
    """False claims and processor seconds of some repetitions, each with a stream of its own."""
    law = next(one for one in laws() if one.name == name)
    ask = GROUPS[group].questions(law, n)
    found: dict[str, tuple[int, float]] = {}
    for number in numbers:
        rng = np.random.default_rng([3, n, list(GROUPS).index(group), number])
        for bound, question in ask(rng):
            start = time.process_time()
            wrong = bool(question())
            before = found.get(bound, (0, 0.0))
            found[bound] = before[0] + wrong, before[1] + time.process_time() - start
    return found


def of_means(runs: int) -> Iterator[Row]:
    """Clopper and Pearson's bound on small rates: a sample is its number of ones, equal samples are judged once."""
    rng = np.random.default_rng(1)
    for n in SIZES:
        for rate in (3.0 / n, 0.05):
            counts, repeats = np.unique(rng.binomial(n, rate, runs), return_counts=True)
            start = time.process_time()
            errs = bounds.clopper_pearson_lower(counts, n, LEVEL) > rate
            seconds = (time.process_time() - start) * runs / counts.size
            yield row("mean: Clopper-Pearson", f"Bernoulli({rate:.2g})", n, int(repeats[errs].sum()), runs, seconds)


def of_fixed_guesses(runs: int) -> Iterator[Row]:
    """A guess about each of m canaries of randomised response at epsilon 1, which attains the bounds at delta = 0.

    Each test falls as guesses come right, so the fewest right guesses that refute say everything.
    """
    rng = np.random.default_rng(2)
    claim = guarantee.approx_dp(1.0)
    tests: dict[str, Callable[[int, int], bool]] = {
        "one run, closed form": lambda m, right: guesses_p_value(m, m, right, 1.0, 0.0) <= LEVEL,
        "one run, f-DP recursion": lambda m, right: fdp_p_value(claim, m, m, right) <= LEVEL,
    }
    for m in SIZES:
        right = rng.binomial(m, np.e / (1 + np.e), runs)
        for name, refutes in tests.items():
            start = time.process_time()
            least = bisect_left(range(m + 1), True, key=lambda v, m=m, refutes=refutes: refutes(m, v))
            wrong = int((right >= least).sum())
            yield row(name, "randomised response", m, wrong, runs, time.process_time() - start)


def jobs(runs: int, least: int, largest: int, workers: int) -> Iterator[tuple[str, Key, Callable[[], Iterator[Row]]]]:
    """Part, (bound, law, n) of one of its rows, measurement; cheap ones first: an interrupted one can go on."""
    yield "counts", ("mean: Clopper-Pearson", "Bernoulli(0.05)", SIZES[-1]), lambda: of_means(10 * runs)
    yield "counts", ("one run, f-DP recursion", "randomised response", SIZES[-1]), lambda: of_fixed_guesses(runs)
    for n in (size for size in SIZES if least <= size <= largest):
        for name, group in GROUPS.items():
            if n > group.largest:
                continue
            number = runs if n <= group.thorough else runs // 4
            for law in (one.name for one in laws() if one.one_run_only <= (name == "one run")):
                measure = partial(of_scores, name, law, n, number, workers)
                yield name, (group.last, law, n), measure


def main() -> None:
    """Measure and print; `--write` keeps what is finished after every part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100 repetitions, up to 1,000 scores")
    parser.add_argument("--write", action="store_true", help="keep the figures, after every part")
    parser.add_argument("--resume", action="store_true", help="measure only what the kept figures lack")
    parser.add_argument("--least", type=int, default=SIZES[0], help="number of scores (default: %(default)s)")
    parser.add_argument("--largest", type=int, default=SIZES[2], help="number of scores (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="processes; the same figures with any number")
    parser.add_argument("--only", choices=["counts", *GROUPS], help="one part of the measurement")
    chosen = parser.parse_args()
    if chosen.quick and chosen.write:
        parser.error("--quick is for looking: it would replace better figures")
    runs, largest = (100, 1000) if chosen.quick else (2000, chosen.largest)
    kept = figures.RESULTS / "coverage.json"
    stored = json.loads(kept.read_text())["rows"] if kept.exists() else []
    rows = {(one["bound"], one["law"], one["n"]): tuple(one[name] for name in HEADER) for one in stored}
    for group, key, part in jobs(runs, chosen.least, largest, chosen.workers):
        if chosen.only not in (None, group) or (chosen.resume and key in rows):
            continue
        for found in part():
            figures.show(HEADER, found)
            rows[found[0], found[1], found[2]] = found
        if chosen.write:
            _write(list(rows.values()))


def _write(rows: list[tuple[object, ...]]) -> None:
    flagged = [f"{one[0]} on {one[1]}, n = {one[2]}" for one in rows if one[-1]]
    notes = [
        f"Level {LEVEL:g}, delta {DELTA:g} (0.01 for the rare branch and the common failure).",
        "A cell is flagged when its whole 95 % interval lies above the level.",
        f"{len(rows)} cells, flagged: {'; '.join(flagged) or 'none'}.",
    ]
    command = "python benchmarks/coverage.py --write --resume --largest 1000000 --workers 2"
    figures.write("coverage", "False claims of every bound", HEADER, rows, notes, command)


if __name__ == "__main__":
    main()
