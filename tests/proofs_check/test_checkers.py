"""Formulas, the checkers of single ones, and what ties them to the code of the reference.

Every checker has something that it must refute and something that looks wrong but is right.
"""

import doctest
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import exp, isfinite, log
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
import z3
from scipy.optimize import brentq

from dpassay.proofs_check.checkers import check
from dpassay.proofs_check.checkers.privacy import sampled_epsilon
from dpassay.proofs_check.derivation.language import names_of
from dpassay.proofs_check.derivation.model import statements
from dpassay.proofs_check.derivation.show import schedule
from dpassay.proofs_check.finding import Verdict
from dpassay.proofs_check.formula import FormulaError, parse, parse_relation, resolve, symbol
from dpassay.proofs_check.ties import count, ties
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon
from dpassay.reference.papers import PAPERS

PROVED, CHECKED, SPOT, REFUTED, ILL, UNKNOWN = Verdict


def of(claim, positive="", domain=None, **more):
    return {"claim": claim, "positive": positive, "domain": domain or {}, **more}


def same(places, positive=""):
    return {"places": places, "positive": positive}


def table(test, **arguments):
    return {"test": test, **arguments}


def norms(below, probability):
    return {"below": below, "probability": probability, "instances": [{"d": "10"}], "trials": 400}


def gaussian(std, sensitivity="D", claimed=("epsilon", "delta"), positive="D", domain=None, **more):
    region = domain or {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)"}
    return {"std": std, "sensitivity": sensitivity, "epsilon": claimed[0], "delta": claimed[1],
            "positive": positive, "domain": region, **more}  # fmt: skip


def rate(claim, names="n d", conditions=("d >= 1",), **more):
    return of(claim, names, scale="n", conditions=conditions, **more)


CLASSICAL = "D*sqrt(2*log(1.25/delta))/epsilon"
INSTANCE = {"D": "1", "epsilon": "1/2", "delta": "1/100000"}
# (1 + 1/N)**N is below e; in floating point it is 3.03 at this N
CANCELS = gaussian("(1 + 1/N)**N", "1", (repr(round(gdp_epsilon(1 / 2.9, 1e-5), 9)), "1/100000"), "",
                   {"N": "[10**15, 10**15 + 1]"}, instances=[{"N": "1e15"}])  # fmt: skip
SAMPLED = gaussian("s", "1", ("1", "1/100000"), "s T", {"q": "(0, 1)"}, count="T", rate="q",
                   instances=[{"q": "1/100", "s": "1/10", "T": "10"}])  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (of("(a + b)**2 == a**2 + 2*a*b + b**2", "a b"), PROVED),
        (of("(a + b)**2 == a**2 + b**2", "a b"), REFUTED),
        (of("sqrt(a**2) == a", "a"), PROVED),
        (of("log(a*b) == log(a) + log(b)", "a b"), PROVED),
        (of("x == abs(x)", domain={"x": "[-5, 5]"}), REFUTED),
        (of("log(1 + x) <= x", "x"), CHECKED),
        (of("exp(x) <= 1 + 2*x", domain={"x": "[0, 13/10]"}), REFUTED),
        (of("x < x", "x"), REFUTED),
        (of("n/2 <= floor(n/2)", domain={"n": "integer [1, 100]"}), REFUTED),
        (of("x <= y", "x y", conditions=("x < y", "y < x")), UNKNOWN),  # about nothing
        (of("3 <= 4"), PROVED),
        (of("1 + 10**(-45) <= 1"), REFUTED),
        (of("1 + log(2)*10**(-45) <= 1"), CHECKED),  # 50 digits do not tell them apart
        (of("g**2/G == v", units={"g": "v/l", "G": "v/l**2", "v": "v"}), PROVED),
        (of("g/G == v", units={"g": "v/l", "G": "v/l**2", "v": "v"}), REFUTED),
        (of("g + G == g", units={"g": "v/l", "G": "v/l**2"}), REFUTED),
        (table("integer_means", runs=5, entries=[("0.2", "0.447")]), PROVED),
        (table("integer_means", runs=5, entries=[("85.25", "47.647")]), REFUTED),  # of 4 runs
        (table("at_most", values=[("a", "0.69")], bound="log(2)"), PROVED),
        (table("at_most", values=[("a", "0.70")], bound="log(2)"), REFUTED),
        (table("rounds_to", printed="0.245", formula="sqrt(6/100)"), PROVED),
        (table("rounds_to", printed="0.254", formula="sqrt(6/100)"), REFUTED),
        (table("rounds_to", printed="2.5e-4", formula="1/4000"), PROVED),
        (table("rounds_to", printed="2.4e-4", formula="1/4000"), REFUTED),
        (same({"a": "1/x", "b": "x/x**2"}, "x"), PROVED),
        (same({"a": "1/x", "b": "x"}, "x"), ILL),
        (same({"a": "x + y", "b": "max(x, y) + min(x, y)", "c": "y + x"}, "x y"), CHECKED),  # not the last alone
        (same({"a": "1/x"}, "x"), UNKNOWN),
        (norms("3*sqrt(d)", "99/100"), SPOT),
        (norms("sqrt(d)", "99/100"), REFUTED),
        # a name that a printer uses is still a name
        (of("e*exp(1) <= 2*e**2 - e", "", {"e": "[1.2, 1.5]"}), REFUTED),
        (of("log(log) <= log", "", {"log": "[1, 2]"}), CHECKED),
        ({"positive": "x"}, UNKNOWN),  # no key says which checker decides it
        (gaussian(CLASSICAL), CHECKED),
        (gaussian(f"{CLASSICAL}/2"), REFUTED),
        (gaussian(CLASSICAL, count="4"), REFUTED),
        (CANCELS, REFUTED),
        (SAMPLED, REFUTED),  # noise below one record
        (of("d*n <= n", "n d", scale="1"), UNKNOWN),  # no exponents: about nothing
    ],
)
def test_verdicts(claim, verdict):
    assert check(claim).verdict is verdict, check(claim).evidence


