"""The search finds each broken algorithm of broken.py, at the kind of finding it is, and accuses no correct one.

Decisions that turn at one place are found by data sets far away, between which halving brings neighbours; movements
that examples hardly come upon by climbing.
"""

from dataclasses import replace

import broken
import numpy as np
import pytest

from dpassay.audit.assaying import examine
from dpassay.audit.assaying.assay import assay
from dpassay.audit.lockstep.script import Script
from dpassay.audit.row import Effort
from dpassay.audit.search import engine
from dpassay.audit.search.designed import far_rows
from dpassay.audit.search.engine import search
from dpassay.audit.search.ground import AllOf, Data
from dpassay.audit.search.uphill import MOVES, Example
from dpassay.reference import case, tape
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.space import Rows, Space
from dpassay.reference.tape import record

CLAIM = PrivacyClaim(broken.EPSILON, broken.DELTA)
UNBOUNDED = PrivacyClaim(1e6, 1e-5)  # only how far a query moves counts
EXAMPLES = 30  # of seed 0: every bug shows in 25
ONE_NUMBER = Rows(1, None, (0.0, 1.0))
BROKEN = (
    *((run, None) for run in broken.LEAKS),
    *((run, Kind.SENSITIVITY_EXCEEDED) for run in broken.OVERSHOOTS),
    *((run, Kind.OVER_BUDGET) for run in broken.OVER_BUDGET),
)


def kinds(run, space, claim=CLAIM, **more):
    return [one.kind for one in search(run, space, claim, **more).findings]


@pytest.mark.parametrize(("run", "kind"), BROKEN, ids=[run.__name__ for run, _ in BROKEN])
def test_each_bug_is_found(run, kind):
    found = search(run, broken.space(), CLAIM, examples=EXAMPLES)
    seen = {finding.kind for finding in found.findings}
    assert any(one.leaks for one in seen) if kind is None else seen == {kind}, found
    assert kind is not Kind.OVER_BUDGET or found.accounted > CLAIM.epsilon


@pytest.mark.some(1)
@pytest.mark.parametrize("run", broken.CORRECT, ids=lambda run: run.__name__)
def test_correct_twins_are_not_accused_and_fully_reached(run):
    found = search(run, broken.space(), CLAIM, examples=80)
    assert found.findings == [] and found.raised == {}
    assert 0 < found.accounted <= CLAIM.epsilon
    assert max(found.shares.values()) == pytest.approx(1.0)
    assert found.coverage.missed == () and found.coverage.lines == found.coverage.lines_reached > 5


def test_same_seed_same_examples():
    one, two, other = (search(broken.true_branch, broken.space(), CLAIM, seed=seed, examples=20) for seed in (5, 5, 6))
    assert list(map(str, one.witnesses)) == list(map(str, two.witnesses))
    assert one.shares == two.shares and one.examples == two.examples
    worst = [found.worst.pair.here.tolist() for found in (one, two, other)]
    assert worst[0] == worst[1] != worst[2]


def test_a_witness_is_small_and_names_the_line():
    found = search(broken.silent_last_phase, broken.space(), CLAIM, examples=60)
    (witness,) = [one for one in found.witnesses if one.finding.kind is Kind.BARE_RELEASE]
    assert witness.data.sizes == {"n": 2, "d": 1} and np.count_nonzero(witness.data.rows) <= 1
    assert "second" in str(witness) and "in _noisy" in witness.made[0].text
    assert witness.here != witness.there


def test_a_pair_is_searched_under_many_released_values():
    def run(rows, tape):
        v = tape.gaussian("gradient", rows.mean(axis=0), std=6.0, sensitivity=1.0)
        if v[0] > 1000:
            tape.reveal("mean", rows.mean())
        return v

    found = search(run, Pair(np.array([[1.0], [0.5]]), np.array([[-1.0], [0.5]]), 0), CLAIM)
    assert [one.kind for one in found.findings] == [Kind.REVEALED_VALUE]
    assert found.witnesses[0].data.rows is None and "the given pair" in str(found.witnesses[0])


