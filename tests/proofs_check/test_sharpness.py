"""Mutants of rows: what could have failed is sharp, what could not is empty; regions are visited and attacked."""

import numpy as np
import pytest

from dpassay.proofs_check.check import check, check_row
from dpassay.proofs_check.claim import Assumptions, Row, Severity, Verdict
from dpassay.proofs_check.mutants import mutants, texts
from dpassay.proofs_check.rows import build
from dpassay.proofs_check.visits import DECADES, visit
from dpassay.reference.papers import Cite


def row(claim, severity=Severity.UTILITY):
    return Row("dro/x", Cite("dro", "p"), "s", claim, severity)


EMPTY = {
    "x <= c x": build.inequality("x <= 2*x", "x"),
    "F <= F + r": build.inequality("F <= F + r", "F r"),
    "a - (-a) = 2 a": build.identity("(a - (-a))/n == 2*a/n", "a n"),
    "X log = X": build.rates("x*log(n) <= x", "n", "n x"),
    "the conclusion is assumed": build.inequality("x <= y", "x y", conditions=("x <= y",)),
    "room for everything": build.inequality("x <= 10**9", domain={"x": "[1, 2]"}),
}
SHARP = {
    "means": build.inequality("2*a*b <= a**2 + b**2", "a b"),
    "a root": build.identity("sqrt(d*(2*b)**2) == 2*b*sqrt(d)", "d b"),
    "a definition": build.identity("M*(eta*g) == g", "M g", let={"eta": "1/M"}),
    "exponents": build.rates("sqrt(d)/n <= 1/sqrt(n)", "n", "n d", conditions=("d <= n",)),
    "a range": build.inequality("exp(x) <= 1 + 2*x", domain={"x": "[1/10, 5/4]"}),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_row_that_could_not_fail_is_empty(name):
    result = check_row(row(EMPTY[name]))
    assert result.finding.passes and result.verdict is Verdict.EMPTY, result


@pytest.mark.parametrize("name", SHARP)
def test_a_row_that_could_fail_is_sharp(name):
    result = check_row(row(SHARP[name]))
    assert result.finding.holds and result.verdict is result.finding.verdict
    assert result.sharpness.nearest and result.sharpness.evidence


def test_post_processing_is_empty_when_the_data_are_given():
    """With the data among the given names a line that reads them changes nothing, so the row says nothing."""
    steps = ("1: v <- x z", "2: x_next <- v x")
    hollow, honest = build.program("D x z", *steps), build.program("x z", *steps)
    assert check_row(row(hollow, Severity.PRIVACY)).verdict is Verdict.EMPTY
    assert check_row(row(honest, Severity.PRIVACY)).verdict is Verdict.PROVED


def test_the_nearest_mutant_is_named():
    """2 a b <= a^2 + b^2 fails with 4 in place of 2, and passes with 1."""
    result = check_row(row(SHARP["means"]))
    assert result.sharpness.nearest == "2 becomes 4"


def test_texts_change_one_thing_at_a_time():
    found = dict(texts("4*s*sqrt(log(S))/epsilon + r"))
    assert found["4 becomes 2"] == "2 * s * sqrt(log(S)) / epsilon + r"
    assert found["log(S) dropped"] == "4 * s * sqrt(1) / epsilon + r"
    assert found["r dropped"] == "4 * s * sqrt(log(S)) / epsilon"
    assert found["s left out"] == "4 * 1 * sqrt(log(S)) / epsilon + r"


def test_an_assumption_is_dropped():
    claim = build.inequality("x <= y + 1", "y", {"x": "(0, 1]"}, conditions=("y >= 1",))
    told = [name for name, _ in mutants(row(claim))]
    assert "without y >= 1" in told and "x > 0 in place of (0, 1]" in told


def test_a_visit_covers_its_decades_and_integer_corners():
    seen = visit(Assumptions("x", {"S": "integer [2, 1000000]", "y": "(0, x]"}))
    x, s = seen.columns["x"], seen.columns["S"]
    assert np.log10(x.max() / x.min()) > DECADES - 1
    assert {2.0, 3.0, 15.0, 16.0, 17.0, 1023.0, 1024.0, 1025.0} <= set(s)
    assert np.all(seen.columns["y"] <= x) and np.all(s == np.round(s))
    assert visit(Assumptions("x", {"S": "integer [2, 1000000]", "y": "(0, x]"})) is seen


def test_a_rare_violation_is_found_by_the_search():
    """x y <= 1.0001 max(x y, 1) fails only on a thin shell: (x - 3)^2 (y - 7)^2 bounded away from 0 nowhere."""
    claim = build.inequality("1/10**7 <= (x - 3)**2 + (y - 7)**2", "x y")
    assert check(claim).verdict is Verdict.REFUTED


def test_few_points_are_a_spot_check():
    claim = build.privacy(
        "5*sqrt(log(1/delta))/epsilon", "1", "epsilon", "delta", "", {"epsilon": "(0, 1]", "delta": "(0, 1/100)"},
        rate="1/10", count="10", instances=[{"epsilon": "1", "delta": "1/100000"}],
    )  # fmt: skip
    assert check(claim).verdict is Verdict.SPOT_CHECKED


def test_between_the_bounds_nothing_is_decided():
    """One sampled release whose epsilon the lower bound puts below the claim and the upper bound above it."""
    from dpassay.proofs_check.checkers.privacy import sampled_epsilon, sampled_epsilon_above

    low, high = sampled_epsilon(1.0, 0.1, 20, 1e-5), sampled_epsilon_above(1.0, 0.1, 20, 1e-5)
    assert 0 < low < high < 1.2 * low
    middle = str(round((low + high) / 2, 6))
    claim = build.privacy("1", "1", middle, "1/100000", rate="1/10", count="20", instances=[{}])
    assert check(claim).verdict in (Verdict.UNKNOWN, Verdict.SPOT_CHECKED)