@pytest.mark.parametrize(("claim", "tilde", "verdict"), [
    ("n**2 + n*d <= n**2*d", True, PROVED), ("n**2*d <= n**2 + n*d", True, REFUTED),
    ("1/min(n, d) == max(1/n, 1/d)", True, PROVED), ("n >= n*d", True, REFUTED), ("n*d >= n", True, PROVED),
    ("n*d < n", True, UNKNOWN), ("n - d <= n", True, UNKNOWN), ("floor(1/n) >= 1/n", True, UNKNOWN),
    ("ceil(1/n) <= 1/n", True, REFUTED), ("n**(1/2000) <= log(n)", False, REFUTED),
    ("log(n) <= log(d)", False, REFUTED), ("log(n) <= log(log(n))", False, UNKNOWN),
    ("n + d*n*m - n*m <= n", True, UNKNOWN), ("n*log(n) <= n", True, PROVED), ("n*log(n) <= n", False, REFUTED),
    ("n*log(n) <= n*d", False, REFUTED), ("n*log(n) <= n**(11/10)", False, PROVED),
    ("min(n, d) <= sqrt(n*d)", False, PROVED), ("max(n, d) <= sqrt(n*d)", False, REFUTED),
])  # fmt: skip
def test_rates(claim, tilde, verdict):
    finding = check(rate(claim, tilde=tilde, constants="m"))
    assert finding.verdict is verdict, finding.evidence
    if verdict is PROVED:
        assert ("logarithms hidden" in finding.evidence) is tilde


@pytest.mark.parametrize(("condition", "exponent"), [("d >= n**2", "3"), ("d**6001 <= n", "1/6001"), ("n*d <= n", "")])
def test_rate_counterexamples_are_exact_exponents_in_the_region(condition, exponent):
    finding = check(rate("d <= 1", conditions=("d >= 1", condition)))  # exponents of at most 3
    assert finding.verdict is (REFUTED if exponent else PROVED)
    assert finding.counterexample.get("d", "(n)^") == f"(n)^{exponent}"


TOO_LARGE = "as n grows with d = (n)^0, n = (n)^1: left exceeds right by "


@pytest.mark.parametrize(("claim", "evidence"), [
    (rate("n**2 <= n*d", tilde=True),
     TOO_LARGE + "the factor (n)^1; first term too large: n**2; it is within where n <= d"),
    (rate("n*log(n) <= n", tilde=False), TOO_LARGE + "logarithms only; first term too large: n*log(n)"),
    (rate("d == n*d", tilde=True), "as n grows with d = (n)^0, n = (n)^1: left is below right by the factor (n)^1; "
     "first term too large: d*n; it is within where n <= 1"),
    (rate("n*d == d*n", tilde=False), "left is the same order as right for all exponents in the region (linear "
     "programs; logarithms counted)"),
    (rate("n*min(n, d) <= n"), "first term too large: n*Min(d, n)"),  # a least of two has no regime
    (rate("sqrt(n) + n**2*d <= n**3 + d**2"), "too large: d*n**2; it is within where d <= n or n^2 <= d"),
    (rate("sqrt(n)*d**3 <= m", "n d m", ()), "it is within where d^3*n^(1/2) <= m"),
    (table("integer_means", runs=5, entries=[("0.5", "0.577")]),
     "0.5 +- 0.577 is impossible for 5 integers; possible for [4]"),
])  # fmt: skip
def test_the_words_of_what_is_found(claim, evidence):
    assert check(claim).evidence.endswith(evidence)


