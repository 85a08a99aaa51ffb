"""What the papers may say in their defence: recomputed by hand, readings that must hold, repairs that must not."""

from fractions import Fraction
from math import ceil, exp, log, sqrt

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpassay.proofs_check.check import check, check_row
from dpassay.proofs_check.claim import Kind, Severity, Verdict
from dpassay.proofs_check.ledger import load_rows
from dpassay.proofs_check.rows import build
from dpassay.proofs_check.rows.adaptive_batch.privacy_terms import escapes

ROWS = {row.id: row for row in load_rows(["minimax_sosp", "adaptive_batch"])}
DELTA = 1e-5

NO_FAULT = (  # once called faults: bounds up to constants or hidden logarithms, or a case that the text leaves out
    "minimax_sosp/thm1/gradient_at_return",
    "minimax_sosp/lemma6/threshold_order",
    "minimax_sosp/eq36/noise_factor",
    "minimax_sosp/lemma5/variations_counted",
    "minimax_sosp/alg3/erm_sampled_increment_noise",
    "minimax_sosp/alg3/population_increment_noise",
    "adaptive_batch/lemma314/larger_tau",
    "adaptive_batch/thm317/samples_with_larger_tau",
)
RESCUED = (  # the literal text fails, and a reading inside the paper's setting holds
    "minimax_sosp/lemma6/threshold",
    "minimax_sosp/lemma4/minimax_descent",
    "minimax_sosp/lemma5/gradient_variation",
    "minimax_sosp/eqB2/refreshes_of_all_records",
    "minimax_sosp/eq30/coordinatewise",
    "adaptive_batch/lemma313/step_and_gradient",
    "adaptive_batch/lemma313/hessian_sensitivity",
    "adaptive_batch/lemma313/sigma_t_half",
    "adaptive_batch/lemma313/sigma_tree_grows",
    "adaptive_batch/lemma314/escape_bound",
    "adaptive_batch/lemma315/forced_refreshes",
    "adaptive_batch/thm317/samples_with_escapes",
    "adaptive_batch/lemma312/log_power",
    "adaptive_batch/lemma38/travel",
    "adaptive_batch/lemma38/decrease",
    "adaptive_batch/alg3/halts_before_next_batch",
)


LONG = ("/escape_bound", "/halts_before_next_batch")  # by the checkers of the others


@pytest.mark.parametrize("row_id", NO_FAULT)
def test_the_paper_is_right(row_id):
    result = check_row(ROWS[row_id])
    assert result.finding.passes, result.finding.evidence


@pytest.mark.some(8)
@pytest.mark.parametrize(
    "row_id", [pytest.param(one, marks=pytest.mark.slow) if one.endswith(LONG) else one for one in RESCUED]
)
def test_only_the_literal_text_fails(row_id):
    result = check_row(ROWS[row_id])
    assert result.verdict is Verdict.REFUTED and result.saved_by, result.finding.evidence


def _epsilon(mu: float, delta: float = DELTA) -> float:
    def gap(epsilon: float) -> float:
        return float(norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta)

    return float(brentq(gap, 0.0, mu * mu / 2 + 10 * mu + 1)) if gap(0.0) > 0 else 0.0


def _escapes(alpha: float, d: float, noise: float, escapes: float, c: float = 1.0) -> float:
    """Epsilon of the escape steps between two refreshes, Lemma 3.14's batches, epsilon = B = G = M = rho = 1."""
    batch = sqrt(d) / alpha + 1 / alpha**2 + sqrt(d) + 1 / alpha
    kappa = max(alpha * sqrt(d), 1.0)
    per_gradient = max(sqrt(d) / alpha, kappa / alpha**2, kappa / alpha)  # b_t/|g|
    moved = 2 * max(1 / batch, 1 / per_gradient) * sqrt(alpha)  # replace-one, |x - x_anchor| <= Xi = sqrt(alpha)
    return _epsilon(sqrt(c / sqrt(alpha) * escapes) * moved / noise)


@pytest.mark.parametrize("alpha, d", [(0.1, 100), (0.01, 100), (0.01, 1e6), (0.001, 1e6), (1e-6, 1e6)])
def test_the_escapes_of_lemma_314_are_private_whatever_its_tau(alpha, d):
    noise = 2 * log(1 / DELTA) * alpha / sqrt(d)
    assert _escapes(alpha, d, noise, 1, c=10) < 1
    assert _escapes(alpha, d, noise, ceil(alpha**-0.5)) < 1