@pytest.mark.parametrize("landmarks", [None, lambda schedule: {"gradient": [schedule]}])
def test_landmarks_lead_to_a_decision_on_a_released_norm(landmarks):
    def run(rows, schedule, tape):
        v = broken.mean(rows, tape)
        if np.linalg.norm(v) == schedule:
            tape.reveal("mean", rows.mean())
        return v

    space = Space(Rows("d", 1.0), {"n": (2,), "d": (1,)}, schedule=lambda sizes: 0.7321, landmarks=landmarks)
    assert kinds(run, space, examples=60) == [Kind.REVEALED_VALUE] * (landmarks is not None)


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_add_remove_counts_half_and_says_when_a_record_moves_more(factor):
    def run(rows, tape):
        return tape.gaussian("sum", factor * rows.sum(), std=12.0, sensitivity=2.0)

    space = Space(ONE_NUMBER, {"n": (1, 3)}, relation="add-remove", absent=np.zeros(1))
    found = search(run, space, CLAIM, examples=EXAMPLES)
    assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED] * (factor > 1)
    assert found.shares["sum"] == pytest.approx(factor)


def test_bad_input_is_said_in_one_line():
    def run(rows, tape):
        raise ZeroDivisionError("nothing to divide")

    for space, examples, words in (
        (broken.space(), EXAMPLES, r"ZeroDivisionError \(test_engine.py:\d+\): nothing to divide"),
        (Space(sizes={"n": (1,)}, fits=lambda sizes: False), EXAMPLES, r"space\.fits"),
        (broken.space(), 0, "examples"),
    ):
        with pytest.raises(ValueError, match=words):
            search(run, space, CLAIM, examples=examples)


def test_what_is_raised_on_some_data_everywhere_alike_is_reported_and_no_finding():
    def run(rows, tape):
        if len(rows) == 3:
            raise ZeroDivisionError("three records")
        return broken.mean(rows, tape)

    found = search(run, broken.space(), CLAIM, examples=60)
    assert found.findings == []
    ((text, times),) = found.raised.items()
    assert "ZeroDivisionError" in text and 0 < times < found.examples


@pytest.mark.parametrize(("moved", "accused"), [(2e-13, False), (4e-12, True)])
def test_rounding_is_no_movement_however_small_the_sensitivity_is(moved, accused):
    """Differences of gradients at points next to each other: what is left of them is rounding."""

    def run(rows, tape):
        return tape.gaussian("difference", rows.sum(axis=0) * moved, std=1.0, sensitivity=1e-13)

    assert kinds(run, Space.matrix(n=(1,), d=(1,)), examples=20) == [Kind.SENSITIVITY_EXCEEDED] * accused


def test_rounding_after_a_huge_released_value_accuses_nobody():
    """The mean less a released point of size 1e7 and more: its last digits are no movement."""

    def run(rows, tape):
        x = np.zeros(rows.shape[1])
        for _ in range(3):
            x = x + tape.gaussian("step", rows.mean(axis=0) - x, std=24 / len(rows), sensitivity=2 / len(rows))
        return x

    found = search(run, Space.matrix(), CLAIM, examples=90)
    assert found.findings == [] and found.shares["step"] == pytest.approx(1.0)


# Decisions that turn at one place.
def test_a_decision_on_many_records_is_found_at_neighbours():
    """One record of forty moves the mean by a twentieth: without far data sets none of ten seeds finds it."""

    def small_in_truth(rows, tape):
        value = broken.mean(rows, tape)
        return value + broken.mean(rows, tape) if np.linalg.norm(rows.mean(axis=0)) > 0.77 else value

    found = search(small_in_truth, Space.matrix(n=(40,), d=(1, 2)), CLAIM, examples=60)
    assert {f.kind for f in found.findings} & {Kind.EARLY_END, Kind.CALL}
    here, _, there = (data := found.witnesses[0].data).parts
    lengths = [np.linalg.norm(rows.mean(axis=0)) for rows in (here, data.changed(here=there).rows)]
    assert min(lengths) <= 0.77 < max(lengths)


LABELLED = Space(Rows("d", 1.0, labels=(1.0, -1.0)), {"n": (2,), "d": (1,)})
BOX = Space(Rows(1, None, (0.0, 2.0)), {"n": (2,)})
GONE = Space(Rows(1, 1.0), {"n": (2,)}, relation="add-remove", absent=np.zeros(1))


@pytest.mark.parametrize(
    ("space", "rows", "there", "way", "expected"),
    [
        (LABELLED, [[0.5, 1.0], [1.0, -1.0]], [-1.0, 1.0], "opposite", [[-0.5, 1.0], [-1.0, -1.0]]),
        (LABELLED, [[0.5, 1.0], [1.0, -1.0]], [-1.0, 1.0], "all as the neighbour", [[-1.0, 1.0]] * 2),
        (BOX, [[0.0], [2.0]], [1.0], "opposite", [[2.0], [2.0]]),
        (GONE, [[0.0], [2.0]], [1.0], "opposite", [[0.0], [0.0]]),
    ],
)
def test_far_data_sets_keep_to_the_space(space, rows, there, way, expected):
    data = Data({"n": 2, "d": 1}, np.array(rows), np.array(there), 0)
    assert far_rows(space, data, way).tolist() == expected


