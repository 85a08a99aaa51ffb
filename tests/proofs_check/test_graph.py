"""Statuses of statements: from their own rows, from what they use, and from savings that exclude each other."""

from math import ceil, log2

import pytest

from dpassay.proofs_check import graph
from dpassay.proofs_check.check import check_row
from dpassay.proofs_check.claim import Finding, Result, Row, Saves, Saving, Severity, Verdict
from dpassay.proofs_check.derivations import PARTS, SAYS, USES
from dpassay.proofs_check.explain import explain
from dpassay.proofs_check.graph import Status
from dpassay.proofs_check.joint import Conflict, Joint
from dpassay.proofs_check.ledger import chosen, load_rows
from dpassay.proofs_check.rows import build
from dpassay.proofs_check.statements import STATEMENTS
from dpassay.reference.papers import Cite

PRIVACY, UTILITY = Severity.PRIVACY, Severity.UTILITY
ROWS = {row.id: row for row in load_rows()}


def decided(name, place, verdict, saving=None, severity=UTILITY):
    row = Row(f"dro/{name}", Cite("dro", place), "s", build.identity("1 == 2"), severity)
    row = row if saving is None else Row(row.id, row.cite, "s", row.claim, severity, saving=Saving(saving, "so"))
    passes = Finding(Verdict.PROVED, "yes") if saving else None
    return Result(row, Finding(verdict, "no"), passes)


@pytest.fixture
def small(monkeypatch):
    """Theorem 1 uses Lemma 1; each has the rows that the test gives."""

    def status(*results, side=UTILITY):
        known = {result.row.id: result for result in results}
        monkeypatch.setattr(graph, "USES", {"dro": {"Theorem 1": ("Lemma 1",)}})
        monkeypatch.setattr(graph, "PARTS", {"dro": {}})
        monkeypatch.setattr(graph, "SAYS", {"dro": frozenset({"thm1/itself"})})
        monkeypatch.setattr(graph, "load_rows", lambda papers: [result.row for result in results])
        graph._steps.cache_clear()
        found = graph.standing("dro", "Theorem 1", side, known)
        graph._steps.cache_clear()
        return found

    return status


def test_what_passes_is_proved_and_what_is_not_there_is_open(small):
    good = decided("thm1/step", "Theorem 1", Verdict.PROVED)
    assert small(good).status is Status.PROVED
    assert small(good, side=PRIVACY).status is Status.OPEN
    assert small().status is Status.OPEN


def test_a_repair_does_not_save_and_a_condition_does(small):
    good = decided("thm1/step", "Theorem 1", Verdict.PROVED)
    repaired = decided("thm1/other", "Theorem 1", Verdict.REFUTED, Saves.REPAIR)
    condition = decided("thm1/other", "Theorem 1", Verdict.REFUTED, Saves.CONDITION)
    assert small(good, repaired).status is Status.UNSUPPORTED
    found = small(good, condition)
    assert found.status is Status.CONDITIONAL and found.under == ("condition thm1/other: so",)


def test_a_failing_lemma_leaves_the_theorem_unsupported(small):
    good = decided("thm1/step", "Theorem 1", Verdict.PROVED)
    lemma = decided("lemma1/step", "Lemma 1", Verdict.REFUTED)
    found = small(good, lemma)
    assert found.status is Status.UNSUPPORTED and found.through == "Lemma 1"


def test_false_is_only_what_fails_itself(small):
    assert small(decided("thm1/itself", "Theorem 1", Verdict.REFUTED)).status is Status.FALSE
    saved = decided("thm1/itself", "Theorem 1", Verdict.REFUTED, Saves.READING)
    assert small(saved).status is Status.CONDITIONAL


def test_spot_checks_and_cosmetic_failures_decide_no_status(small):
    assert small(decided("thm1/step", "Theorem 1", Verdict.SPOT_CHECKED)).status is Status.OPEN
    slip = decided("thm1/slip", "Theorem 1", Verdict.REFUTED, severity=Severity.COSMETIC)
    assert small(slip).status is Status.OPEN


def test_savings_that_exclude_each_other_support_nothing(small, monkeypatch):
    one = decided("thm1/one", "Theorem 1", Verdict.REFUTED, Saves.CONDITION)
    two = decided("thm1/two", "Theorem 1", Verdict.REFUTED, Saves.CONDITION)
    conflict = Conflict((one.row.id, two.row.id), "S is one and two")
    monkeypatch.setattr(graph, "joint", lambda _: Joint({}, (conflict,)))
    found = small(one, two)
    assert found.status is Status.UNSUPPORTED and "S is one and two" in found.excluded


def test_the_derivations_name_what_exists():
    for table in (USES, PARTS):
        for paper, entries in table.items():
            assert set(entries) <= set(STATEMENTS[paper]), paper
    for paper, entries in USES.items():
        assert {used for names in entries.values() for used in names} <= set(STATEMENTS[paper])
    for paper, entries in PARTS.items():
        missing = [p for ps in entries.values() for p in ps if not any(i.startswith(f"{paper}/{p}") for i in ROWS)]
        assert not missing, (paper, missing)
    assert all(f"{paper}/{name}" in ROWS for paper, names in SAYS.items() for name in names)


def test_the_savings_of_one_algorithm_exclude_each_other():
    """No S in 2..4096 is a power of two and none: the conditions of the two rows, evaluated."""
    none = ROWS["adaptive_batch/alg1/last_prefix"].saving.claim
    power = ROWS["adaptive_batch/alg1/levels"].saving.claim
    assert none.assumptions.conditions == ("ceil(log2(S)) > log2(S)",) and "2**m" in power.formula["claim"]
    powers = {2**m for m in range(1, 13)}
    both = [s for s in range(2, 4097) if ceil(log2(s)) > log2(s) and s in powers]
    assert both == []


def test_explain_names_the_statement_of_a_step():
    row = ROWS["adaptive_batch/claim37/first_error"]
    assert graph.supports(row) == ["Claim 3.7"]
    assert "a step of   Claim 3.7" in explain(check_row(row))


def test_no_statement_rests_on_itself():
    for paper, entries in USES.items():
        for name in entries:
            assert name not in graph.below(paper, name)[1:], (paper, name)


def test_a_row_held_against_a_theorem_is_no_step_of_it():
    """Algorithm 3 held against Theorem 2.2 does not make Theorem 2.2 fail."""
    assert "adaptive_batch/alg3/one_tree_over_the_run" not in graph._steps("adaptive_batch")["Theorem 2.2"]


def test_claim_3_7_is_false():
    results = {row.id: check_row(row) for row in chosen("adaptive_batch/claim37")}
    assert graph.standing("adaptive_batch", "Claim 3.7", UTILITY, results).status is Status.FALSE


@pytest.mark.slow  # accounts many trees
def test_theorem_2_2_stands():
    results = {row.id: check_row(row) for row in chosen("adaptive_batch/thm22")}
    assert graph.standing("adaptive_batch", "Theorem 2.2", PRIVACY, results).status is Status.PROVED


def test_a_defect_names_the_row_that_stands_for_it():
    for row in ROWS.values():
        assert row.shows in ROWS and not ROWS[row.shows].defect, row.id