def test_more_escapes_than_that_are_not_private():
    assert _escapes(0.01, 1e6, 2 * log(1 / DELTA) * 0.01 / 1000, 10_000) > 1


def test_theorem_317_needs_the_logarithm_in_the_escapes_too():
    assert _escapes(0.01, 1e6, 0.01 / 1000, 1) == pytest.approx(2.594, abs=1e-3)


@pytest.mark.parametrize("power, fits", [("-1/2", True), ("-1/3", False), ("1", False)])
def test_a_smaller_tau_forces_too_many_refreshes(power, fits):
    """At the claimed rate; tau = alpha^power, and privacy allows alpha^(-1/2)."""
    let = {**ROWS["adaptive_batch/thm317/samples_with_larger_tau"].claim.formula["let"]}
    records = build.budget(
        f"b*alpha**(-3/2)/alpha**({power}) <= n", "n d epsilon", scale="n", let=let,
        conditions=("d >= 1", "epsilon <= 1", "d <= n**2*epsilon**2"),
    )  # fmt: skip
    assert check(records).holds is fits


def test_a_tau_beyond_that_is_not_private():
    printed = ROWS["adaptive_batch/lemma314/larger_tau"].claim
    wrong = {**printed.formula, "let": {**printed.formula["let"], "tau": "alpha**(-3/4)"}}
    assert check(type(printed)(printed.kind, wrong, printed.assumptions)).verdict is Verdict.REFUTED
    noise, count = "2*log(1/delta)*alpha/sqrt(d)", "M/sqrt(rho*alpha)/alpha"
    claim = escapes(noise, count, "1", ("1/100", "1000000"), ("1/1000000", "1000000000000"))
    assert check(claim).verdict is Verdict.REFUTED


@pytest.mark.parametrize("exponent, enough", [pytest.param("1", True, marks=pytest.mark.slow), ("1/2", False)])  # above
def test_growth_needs_the_curvature_in_the_number_of_steps(exponent, enough):
    row = ROWS["minimax_sosp/lemma6/threshold"].saving.claim
    text = row.formula["claim"].replace("(eta_H*a_H)", f"(eta_H*a_H**({exponent}))")
    assert check(type(row)(row.kind, {**row.formula, "claim": text}, row.assumptions)).holds is enough


def test_a_wrong_repair_of_the_hessian_sensitivity_is_refuted():
    repaired = "2*max(M/b, rho*r/bt) <= {}*max(M/b, rho*r/bt)"
    assert check(build.inequality(repaired.format("2"), "M b rho r bt")).holds
    assert check(build.inequality(repaired.format("19/10"), "M b rho r bt")).verdict is Verdict.REFUTED


def test_what_no_run_of_the_paper_meets_is_cosmetic():
    for row_id in ("thm22/one_leaf", "eq9/threshold", "thm34/norm_of_noise"):
        assert ROWS[f"adaptive_batch/{row_id}"].severity is Severity.COSMETIC


def test_both_of_two_numbers_must_be_smaller():
    """A sum of two ratios below 2 would pass with one of them above 1."""
    row = ROWS["minimax_sosp/table2/private_diff_better"].claim
    for printed in ("0.6546", "0.3344"):
        wrong = {**row.formula, "claim": row.formula["claim"].replace(printed, "0.9999")}
        assert check(type(row)(row.kind, wrong, row.assumptions)).verdict is Verdict.REFUTED


RANGES = {
    "n": (1, 1e9),
    "d": (1, 1e9),
    "T": (1, 1e9),
    "q": (1, 1e9),
    "epsilon": (0, 1),
    "delta": (0, 1),
    "iota": (0, 1),
}
RANGES |= {"d1": (0, 1), "d2": (0, 1), "delta1": (0, 1), "S1": (1, 1e9), "S2": (1, 1e9), "b": (1, 1e9)}


@pytest.mark.parametrize("every", [19, pytest.param(1, marks=pytest.mark.slow)])  # all: both papers checked once more
def test_counterexamples_lie_where_the_papers_are(every):
    """Sizes are at least one, and epsilon, delta and failure probabilities at most one."""
    outside = []
    for row in list(ROWS.values())[::every]:
        names = row.claim.assumptions.names
        if row.claim.kind not in (Kind.IDENTITY, Kind.CONSISTENCY, Kind.PRIVACY) or not names & set(RANGES):
            continue
        for name, value in check(row.claim).counterexample.items():
            low, high = RANGES.get(name, (0, float("inf")))
            if not low <= float(Fraction(value)) <= high:
                outside.append((row.id, name, value))
    assert not outside
