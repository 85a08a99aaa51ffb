# ruff: noqa: E501
"""For each kind of checker: claims that look right and are wrong, and claims that look wrong and are right."""

import pytest

from dpassay.proofs_check.check import check
from dpassay.proofs_check.claim import Kind, Verdict
from dpassay.proofs_check.rows import build

DP = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)"}
CLASSICAL = "sqrt(2*log(1.25/delta))/epsilon"
DOUBLE = "dro/double_spider"
RUN = [{"T": "60", "q": "20", "n": "1000", "epsilon": "1/2", "delta": "1/100000"}]
SIZES = {**DP, "n": "integer [1, 10000]", "T": "integer [1, 1000]", "q": "integer [1, 1000]"}

MUST_FAIL = {
    "identity: true at every integer tried first, false between": build.identity("floor(x) == x", domain={"x": "[0, 9]"}),
    "identity: a root that loses its sign": build.identity("sqrt((a - b)**2) == a - b", "a b"),
    "inequality: true on all of [0, 1] but a corner": build.inequality("x + y <= 3/2", domain={"x": "[0, 1]", "y": "[0, 1]"}),
    "inequality: strict where it touches": build.inequality("2*a*b < a**2 + b**2", "a b", hints=[{"a": "1", "b": "1"}]),
    "inequality: maximum on the left": build.inequality("max(a, b) <= (a + b)/2", "a b"),
    "rates: the sum of two rates is not their product": build.rates("n + d <= sqrt(n*d)", "n", "n d", conditions=("d >= 1",)),
    "rates: a logarithm is not hidden by O": build.rates("log(n) <= 1", "n", "n", tilde=False),
    "units: a root of a product of unlike things": build.units("sqrt(g*h) == g", g="v/l", h="v/l**2"),
    "budget: one batch too many": build.budget("(T + 1)*(n/T) <= n", domain={"n": "[10, 100]", "T": "integer [1, 10]"}),
    "budget: exponents": build.budget("T*B <= n", "n", scale="n", let={"T": "sqrt(n)", "B": "n**(3/5)"}),
    "privacy: noise for one release, two made": build.privacy(CLASSICAL, "1", "epsilon", "delta", "", DP, count="2"),
    "privacy: noise scaled by the sampling rate": build.privacy(
        f"q*{CLASSICAL}", "1", "epsilon", "delta", "", {**DP, "q": "(0, 1)"}, rate="q",
        instances=[{"epsilon": "1/2", "delta": "1/100000", "q": "1/100"}]),
    "privacy: losses that coarse buckets would round to zero": build.privacy(  # true epsilon 0.012
        "30", "1", "1/200", "9/100000", rate="1/50", count="100", instances=[{}]),
    "privacy: counted from the transcript": build.privacy(
        CLASSICAL, "1", "epsilon", "delta", "", SIZES, count="k", releases={"k": (DOUBLE, "eta/difference")}, instances=RUN),
    "privacy: a printed count": build.releases("k <= T/q", {"k": (DOUBLE, "eta")}, [{"T": "60", "q": "20"}]),
    "montecarlo: the mean is no quantile": build.montecarlo("gaussian_norm", "sqrt(d)", "9/10", [{"d": "30"}], 4000),
    "tables: five integers have no mean 1/4": build.table("integer_means", runs=5, entries=[("0.25", "0.500")]),
    "consistency: two places differ by a constant": build.same({"one": "2*x", "two": "x + x + 1/1000"}, "x"),
    "consistency: written on one branch only": build.program("a", "if", "1: b <- a", "end", "2: <- b"),
}  # fmt: skip
MUST_HOLD = {
    "identity: looks like a lost 2": build.identity("log(x**2) == 2*log(x)", "x"),
    "identity: different shapes": build.identity("1/(1 - a) - 1 == a/(1 - a)", domain={"a": "(0, 1)"}),
    "inequality: a sum against one maximum": build.inequality("a + b <= 2*max(a, b)", "a b"),
    "inequality: touches and never crosses": build.inequality("4*x*(1 - x) <= 1", domain={"x": "[0, 1]"}),
    "rates: a sum is its larger term": build.rates("n + sqrt(n) == n", "n", "n"),
    "rates: O~ hides a square of a logarithm": build.rates("log(n)**2 == 1", "n", "n"),
    "units: roots of units": build.units("sqrt(rho*g) == h", rho="v/l**3", g="v/l", h="v/l**2"),
    "budget: disjoint batches use the data once": build.budget("K*(n/K) <= n", "K n"),
    "privacy: delta split in halves": build.privacy(
        "sqrt(2*log(2.5/delta))/epsilon", "1", "epsilon", "delta", "", DP, failure="delta/2"),
    "privacy: a constant that absorbs two sequences": build.privacy(
        f"2*{CLASSICAL}", "1", "epsilon", "delta", "", DP, count="2"),
    "privacy: a count that stays below T": build.releases("k <= T", {"k": (DOUBLE, "eta/difference")}, [{"T": str(20 + t), "q": "20"} for t in range(8)]),
    "montecarlo: a bound with room": build.montecarlo(
        "gaussian_max", "sqrt(2*log(k)) + 3", "99/100", [{"k": str(10 * k)} for k in range(1, 7)], 4000),
    "tables: an odd-looking mean that is possible": build.table("integer_means", runs=5, entries=[("0.2", "0.447")]),
    "consistency: the same in other words": build.same({"one": "1/min(a, b)", "two": "max(1/a, 1/b)"}, "a b"),
    "consistency: written on both branches": build.program("a", "if", "1: b <- a", "else", "2: b <-", "end", "3: <- b"),
}  # fmt: skip


@pytest.mark.parametrize("name", MUST_FAIL)
def test_looks_right_and_is_wrong(name):
    finding = check(MUST_FAIL[name])
    assert finding.verdict in (Verdict.REFUTED, Verdict.ILL_DEFINED), finding.evidence


@pytest.mark.parametrize("name", MUST_HOLD)
def test_looks_wrong_and_is_right(name):
    finding = check(MUST_HOLD[name])
    assert finding.holds, finding.evidence


def test_every_kind_has_a_trap_on_both_sides():
    assert {claim.kind for claim in MUST_FAIL.values()} == set(Kind)
    assert {claim.kind for claim in MUST_HOLD.values()} == set(Kind)


def test_the_table_of_the_ledger_is_the_table_of_the_published_numbers():
    from dpassay.audit.published.dro import EPSILONS, TABLE_2
    from dpassay.proofs_check.rows.dro import table2

    assert [float(e) for e in table2.EPSILONS] == list(EPSILONS)
    for name, printed in (
        ("DP Double SPIDER", table2.DOUBLE),
        ("DP Recursive SPIDER", table2.RECURSIVE),
    ):
        assert [float(auc) for auc in printed] == [mean for mean, _ in TABLE_2[name]]
