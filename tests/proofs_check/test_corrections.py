"""Corrected statements: decided sharply, decided in another row, undecidable with a kind, or open."""

import pytest
import typer
from typer.testing import CliRunner

from dpassay.audit.commands.prove import prove
from dpassay.proofs_check.check import check_row
from dpassay.proofs_check.claim import Saves, Undecidable, Verdict
from dpassay.proofs_check.corrections import State, corrected_share, correction, corrections, open_lines
from dpassay.proofs_check.explain import explain
from dpassay.proofs_check.ledger import check_all, load_rows
from dpassay.proofs_check.rows import build
from dpassay.reference.papers import PAPERS

CLOSED = tuple(PAPERS)
"""Papers in which no corrected statement is open."""

ROW = build.rows_of("dro")
WRONG = build.identity("1 == 2")
SHARP = build.inequality("2*a*b <= a**2 + b**2", "a b")
GIVEN = {row.id: row for row in load_rows() if row.corrected}


def decided(**more):
    return check_row(ROW("x", "p", "s", WRONG, corrected="so it is", **more))


def state(result, *others):
    return correction(result, {one.row.id: one for one in (result, *others)})


def test_a_sharp_claim_decides():
    result = decided(corrected_claim=SHARP)
    assert state(result).state is State.OWN
    assert "2 becomes 4" in explain(result)
    assert state(decided(reading="r", saved_by=SHARP, corrected_as_saved=True)).state is State.SAVED
    assert state(decided(repair="r", saved_by=SHARP)).state is State.SAVED


HOLLOW = {
    "nothing": None,
    "refuted": build.inequality("a <= 1", "a"),
    "x <= 2 x": build.inequality("x <= 2*x", "x"),
    "places typed alike": build.same({"lemma": "a**2", "proof": "a**2"}, "a"),
    "an assumption": build.inequality("a <= b", "a b", conditions=("a <= b",)),
}


@pytest.mark.parametrize("name", HOLLOW)
def test_what_is_refuted_or_could_not_fail_leaves_it_open(name):
    result = decided(corrected_claim=HOLLOW[name])
    assert state(result).state is State.OPEN
    assert open_lines([result]) and "open: 1" in corrected_share([result])


def test_a_reading_is_no_correction_unless_the_row_says_so():
    assert state(decided(reading="r", saved_by=SHARP)).state is State.OPEN


def test_another_row_decides():
    other = check_row(ROW("y", "p", "s", SHARP))
    assert state(decided(corrected_by="y"), other).state is State.ELSEWHERE
    assert state(decided(corrected_by="y")).state is State.OPEN  # not there
    corrected = check_row(ROW("y", "p", "s", WRONG, corrected="c", corrected_claim=SHARP))
    assert state(decided(corrected_by="y"), corrected).state is State.ELSEWHERE
    failing = check_row(ROW("y", "p", "s", WRONG, corrected="c"))
    assert state(decided(corrected_by="y"), failing).state is State.OPEN
    empty = check_row(ROW("y", "p", "s", build.inequality("x <= 2*x", "x")))
    assert empty.verdict is Verdict.EMPTY and state(decided(corrected_by="y"), empty).state is State.OPEN


def test_a_request_is_counted_apart():
    result = decided(undecidable=Undecidable.REQUEST)
    assert state(result).state is State.UNDECIDABLE
    assert corrected_share([result]).startswith("0 of 1 corrected statements are decided; no claims: 1 to ask")
    assert "ask which" in explain(result)


def test_one_way_only():
    for ways in (
        {"corrected_by": "y", "undecidable": Undecidable.DATA},
        {"corrected_claim": SHARP, "corrected_by": "y"},
    ):
        with pytest.raises(ValueError, match="more than one way"):
            ROW("x", "p", "s", WRONG, corrected="c", **ways)
    with pytest.raises(ValueError, match="nothing stands under corrected"):
        ROW("x", "p", "s", WRONG, corrected_claim=SHARP)


def test_rows_that_decide_for_others_exist_and_decide_themselves():
    rows = {row.id: row for row in load_rows()}
    for row in GIVEN.values():
        if row.corrected_by:
            other = rows.get(row.corrected_by)
            assert other is not None and not other.corrected_by and other.undecidable is None, row.id
            assert not other.corrected or other.corrects is not None, row.id


@pytest.mark.parametrize("paper", CLOSED)
def test_every_corrected_statement_says_what_decides_it(paper):
    silent = [
        row.id
        for row in GIVEN.values()
        if row.cite.paper == paper and row.corrects is None and not row.corrected_by and row.undecidable is None
    ]
    assert not silent


@pytest.mark.slow
@pytest.mark.parametrize("paper", CLOSED)
def test_no_corrected_statement_is_open(paper):
    results = check_all([paper], jobs=2)
    assert not open_lines(results)
    assert all(one.state is not State.OPEN for one in corrections(results).values())


def test_the_command_lists_what_is_open():
    app = typer.Typer()
    app.command()(prove)
    answer = CliRunner().invoke(app, ["--id", "minimax_sosp/lemma3/delta_places", "--open", "--no-cache", "--quiet"])
    assert answer.exit_code == 0 and "corrected statements are decided" in answer.output


def test_a_repair_that_fails_is_open():
    result = decided(repair="r", saved_by=build.inequality("a <= 1", "a"))
    assert result.row.saving.kind is Saves.REPAIR and state(result).state is State.OPEN
