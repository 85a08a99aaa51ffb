"""What the printed tables of `second_order_erm` cannot mean: found by going through all cells, not by eye.

``impossible``: no numbers of the stated kind have the printed statistics. ``contradiction``: two statements of the
paper exclude each other. ``unexplained``: possible, but only under something that the paper does not say.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import ceil, exp, inf, log, sqrt
from typing import Literal

from dpassay.audit.bounds import halved
from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.printed_counts import possible_counts
from dpassay.reference.problems.erm import Constants
from dpassay.reference.second_order_erm import opt, sample_complexity, subsampled
from dpassay.reference.second_order_erm.calibration import Budget
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.second_order_erm.printed_tables import EPSILONS, TABLES, PrintedTable

Kind = Literal["impossible", "contradiction", "unexplained"]
RUNS = 5
RECORDS = {"covertype": 495_141, "ijcnn": 49_990}  # the original IJCNN file; Appendix E.1 prints 4999
DIMENSIONS = {"covertype": 54, "ijcnn": 22}
# Loss A's link with M = 1 (eps_H = sqrt(alpha) implies it), unit radius: gradients bounded by 1, curvature by 1 / 4
CHARITABLE = Constants(log(2), 1.0, 0.25, 0.25, 1.0, inf)


@dataclass(frozen=True)
class Remark:
    """One finding: where, what is printed, why it cannot be or what it takes."""

    kind: Kind
    where: str
    printed: str
    why: str


@cache  # it searches for integers with the printed statistics: half a second
def remarks() -> tuple[Remark, ...]:
    """All findings, in the order of the tables, then those about the set-up."""
    found: list[Remark] = []
    for table in TABLES.values():
        if table.metric == "hessians":
            found += [*_counts(table), *_certificates(table)]
        else:
            found += [*_losses(table), *_same_outcomes(table)]
    found += [*_sample_sizes(), *_mini_batches(), *_hessian_lipschitz(), *_second_loss(), *_trust_region_steps()]
    return tuple(found)


def _counts(table: PrintedTable) -> Iterator[Remark]:
    for cell in table.cells:
        if cell.value is None:
            continue
        text = cell.value.text
        fits, fewer = (possible_counts(text, n) or possible_counts(text, n, 0) for n in (RUNS, RUNS - 1))
        if not fits:
            why = f"no {RUNS} integer counts have this mean and spread (n or n - 1 in the denominator)"
            why += f"; {RUNS - 1} counts do, e.g. {fewer}" if fewer else ""
            yield Remark("impossible", f"Table {table.number}, {cell.method}, {cell.epsilon}", text, why)


def _certificates(table: PrintedTable) -> Iterator[Remark]:
    """A run can only stop at a point whose noisy Hessian it has evaluated."""
    for cell in table.cells:
        if cell.runtime is not None and cell.value is not None and cell.value.mean < 1:
            why = "all five runs are printed as finished, and each needs one Hessian to finish"
            yield Remark("contradiction", f"Table {table.number}, {cell.method}, {cell.epsilon}", cell.value.text, why)


def _losses(table: PrintedTable) -> Iterator[Remark]:
    start = log(2)  # both logistic losses at w = 0
    above = [c for c in table.cells if c.value is not None and c.value.mean > start + 0.0005]
    if above:
        worst = max(above, key=lambda c: c.value.mean if c.value else 0.0)
        assert worst.value is not None
        why = f"{len(above)} of 24 cells end above log 2 = 0.693, the loss of w = 0: the start is not stated, and not 0"
        where = f"Table {table.number}, worst: {worst.method}, {worst.epsilon}"
        yield Remark("unexplained", where, worst.value.text, why)


def _same_outcomes(table: PrintedTable) -> Iterator[Remark]:
    texts = Counter(c.value.text for c in table.cells if c.value is not None)
    text, count = texts.most_common(1)[0]
    methods = {c.method for c in table.cells if c.value is not None and c.value.text == text}
    if count >= 6 and len(methods) >= 3:
        why = (
            f"{count} cells of {len(methods)} methods with other steps and noise levels agree in mean and spread: "
            "all of these runs returned (nearly) the same points"
        )
        yield Remark("unexplained", f"Table {table.number}, {', '.join(sorted(methods))}", text, why)


def _accuracies(table: PrintedTable) -> Iterator[tuple[Accuracy, int]]:
    """Choices of c, c1 and c2, each with the steps of OPT, f(w0) - f_low being log 2."""
    k = CHARITABLE
    for c1, c2, c in product((0.1, 0.2, 0.3, 0.4), (0.05, 0.1, 0.15, 0.2, 0.25), (0.02, 0.05, 0.1, 0.15)):
        if c2 + c < 1 / 3:
            a = Accuracy(table.epsilon_g, table.epsilon_H, c1=c1, c2=c2, c=c)
            yield a, max(1, ceil(log(2) / opt.minimum_decrease(a, k.smoothness, k.hessian_lipschitz)))


def _sample_sizes() -> Iterator[Remark]:
    """Section 4 says that n is large compared to what is required in the loose setting (and small in the tight one).

    Needed is the least n_min of Theorem 4 over c, c1, c2, with C = 1 and all of rho for the steps.
    """
    for number in (1, 3):
        table, needed = TABLES[number], []
        n, d = RECORDS[table.data], DIMENSIONS[table.data]
        for rho in (zcdp_rho(epsilon, 1e-5) for epsilon in EPSILONS):
            budget = Budget(rho, rho * 1e-9, releases_per_step=2)
            least = (sample_complexity.short_step_minimum(a, CHARITABLE, d, budget.sigma(steps), steps)
                     for a, steps in _accuracies(table))  # fmt: skip
            needed.append(min(least))
        if min(needed) > n:
            asked = ", ".join(f"{x:.2g}" for x in needed)
            why = f"Theorem 4 asks for at least {asked} at epsilon 0.2, 0.6, 1.0 (norm 1, C = 1, M = 1); n = {n}"
            yield Remark("contradiction", f"Table {number}", "large n compared to the required sample complexity", why)


def _mini_batches() -> Iterator[Remark]:
    for number in (1, 2, 3, 4):
        table = TABLES[number]
        n, d = RECORDS[table.data], DIMENSIONS[table.data]
        batches, all_steps = zip(*((sample_complexity.batch_minimum(a, CHARITABLE, d, steps), steps)
                                   for a, steps in _accuracies(table)), strict=True)  # fmt: skip
        batch, steps = min(batches), min(all_steps)
        if batch > n:
            why = f"eq. (24) asks for mini-batches of {batch:.2g} records, {batch / n:.2g} times the whole set"
            yield Remark("contradiction", f"Table {number}, OPT-B", f"n = {n}", why)

        def enough(log_rate: float, steps: int = steps) -> bool:  # can eq. (29) give epsilon 0.2, with infinite noise?
            return subsampled.floor(steps, exp(log_rate), 1e-5) <= 0.2

        rate = exp(halved(enough, log(1e-7), 0.0, 40)[0])
        why = f"for T >= {steps}, eq. (29) gives epsilon 0.2, at any noise, for at most {rate * n:.0f} of {n} records"
        yield Remark("unexplained", f"Table {number}, OPT-B, 0.2", "batch size not stated", why)


def _hessian_lipschitz() -> Iterator[Remark]:
    """eps_H = sqrt(M alpha) with M = 1 in all tables; M = R^3 / (6 sqrt 3) for the logistic part."""
    implied = [t.epsilon_H**2 / t.epsilon_g for t in TABLES.values()]
    radius = (6 * sqrt(3) * max(implied)) ** (1 / 3)
    columns = 10 + 2  # mean square norm of ten z-scored columns and two one-hot groups
    if columns > radius**2:
        why = f"M = 1 needs features of norm at most {radius:.2f}; z-scored columns have mean square {columns}"
        yield Remark("unexplained", "all tables, Covertype", f"M = {min(implied):.2f} to {max(implied):.2f}", why)


def _trust_region_steps() -> Iterator[Remark]:
    """DP-TR's count of steps is ceil(6 sqrt(M) gap / alpha^1.5): the printed counts are one constant gap."""
    for tolerance in ("loose", "tight"):
        tables = [t for t in TABLES.values() if t.metric == "hessians" and t.tolerance == tolerance]
        figures = [t.cell(method, e).value for t in tables for method in ("TR", "TR-B") for e in EPSILONS]
        counts = {figure.mean for figure in figures if figure is not None}
        if len(counts) == 1:
            count, alpha = counts.pop(), tables[0].epsilon_g
            low, high = ((count - less) * alpha**1.5 / 6 for less in (1, 0))
            why = (
                f"the same count for both sets, all epsilon and all five starts: sqrt(M) (f(w0) - f_low) is in "
                f"({low:.4f}, {high:.4f}], one constant near 1/2 in all runs, which the text does not state"
            )
            yield Remark("unexplained", f"TR and TR-B, {tolerance} tolerances", f"{count:g}±0.0", why)


def _second_loss() -> Iterator[Remark]:
    """Loss B as printed is at most 1 + lambda/2 ||w||^2, and 1/2 at w = 0."""
    cells = [c for t in TABLES.values() if t.loss == "loss_b" and t.metric == "loss" for c in t.cells]
    figures = [(c, c.value) for c in cells if c.value is not None]
    cell, worst = max(figures, key=lambda pair: pair[1].mean)
    needed = sqrt(2 * (worst.mean - 1) / 1e-3)
    where = f"Table {cell.table}, {cell.method}, {cell.epsilon}"
    why = f"the printed (sigmoid) loss is below 1 + ||w||^2 / 2000: this needs ||w|| >= {needed:.0f} on average"
    yield Remark("unexplained", where, worst.text, why)
    above = sum(figure.mean > 0.5005 for _, figure in figures)
    why = f"{above} of {len(figures)} final losses exceed 1/2, the printed loss of w = 0; the logistic loss is meant"
    yield Remark("unexplained", "Tables 5, 7, 9, 11, loss of Appendix E.3", "1/(1 + exp(-y <x, w>))", why)
