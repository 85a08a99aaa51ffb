"""Changes that the committed vectors do not tell apart are told apart by vectors that are made for it."""

from __future__ import annotations

import pytest

from dpassay.audit.crosscheck.adapter import judged
from dpassay.audit.crosscheck.apart import CHOSEN, MORE, told_apart
from dpassay.audit.crosscheck.causes import Causes, run_of
from dpassay.audit.crosscheck.further import EXTREMES, asked_again, varied
from dpassay.audit.crosscheck.mutants import answers, exchanged, mutants, seen_by, systematic
from dpassay.audit.crosscheck.storage import load

SPIDER = "adaptive_batch/stochastic_spider"
WORDS = ("zero for `norm(step)`", "twice `norm(step)`", "s.step_size times `norm(step)`")  # another drift decides


@pytest.fixture(scope="module")
def vectors():
    return [vector for vector in load(SPIDER) if vector["expect"] == "run"]


@pytest.fixture(scope="module")
def changed(vectors):
    seen = seen_by(run_of(vectors[0]), next(one for one in vectors if "rare-branch" in one["id"]), None)
    found = {str(one).partition(" (")[0]: one for one in (*mutants(seen), *systematic(seen), *exchanged(seen))}
    return [found[words] for words in WORDS]


def implementation(mutant, asked):
    """A program that is the reference with one change."""

    def again(vectors):
        asked.append([vector["id"] for vector in vectors])
        made = ((vector, answers(run_of(vector), vector, mutant)) for vector in vectors)
        return [judged(vector, {"kind": "returned", **given}, False) for vector, given in made]

    return again


@pytest.mark.parametrize("place", range(len(WORDS)))
def test_one_of_three_that_explain_all_is_left(place, changed, vectors):
    asked = []
    again = implementation(changed[place], asked)
    results = again(vectors)
    known = asked_again(results, {vector["id"]: vector for vector in vectors})
    causes, more = told_apart(Causes(list(changed), True, True), known, again, False)
    assert [str(one) for one in causes.found] == [str(changed[place])]
    assert causes.told and causes.whole and 1 <= len(more) <= CHOSEN + MORE
    told_apart(Causes(list(changed), True, True), known, again, False)
    assert asked[1] == asked[2]  # the same vectors again


def test_where_none_of_them_is_right_none_is_left(changed, vectors):
    again = implementation(changed[1], [])
    known = asked_again(again(vectors), {vector["id"]: vector for vector in vectors})
    causes, more = told_apart(Causes([changed[0], changed[2]], True, True), known, again, False)
    assert not causes.found and not causes.whole and more


def test_changes_of_one_kind_need_no_more_vectors(changed, vectors):
    causes = Causes(changed[:1], True, True)
    asked = []
    assert told_apart(causes, [(vectors[0], {"events": []})], implementation(changed[0], asked), False) == (causes, [])
    assert not asked


def test_constants_of_the_changed_lines_are_varied_first(vectors):
    made = list(varied(vectors, ((1.0, 1.0), (-30.0, 0.001)), {"threshold", "noisy"}, 6))
    assert len({one["id"] for one in made}) == len(made)
    assert {one["algorithm"] for one in made} == {SPIDER} and all(one["further"] for one in made)
    of_one = [one["id"] for one in made if not one["id"][-1].isdigit() or " times " in one["id"].rpartition(", ")[2]]
    assert any("threshold times" in one for one in of_one[:6])
    assert all(one.endswith(tuple(f"times {factor:g}" for factor in EXTREMES)) for one in of_one)
