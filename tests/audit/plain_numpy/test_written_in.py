"""Noise written into arrays is followed as noise that stands alone is."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit import assay, on_tape
from dpassay.audit.plain_numpy.written import Blank, blank, followed
from dpassay.reference import PrivacyClaim, record
from dpassay.reference.space import Space

_spec = importlib.util.spec_from_file_location("written_in", Path(__file__).with_name("written_in.py"))
w = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(w)
CLAIM = PrivacyClaim(1.0, 1e-5)
ROWS = np.array([[0.5, 0.2], [0.1, -0.3], [-0.4, 0.8]])


def run(mechanism, seed=0):
    return record(lambda tape: on_tape(mechanism)(ROWS, tape), seed=seed)


@pytest.mark.slow  # an audit each, as `dpassay audit` makes it: a few seconds
@pytest.mark.parametrize("mechanism", w.RIGHT, ids=lambda f: f.__name__)
def test_right_mechanisms_pass(mechanism):
    found = assay(mechanism, Space.matrix(), CLAIM)
    assert not found.verdict.failed, found.why


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", w.WRONG, ids=lambda f: f.__name__)
def test_wrong_mechanisms_fail(mechanism):
    assert assay(mechanism, Space.matrix(), CLAIM).verdict.failed


@pytest.mark.parametrize(
    "mechanism",
    [w.entry_by_entry, w.listed, w.into_an_empty_one, w.halved_in_place, w.from_a_name],
    ids=lambda f: f.__name__,
)
def test_the_sum_is_one_release_with_the_noise_that_was_written(mechanism):
    (release,) = run(mechanism).releases
    assert release.law.query == pytest.approx(w.ball(ROWS).sum(axis=0))
    assert release.law.scale == pytest.approx(w.SIGMA)


@pytest.mark.parametrize(
    "mechanism", [w.symmetric, w.row_of_a_row, w.triangle, w.diagonal_last], ids=lambda f: f.__name__
)
def test_a_symmetric_matrix_releases_its_triangle(mechanism):
    found = run(mechanism)
    x = w.ball(ROWS)
    assert sum(np.size(one.value) for one in found.releases) == 3
    assert {float(one.law.scale) for one in found.releases} == {w.SIGMA}
    queries = np.concatenate([np.ravel(one.law.query) for one in found.releases])
    assert sorted(queries) == pytest.approx(sorted((x.T @ x)[np.triu_indices(2)]))
    assert np.array_equal(found.output, found.output.T)


def test_an_entry_without_noise_stays_bare():
    """The run shows the query itself there."""
    found = run(w.but_one_entry)
    assert found.output[0] == w.ball(ROWS).sum(axis=0)[0]
    assert sum(np.size(one.value) for one in found.releases) == 1


def test_noise_that_is_in_two_sums_protects_one():
    found = run(w.noise_of_the_first_step_for_all)
    assert len(found.releases) == 1


def test_without_noise_they_are_arrays_like_any_other():
    array = blank(np.arange(6.0).reshape(2, 3))
    array[0, 1] = 7.0
    array[1] += 1.0
    array.fill(2.0)
    assert isinstance(array, Blank) and type(array + 1) is np.ndarray and type(array.sum()) is np.float64
    assert array.shape == (2, 3) and array.T.shape == (3, 2) and [row.tolist() for row in array] == [[2.0] * 3] * 2
    assert float(blank(np.array([3.0]))[0]) == 3.0 and bool(blank(np.array(1.0))) and np.linalg.norm(array) > 4
    assert np.concatenate([array, array]).shape == (4, 3)
    assert np.array_equal(np.where(array > 1, array, 0), array)


def test_a_part_that_is_taken_out_writes_into_the_whole():
    def mechanism(rows, rng):
        noise = np.zeros((2, 2))
        upper = noise[0]
        upper[0] = rng.normal(0, 3.0)
        upper[1] = rng.normal(0, 4.0)
        noise[1:, :] = rng.normal(0, 5.0, size=(1, 2))
        taken = noise.copy()
        noise[0, 0] = 0.0  # what was taken keeps its noise
        return rows[:2] + taken, rows[:2] + noise

    seen = run(mechanism)
    (release,) = seen.releases  # the same noise twice: it is released once
    stds = np.array([3.0, 4.0, 5.0, 5.0])
    assert np.ravel(release.law.query / release.law.scale) == pytest.approx(ROWS[:2].ravel() / stds)
    assert np.array_equal(np.ravel(seen.output[0])[1:], np.ravel(seen.output[1])[1:])
    assert seen.output[1][0, 0] == ROWS[0, 0] != seen.output[0][0, 0]


def test_an_array_of_it_is_a_copy():
    def mechanism(rows, rng):
        noise = np.zeros(2)
        noise[:] = rng.normal(0, 3.0, size=2)
        taken = w.np.array(noise)
        taken[0] = 0.0
        return rows.sum(axis=0) + noise

    (release,) = run(mechanism).releases
    assert np.size(release.value) == 2


def test_what_changes_it_behind_its_back_is_refused():
    def sorts(rows, rng):
        noise = np.zeros(2)
        noise[:] = rng.normal(size=2)
        noise.sort()
        return rows.sum(axis=0) + noise

    def puts(rows, rng):
        noise = np.zeros(2)
        noise[:] = rng.normal(size=2)
        np.put(noise, [0], [1.0])
        return rows.sum(axis=0) + noise

    for mechanism in (sorts, puts):
        with pytest.raises(ValueError, match="is changed by"):
            run(mechanism)


def test_numpy_is_itself_again_when_the_runs_are_over():
    known = np.zeros, np.array
    with followed(w.from_a_name, None):
        with followed(w.from_a_name, None):
            assert np.zeros is not known[0] and w.zeros is np.zeros
        assert np.zeros is not known[0] and w.zeros is np.zeros
    assert (np.zeros, np.array) == known and w.zeros is known[0]
    with pytest.raises(ZeroDivisionError):
        run(lambda rows, rng: 1 / 0)
    assert (np.zeros, np.array) == known
