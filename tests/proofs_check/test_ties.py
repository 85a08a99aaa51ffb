"""The papers' formulas and the functions of the reference give the same numbers, for all papers."""

import doctest
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.proofs_check.formula import FormulaError
from dpassay.proofs_check.tied import TIES
from dpassay.proofs_check.ties import check_tie
from dpassay.proofs_check.transcripts import count
from dpassay.reference.papers import PAPERS


@pytest.mark.parametrize("tie", TIES, ids=lambda tie: f"{tie.paper}:{tie.place}")
def test_formula_and_code_agree(tie):
    assert check_tie(tie) == ""


def test_every_paper_is_tied():
    assert {tie.paper for tie in TIES} == set(PAPERS)


def test_a_drift_on_either_side_is_seen():
    tie = next(tie for tie in TIES if tie.source == "output_perturbation.base_solver.printed_multiplier")
    assert "the paper gives" in check_tie(replace(tie, code=lambda p: tie.code(p) * 1.001))
    assert check_tie(replace(tie, formula=f"1.001*({tie.formula})")) != ""


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


def test_the_examples_of_the_page_run():
    page = Path(__file__).parents[2] / "docs" / "proofs.md"
    failed, run = doctest.testfile(str(page), module_relative=False)
    assert run >= 6 and failed == 0
