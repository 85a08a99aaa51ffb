"""Decisions that turn at one place: far data sets find it, halving brings neighbours; movements that need climbing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dpassay.audit.search.engine import search
from dpassay.audit.search.far import far_rows, turning
from dpassay.audit.search.ground import AllOf, Data
from dpassay.reference.findings import Kind
from dpassay.reference.space import Rows, Space

CLAIM = SimpleNamespace(epsilon=3.0, delta=1e-5)
SPACE = Space.matrix(n=(40,), d=(1, 2))


def mean(rows, tape):
    return tape.gaussian("mean", rows.mean(axis=0), std=12.0 / len(rows), sensitivity=2 / len(rows))


def small_in_truth(rows, tape):
    """Whether the true mean is long decides on a second release; one record of forty moves it by a twentieth."""
    value = mean(rows, tape)
    if np.linalg.norm(rows.mean(axis=0)) > 0.77:
        value = value + mean(rows, tape)
    return value


def test_a_decision_on_many_records_is_found_at_neighbours():
    """Sixty examples without far data sets find it with none of ten seeds, with them with all ten."""
    found = [search(small_in_truth, SPACE, CLAIM, examples=60, seed=seed) for seed in range(2)]
    assert all({f.kind for f in one.findings} & {Kind.EARLY_END, Kind.CALL} for one in found)
    data = found[0].witnesses[0].data
    there = data.rows.copy()
    there[data.target] = data.there
    lengths = [np.linalg.norm(rows.mean(axis=0)) for rows in (data.rows, there)]
    assert min(lengths) <= 0.77 < max(lengths)


def test_halving_ends_between_neighbours():
    rows, far = np.zeros((9, 1)), np.ones((9, 1))
    data = Data({"n": 9, "d": 1}, rows, far[0], 0)
    asked = []

    def parts(setting):
        sums = setting.pair.here.sum(), setting.pair.there.sum()
        asked.append(sums)
        return (sums[0] > 5.5) != (sums[1] > 5.5)

    found = turning(AllOf(mean, Space.matrix(n=(9,), d=(1,))), data, far, parts)
    assert (found.rows.sum(), found.target, found.there.tolist()) == (5, 5, [1.0]) and len(asked) <= 5


def test_far_data_sets_keep_to_the_space():
    data = Data({"n": 2, "d": 1}, np.array([[0.5, 1.0], [1.0, -1.0]]), np.array([-1.0, 1.0]), 0)
    labelled = Space(Rows("d", 1.0, labels=(1.0, -1.0)), {"n": (2,), "d": (1,)})
    assert far_rows(labelled, data, "opposite").tolist() == [[-0.5, 1.0], [-1.0, -1.0]]
    assert far_rows(labelled, data, "all as the neighbour").tolist() == [[-1.0, 1.0]] * 2
    box = Space(Rows(1, None, (0.0, 2.0)), {"n": (2,)})
    plain = Data({"n": 2}, np.array([[0.0], [2.0]]), np.array([1.0]), 0)
    assert far_rows(box, plain, "opposite").tolist() == [[2.0], [2.0]]
    gone = Space(Rows(1, 1.0), {"n": (2,)}, relation="add-remove", absent=np.zeros(1))
    assert far_rows(gone, plain, "opposite").tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("seed", [1])
def test_a_sensitivity_that_needs_an_angle_is_climbed_to(seed):
    """It is attained where the row stands at 32 degrees to the first axis: a seed that sees it only by climbing."""
    angle = np.array([np.cos(0.55), np.sin(0.55)])

    def run(rows, tape):
        query = np.maximum(rows @ angle, 0.0) ** 8
        return tape.gaussian("peak", query.sum(), std=12.0, sensitivity=0.99)

    found = search(run, Space.matrix(n=(1, 2), d=(2,)), CLAIM, seed=seed)
    assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED]
    assert found.witnesses[0].data.sizes == {"n": 1, "d": 2}


def test_rounding_after_a_huge_released_value_accuses_nobody():
    """The mean less a released point of size 1e7 and more: its last digits are no movement."""

    def run(rows, tape):
        x = np.zeros(rows.shape[1])
        for _ in range(3):
            gradient = rows.mean(axis=0) - x
            x = x + tape.gaussian("step", gradient, std=24 / len(rows), sensitivity=2 / len(rows))
        return x

    found = search(run, Space.matrix(), CLAIM)
    assert found.findings == [] and found.shares["step"] == pytest.approx(1.0)
