"""Small cases in which one wrong word of the hub shows: which worlds are compared, and with which."""

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.findings import Kind
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses

from .test_declared import PAIR, N, total
from .test_declared import kinds as shown


@pytest.mark.parametrize("pair", [PAIR, PAIR.swapped()], ids=["here", "there"])
def test_every_world_is_compared_not_only_the_first_that_agrees(pair):
    """Only with the record in its batch the call has another label: one world of four."""

    def run(problem, tape):
        batch = tape.batch("b", N, 2)
        label = "with" if total(problem, batch) else "without"
        return tape.gaussian(label, 0.0, std=1.0, sensitivity=1.0, batch=batch)

    assert {kind for kind, _ in shown(run, pair)} == {Kind.CALL}


@pytest.mark.parametrize(("number", "kinds"), [(0, {Kind.UNDECLARED_BATCH}), (1, set()), (2, {Kind.UNDECLARED_BATCH})])
def test_a_batch_by_index_holds_its_last_record_and_neither_later_nor_earlier_ones(number, kinds):
    """The target is number 3: in the second of four pairs."""

    def run(problem, tape):
        batches = [tape.fresh("b", N, 2, order="index") for _ in range(4)]
        return tape.gaussian("g", float(problem.rows.sum()), std=1.0, sensitivity=1.0, batch=batches[number])

    assert {kind for kind, _ in shown(run)} == kinds


@pytest.mark.parametrize(
    ("pair", "words"), [(PAIR, "4 of 8 against 2 of 8"), (PAIR.swapped(), "2 of 8 against 4 of 8")]
)
def test_sizes_of_batches_that_differ_are_told_with_that_on_d_first(pair, words):
    def run(problem, tape):
        tape.batch("b", N, 4 if problem.rows.sum() else 2)

    (one,) = lockstep(run, pair, [0]).findings
    assert (one.kind, one.label, one.detail) == (Kind.BATCH_SIZE, "b", words)

    def by_index(problem, tape):
        tape.fresh("b", N, 4 if problem.rows.sum() else 2, order="index")

    (one,) = lockstep(by_index, pair, [0]).findings
    assert (one.kind, one.label, one.detail) == (Kind.BATCH_SIZE, "b", words)


@pytest.mark.parametrize(("rate", "kinds"), [(1.0, set()), (0.5, {(Kind.SENSITIVITY_EXCEEDED, "g")})])
def test_a_batch_of_everybody_has_no_half_of_the_sensitivity(rate, kinds):
    """At rate 1 the record is always there, and nobody is amplified: it may move the sum by all that is claimed."""

    def run(problem, tape):
        batch = tape.poisson("b", N, rate)
        return tape.gaussian("g", total(problem, batch), std=1.0, sensitivity=1.0, batch=batch)

    assert shown(run) == kinds

    def of_everybody(problem, tape):
        batch = tape.poisson("b", N, rate)
        return tape.gaussian("g", float(problem.rows.sum()), std=1.0, sensitivity=1.0, batch=batch)

    assert (shown(of_everybody) == set()) is (rate == 1)  # who is in it is known: the query need not ask the batch


@pytest.mark.parametrize("others", [0.0, 0.1])
def test_the_mixture_of_a_law_without_a_query_is_exact_if_all_others_are_alike(others):
    """The check world draws other records: their law is the same one, or the loss is called inexact."""

    def run(problem, tape):
        batch = tape.batch("b", N, 2)
        share = 0.5 + 0.3 * total(problem, batch)
        law = Categorical(("yes", "no"), np.log([share, 1 - share]))
        return tape.release("c", law, sensitivity=2.0, batch=batch)

    rows = np.zeros((N, 1))
    rows[:4, 0] = others
    here = LinearLosses(rows)
    pair = Pair(here.replace(PAIR.target, np.array([0.2])), here, PAIR.target)
    inexact = [lockstep(run, pair, [seed]).inexact for seed in range(8)]
    assert any("which other records" in one for one in inexact) if others else not any(inexact)


def test_claims_that_differ_are_told_in_numbers():
    def run(problem, tape):
        claimed = 2.0 if problem.rows[PAIR.target, 0] else None
        return tape.gaussian("g", 0.0, std=1.0, sensitivity=claimed)

    (one,) = lockstep(run, PAIR, [0]).findings
    assert one.kind is Kind.CLAIMED_SENSITIVITY and one.detail == "2 against none" and not one.given_secrets


def test_a_value_of_two_numbers_that_is_bare_in_one_of_them_only():
    """A bare release whose value does not depend on the record says nothing; one that does says everything."""

    def run(problem, tape, weight):
        return tape.gaussian("g", weight * problem.rows.sum(axis=0), std=0.0, sensitivity=1.0)

    assert shown(lambda problem, tape: run(problem, tape, 0.0)) == set()
    assert shown(lambda problem, tape: run(problem, tape, 1.0)) == {(Kind.BARE_RELEASE, "g")}
    bare = lockstep(lambda problem, tape: run(problem, tape, 1.0), PAIR, [0])
    assert bare.loss == np.inf and not bare.findings[0].given_secrets


@pytest.mark.parametrize("pair", [PAIR, PAIR.swapped()], ids=["draws here", "draws there"])
def test_a_release_and_a_draw_of_one_label_are_two_calls(pair):
    def run(problem, tape):
        return tape.batch("x", N, 2) if problem.rows.sum() else tape.gaussian("x", 0.0, std=1.0, sensitivity=1.0)

    assert shown(run, pair) == {(Kind.CALL, "x")}


def test_releases_are_counted_and_those_moved_by_all_that_they_claim():
    """The pair moves the sum by 1: of claims of 1, 1.05 and 1.06 two count as the whole; the last claims nothing."""

    def run(problem, tape):
        for claimed in (1.0, 1.05, 1.06, None):
            tape.gaussian("g", float(problem.rows.sum()), std=1.0, sensitivity=claimed)

    moved = lockstep(run, PAIR, [0]).movements["g"]
    assert (moved.releases, moved.whole) == (4, 2)
    both = moved.with_other(lockstep(run, PAIR, [1]).movements["g"])
    assert (both.releases, both.whole, both.moved) == (8, 4, 1.0)


@pytest.mark.parametrize("labels", [("a", "z"), ("z", "a")])
def test_calls_that_depend_on_other_records_make_the_mixture_inexact(labels):
    """The check world draws other records, and so comes to the other label, whichever sorts first."""

    def run(problem, tape):
        batch = tape.poisson("b", N, 0.5)
        label = labels[int(5 in batch.indices)]
        return tape.gaussian(label, total(problem, batch), std=1.0, sensitivity=2.0, batch=batch)

    results = [lockstep(run, PAIR, [seed]) for seed in range(8)]
    assert any("its calls depend" in one.inexact for one in results)
    assert not any(one.findings for one in results)
