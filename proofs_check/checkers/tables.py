"""Printed experiment numbers against what they must satisfy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from dpassay.proofs_check.finding import Finding, Verdict
from dpassay.proofs_check.formula import FormulaError, parse


def check(table: Mapping[str, Any]) -> Finding:
    """Key ``test`` names one of TESTS; the others are its arguments (printed numbers as strings)."""
    if table["test"] not in TESTS:
        raise FormulaError(f"test = {table['test']!r}: not one of {', '.join(TESTS)}")
    return TESTS[table["test"]](**{name: value for name, value in table.items() if name != "test"})


def integer_means(runs: int, entries: list[tuple[str, str]]) -> Finding:
    """Each printed (mean, sample standard deviation) must be possible for ``runs`` integers >= 0."""
    for mean, deviation in entries:
        if not possible(mean, deviation, runs):
            others = [k for k in range(1, 13) if possible(mean, deviation, k)]
            evidence = f"{mean} +- {deviation} is impossible for {runs} integers; "
            evidence += f"possible for {others or 'no number up to 12'}"
            return Finding(Verdict.REFUTED, evidence, {"mean": mean, "std": deviation})
    return Finding(Verdict.PROVED, f"all {len(entries)} entries are possible for {runs} integers")


def possible(mean: str, deviation: str, runs: int) -> bool:
    """Whether some ``runs`` integers >= 0 round to this mean and to this sample or population deviation."""
    centre, spread = _range(mean), _range(deviation)
    totals = range(math.ceil(centre[0] * runs), math.floor(centre[1] * runs) + 1)
    for total in totals:
        base = Decimal(total * total) / runs
        for divisor in {max(runs - 1, 1), runs}:
            least = math.ceil(base + spread[0] ** 2 * divisor - Decimal("1e-9"))
            most = math.floor(base + spread[1] ** 2 * divisor + Decimal("1e-9"))
            if any(_squares(total, squares, runs) for squares in range(least, most + 1)):
                return True
    return False


def _range(printed: str) -> tuple[Decimal, Decimal]:
    value = Decimal(printed)
    half = Decimal(1).scaleb(int(value.as_tuple().exponent)) / 2
    return max(value - half, Decimal(0)), value + half


def _squares(total: int, squares: int, runs: int) -> bool:
    """Whether ``runs`` non-negative integers can have this sum and sum of squares (exact search with pruning)."""
    if runs == 0:
        return total == 0 and squares == 0
    if total < 0 or squares * runs < total * total or squares > total * total or (total - squares) % 2:
        return False
    if runs > 4 and squares > 400:
        return True  # four or more squares represent every remainder of the right parity
    top = min(total, math.isqrt(squares))
    return any(_squares(total - x, squares - x * x, runs - 1) for x in range(top, -1, -1))


def largest_auc(auc: str, epsilon: str, delta: str) -> Finding:
    """A printed attack AUC against the exact maximum 1 - (1 - delta)^2 / (1 + e^epsilon) for (epsilon, delta)-DP."""
    bound = 1 - (1 - float(parse(delta, {}))) ** 2 / (1 + math.exp(float(parse(epsilon, {}))))
    told = f"AUC {auc} at epsilon {epsilon}; the largest possible is {bound:.6f}"
    verdict = Verdict.PROVED if float(auc) <= bound else Verdict.REFUTED
    return Finding(verdict, told, {} if verdict is Verdict.PROVED else {"auc": auc, "epsilon": epsilon})


def at_most(values: list[tuple[str, str]], bound: str) -> Finding:
    """Every labelled printed value is at most the bound (a formula without variables)."""
    limit = float(parse(bound, {}))
    above = [f"{label}: {value}" for label, value in values if float(value) > limit]
    if above:
        told = f"{len(above)} of {len(values)} values exceed {bound} = {limit:.6g}: {'; '.join(above[:6])}"
        return Finding(Verdict.REFUTED, told, {"values": "; ".join(above)})
    return Finding(Verdict.PROVED, f"all {len(values)} values are at most {bound} = {limit:.6g}")


def rounds_to(printed: str, formula: str) -> Finding:
    """A printed number is the rounding of a formula without variables."""
    exact = Decimal(str(float(parse(formula, {}))))
    low, high = _range(printed)
    if low <= exact <= high:
        return Finding(Verdict.PROVED, f"{formula} = {exact:.8g} rounds to {printed}")
    return Finding(Verdict.REFUTED, f"{formula} = {exact:.8g}, printed {printed}", {"exact": str(exact)})


def complete(entries: list[str]) -> Finding:
    """No entry of a printed table is missing."""
    gaps = entries.count("<NA>")
    if gaps:
        return Finding(Verdict.ILL_DEFINED, f"{gaps} of {len(entries)} entries are <NA>")
    return Finding(Verdict.PROVED, f"all {len(entries)} entries are present")


TESTS: dict[str, Callable[..., Finding]] = {
    test.__name__: test for test in (integer_means, largest_auc, at_most, rounds_to, complete)
}
