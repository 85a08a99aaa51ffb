"""Printed numbers of experiments against what they must satisfy, and the norm of a random matrix against a bound."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import binomtest

from dpassay.proofs_check.finding import Finding, Verdict
from dpassay.proofs_check.formula import FormulaError, parse
from dpassay.proofs_check.region import SEED
from dpassay.reference.printed_counts import possible_counts, rounding_to

CONFIDENCE = 1 - 1e-6  # per side and claim about a random matrix
FEW = 6  # fewer sizes than that are a spot check


def check(table: Mapping[str, Any]) -> Finding:
    """Key ``test`` names one of TESTS; the others are its arguments (printed numbers as strings)."""
    if table["test"] not in TESTS:
        raise FormulaError(f"test = {table['test']!r}: not one of {', '.join(TESTS)}")
    return TESTS[table["test"]](**{name: value for name, value in table.items() if name != "test"})


def integer_means(runs: int, entries: list[tuple[str, str]]) -> Finding:
    """Each printed (mean, sample standard deviation) must be possible for ``runs`` integers >= 0."""
    for mean, deviation in entries:
        printed = f"{mean}±{deviation}"
        fits = [k for k in sorted({*range(1, 13), runs})
                if any(possible_counts(printed, k, ddof) for ddof in range(min(k, 2)))]  # fmt: skip
        if runs not in fits:
            evidence = f"{mean} +- {deviation} is impossible for {runs} integers; "
            evidence += f"possible for {fits or 'no number up to 12'}"
            return Finding(Verdict.REFUTED, evidence, {"mean": mean, "std": deviation})
    return Finding(Verdict.PROVED, f"all {len(entries)} entries are possible for {runs} integers")


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
    exact = float(parse(formula, {}))
    low, high = rounding_to(printed)
    if max(low, Fraction(0)) <= Fraction(str(exact)) <= high:
        return Finding(Verdict.PROVED, f"{formula} = {exact:.8g} rounds to {printed}")
    return Finding(Verdict.REFUTED, f"{formula} = {exact:.8g}, printed {printed}", {"exact": str(exact)})


TESTS: dict[str, Callable[..., Finding]] = {test.__name__: test for test in (integer_means, at_most, rounds_to)}


def wigner_norm(d: int, trials: int, rng: np.random.Generator) -> Any:
    """Spectral norms of symmetric ``d`` by ``d`` matrices with standard Gaussian entries."""
    upper = np.triu(rng.standard_normal((trials, d, d)))
    return np.abs(np.linalg.eigvalsh(upper + np.triu(upper, 1).transpose(0, 2, 1))).max(axis=1)


def norms(table: Mapping[str, Any]) -> Finding:
    """Keys: ``below`` (threshold), ``probability`` (lower bound of P(norm <= below)), ``instances`` (numbers
    for every name used, ``d`` among them), ``trials``.
    """
    rng, trials, instances = np.random.default_rng(SEED), int(table["trials"]), table["instances"]
    worst, narrow = "", float("inf")
    for instance in instances:
        numbers = {name: parse(str(value), {}) for name, value in instance.items()}
        threshold = float(parse(table["below"], numbers))
        wanted = float(parse(str(table["probability"]), numbers))
        hits = int(np.sum(wigner_norm(int(numbers["d"]), trials, rng) <= threshold))
        low, high = binomtest(hits, trials).proportion_ci(2 * CONFIDENCE - 1)  # exact: Clopper and Pearson
        at = ", ".join(f"{k} = {v}" for k, v in instance.items())
        told = f"at {at}: claimed P >= {wanted:.6g}, observed {hits}/{trials}, interval [{low:.6g}, {high:.6g}]"
        if high < wanted:
            where = {name: str(value) for name, value in instance.items()}
            return Finding(Verdict.REFUTED, f"{told} at confidence {CONFIDENCE}", where)
        if low - wanted < narrow:
            worst, narrow = told, low - wanted
    verdict = Verdict.CHECKED if len(instances) >= FEW else Verdict.SPOT_CHECKED
    evidence = f"not contradicted on {len(instances)} instances of {trials} trials; closest {worst}"
    return Finding(verdict, evidence)
