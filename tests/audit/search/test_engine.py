"""The search finds each broken algorithm of broken.py, at the kind of finding it is, and accuses no correct one."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpassay.audit.search.engine import search
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Rows, Space

from . import broken

CLAIM = SimpleNamespace(epsilon=broken.EPSILON, delta=broken.DELTA)
EXAMPLES = 30  # of seed 0: every bug shows in 25


BROKEN = (
    *((run, None) for run in broken.LEAKS),
    *((run, Kind.SENSITIVITY_EXCEEDED) for run in broken.OVERSHOOTS),
    *((run, Kind.OVER_BUDGET) for run in broken.OVER_BUDGET),
)


@pytest.mark.parametrize(("run", "kind"), BROKEN, ids=[run.__name__ for run, _ in BROKEN])
def test_each_bug_is_found(run, kind):
    found = search(run, broken.space(), CLAIM, examples=EXAMPLES)
    kinds = {finding.kind for finding in found.findings}
    assert any(one.leaks for one in kinds) if kind is None else kinds == {kind}, found
    assert kind is not Kind.OVER_BUDGET or found.accounted > CLAIM.epsilon


@pytest.mark.some(1)
@pytest.mark.parametrize("run", broken.CORRECT, ids=lambda run: run.__name__)
def test_correct_twins_are_not_accused_and_fully_reached(run):
    found = search(run, broken.space(), CLAIM, examples=80)
    assert found.findings == [] and found.raised == {}
    assert 0 < found.accounted <= CLAIM.epsilon
    assert max(found.shares.values()) == pytest.approx(1.0)
    assert found.coverage.missed == () and found.coverage.lines == found.coverage.lines_reached > 5


@pytest.mark.slow
@pytest.mark.parametrize("run", broken.CORRECT, ids=lambda run: run.__name__)
def test_correct_twins_over_twenty_seeds(run):
    assert [search(run, broken.space(), CLAIM, seed=seed).findings for seed in range(1, 20)] == [[]] * 19


def test_same_seed_same_examples():
    one, two = (search(broken.true_branch, broken.space(), CLAIM, seed=5, examples=20) for _ in range(2))
    assert [str(witness) for witness in one.witnesses] == [str(witness) for witness in two.witnesses]
    assert one.shares == two.shares and one.examples == two.examples
    other = search(broken.true_branch, broken.space(), CLAIM, seed=6, examples=20)
    assert other.worst.pair.here.tolist() != one.worst.pair.here.tolist()
    assert one.worst.pair.here.tolist() == two.worst.pair.here.tolist()


def test_a_witness_is_small_and_names_the_line():
    found = search(broken.silent_last_phase, broken.space(), CLAIM, examples=60)
    (witness,) = [one for one in found.witnesses if one.finding.kind is Kind.BARE_RELEASE]
    assert witness.data.sizes == {"n": 2, "d": 1} and np.count_nonzero(witness.data.rows) <= 1
    assert "second" in str(witness) and "in silent_last_phase" in witness.line
    assert witness.here != witness.there


def test_several_kinds_are_all_found():
    def run(rows, tape):
        tape.gaussian("a", rows.mean(axis=0), std=30.0, sensitivity=0.1)
        tape.gaussian("b", rows.mean(axis=0), std=np.linalg.norm(rows) + 50, sensitivity=2.0)
        return rows[0]

    found = {(one.kind, one.label) for one in search(run, broken.space(), CLAIM, examples=60).findings}
    assert found == {(Kind.SENSITIVITY_EXCEEDED, "a"), (Kind.NOISE_SCALE, "b"), (Kind.OUTPUT, "output")}


def test_a_pair_is_searched_under_many_released_values():
    rows = np.array([[1.0], [0.5]])
    pair = Pair(rows, np.array([[-1.0], [0.5]]), 0)

    def run(rows, tape):
        v = tape.gaussian("gradient", rows.mean(axis=0), std=6.0, sensitivity=1.0)
        if v[0] > 1000:
            tape.reveal("mean", rows.mean())
        return v

    found = search(run, pair, CLAIM)
    assert [one.kind for one in found.findings] == [Kind.REVEALED_VALUE]
    assert found.witnesses[0].data.rows is None and "the given pair" in str(found.witnesses[0])


def test_landmarks_lead_to_a_decision_on_a_released_norm():
    def run(rows, schedule, tape):
        v = tape.gaussian("gradient", rows.mean(axis=0), std=12.0 / len(rows), sensitivity=2 / len(rows))
        if np.linalg.norm(v) == schedule["threshold"]:
            tape.reveal("mean", rows.mean())
        return v

    def space(landmarks):
        return Space(
            Rows("d", 1.0), {"n": (2,), "d": (1,)}, schedule=lambda sizes: {"threshold": 0.7321}, landmarks=landmarks
        )

    assert search(run, space(None), CLAIM, examples=60).findings == []
    found = search(run, space(lambda schedule: {"gradient": [schedule["threshold"]]}), CLAIM, examples=60)
    assert [one.kind for one in found.findings] == [Kind.REVEALED_VALUE]


def test_add_remove_counts_half_and_says_when_a_record_moves_more():
    def mean(shift):
        def run(rows, tape):
            return tape.gaussian("sum", np.clip(rows + shift, 0, 2).sum(), std=12.0, sensitivity=2.0)

        return run

    def searched(run):
        space = Space(Rows(1, None, (0.0, 1.0)), {"n": (1, 3)}, relation="add-remove", absent=np.zeros(1))
        return search(run, space, CLAIM, examples=EXAMPLES)

    assert searched(mean(0.0)).findings == []
    assert searched(mean(0.0)).shares["sum"] == pytest.approx(1.0)

    def doubled(rows, tape):
        return tape.gaussian("sum", 2 * rows.sum(), std=12.0, sensitivity=2.0)

    assert [one.kind for one in searched(doubled).findings] == [Kind.SENSITIVITY_EXCEEDED]


def test_bad_input_is_said_in_one_line():
    def run(rows, tape):
        raise ZeroDivisionError("nothing to divide")

    with pytest.raises(ValueError, match=r"ZeroDivisionError \(test_engine.py:\d+\): nothing to divide"):
        search(run, broken.space(), CLAIM)
    with pytest.raises(ValueError, match=r"space\.fits"):
        search(run, Space(sizes={"n": (1,)}, fits=lambda sizes: False), CLAIM)
    with pytest.raises(ValueError, match=r"space\.absent"):
        search(run, Space(relation="add-remove"), CLAIM)
    with pytest.raises(ValueError, match="examples"):
        search(run, broken.space(), CLAIM, examples=0)


def test_what_is_raised_on_some_data_everywhere_alike_is_reported_and_no_finding():
    def run(rows, tape):
        if len(rows) == 3:
            raise ZeroDivisionError("three records")
        return tape.gaussian("gradient", rows.mean(axis=0), std=12.0 / len(rows), sensitivity=2 / len(rows))

    found = search(run, broken.space(), CLAIM)
    assert found.findings == []
    ((text, times),) = found.raised.items()
    assert "ZeroDivisionError" in text and 0 < times < found.examples


@pytest.mark.parametrize(("moved", "accused"), [(2e-13, False), (4e-12, True)])
def test_rounding_is_no_movement_however_small_the_sensitivity_is(moved, accused):
    """Differences of gradients at points next to each other: what is left of them is rounding."""

    def run(rows, tape):
        return tape.gaussian("difference", rows.sum(axis=0) * moved, std=1.0, sensitivity=1e-13)

    found = search(run, Space.matrix(n=(1,), d=(1,)), CLAIM, examples=20)
    assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED] * accused