def test_a_reason_is_given_with_the_instance_that_a_claim_names():
    assert "unknown name" in check(of("x == z", "x")).evidence
    low = check(gaussian("D*sqrt(log(1.25/delta))/epsilon", instances=[INSTANCE]))
    assert "needed std / printed std" in low.evidence and low.counterexample == {**INSTANCE, "delta": "1e-05"}


@pytest.mark.parametrize(("steps", "verdict", "told"), [
    ("a: x <-; if; b: y <- x; else; c: y <-; end; d: <- y", PROVED, ""),
    ("if; b: y <-; end; d: <- y", ILL, "y at line d"), ("loop; a: y <- x; b: x <- y; end", ILL, "x at line a"),
])  # fmt: skip
def test_definite_assignment(steps, verdict, told):
    found = check({"steps": steps.split("; ")})
    assert found.verdict is verdict and told in found.evidence


def test_a_slow_claim_is_unknown(monkeypatch):
    monkeypatch.setattr("dpassay.proofs_check.checkers.TIME_LIMIT", 0.01)  # of 0.04 that it takes when all is loaded
    assert check(of("chi2_sf(x, d) <= 1", "x", {"d": "integer [1, 100]"})).verdict is UNKNOWN


def test_a_rate_that_the_solver_leaves_open_is_unknown(monkeypatch):
    monkeypatch.setattr("z3.Solver.check", lambda _: z3.unknown)
    found = check({"claim": "n <= n**2", "scale": "n", "positive": "n"})
    assert found.verdict is UNKNOWN and "undecided" in found.evidence


def test_evidence_names_a_point_that_can_be_plugged_in_if_there_is_one_and_tells_both_sides_apart():
    assert float(check(of("x**2 <= 10*x", "x")).counterexample["x"]) > 10
    for claim in (same({"one": "4", "two": "3"}), of("4 == 3"), of("4 <= 3")):
        evidence = check(claim).evidence
        assert "left = 4" in evidence and "at :" not in evidence and " : " not in evidence
    near = of("sqrt(x**2 + y**2) == y", domain={"x": "[1/100, 1/50]", "y": "[200, 300]"})
    left, right = check(near).evidence.split("left = ")[1].split(";")[0].split(", right = ")
    assert left != right


# Numbers that refute must err on the author's side: lower bounds are below, counterexamples inside the region.
@pytest.mark.parametrize(("noise", "rate"), [(0.5, 0.1), (1.0, 0.5), (2.0, 0.3), (20.0, 1.0)])
def test_the_bound_that_refutes_is_below_the_exact_epsilon(noise, rate):
    """One release: delta(epsilon) = q delta_0(log(1 + (e^epsilon - 1)/q)) (Balle et al. 2018, Theorem 8)."""

    def spent(epsilon):
        return rate * gdp_delta(log(1 + (exp(epsilon) - 1) / rate), 1 / noise) - 1e-5

    exact = brentq(spent, 1e-6, 50.0, xtol=1e-12)
    assert 0.9 * exact < sampled_epsilon(noise, rate, 1, 1e-5) <= exact


# The papers' formulas and the functions of the reference give the same numbers, for all papers.
RTOL = 1e-9  # a dozen roundings on each side, and the ceilings are exact


@cache
def compiled(formula, *names):
    return sp.lambdify(names, parse(formula, names), ["scipy", "numpy"])


def value(tie, point):
    with np.errstate(all="ignore"):  # of two swapped constants: the root of a negative number
        found = float(compiled(tie.formula, *point)(*point.values()))
    return tie.rounding(found) if tie.rounding and isfinite(found) else found


def agrees(tie):
    return all(tie.code(point) == pytest.approx(value(tie, point), rel=RTOL) for point in tie.numbers)


@pytest.mark.parametrize("tie", ties(), ids=lambda tie: f"{tie.source}:{tie.place}")
def test_formula_and_code_agree(tie):
    assert agrees(tie)