# Worst pairs that examples hardly come upon: the climb reaches what a query may move by.


def two_slopes(rows, tape):
    """Two steps on logistic losses of the rows: a gradient moves by 2 / n only where two rows at an angle lie far out.

    The first value must lead far away, and the two rows must be mirror images across the way: at the start, and for
    opposite rows wherever one is, it moves by 1 / n.
    """
    w = np.zeros(rows.shape[1])
    for _ in range(2):
        gradient = -(rows / (1 + np.exp(np.minimum(rows @ w, 500.0)))[:, None]).sum(axis=0)
        w = w - tape.gaussian("query", gradient, std=1.0, sensitivity=2.0)
    return w


def curvature(rows, tape):
    """A sum of outer products moves by sqrt(2) for rows across each other, by less than 1 for all that are opposite."""
    return tape.gaussian("query", rows.T @ rows, std=1.0, sensitivity=2.0**0.5)


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.more), pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("run", [two_slopes, curvature])
def test_the_climb_reaches_what_a_query_may_move_by(run, seed):
    """Seeds 0 and 1; the examples alone reach 0.5 to 0.95 of the first."""
    found = search(run, Space.matrix(n=(1, 2, 4), d=(1, 2, 3)), UNBOUNDED, seed=seed, tracing=False)
    assert found.shares["query"] >= 0.98 and not found.findings


def test_under_add_remove_one_side_lacks_the_record_whatever_the_climb_does():
    """Then a sum of clipped rows moves by half of what replacing one could do, and no more is found."""

    def noisy_sum(rows, tape):
        return tape.gaussian("sum", rows.sum(axis=0), std=1.0, sensitivity=2.0)

    space = replace(Space.matrix(n=(1, 3), d=(1, 2)), relation="add-remove", absent=np.zeros(1))
    found = search(noisy_sum, space, replace(UNBOUNDED, relation="add-remove"), examples=90, tracing=False)
    assert not found.findings and found.shares["sum"] == pytest.approx(1.0)
    example = Example(Data({"n": 2, "d": 2}, np.array([[0.6, 0.8], [0.0, 1.0]]), np.zeros(2), 0), Script())
    ground, rng = AllOf(noisy_sum, space), np.random.default_rng(0)
    for move in 20 * MOVES:
        data = (move(example, ground, rng) or example).data
        assert not data.there.any() or not data.rows[data.target].any(), move.__name__


def test_one_record_that_scales_all_others_is_found():
    """Rows are cut at the median of their lengths: it takes others of two lengths, and a target between them."""

    def median(rows, tape):
        lengths = np.linalg.norm(rows, axis=1)
        at = min(1.0, float(np.median(lengths)))
        cut = rows * np.minimum(1.0, at / np.maximum(lengths, 1e-300))[:, None]
        return tape.gaussian("sum", cut.sum(axis=0), std=1.0, sensitivity=2.0)

    space = Space.matrix(n=(1, 3, 7), d=(1, 2), radius=5.0)
    assert Kind.SENSITIVITY_EXCEEDED in kinds(median, space, UNBOUNDED, tracing=False)


@pytest.mark.parametrize("there", [[0.0, -9.0], [0.0, 1.0]])
def test_what_leads_out_of_the_space_is_not_run(there):
    """Under add-remove a row is there or it is not: half of an absent one accused a right library."""
    allowed = replace(ONE_NUMBER, width="d", labels=(0.0, 1.0))
    space = Space(allowed, {"n": (2,), "d": (1,)}, relation="add-remove", absent=np.array([-9.0]))
    data = Data({"n": 2, "d": 1}, np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([-9.0, -9.0]), 0)
    ground = AllOf(broken.mean, space)
    ground.setting(data)
    with pytest.raises(BadInput, match=r"label|absent on one side"):
        ground.setting(replace(data, there=np.array(there)))


def test_values_by_design_of_outcomes_that_are_no_array():
    def answers(rows, tape):
        law = Categorical((0, (1, (2, 3))), np.log([0.5, 0.5]))
        for label in ("first", "second"):  # the second is seen by design only
            tape.release(label, law, sensitivity=0.0)

    found = search(answers, Space(ONE_NUMBER, {"n": (2,)}), CLAIM, examples=20)
    assert not found.findings


