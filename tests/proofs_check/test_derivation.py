"""Right proofs are proved, wrong ones break at the step that is wrong, and every status is derived."""

import tomllib
from pathlib import Path

import pytest

from dpassay.proofs_check.derivation.derive import derive
from dpassay.proofs_check.derivation.ledger import named
from dpassay.proofs_check.derivation.model import parse, statements
from dpassay.proofs_check.derivation.show import point
from dpassay.proofs_check.derivation.solver import Answer
from dpassay.proofs_check.derivation.status import statuses
from dpassay.reference.errors import BadInput

TRIALS = tomllib.loads(Path(__file__).with_name("trials.toml").read_text())["statement"]


def _statement(entry):
    """A trial: short forms are TOML's inline tables; ``extra`` are more symbols."""
    symbols = dict(entry["symbols"])
    for name, text in entry.get("extra", {}).items():
        symbols[name] = f"{symbols.get(name, '')} {text}"
    data = {name: value for name, value in entry.items() if name not in ("status", "extra")}
    return parse({**data, "symbols": symbols}, "dro", entry["name"])


@pytest.fixture(scope="module")
def found():
    found = {one.key: one for one in map(_statement, TRIALS)}
    return statuses([derive(one, found) for one in found.values()])


@pytest.mark.parametrize("entry", [one for one in TRIALS if "status" in one], ids=lambda one: one["name"])
def test_a_trial_ends_in_its_status(found, entry):
    assert found[f"dro: {entry['name']}"].label == entry["status"]


def test_a_statement_names_the_conditions_of_what_it_uses(found):
    assert found["dro: what uses it holds under the same"].conditions == ("smaller",)


@pytest.mark.parametrize("fact", [{"place": "small delta"}, {"place": "repaired"}, {"added": True}])
def test_a_fact_that_is_not_in_the_paper_is_added_and_says_what_it_is(fact):
    data = {"name": "x", "says": "a <= 1", "symbols": {"positive": "a"}, "step": {"one": {}}}
    fact = {"says": "a <= 1", **fact}
    mended = {"says": "a <= 1", "given": {"range": {**fact, "place": ""}}}
    for changed in ({"given": {"range": fact}}, {"repaired": mended}):
        with pytest.raises(BadInput, match=r"is no place in the paper|no words say"):
            parse({**data, **changed}, "dro", "x")


@pytest.mark.parametrize(("parts", "why"), [
    ({}, "has no step"), ({"step": [{"id": "one"}]}, r"expected a table for each, \[step.NAME\]"),
    ({"given": {"one": {"says": "a <= 1", "place": "assumption"}}, "step": {"one": {}}}, "is a fact and a step"),
    ({"step": {"one": {"used": []}}}, "Unexpected keyword"),
])  # fmt: skip
def test_a_file_of_another_form_is_refused(parts, why):
    with pytest.raises(BadInput, match=why):
        parse({"name": "x", "says": "a <= 1", "symbols": {"positive": "a"}, **parts}, "dro", "x")


@pytest.mark.parametrize("wrong", ["x/x == 1", "x**0 == 1", "norm(x*y/y) == norm(x)", "norm(x + 1 - 1) >= 0"])
def test_vectors_are_no_numbers_also_where_they_cancel(wrong):
    symbols = {"positive": "a", "vectors": "x y"}
    one = parse({"name": "x", "says": wrong, "symbols": symbols, "step": {"one": {}}}, "dro", "x")
    decision = derive(one, {one.key: one}).chain.steps[0].decision
    assert decision.answer is Answer.UNDECIDED and "vector" in decision.evidence


def test_a_long_number_is_rounded_and_not_cut():
    told = point({"delta": "999999999/1000000000", "small": "0.00000000001234", "r": "(1/epsilon)^1001/2000", "n": "7"})
    assert told == "delta = 0.999999999, small = 1.234e-11, r = (1/epsilon)^1001/2000, n = 7"


def test_a_statement_is_found_by_the_names_of_its_place():
    among = statements(["second_order_erm"])
    assert [one.name for one in named("lemma D.1", among)] == ["Lemma 2"]
    assert [one.name for one in named("Table 7", among)] == ["Tables of losses"]
    for wrong, papers in (("Lemma D.4", ["second_order_erm"]), ("Proposition 1", ["minimax_sosp"])):  # it cites one
        with pytest.raises(BadInput, match="no statement of this name"):
            named(wrong, statements(papers))
