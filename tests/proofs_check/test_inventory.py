"""The inventory: every place that it names exists, every row has a place, and nothing is open."""

import pytest

from dpassay.proofs_check.inventory import items as inventory
from dpassay.proofs_check.inventory import told
from dpassay.proofs_check.inventory.items import QUESTIONS, answers, items
from dpassay.proofs_check.ledger import load_rows
from dpassay.proofs_check.statements import STATEMENTS

PAPERS = [paper for paper in STATEMENTS if items(paper)]


@pytest.fixture(scope="module", params=PAPERS)
def paper(request):
    return request.param


def test_every_paper_has_an_inventory():
    assert set(PAPERS) == set(STATEMENTS)


def test_nothing_is_open_or_unanswered(paper):
    counted = told.counts(paper)
    assert (counted["open"], counted["unanswered"]) == (0, 0)


def test_rows_exist_and_every_row_has_a_place(paper):
    rows = load_rows([paper])
    known = {row.id for row in rows}
    named = {one for item in items(paper) for one in item.rows}
    answered = {one for answer in answers(paper) for one in answer.rows}
    assert (named | answered) - known == set()
    assert {row.id for row in rows if not row.ours} - named == set()


def test_places_occur_once_and_pointers_end_at_something_decided(paper):
    places = [item.place for item in items(paper)]
    assert len(places) == len(set(places))
    by_place = {item.place: item for item in items(paper)}
    for item in items(paper):
        if item.same_as:
            assert by_place[item.same_as].rows or by_place[item.same_as].reason, item.place


def test_every_numbered_statement_has_a_place(paper):
    assert set(STATEMENTS[paper]) - {item.statement for item in items(paper)} == set()


def test_questions_are_asked_of_statements_that_exist(paper):
    assert {one.statement for one in answers(paper)} - set(STATEMENTS[paper]) == set()
    assert {one.question for one in answers(paper)} <= set(QUESTIONS)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"kind": "line", "says": "x"}, "place is missing"),
        ({"place": "eq. (1)", "kind": "song", "says": "x"}, "kind = 'song'"),
        ({"place": "eq. (1)", "kind": "line", "says": "x", "rows": ["a"], "reason": "b"}, "exclude each other"),
        ({"place": "eq. (1)", "kind": "line", "says": "x", "row": ["a"]}, "unknown field row"),
    ],
)
def test_a_wrong_item_is_refused_with_its_field(monkeypatch, table, why):
    monkeypatch.setattr(inventory, "_document", lambda _: {"item": [table]})
    with pytest.raises(ValueError, match=why):
        inventory.items.__wrapped__("dro")


@pytest.mark.parametrize(("question", "said"), [("colour", "blue"), ("whole", ""), ("whole", [])])
def test_a_wrong_answer_is_refused(monkeypatch, question, said):
    monkeypatch.setattr(inventory, "_document", lambda _: {"answers": {"Theorem 1": {question: said}}})
    with pytest.raises(ValueError, match=question):
        inventory.answers.__wrapped__("dro")
