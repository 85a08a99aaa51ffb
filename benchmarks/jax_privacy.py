"""Head to head with jax-privacy's auditor on identical scores in one process: tightness beside the ceiling, coverage.

    python benchmarks/jax_privacy.py [--quick] [--write] [--partial FILE]

jax-privacy is no dependency of dpassay: install it beside (`pip install jax-privacy`) to run this; without it nothing
is measured, and one line says so. Gaussian scores are N(0, 1) without and N(mu, 1) with the canary, the case that its
documentation treats; delta = 1e-5, confidence 95 %. Only bounds that need no assumption on the trade-off curve
take part: all thresholds with either error or both, one split, the median of 100 splits (up to 10,000 scores; a call
takes minutes beyond), and in one run all thresholds (up to 100,000 canaries) and one split. The best of them in each
cell, by its median, is what dpassay is held against; the ceiling is that of `scores_ceiling.py`. Bounds that assume a
Gaussian curve are shown in the second table, on laws that are not Gaussian. With FILE a run that was cut short goes on.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import audit_figures as figures
import numpy as np
from scipy.optimize import brentq
from scipy.stats import binomtest
from scores_ceiling import ceiling

from dpassay.audit.scores import labels, one_run
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.arrays import Array, Bools

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
HEADER = ("part", "library", "bound", "law", "n", "repetitions", "value", "low", "high")
TIGHT = ("part", "law", "true epsilon", "n", "seeds", "best of jax-privacy", "its median", "dpassay", "ceiling",
         "ratio", "largest possible ratio")  # fmt: skip
SEEDS = {1000: 41, 10_000: 21, 100_000: 9, 1_000_000: 5}
MANY_SPLITS, MANY_THRESHOLDS = 10_000, 100_000  # sizes up to which these methods are asked


def _theirs(method: str, strategy: Any = None, **options: Any) -> Bound:
    def bound(p: Array, q: Array, rng: np.random.Generator) -> float:
        chosen = strategy(int(rng.integers(2**31))) if strategy else theirs.Bonferroni()
        auditor = theirs.CanaryScoreAuditor(q, p)
        return float(getattr(auditor, method)(ALPHA, DELTA, threshold_strategy=chosen, **options))

    return bound


def _coins(p: Array, q: Array) -> tuple[Array, Bools]:
    return np.concatenate([p, q]), np.arange(p.size + q.size) >= p.size


def _split(seed: int) -> Any:
    return theirs.Split(seed=seed)


CLOPPER, ONE = "epsilon_clopper_pearson", "epsilon_one_run"
THEIRS: dict[str, Bound] = {
    "all thresholds": _theirs(CLOPPER),
    "all thresholds, both errors": _theirs(CLOPPER, one_sided=False),
    "split": _theirs(CLOPPER, _split),
    "split, both errors": _theirs(CLOPPER, _split, one_sided=False),
    "median of 100 splits": _theirs(CLOPPER, lambda seed: theirs.MultiSplit(seed=seed)),
}
THEIRS_ONE_RUN: dict[str, Bound] = {"all thresholds": _theirs(ONE), "split": _theirs(ONE, _split)}
TWO_SAMPLES: dict[tuple[str, str], Bound] = {
    **{("jax-privacy", name): THEIRS[name] for name in ("all thresholds", "split")},
    ("dpassay", "one event, split"): lambda p, q, rng: labels.read_event(p, q, DELTA, rng, 0.05)[0],
    ("dpassay", "labels"): lambda p, q, rng: labels.epsilon_labels(p, q, DELTA, rng).epsilon,
}
ONE_RUN: dict[tuple[str, str], Bound] = {
    **{("jax-privacy", f"one run, {name}"): bound for name, bound in THEIRS_ONE_RUN.items()},
    ("dpassay", "one run"): lambda p, q, rng: one_run.epsilon_one_run(*_coins(p, q), DELTA, rng).epsilon,
}
ASSUMED: dict[tuple[str, str], Bound] = {
    ("jax-privacy", "GDP bound (assumes a Gaussian curve)"): lambda p, q, rng: float(
        theirs.CanaryScoreAuditor(q, p).epsilon_from_gdp(ALPHA, DELTA)
    ),
}


def scores(law: str, shift: float, n: int, rng: np.random.Generator, coins: bool) -> tuple[Array, Array]:
    """Scores without and with the canary: n a side, or n in all by fair coins."""
    inside = int((rng.random(n) < 0.5).sum()) if coins else n
    outside = n - inside if coins else n
    if law == "randomised response":
        rate = 1 / (1 + np.exp(shift))
        return 1.0 * (rng.random(outside) < rate), 1.0 * (rng.random(inside) < 1 - rate)
    draw = rng.normal if law == "Gaussian" else rng.laplace
    return draw(0, 1, outside), draw(shift, 1, inside)


def tightness(law: str, truth: float, n: int, coins: bool, runs: int) -> list[Any]:
    """Medians of all bounds on the same scores, and the ceiling."""
    shift = float(brentq(lambda mu: gdp_epsilon(mu, DELTA) - truth, 0.05, 5.0)) if law == "Gaussian" else truth
    asked = THEIRS_ONE_RUN if coins else THEIRS
    if n > MANY_SPLITS:
        asked = {name: bound for name, bound in asked.items() if "100" not in name}
    if coins and n > MANY_THRESHOLDS:
        asked = {name: bound for name, bound in asked.items() if "all" not in name}
    ours = ONE_RUN["dpassay", "one run"] if coins else TWO_SAMPLES["dpassay", "labels"]
    found: dict[str, list[float]] = {name: [] for name in (*asked, "ours")}
    for seed in range(runs):
        p, q = scores(law, shift, n, np.random.default_rng([int(100 * truth), n, coins, seed]), coins)
        for k, (name, bound) in enumerate([*asked.items(), ("ours", ours)]):
            found[name].append(bound(p, q, np.random.default_rng([seed, k])))
    median = {name: float(np.median(values)) for name, values in found.items()}
    best = max(asked, key=lambda name: median[name])
    most, base = ceiling(law, shift, DELTA, n // 2 if coins else n, truth), median[best]
    ratios = (median["ours"] / base, most / base) if base > 0 else (float("inf"), float("inf"))
    part = "one run" if coins else "two samples"
    return [part, law, truth, n, runs, best, base, median["ours"], most, *ratios]


def cells() -> Iterator[tuple[str, float, int, bool]]:
    """Law, true epsilon, size, one run."""
    for coins in (False, True):
        for n in SEEDS:
            for truth in (1.0, 2.0, 4.38, 8.0):
                yield "Gaussian", truth, n, coins
    for law in ("randomised response", "Laplace"):
        for n in (1000, 1_000_000):
            yield law, 1.0, n, False


def false_claims(bounds: dict[tuple[str, str], Bound], law: str, n: int, runs: int, coins: bool) -> list[Any]:
    """Share of runs in which the bound exceeds the truth, with its 95 % interval."""
    rows = []
    for (library, name), bound in bounds.items():
        wrong = 0
        for seed in range(runs):
            rng = np.random.default_rng([77, n, seed])
            kind, truth = ("Gaussian", 0.0) if law == "null" else (law, 1.0)
            p, q = scores(kind, truth, n, rng, coins)
            wrong += bound(p, q, rng) > truth + 1e-9
        interval = binomtest(wrong, runs).proportion_ci(0.95)
        row = ("false claims, allowed 0.05", library, name, law, n, runs, wrong / runs)
        rows.append((*row, float(interval.low), float(interval.high)))
        figures.show(HEADER, rows[-1])
    return rows


def main() -> None:
    """Print every line as it is measured; `--write` keeps them."""
    chosen = figures.options(__doc__)
    rows = []
    for law, truth, n, coins in cells():
        if not chosen.quick or n == 1000:
            measure = partial(tightness, law, truth, n, coins, 3 if chosen.quick else SEEDS[n])
            rows.append(figures.known_or(chosen.partial, f"{law} {truth} {n} {coins}", measure))
            figures.show(TIGHT, rows[-1])
    runs, wrong = 50 if chosen.quick else 2000, []
    for law in ("null", "randomised response"):
        wrong += false_claims(TWO_SAMPLES, law, 1000, runs, coins=False)
        wrong += false_claims(ONE_RUN, law, 200, runs, coins=True)
    for law in ("null", "Laplace"):
        wrong += false_claims(ASSUMED, law, 10_000, min(runs, 200), coins=False)
    if chosen.write:
        notes = [
            "Medians over the seeds; both libraries see the same scores. Ratio: dpassay over the best sound method of",
            "jax-privacy in the cell; largest possible ratio: what no sound bound can exceed, over the same method.",
        ]
        figures.write("jax_privacy", "Against jax-privacy on identical scores", TIGHT, rows, notes)
        notes = ["Share of false claims with its 95 % interval; both libraries see the same scores."]
        command = "python benchmarks/jax_privacy.py --write"
        figures.write("jax_privacy_false_claims", "False claims beside jax-privacy", HEADER, wrong, notes, command)


if __name__ == "__main__":
    main()
