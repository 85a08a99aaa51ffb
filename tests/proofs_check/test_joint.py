"""Savings taken together: points satisfy what they are for, contradictions are smallest and certified."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.proofs_check.choices import CHOICES, GIVEN, Choice
from dpassay.proofs_check.claim import Saves
from dpassay.proofs_check.formula import FormulaError
from dpassay.proofs_check.joint import joint, solve
from dpassay.proofs_check.ledger import load_rows

ROWS = {row.id: row for row in load_rows()}


def holds(text, point, slack=1e-9):
    """A relation of these tests and of the catalogue (ours, so that Python may evaluate it)."""
    sides = text.replace(">=", "<=").replace("==", "<=").split("<=")
    left, right = (eval(side, {"sqrt": math.sqrt}, point) for side in sides)
    if "==" in text:
        return math.isclose(left, right, rel_tol=1e-9)
    return left >= right * (1 - slack) if ">=" in text else left <= right * (1 + slack)


@pytest.mark.parametrize("paper", CHOICES)
def test_the_point_satisfies_what_is_in_no_conflict(paper):
    found = joint(paper)
    given_up = {one.rows[-1].split("/", 1)[1] for one in found.conflicts if one.why.endswith("<= 1")}
    for text in GIVEN[paper]:
        assert holds(text, found.point), text
    for choice in CHOICES[paper]:
        if choice.row not in given_up:
            assert all(holds(text, found.point) for text in choice.conditions), choice.row


@pytest.mark.parametrize("paper", CHOICES)
def test_choices_are_savings_that_leave_the_statement_standing(paper):
    for choice in CHOICES[paper]:
        assert ROWS[f"{paper}/{choice.row}"].saving.kind in (Saves.CONDITION, Saves.READING), choice.row


def test_known_contradictions():
    rows = {frozenset(row.split("/", 1)[1] for row in one.rows) for one in joint("adaptive_batch").conflicts}
    assert frozenset({"alg1/last_prefix", "alg1/levels"}) in rows
    assert frozenset({"alg3/halts_before_next_batch", "lemma313/sigma_t_half"}) in rows
    dro = {frozenset(row.split("/", 1)[1] for row in one.rows) for one in joint("dro").conflicts}
    assert frozenset({"thm1/any_epsilon", "thm7/T_in_hard_regime", "thm8/value_noise"}) in dro


def test_the_contradiction_of_dro_by_hand():
    """d^2 l^2 <= n e^4 and d^3 l >= n^2 e^2 give d l^3 <= e^6, which fails for e <= 1, d >= 1, l >= 4."""
    for n, d, ell, epsilon in itertools.product(
        *[[10.0**k for k in range(0, 13, 3)]] * 2, [4.0, 9.0, 18.0], [0.1, 1.0]
    ):
        assert not (d**2 * ell**2 <= n * epsilon**4 and d**3 * ell >= n**2 * epsilon**2)


def test_a_contradiction_is_smallest_and_its_certificate_holds():
    choices = (
        Choice("a", ("x >= 2*y",)),
        Choice("b", ("y >= 3*z",)),
        Choice("c", ("z >= x",)),
        Choice("d", ("w >= 1",)),
    )
    found = solve((), choices)
    (conflict,) = found.conflicts
    assert conflict.rows == ("a", "b", "c") and conflict.why.endswith("leaves 6.000 <= 1")
    assert found.point["w"] >= 1 - 1e-9


def test_facts_exclude_their_opposites_only():
    found = solve(
        (), (Choice("a", facts=("it is",)), Choice("b", facts=("not it is",)), Choice("c", facts=("it was",)))
    )
    assert [one.rows for one in found.conflicts] == [("a", "b")]


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz"), st.integers(1, 9)), max_size=6))
@settings(max_examples=25, deadline=None)
def test_chains_of_ratios_are_decided_right(edges):
    """x >= c y along a cycle with product of c above 1 is impossible, everything else is possible."""
    choices = [Choice(str(k), (f"{a} >= {c}*{b}",)) for k, (a, b, c) in enumerate(edges) if a != b]
    weight = {(a, b): -math.inf for a in "xyz" for b in "xyz"}
    for a, b, c in edges:
        if a != b:
            weight[a, b] = max(weight[a, b], math.log(c))
    for via, a, b in itertools.product("xyz", repeat=3):
        weight[a, b] = max(weight[a, b], weight[a, via] + weight[via, b])
    impossible = any(weight[a, a] > 1e-9 for a in "xyz")
    assert bool(solve((), choices).conflicts) == impossible


@pytest.mark.parametrize("text", ["x + y <= 1", "x <= log(y)", "x - 1 <= 0"])
def test_what_is_no_product_of_powers_is_refused(text):
    with pytest.raises(FormulaError):
        solve((), (Choice("a", (text,)),))


def test_givens_that_contradict_themselves_are_refused():
    with pytest.raises(FormulaError, match="contradicts itself"):
        solve(("x >= 2", "x <= 1"), ())
