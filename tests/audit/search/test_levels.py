"""Values by design: what needs them all at once beyond one landmark and not the next, or data that pull one way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.search import engine
from dpassay.audit.search.engine import search
from dpassay.audit.search.ground import AllOf, Data
from dpassay.audit.search.levels import Released, at_landmarks, one_by_one, one_way
from dpassay.audit.search.smaller import resized
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import require
from dpassay.reference.findings import Kind
from dpassay.reference.space import Rows, Space

CLAIM = PrivacyClaim(1e6, 1e-5)
MARKS = {"first": (2.0, 6.0), "second": (2.0, 6.0), "third": (2.0, 6.0)}
SPACE = replace(Space.matrix(n=(12,), d=(1, 2)), schedule=lambda sizes: None, landmarks=lambda schedule: MARKS)


def between(rows, schedule, tape):
    """Planted: after three values between two landmarks, it stops where the true mean is large."""
    inside = True
    for label in MARKS:
        batch = tape.fresh(label, len(rows), 3, order="index")
        value = tape.gaussian(label, rows[batch.indices, 0].mean(), std=1.0, sensitivity=2 / 3, batch=batch)
        inside = inside and 2.0 < abs(value) < 2.2
    return 0.0 if inside and rows[:, 0].mean() > 0.9 else 1.0


def one_wayed(rows, schedule, tape):
    """Planted: where no trial passes, and a long vector was released, the mean of the records decides."""
    step = tape.gaussian("first", rows.mean(axis=0), std=1.0, sensitivity=2 / len(rows))
    index = tape.above_threshold(
        "trial", [0.0] * 20, threshold=1.0, threshold_scale=1.0, query_scale=2.0, sensitivity=0.1, count=20
    )
    return 0.0 if index is None and 2.0 < step[0] < 2.1 and rows[:, 0].mean() > 0.9 else 1.0


@pytest.mark.parametrize("run", [between, one_wayed])
@pytest.mark.parametrize("designed", [True, False])
def test_it_is_found_by_design_in_few_examples_and_not_without(run, designed, monkeypatch):
    if not designed:
        monkeypatch.setattr(engine, "at_landmarks", lambda *arguments: ())
        monkeypatch.setattr(engine, "one_by_one", lambda *arguments: ())
    found = search(run, SPACE, CLAIM, examples=12, seed=0)
    assert (Kind.OUTPUT in {one.kind for one in found.findings}) == designed


def test_values_go_from_landmark_to_landmark_for_the_labels_that_were_released():
    labels = {label: Released(False, True) for label in ("first", "third")}
    scripts = list(at_landmarks(labels, {**MARKS, "third": (4.0,)}))
    sizes = [{label: choice.size for label, choice in script.values.items()} for script in scripts]
    assert sizes == [
        {"first": 1.0, "third": 2.0},
        {"first": 1.005 * 2, "third": 1.005 * 4},
        {"first": 1.005 * 6, "third": 1.005 * 4},
    ]
    assert list(at_landmarks({"unmarked": Released(False, False)}, MARKS)) == []


def test_one_by_one_tries_both_ends_of_finitely_many_outcomes_and_both_sides_of_an_axis():
    scripts = list(one_by_one({"first": Released(False, True), "trial": Released(True, False)}, MARKS))
    assert [str(script.values["first"]) for script in scripts] == [
        "equal to the query of D",
        *(["of norm 2.01 along the first axis", "of norm 2.01 against the first axis"] * 2),
    ]
    assert [script.values["trial"].index for script in scripts] == [-1, -1, -1, 0, 0]


def test_records_that_pull_one_way_are_of_the_space():
    space = Space.matrix(n=(3,), d=(2,), radius=0.5)
    ground = AllOf(between, space)
    plain = Data({"n": 3, "d": 2}, np.zeros((3, 2)), np.ones(2) / 4, 1)
    data = one_way(space, plain)
    assert data.rows.tolist() == [[0.5, 0.0]] * 3
    assert data.there.tolist() == [-0.5, 0.0]
    ground.setting(data)


def test_a_record_that_is_not_there_stays_away_in_every_width_and_the_search_runs():
    def two_or_more(rows, sizes):
        present = rows[rows[:, 0] != -9.0]
        require(len(present) >= 2, "rows", len(present), "must be at least two")  # as libraries refuse few records
        return present

    def counts(rows, tape):
        return tape.gaussian("ones", rows[:, -1].sum(), std=4.0, sensitivity=2.0)

    shape = Rows("d", None, (0.0, 1.0), (0.0, 1.0))
    sizes = {"n": (2, 3), "d": (2, 3)}
    space = Space(shape, sizes, two_or_more, relation="add-remove", absent=np.array([-9.0]))
    gone = Data({"n": 2, "d": 2}, np.array([[1.0, 0.5, 1.0], [-9.0, -9.0, -9.0]]), np.array([0.5, 0.5, 1.0]), 1)
    wider = resized(space, gone, {"n": 3, "d": 3}, 1)
    assert wider.rows.tolist() == [[1.0, 0.5, 0.0, 1.0], [-9.0] * 4, [1.0, 0.5, 0.0, 1.0]]
    assert not search(counts, space, PrivacyClaim(2.0, 1e-5), examples=60, seed=0).findings