def test_every_paper_is_tied_and_every_schedule_that_says_so():
    assert {tie.source.partition(".")[0] for tie in ties()} >= set(PAPERS)
    tied = {tie.source for tie in ties()}
    rows = [row for one in statements() if one.schedule for row in schedule(one)]
    assert [row for row in rows if row[-1] in tied] == [] and sum("compared" in row[-1] for row in rows) > 30


def test_a_tie_sees_each_term_of_a_maximum_and_one_constant_in_the_place_of_another():
    drawn = 10 ** np.random.default_rng(49).uniform(-1, 1, (40, 30))
    for tie in ties():
        formula = parse(tie.formula, names := list(tie.numbers[0]))
        for part in (one for one in sp.preorder_traversal(formula) if one.func in (sp.Max, sp.Min)):
            apart = [sp.lambdify(names, part - term, ["scipy", "numpy"]) for term in part.args]
            assert all(any(abs(one(*p.values())) < 1e-12 for p in tie.numbers) for one in apart), (tie, part)
        names = sorted(names_of(tie.formula) & set(tie.numbers[0]))
        assert all(point[name] != 1 for point in tie.numbers for name in names), tie
        for one, two in combinations(names, 2):
            some = (dict(zip(tie.numbers[0], row, strict=False)) for row in drawn)  # none sees what is symmetric
            seen, seen_by_some = (any(value(tie, {**p, one: p[two], two: p[one]}) != pytest.approx(
                value(tie, p), nan_ok=True) for p in points) for points in (tie.numbers, some))  # fmt: skip
            assert seen or not seen_by_some, (tie, one, two)


def test_a_drift_on_either_side_is_seen():
    tie = next(tie for tie in ties() if tie.source == "output_perturbation.algorithm1.printed")
    assert not agrees(replace(tie, code=lambda p: tie.code(p) * 1.001))
    assert not agrees(replace(tie, formula=f"1.001*({tie.formula})"))


def test_counts_come_from_transcripts():
    assert count("minimax_sosp/dp_rgda", "step/v", {"T": 8, "K": 5, "q": 4}) == 40
    assert count("adaptive_batch/tree", "node", {"S": 16}) == 4
    assert count("minimax_sosp/dp_rgda_at_a_saddle", "returned/saddle", {"T": 40}) == 1
    assert count("minimax_sosp/dp_rgda_at_a_saddle", "returned/left", {"T": 150}) == 0
    for name, missing in (("dro/nobody", "not one of"), ("minimax_sosp/dp_rgda", "K is not given")):
        with pytest.raises(FormulaError, match=missing):
            count(name, "", {"T": 10})


def test_the_examples_of_the_page_run():
    page = Path(__file__).parents[2] / "docs" / "proofs.md"
    failed, run = doctest.testfile(str(page), module_relative=False)
    assert run >= 6 and failed == 0


# The parser accepts declared names and a few functions, and nothing else.
REFUSED = """__import__('os').system('true'); x.__class__; (lambda: 1)(); [x for x in y]; 'a'; x if x else 1
unknown + 1; E + 1; open('f'); log(x, 2, base=3); sqrt(x, x); 9**9**9**9; 1/0; x +; True; sqrt(0 - x)**2; log(-1)**2;
0**(0 - 1); 0.10000000000000000000001; 1e-400; 1e400"""


@pytest.mark.parametrize("text", [*REFUSED.replace("\n", "; ").split("; "), "x" * 3000])
def test_everything_outside_the_whitelist_is_refused(text):
    with pytest.raises(FormulaError):
        parse(text, {"x", "y"})


def test_names_that_sympify_would_take_for_constants_are_symbols():
    for name in ("N", "S", "Q", "E", "I", "beta", "gamma", "lam", "pi"):
        assert parse(f"2*{name}", {name}) == 2 * symbol(name)


def test_numbers_stay_exact_and_definitions_may_use_earlier_ones():
    assert parse("0.1 + 1/3", ()) == sp.Rational(13, 30)
    table = resolve({"a": "2*x", "b": "a**2"}, {"x": symbol("x")})
    assert table["b"] == 4 * symbol("x") ** 2


def test_a_relation_has_exactly_one_operator():
    assert parse_relation("x <= 2", {"x"})[1] == "<="
    for text in ("x", "1 < x < 2", "x != 2"):
        with pytest.raises(FormulaError):
            parse_relation(text, {"x"})
