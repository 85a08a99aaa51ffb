"""Right proofs are proved, wrong ones break at the step that is wrong, and every status is derived."""

import os
import re
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.proofs_check.derivation import ledger
from dpassay.proofs_check.derivation.derive import derive
from dpassay.proofs_check.derivation.model import parse, statements
from dpassay.proofs_check.derivation.show import point
from dpassay.proofs_check.derivation.show import text as shown
from dpassay.proofs_check.derivation.solver import Answer, Decision
from dpassay.proofs_check.derivation.status import statuses
from dpassay.reference import kept as store
from dpassay.reference import sources
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


def test_a_gap_is_named_where_it_is_with_the_command_and_closed_where_it_is_repaired():
    symbols, far = {"positive": "a"}, {"says": "a <= 3", "place": "assumption"}
    step = {"says": "a <= 2", "uses": ["size"], "words": "the 2 is lost", "place": ""}
    mended = {"says": "a <= 2", "given": {"size": {"says": "a <= 1", "place": "assumption"}}}
    data = {"says": "a <= 2", "symbols": symbols, "given": {"size": far}, "step": {"it's": step}, "repaired": mended}
    read = [parse({"name": "first", **data}, "dro", "first")]
    for name, other in (("second", "first"), ("third", "second")):
        rests = {"says": "a <= 2", "given": {"it": {"says": "a <= 2", "from": other}}, "step": {"a": {"uses": ["it"]}}}
        read.append(parse({"name": name, "symbols": symbols, **rests}, "dro", name))
    first, second, third = map(shown, ledger.examine(read))
    gap = """     gap: dpassay prove first --paper dro --step 'it'"'"'s'"""
    assert all(gap in one for one in (first, second, third))
    assert "whose chain breaks: the gaps are in first." in third and "whose chain breaks.\n" in second
    assert first.count("the 2 is lost") == 1 and "a <= 2   from size" in first and first.count("at a = 3") == 1


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
    ({"step": {"one": {}}, "symbols": {"positive": "E"}}, "is the expectation"),
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
    assert [one.name for one in ledger.named("Lem. D.1", ["second_order_erm"])] == ["Lemma 2"]
    assert [one.name for one in ledger.named("Table 7", ["second_order_erm"])] == ["Tables of losses"]
    for wrong, said in {"Lemma D.4": "", "Proposition 1": "there is one in dro", "Theorem 3.4": "_batch and o"}.items():
        with pytest.raises(BadInput, match=f"no statement of this name, .*{said}"):
            ledger.named(wrong, ["minimax_sosp", "second_order_erm"])  # they cite one


def test_the_pages_name_statements_and_steps_that_there_are():
    pages = [*Path(__file__).parents[2].glob("docs/*.md"), Path(__file__).parents[2] / "README.md"]
    shown = [one for page in pages for one in re.findall(r'dpassay prove ("[A-Z][a-z].*)', page.read_text("utf-8"))]
    for name, options in (re.match(r'"([^"]+)"([^`#]*)', one).groups() for one in shown):
        paper, step = (re.search(rf"--{option} ([a-z\d]\w*)", options) for option in ("paper", "step"))
        found = ledger.named(name, [paper[1]] if paper else None)
        assert step is None or all(step[1] in {each.id for each in one.step} for one in found), (name, options)
    assert len(shown) > 4


SOME = """from dpassay.proofs_check.derivation.derive import derive
from dpassay.proofs_check.derivation.model import statements
found = {one.key: one for one in statements(["dro"])}
for name in ("Lemma 5", "Theorem 2", "Theorem 5"):  # numbers of the solver, a fact that is no instance, a rate
    one = derive(found[f"dro: {name}"], found)
    print(one.chain, one.repaired, one.remarks)"""


@pytest.mark.more
def test_nothing_hangs_on_the_order_of_sets():
    told = [subprocess.run([sys.executable, "-c", SOME], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
                           capture_output=True).stdout for seed in "12"]  # fmt: skip
    assert told[0] == told[1] and told[0].count(b"Checked") > 9


