"""Records with one number each: cells that are counted or summed one by one cost what the array of them does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.audit import Effort, Verdict, assay
from dpassay.audit.certify.certificate import certify
from dpassay.reference import PrivacyClaim, Space

WHERE = Space.matrix(n=(5,), d=(3,))
CELLS = (0.0, 1.0, 2.0)


def unit(rows):
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))


def labels(rows):
    return np.clip(np.round(rows[:, 0]), 0, 2)


def counted(rows):
    of = labels(rows)
    return [np.sum(of == c) for c in CELLS]


def summed(rows):
    of, x = labels(rows), unit(rows)
    return [x[of == c].sum(axis=0) for c in CELLS]


def nearest(rows):
    of = np.argmin(np.linalg.norm(rows[:, None, :] - np.eye(3), axis=2), axis=1)
    return [np.count_nonzero(of == c) for c in range(3)]


def clipped_in_each(rows):
    of = labels(rows)
    return [np.clip(rows[of == c], 0, 1).sum(axis=0) for c in CELLS]


def weighted_by_each(rows):
    of, x = labels(rows), unit(rows)
    return [((of == c).astype(float)[:, None] * x).sum(axis=0) for c in CELLS]


def chosen_by_each(rows):
    of = labels(rows)
    return [np.where(of == c, np.clip(rows[:, 1], 0, 1), 0.0).sum() for c in CELLS]


def clipped_otherwise_in_each(rows):
    of = labels(rows)
    return [np.clip(rows[of == c][:, :1], 0, 1 + c).sum() for c in CELLS]


def ones_elsewhere(rows):
    of = labels(rows)
    return [np.where(of == c, np.tanh(rows[:, 1]), 1.0).sum() for c in CELLS]


def certified(run, laplace):
    def noisy(rows, rng):
        draw = rng.laplace if laplace else rng.normal
        return [one + draw(0, 4.0, size=np.shape(one)) for one in run(rows)]

    return certify(noisy, WHERE, delta=1e-5, any_length=True).releases


def moved(run, order):
    """The most that random neighbours show, of all that is released."""
    rng, most = np.random.default_rng(0), 0.0
    for _ in range(100):
        here = rng.normal(size=(5, 3)) * 2
        there = here.copy()
        there[1] = rng.normal(size=3) * 2
        apart = [np.ravel(np.asarray(a) - b) for a, b in zip(run(here), run(there), strict=True)]
        most = max(most, float(np.linalg.norm(np.concatenate(apart), order)))
    return most


@pytest.mark.parametrize(
    ("run", "one", "two"),
    [
        (counted, 2.0, math.sqrt(2)),
        (summed, 2 * math.sqrt(3), 2.0),
        (nearest, 2.0, math.sqrt(2)),
        (clipped_in_each, 6.0, math.sqrt(6)),
        (weighted_by_each, 2 * math.sqrt(3), 2.0),
        (chosen_by_each, 2.0, math.sqrt(2)),
    ],
)
def test_cells_cost_what_their_array_does(run, one, two):
    for laplace, most in ((True, one), (False, two)):
        assert [release.moves for release in certified(run, laplace)] == [pytest.approx(most)]
        assert moved(run, 1 if laplace else 2) <= most * (1 + 1e-9)


@pytest.mark.parametrize("run", [clipped_otherwise_in_each, ones_elsewhere])
def test_what_is_no_other_cell_costs_its_own(run):
    total = sum(release.moves for release in certified(run, True))
    assert total >= max(3.0, moved(run, 1)) * (1 - 1e-9)


def test_in_a_poisson_batch_a_record_is_in_one_cell():
    def run(rows, rng):
        some = rows[rng.random(5) < 0.3]
        of, x = some[:, 0], unit(some)
        return [x[of == c].sum(axis=0) + rng.normal(0, 4.0, 3) for c in CELLS]

    def whole(rows, rng):
        return unit(rows[rng.random(5) < 0.3]).sum(axis=0) + rng.normal(0, 4.0, 3)

    of_cells, of_all = (certify(one, WHERE, delta=1e-5, any_length=True).epsilon for one in (run, whole))
    assert of_all is not None and of_cells == pytest.approx(of_all)


def sums_of_classes(X, y, rng):
    some = rng.random(len(X)) < 0.3
    rows, of = unit(X[some]), y[some]
    return [rows[of == c].sum(axis=0) + rng.normal(0, 4.0, X.shape[1]) for c in range(3)]


@pytest.mark.more
def test_a_batch_that_few_records_show_is_a_batch():
    """No record of the first runs has a label that is asked for: it was called a leak that the batch is not named."""
    space = Space.matrix(n=(1, 3), d=(3,), radius=10.0)
    found = assay(sums_of_classes, space, PrivacyClaim(1.0, 1e-5), effort=Effort(runs=60, pilot=60, examples=40))
    assert found.verdict is Verdict.CERTIFIED and not found.findings
