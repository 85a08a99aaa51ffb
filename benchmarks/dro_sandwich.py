"""Claimed, accounted and realised epsilon of `dro`, and the least universal constant c that would keep the claim.

    python benchmarks/dro_sandwich.py [--quick] [--write]       accounted, several (n, T, q, batch), seconds
    dpassay audit dro --output reports/dro.json                 then, for the realised column of the catalogue's cases:
    python benchmarks/dro_sandwich.py --report reports/dro.json [--write]

The accounted table is charitable throughout: every record is clipped (sensitivity 2 C / b), noise of differences
follows all of w, refreshes come first. The value estimate s_t is accounted for what it is: sensitivity
beta (C_5 - 1) at sampling rate 1/n, with beta = 1/2, C_5 = 3, G = 1.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

import audit_figures as figures
import numpy as np

from dpassay.reference.accounting.calibrate import scaled
from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.accounting.sampled import sampled_delta
from dpassay.reference.dro import double_spider, recursive_spider, single_sample
from dpassay.reference.dro.constants import Constants
from dpassay.reference.dro.divergences import chi_square
from dpassay.reference.dro.plan import Plan
from dpassay.reference.dro.worst_case import compositional_pair, dual_pair
from dpassay.reference.tape import record
from dpassay.reference.transcript import Release, Transcript

PLANS = (
    Plan(100, 20, 5, 50),
    Plan(1_000, 100, 10, 100),
    Plan(1_000, 1_000, 10, 100),
    Plan(25_500, 200, 20, 128),  # one epoch of CIFAR10-ST at the paper's batch size
    Plan(25_500, 2_000, 20, 128),  # ten epochs
)
HEADER = ("n", "T", "q", "batch", "Alg. 2: eps at c = 1", "least c", "Alg. 3, v and u: eps at c = 1", "least c (v, u)",
          "s_t alone: eps at c = 1", "least c (s_t)")  # fmt: skip
CASES_HEADER = ("case", "claimed", "accounted", "realised >=", "verdict", "why")
EPSILON = 1.0
LIMIT = 1e5
STEEP = (
    0.4  # sampled releases with less noise per sensitivity are not composed: one of them alone is far over the claim
)


@dataclass(frozen=True)
class Cost:
    """Accounted epsilon as a function of c, from the account of a run at c = 1."""

    found: Account
    delta: float

    def epsilon(self, c: float) -> float:
        """Upper bound; where sampling is steep, the exact epsilon of a single release, a lower bound of the whole."""
        at_c = scaled(self.found, c)
        steep = [part for part, _ in at_c.common if part.rate < 1 and part.size > 1.0 / STEEP]
        if steep:
            return max(one_release(part.rate, 1.0 / part.size, self.delta) for part in steep)
        return at_c.epsilon(self.delta)


def one_release(rate: float, ratio: float, delta: float) -> float:
    """Least epsilon of one sampled Gaussian release, on a grid."""
    epsilons = np.concatenate([np.linspace(0.0, 20.0, 2001), np.geomspace(20.1, 600.0, 400)])
    enough = sampled_delta(epsilons, rate, 1.0 / ratio) <= delta
    return float(epsilons[np.argmax(enough)]) if enough.any() else math.inf


def double_cost(plan: Plan, delta: float) -> Cost:
    """Algorithm 2, every record clipped."""
    schedule = replace(double_spider.printed(plan, Constants(), EPSILON, delta), clip_mode="each")
    problem = dual_pair(chi_square(), plan.n, d=1).here
    return Cost(account(record(lambda tape: double_spider.run(problem, schedule, tape), 0)), delta)


def gradient_cost(plan: Plan, delta: float) -> Cost:
    """Algorithm 3, v and u, where noise and clipping follow all of w."""
    schedule = recursive_spider.printed(plan, EPSILON, delta, lines=recursive_spider.ALL_OF_W)
    problem = compositional_pair(plan.n, d=1).here
    found = record(lambda tape: recursive_spider.run(problem, schedule, tape), 0)
    events = [event for event in found.events if not (isinstance(event, Release) and event.label == "value")]
    return Cost(account(Transcript(events, found.batches)), delta)


def value_cost(plan: Plan, delta: float) -> Cost:
    """Algorithm 3, s_t alone, with the sensitivity that it has."""
    schedule = single_sample.printed(plan.n, plan.steps, EPSILON, delta)
    true = replace(schedule, sensitivity=single_sample.true_sensitivity(schedule.momentum, schedule.clip))
    return Cost(account(record(lambda tape: single_sample.run(np.ones(plan.n), true, tape), 0)), delta)


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


def accounted(quick: bool) -> list[list[float | int]]:
    """The table of plans."""
    rows = []
    for plan in PLANS[:2] if quick else PLANS:
        delta = plan.n**-1.1
        row: list[float | int] = [plan.n, plan.steps, plan.phase, plan.batch]
        for cost in (double_cost(plan, delta), gradient_cost(plan, delta), value_cost(plan, delta)):
            row += [cost.epsilon(1.0), least_constant(cost)]
        figures.show(HEADER, row)
        rows.append(row)
    return rows


def realised(report: Path) -> list[list[float | str]]:
    """Rows of `dpassay audit dro`, as its report has them."""
    rows: list[list[float | str]] = []
    for row in json.loads(report.read_text(encoding="utf-8"))["rows"]:
        if row["algorithm"].startswith("dro/"):
            key = f"{row['algorithm']}{':' + row['variant'] if row['variant'] else ''}@{row['reading']}"
            values = [_shown(row[name]) for name in ("claimed", "accounted", "realised")]
            rows.append([key, *values, row["verdict"], row["why"].split("; ")[0]])
    for row in rows:
        figures.show(CASES_HEADER, row)
    return rows


def _shown(value: float | str | None) -> float | str:
    return "-" if value is None else math.inf if value == "infinity" else value


def main() -> None:
    """Print, and keep with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two plans only")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/dro_sandwich*.json and .md")
    parser.add_argument("--report", type=Path, help="report of `dpassay audit dro`: tabulate it instead")
    options = parser.parse_args()
    if options.report is not None:
        table, notes = realised(options.report), ["1,000 runs a row, 95 % confidence each."]
        if options.write:
            title = "dro: claimed, accounted and realised epsilon of the catalogue's cases"
            command = "dpassay audit dro --output REPORT; python benchmarks/dro_sandwich.py --report REPORT --write"
            figures.write("dro_sandwich_cases", title, CASES_HEADER, table, notes, command)
        return
    rows = accounted(options.quick)
    if options.write:
        notes = [
            "Charitable: every record clipped, noise follows all of w. infinite: above 600, or c above 100,000. Where a"
            " sampled release has little noise its own exact epsilon stands for the whole, a lower bound."
        ]
        title = "dro: accounted epsilon of the printed schedules (claim 1, delta = n^-1.1), least c that keeps it"
        figures.write("dro_sandwich", title, HEADER, rows, notes)


if __name__ == "__main__":
    main()
