"""What a failing row costs, from the graph: theorems above it fall, hold under its saving, or nothing happens."""

import pytest

from dpassay.proofs_check.check import check_row
from dpassay.proofs_check.claim import Finding, Result, Saves, Severity, Verdict
from dpassay.proofs_check.corrections import Correction, State
from dpassay.proofs_check.effects import (
    SETTLED,
    Effect,
    Weight,
    at_stake,
    disagreements,
    effect,
    effects_line,
    is_statement,
    unsettled,
)  # fmt: skip
from dpassay.proofs_check.ledger import check_all, chosen, load_rows
from dpassay.proofs_check.surroundings import around, statement

ROWS = {row.id: row for row in load_rows()}
NO, YES = Finding(Verdict.REFUTED, "no"), Finding(Verdict.PROVED, "yes")


def failing(row_id, saved=False):
    return Result(ROWS[row_id], NO, YES if saved else None)


def test_a_step_of_a_lemma_takes_its_theorem_down():
    found = effect(failing("adaptive_batch/lemma313/sigma_tree"))
    assert found.weight is Weight.PRIVACY_FALLS
    assert found.statements[0] == "Theorem 3.17" and "Lemma 3.14" in found.statements
    assert "Lemma 3.15" not in found.statements


def test_a_condition_leaves_it_standing_and_a_repair_does_not():
    levels = failing("adaptive_batch/alg1/levels", saved=True)
    assert levels.saved_by is Saves.CONDITION and effect(levels).weight is Weight.PRIVACY_UNDER
    assert str(effect(levels)) == "privacy holds under its condition: Theorem 3.17"
    assert effect(failing("adaptive_batch/alg1/levels")).weight is Weight.PRIVACY_FALLS
    repaired = failing("adaptive_batch/lemma313/sigma_tree", saved=True)
    assert repaired.saved_by is Saves.REPAIR and effect(repaired).weight is Weight.PRIVACY_FALLS


def test_slips_passing_rows_and_derived_rows_cost_nothing():
    slip = next(row for row in ROWS.values() if row.severity is Severity.COSMETIC)
    derived = ROWS["minimax_sosp/alg3/clipped_mean_accounted"]
    assert effect(failing(slip.id)) == effect(failing(derived.id)) == Effect(Weight.NOTHING)
    assert derived.ours and derived.severity is Severity.PRIVACY
    assert effect(Result(ROWS["adaptive_batch/lemma313/sigma_tree"], YES)).weight is Weight.NOTHING


def test_a_row_that_is_ours_says_so():
    words = {row.id: row.statement.split()[0].strip(":,") in ("derived", "inferred") for row in ROWS.values()}
    assert {row.id for row in ROWS.values() if row.ours} == {name for name, said in words.items() if said} != set()


def test_a_slip_needs_a_corrected_statement_that_is_decided():
    slip = next(row for row in ROWS.values() if row.severity is Severity.COSMETIC and row.corrects)
    result = Result(slip, NO)
    assert unsettled(result, None) and unsettled(result, Correction(State.OPEN, "nothing"))
    assert not unsettled(result, Correction(State.OWN, "proved"))
    assert disagreements([result]) == {slip.id: "a slip whose corrected statement is open"}


def test_where_author_and_graph_differ_there_is_a_reason():
    """Decided without checking a row: what would fall if it did."""
    idle = {
        row.id
        for row in ROWS.values()
        if row.severity is not Severity.COSMETIC and not row.ours and at_stake(row).weight is Weight.NOTHING
    }
    mild = (Saves.READING, Saves.CONDITION)
    itself = {
        row.id
        for row in ROWS.values()
        if row.severity is Severity.COSMETIC and is_statement(row) and row.saving.kind not in mild
    }
    assert idle | itself == set(SETTLED)


@pytest.mark.slow
def test_every_disagreement_is_settled():
    results = check_all(jobs=2)
    assert set(disagreements(results)) <= set(SETTLED)
    assert effects_line(results).startswith(f"{sum(one.failed for one in results)} rows fail: ")


def test_the_graph_around_a_statement():
    results = {row.id: check_row(row) for row in chosen("adaptive_batch/claim37")}
    text = "\n".join(around("adaptive_batch", statement("claim 3.7", ["adaptive_batch"]), results))
    assert "utility  false" in text and "uses Claim 3.6" in text and "used by Lemma 3.8" in text
    assert "refuted      adaptive_batch/claim37/first_error  (utility falls)" in text
    assert max(map(len, text.splitlines())) <= 108