# Runs that are too long, or are cut off: what was found is kept and said; it is no defect of the algorithm.
ONE = PrivacyClaim(1.0, 1e-5, Cite("mine", "Theorem 1"))
SMALL = Space.matrix(n=(1, 2), d=(1, 2))
OPPOSITE = Pair(np.ones((1, 1)), -np.ones((1, 1)), 0)


def sums(times, std, end=None):
    """A run that releases the sum so many times, and then perhaps raises."""

    def run(rows, tape):
        for _ in range(times):
            value = tape.gaussian("sum", rows.sum(), std=std, sensitivity=2.0)
        if end is not None and end(value):
            raise BadInput("cost", 3, "only 2 are left")

    return run


LONG = sums(400, 0.9)  # more releases than a search waits for, of which the first few cost more than is claimed


@pytest.mark.parametrize("calls", [10, 40])
def test_too_many_calls_end_a_search_by_their_number(monkeypatch, calls):
    """One call a run, in the example and beside a data set far away: the same examples on any machine."""

    def leaky(rows, tape):
        return tape.gaussian("sum", rows.sum(axis=0), std=9.0, sensitivity=2.0), float(rows[0, 0])

    monkeypatch.setattr(engine, "CALLS", calls)
    found, again = (search(leaky, SMALL, ONE, seed=0) for _ in range(2))
    assert Kind.OUTPUT in {finding.kind for finding in found.findings}
    assert found.note == f"search stopped after {found.examples} examples, {calls} draws and releases"
    assert calls / 10 < found.examples == again.examples <= calls + 1


def test_a_run_that_is_no_function_is_said_to_be_none():
    """It shows something once, and not again: no defect is shrunk, and the note says why."""
    counted = iter(range(10_000))

    def at_first(rows, tape):
        number = next(counted)
        value = tape.gaussian("sum", rows.sum(axis=0), std=9.0, sensitivity=2.0)
        return value, number if number < 20 else 0

    found = search(at_first, SMALL, ONE, examples=20, seed=0)
    assert Kind.OUTPUT in {finding.kind for finding in found.findings}
    assert "no function of data and tape" in found.note


def test_a_run_without_an_end_in_sight_is_one_line(monkeypatch):
    """Each step decides on a noisy value whether there is another; with so much noise there always is."""

    def endless(one):
        x = 1.0
        while abs(x) > 1e-9:
            x = one.gaussian("step", x, std=1e4, sensitivity=2.0)

    monkeypatch.setattr(tape, "LONGEST_RUN", 500)
    with pytest.raises(BadInput, match=r"^run, at 'step' = 500: calls of the tape in one run.*no end in sight"):
        record(endless, seed=0)


def test_statistics_of_runs_that_are_too_long_are_not_made(monkeypatch):
    """A run of 40 calls, and room for 1,000: the row says so, and nothing that was not looked at passes."""
    monkeypatch.setattr(examine, "MOST", 1000)
    found = assay(sums(40, 90.0), OPPOSITE, ONE, effort=Effort(20, 10, examples=5))
    assert found.verdict.exit_code == 3
    assert "statistics not made: a run makes 40 calls of the tape, 30 runs more than 1000" in found.why


def test_what_is_released_before_a_run_is_cut_off_counts():
    found = search(LONG, Space.matrix(n=(1, 2), d=(1,)), ONE, examples=3, seed=0)
    assert "cut off" in found.note and [one.kind for one in found.findings] == [Kind.OVER_BUDGET]
    assert found.accounted > 40 and found.witnesses[0].data.sizes == {"n": 1, "d": 1}


def test_the_longest_run_ends_where_it_has_cost_more_than_is_claimed(monkeypatch):
    """And goes on to its end where it keeps to the claim."""
    monkeypatch.setattr(case, "MANY", 64)
    effort = Effort(30, 50, examples=1)
    found, whole = (assay(run, OPPOSITE, ONE, effort=effort) for run in (LONG, sums(70, 90.0)))
    assert (found.verdict, bool(found.stopped), found.upper_bound) == ("over budget", True, False)
    assert len(found.transcript.releases) == 64 and "stopped after 64 calls" in found.why
    assert not whole.stopped and len(whole.transcript.releases) == 70


def test_a_run_that_raises_after_it_has_spent_too_much_is_over_budget():
    """The guard comes after the releases, so that what it refuses has left already."""
    effort = Effort(100, 50, examples=3)
    found = assay(sums(3, 0.9, end=np.isfinite), OPPOSITE, ONE, effort=effort)
    assert found.verdict == "over budget" and "a run raised BadInput: cost = 3" in found.why
    with pytest.raises(BadInput, match="only 2 are left"):
        assay(sums(3, 90.0, end=np.isfinite), OPPOSITE, ONE, effort=effort)
