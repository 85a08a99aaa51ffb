"""Claimed against accounted for the printed schedules of `dro`, and the least universal constant c that would do.

    python benchmarks/dro_sandwich.py            accounted, several (n, T, q, batch), the experiment's included
    python benchmarks/dro_sandwich.py --audit    realised as well, on the catalogue's small instances (minutes)

Charitable throughout: every record is clipped (sensitivity 2 C / b), noise of differences follows all of w, refreshes
come first.
The value estimate s_t is accounted for what it is: sensitivity beta C_5 at sampling rate 1/n, with beta = 1/2, C_5 =
3, G = 1.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from dpassay.audit.likelihood import audit_likelihood
from dpassay.audit.losses import LockstepSampler
from dpassay.reference.dro.calibration import Sequence, account_of, refreshes
from dpassay.reference.dro.cases import CASES
from dpassay.reference.dro.schedules import Constants, Plan, double_spider_printed, recursive_spider_printed
from dpassay.reference.pairs import sampled_delta

PLANS = (
    Plan(100, 20, 5, 50),
    Plan(1_000, 100, 10, 100),
    Plan(1_000, 1_000, 10, 100),
    Plan(25_500, 200, 20, 128),  # one epoch of CIFAR10-ST at the paper's batch size
    Plan(25_500, 2_000, 20, 128),  # ten epochs
)
EPSILON = 1.0
LIMIT = 1e5
STEEP = (
    0.4  # sampled releases with less noise per sensitivity are not composed: one of them alone is far over the claim
)


@dataclass(frozen=True)
class Cost:
    """Accounted epsilon as a function of c, for sequences with these std / sensitivity at c = 1."""

    sequences: tuple[Sequence, ...]
    ratios: tuple[float, ...]
    delta: float

    def epsilon(self, c: float) -> float:
        """Upper bound; where sampling is steep, the exact epsilon of a single release, a lower bound of the whole."""
        pairs = zip(self.sequences, self.ratios, strict=True)
        steep = [(s.rate, c * r) for s, r in pairs if s.count and s.rate < 1 and c * r < STEEP]
        if steep:
            return max(one_release(rate, ratio, self.delta) for rate, ratio in steep)
        return account_of(self.sequences, tuple(c * ratio for ratio in self.ratios)).epsilon(self.delta)


def one_release(rate: float, ratio: float, delta: float) -> float:
    """Least epsilon of one sampled Gaussian release, on a grid."""
    epsilons = np.concatenate([np.linspace(0.0, 20.0, 2001), np.geomspace(20.1, 600.0, 400)])
    enough = sampled_delta(epsilons, rate, 1.0 / ratio) <= delta
    return float(epsilons[np.argmax(enough)]) if enough.any() else math.inf


def double_cost(plan: Plan, delta: float) -> Cost:
    """Algorithm 2."""
    schedule = double_spider_printed(plan, Constants(), EPSILON, delta)
    often = refreshes(plan.steps, plan.phase)
    parts = (schedule.eta_refresh, schedule.eta_difference, schedule.x_refresh, schedule.x_difference)
    counts = (often, plan.steps - often) * 2
    sequences = tuple(Sequence(k, part.batch_size / plan.n) for k, part in zip(counts, parts, strict=True))
    return Cost(sequences, tuple(part.noise_ratio * part.batch_size / 2.0 for part in parts), delta)


def gradient_cost(plan: Plan, delta: float) -> Cost:
    """Algorithm 3, v and u."""
    how, often = recursive_spider_printed(plan, EPSILON, delta).x, refreshes(plan.steps, plan.phase)
    refresh = how.refresh_std * how.refresh_batch / (2.0 * how.refresh_clip)
    difference = how.std_cap * how.batch / (2.0 * how.clip)  # the same where noise follows the move
    pair = (Sequence(often, how.refresh_batch / plan.n), Sequence(plan.steps - often, how.batch / plan.n))
    return Cost(pair * 2, (refresh, difference) * 2, delta)


def value_cost(plan: Plan, delta: float) -> Cost:
    """Algorithm 3, s_t alone."""
    schedule = recursive_spider_printed(plan, EPSILON, delta)
    ratio = schedule.value_std / (schedule.momentum * schedule.value_clip)
    return Cost((Sequence(plan.steps, 1.0 / plan.n),), (ratio,), delta)


def least_constant(cost: Cost) -> float:
    """Least c that keeps the claim, to 3 %."""
    low, high = 0.1, 1.0
    while cost.epsilon(high) > EPSILON:
        low, high = high, 2.0 * high
        if high > LIMIT:
            return math.inf
    while high / low > 1.03:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if cost.epsilon(middle) > EPSILON else (low, middle)
    return high


def accounted() -> None:
    """The table of plans."""
    heads = ("n", "T", "q", "batch", "Alg. 2: eps at c=1", "least c", "Alg. 3, v and u: eps at c=1", "least c")
    table = Table(*heads, "s_t alone: eps at c=1", "least c", title=f"claimed epsilon = {EPSILON:g}, delta = n^-1.1")
    for plan in PLANS:
        delta = plan.n**-1.1
        cells = []
        for cost in (double_cost(plan, delta), gradient_cost(plan, delta), value_cost(plan, delta)):
            cells += [f"{cost.epsilon(1.0):.3g}", f"{least_constant(cost):.3g}"]
        table.add_row(str(plan.n), str(plan.steps), str(plan.phase), str(plan.batch), *cells)
    Console(width=160).print(table)


def realised(runs: int) -> None:
    """Claimed, accounted and realised on the catalogue's instances."""
    table = Table("case", "claimed", "accounted", "realised (95 %)", "verdict", "known cause")
    for case in CASES:
        instance = case.build()
        spent = instance.accounted().epsilon(case.claim.delta)
        sampler = LockstepSampler(instance.run, instance.pair)
        bound, _ = audit_likelihood(sampler, case.claim.delta, claimed=case.claim.epsilon, runs=runs, pilot=200, seed=1)
        table.add_row(
            case.key, f"{case.claim.epsilon:g}", f"{spent:.3g}", f"{bound.epsilon:.3g}", str(bound.verdict), case.known
        )
    Console(width=160).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audit", action="store_true", help="also audit the catalogue's instances")
    parser.add_argument("--runs", type=int, default=600, help="runs per audit")
    options = parser.parse_args()
    accounted()
    if options.audit:
        realised(options.runs)