# A derivation that was kept is the one that would be made; other files or other code are decided anew.
@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPASSAY_CACHE", str(tmp_path))
    return tmp_path / "statements"


@pytest.fixture(scope="module")
def printed():
    """A broken statement with a repair, evidence, a slip and a note: every field is used."""
    return next(one for one in statements(["second_order_erm"]) if one.repaired and one.false and one.slip and one.note)


def never(*_):
    raise AssertionError("decided anew")


def test_what_was_kept_is_what_was_decided(printed, monkeypatch):
    found = ledger.derived(printed, {})
    assert found.repaired and found.false and found.chain.broken() and found.remarks["slip"] and found.remarks["note"]
    monkeypatch.setattr(ledger, "derive", never)
    assert ledger.derived(printed, {}) == found
    monkeypatch.setattr(ledger, "Parallel", lambda n_jobs, **_: list if n_jobs == 1 else never)  # no worker is started
    assert [one.derivation for one in ledger.examine([printed], jobs=2)] == [found]


def test_another_step_another_source_and_another_solver_are_decided_anew(printed, monkeypatch):
    ledger.derived(printed, {})
    monkeypatch.setattr(ledger, "derive", never)
    other = replace(printed, step=(replace(printed.step[0], says="0 <= 1"), *printed.step[1:]))
    for statement, used in ((other, {}), (printed, {"x": other})):
        with pytest.raises(AssertionError, match="decided anew"):
            ledger.derived(statement, used)
    monkeypatch.setattr(store, "environment", lambda: "another solver")
    with pytest.raises(AssertionError, match="decided anew"):
        ledger.derived(printed, {})


@pytest.mark.parametrize(("changed", "anew"), [
    ("derivation/solver.py", True), ("derivation/inferences.toml", True), ("reference/papers.toml", True),
    ("ties/dp_ftrl.py", True), ("dp_ftrl/dp_ftrl.py", True),  # whose releases a check counts
    ("ties/dro.py", False), ("dro/constants.py", False), ("derivation/ledger.py", False),
])  # fmt: skip
def test_a_change_of_what_a_derivation_hangs_on_is_decided_anew_and_no_other(changed, anew, monkeypatch):
    (counts,) = (one for one in statements(["dp_ftrl"]) if one.name == "Algorithm 1")
    ledger.derived(counts, {})
    content = sources._content
    monkeypatch.setattr(sources, "_content", lambda path: content(path) + b"#" * path.as_posix().endswith(changed))
    monkeypatch.setattr(ledger, "_code", ledger._code.__wrapped__)
    monkeypatch.setattr(ledger, "derive", never)
    with pytest.raises(AssertionError, match="decided anew") if anew else nullcontext():
        ledger.derived(counts, {})


@pytest.mark.parametrize("content", ["", "{", '{"code": 1}', "[]", "null", '{"code": "x", "answer": null}'])
def test_a_file_that_cannot_be_read_counts_as_not_there(content, tmp_path):
    (tmp_path / "name.json").write_text(content)
    assert store.kept("name", "x") is None


def test_a_file_with_a_problem_or_an_undecided_step_is_decided_each_time(printed, folder, monkeypatch):
    unneeded = replace(printed.given[0], id="unneeded", added=True, words="for nothing")
    bad = replace(printed, given=(*printed.given, unneeded), step=(*printed.step[:-1], replace(
        printed.step[-1], uses=(*printed.step[-1].uses, "unneeded"))))  # fmt: skip
    assert ledger.derived(bad, {}).problems and not folder.exists()
    found = derive(printed)
    first, *others = found.chain.steps
    left = replace(first, decision=Decision(Answer.UNDECIDED))
    left = replace(found, chain=replace(found.chain, steps=(left, *others)))
    monkeypatch.setattr(ledger, "derive", lambda *_: left)
    assert ledger.derived(printed, {}).undecided and not folder.exists()


def test_no_folder_keeps_nothing_and_stops_nothing(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    for place, answer in (("", None), (str(tmp_path / "file"), None), (str(tmp_path), [1])):
        monkeypatch.setenv("DPASSAY_CACHE", place)
        store.keep("name", "x", [1])
        assert store.kept("name", "x") == answer
