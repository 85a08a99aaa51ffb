"""Printed against exact calibration of `second_order_erm`: how much noise is saved, and by what.

    python benchmarks/second_order_erm_noise.py [--quick] [--write]

Covertype's shape (n = 495,141, d = 54, delta = 1 / (10 n)), loss A, T steps. Noise multipliers: eq. (8), eq. (14),
eq. (30) and Theorem B.8 against exact accounting; then the noise itself, where the sensitivities matter too.
"""

from math import exp, log, sqrt

import audit_figures as figures
import numpy as np
from scipy.optimize import brentq

from dpassay.reference.accounting.cost import Account
from dpassay.reference.accounting.parts import Part
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import LOSS_A
from dpassay.reference.problems.real_data import COVERTYPE_SHAPE, into_unit_ball
from dpassay.reference.second_order_erm import common, opt, opt_b, opt_ls
from dpassay.reference.second_order_erm.calibration import Budget, printed_budget
from dpassay.reference.second_order_erm.line_search import LineSearch, lambda_for
from dpassay.reference.second_order_erm.subsampled import AdvancedBudget, SampledBudget

N, D = COVERTYPE_SHAPE
DELTA = 1 / (10 * N)
TRIALS = LineSearch().trials["line search/gradient"]
Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
NOTE = """\
Saved in eq. (8) and (14): Proposition A.6 is an upper bound on what rho-zCDP costs, the Gaussian curve is exact. \
Saved in the Hessian beyond that: eq. (4) has a factor sqrt(d) that a record's rank-one Hessian does not need, \
counts the regulariser, which cancels, and adds two positive semidefinite matrices as if opposed. The exact noise \
of OPT-LS spends less than the budget because T depends on a release: each line search is priced as a Gaussian \
release that shows more than its worst queries, which holds for every T.
"""


def one_record() -> ErmProblem:
    """The constants depend on the shape and the loss only, the noise multipliers on nothing: one record will do."""
    return ErmProblem(into_unit_ball(np.ones((1, D))), np.ones(1), LOSS_A)


def exact_budget(epsilon: float, releases: int) -> Budget:
    """What OPT (2 releases per step) and OPT-LS (3) are calibrated to."""
    make = opt.repaired if releases == 2 else opt_ls.repaired
    return make(one_record(), np.zeros(D), common.Accuracy(1.0, 1.0), epsilon, DELTA).noise


def full_batch(steps: int) -> Table:
    """Eq. (8) and (14) against the Gaussian curve; both transcripts are priced by dp-accounting."""
    rows = []
    for epsilon in (0.2, 0.6, 1.0):
        for name, releases in (("OPT, eq. (8)", 2), ("OPT-LS, eq. (14)", 3)):
            one, other = printed_budget(epsilon, DELTA, releases), exact_budget(epsilon, releases)
            rows.append(
                (
                    name,
                    f"{epsilon:g}",
                    f"{one.sigma(steps):.2f}",
                    f"{other.sigma(steps):.2f}",
                    f"{1 - other.sigma(steps) / one.sigma(steps):.1%}",
                    f"{priced(one, steps, one.sigma(steps)):.4f}",
                    f"{priced(other, steps, lambda_for(1 / other.sigma(steps), *TRIALS)):.4f}",
                )
            )
    title = f"Noise multiplier sigma for T = {steps} full-batch steps"
    heads = ("method", "epsilon", "printed", "exact", "saved", "printed noise spends", "exact noise spends")
    return title, heads, rows


def priced(budget: Budget, steps: int, lam: float) -> float:
    """Epsilon of f(w0) and `steps` iterations; line searches at their worst queries. PLD composition."""
    mu = sqrt(1 / budget.sigma_f**2 + 2 * steps / budget.sigma(steps) ** 2)
    parts: tuple[tuple[Part, int], ...] = ((Part("gaussian", mu), 1),)
    if budget.releases_per_step == 3:
        parts = (*parts, (Part("above-threshold", 1 / lam, 1.0, share=0.25, queries=TRIALS[0], falls=TRIALS[1]), steps))
    return Account(parts).epsilon(DELTA)


def line_search(steps: int) -> Table:
    """What adaptivity costs OPT-LS: T is computed from a release, so each search is priced as its worst GDP."""
    rows = []
    for epsilon in (0.2, 0.6, 1.0):
        budget = exact_budget(epsilon, 3)
        lam = lambda_for(1 / budget.sigma(steps), *TRIALS)

        def excess(log_share: float, b: Budget = budget, target: float = epsilon) -> float:
            share = exp(log_share)  # lambda = share * sigma, sigma as calibrated
            return priced(b, steps, share * b.sigma(steps)) - target

        least = exp(brentq(excess, log(0.1), log(1.3), xtol=1e-3)) * budget.sigma(steps)
        rows.append((f"{epsilon:g}", f"{budget.sigma(steps):.2f}", f"{lam:.2f}", f"{least:.2f}"))
    title = f"Line search beside Gaussian releases, T = {steps}: lambda that the same sigma needs"
    return title, ("epsilon", "sigma", "lambda, T from a release", "lambda, T public (PLD)"), rows


def batches(steps: int, rate: float) -> Table:
    """Eq. (30) and Theorem B.8 against exact composition of the dominating pairs."""
    rows = []
    for epsilon in (0.6, 0.95):
        cells = [f"{epsilon:g}"]
        for make in (SampledBudget, AdvancedBudget):
            try:
                cells.append(f"{make(epsilon, DELTA, rate).sigma(steps):.2f}")
            except BadInput as problem:
                cells.append(f"none: {problem.why}")
        exact = opt_b.calibrated(N, round(rate * N), steps, epsilon, DELTA)
        cells.append(f"{exact['gradient']:.2f}")
        rows.append(tuple(cells))
    title = f"Noise multiplier of OPT-B for T = {steps}, batches of {rate:.2%}"
    return title, ("epsilon", "eq. (30)", "Theorem B.8", "exact"), rows


def standard_deviations(steps: int) -> Table:
    """Noise in gradient and Hessian entries: multiplier times sensitivity (eq. 4 against the exact ones)."""
    problem, start = one_record(), np.zeros(D)  # n is put in by hand
    printed = common.printed_sensitivities(common.printed_constants(problem, start), N, D)
    exact = common.exact_sensitivities(problem, start)
    rows = []
    for epsilon in (0.2, 0.6, 1.0):
        one, other = printed_budget(epsilon, DELTA, 2).sigma(steps), exact_budget(epsilon, 2).sigma(steps)
        for name, here, there in (
            ("gradient", printed.gradient * one, exact.gradient / N * other),
            ("Hessian", printed.hessian * one, exact.hessian / N * other),
        ):
            rows.append((name, f"{epsilon:g}", f"{here:.3g}", f"{there:.3g}", f"{1 - there / here:.1%}"))
    title = f"Standard deviation of the noise of OPT, T = {steps}"
    return title, ("release", "epsilon", "printed", "repaired", "saved"), rows


def main() -> None:
    chosen = figures.options(__doc__)
    steps = 20 if chosen.quick else 200
    sizes = f"`python benchmarks/second_order_erm_noise.py --write`: n = {N}, d = {D}, delta = {DELTA:.3g}.\n"
    tables = (full_batch(steps), line_search(steps), batches(steps, 0.01), standard_deviations(steps))
    parts = [f"## {title}\n\n{figures.markdown(heads, rows)}" for title, heads, rows in tables]
    page = "\n".join(["# Noise of `second_order_erm`: printed and exact calibration\n", sizes, *parts, NOTE])
    print(page)
    if chosen.write:
        (figures.RESULTS / "second_order_erm_noise.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
