"""The formulas of the ledger and the functions of the reference give the same numbers, for all papers."""

import doctest
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.proofs_check.claim import Claim
from dpassay.proofs_check.formula import FormulaError
from dpassay.proofs_check.ledger import load_rows
from dpassay.proofs_check.tied import TIES
from dpassay.proofs_check.ties import check_tie, expression
from dpassay.proofs_check.transcripts import ALGORITHMS, count
from dpassay.reference.papers import PAPERS

ROWS = {row.id: row for row in load_rows()}


@pytest.mark.parametrize("tie", TIES, ids=lambda tie: f"{tie.row}:{tie.part}")
def test_formula_and_code_agree(tie):
    assert check_tie(tie, ROWS[tie.row]) == ""


def test_every_paper_is_tied():
    assert {tie.row.split("/")[0] for tie in TIES} == set(PAPERS)


def test_a_drift_on_either_side_is_seen():
    tie = next(tie for tie in TIES if tie.row == "output_perturbation/alg1/sigma_is_classical")
    row = ROWS[tie.row]
    code = replace(tie, code=lambda p: tie.code(p) * 1.001)
    assert "the ledger gives" in check_tie(code, row)
    claim = Claim(row.claim.kind, {**row.claim.formula, "claim": "5*L/(mu*n) == 1"}, row.claim.assumptions)
    assert check_tie(tie, replace(row, claim=claim)) != ""


def test_an_unknown_part_is_an_error():
    with pytest.raises(FormulaError, match="no part"):
        expression(ROWS["dro/thm7/gamma_corrected"], "std", ["L1"])


def test_counts_come_from_transcripts():
    assert count("dro/double_spider", "eta/refresh", {"T": 10, "q": 4}) == 3
    assert count("minimax_sosp/dp_rgda", "step/v", {"T": 8, "K": 5, "q": 4}) == 40
    assert count("adaptive_batch/tree", "node", {"S": 16}) == 4
    assert count("adaptive_batch/one_tree", "node", {"T": 7}) == 5
    assert count("adaptive_batch/tree_per_epoch", "node", {"T": 7}) == 3
    assert count("minimax_sosp/dp_rgda_at_a_saddle", "returned/saddle", {"T": 40}) == 1
    assert count("minimax_sosp/dp_rgda_at_a_saddle", "returned/left", {"T": 150}) == 0
    assert count("second_order_erm/opt_returning", "gradient", {"T": 5}) == 1
    assert count("output_perturbation/algorithm3", "", {}) == 2
    with pytest.raises(FormulaError, match="not one of"):
        count("dro/nobody", "", {})
    with pytest.raises(FormulaError, match="no case d1-T6-O1@repaired"):
        count("adaptive_batch/tree_per_epoch", "node", {"T": 6})
    with pytest.raises(FormulaError, match="q is not given"):
        count("dro/double_spider", "", {"T": 10})
    assert {name.split("/")[0] for name in ALGORITHMS} == set(PAPERS)


def test_the_examples_of_the_page_run():
    page = Path(__file__).parents[2] / "docs" / "proofs.md"
    failed, run = doctest.testfile(str(page), module_relative=False)
    assert run >= 9 and failed == 0
