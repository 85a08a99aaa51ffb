"""Where an order decides, one record turns it only if the others are divided."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.audit.lockstep.script import Script
from dpassay.audit.search.camps import camps
from dpassay.audit.search.engine import search
from dpassay.audit.search.ground import AllOf, Data
from dpassay.audit.search.moves import Example, Terrain
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Kind
from dpassay.reference.space import Rows, Space

CLAIM = PrivacyClaim(1e6, 1e-5)
FREE = Space(Rows("d", None), {"n": (1, 8), "d": (1, 3)})


def clipped(rows, bound):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.minimum(1.0, bound / np.maximum(lengths, 1e-300))


def at_the_median(rows, tape):
    """Five of eight secret records, clipped at their median length or at one: it may move by 3 / 5 and more."""
    chosen = rows if len(rows) < 5 else rows[(batch := tape.batch("batch", len(rows), 5)).indices]
    median = float(np.median(np.linalg.norm(chosen, axis=1)))
    mean = clipped(chosen, min(1.0, median or 1.0)).mean(axis=0)
    tape.gaussian(
        "mean", mean, std=9.0, sensitivity=2 / len(chosen), batch=None if chosen is rows else batch
    )  # fmt: skip


def by_majority(rows, tape):
    """The sign of the majority, counted as one record's share of a mean."""
    tape.gaussian("vote", np.sign((rows[:, 0] > 0).mean() - 0.5), std=9.0, sensitivity=2 / len(rows))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_what_an_order_decides_is_found(seed):
    """Seeds 0 and 1; without the camps the first is found on neither."""
    for run in (at_the_median, by_majority):
        found = search(run, FREE, CLAIM, seed=seed, tracing=False)
        assert Kind.SENSITIVITY_EXCEEDED in {one.kind for one in found.findings}, run.__name__


def test_camps_keep_to_the_space_and_divide_the_others():
    box = Space(Rows(1, None, (0.0, 2.0)), {"n": (5,)})
    gone = Space(Rows(1, 1.0), {"n": (5,)}, relation="add-remove", absent=np.full(1, 7.0))
    bounded = Space(Rows("d", 1.0, labels=(1.0, -1.0)), {"n": (5,), "d": (2,)})
    for space, row, there in (
        (box, [2.0], [0.0]),
        (gone, [1.0], [7.0]),
        (gone, [7.0], [1.0]),
        (bounded, [0.6, 0.8, 1.0], [0.0, 0.0, -1.0]),
    ):
        ground = AllOf(lambda rows, tape: None, space)
        data = Data(dict(ground.combinations[0]), np.array([row] * 5), np.array(there), 0)
        found = list(camps(Example(data, Script()), Terrain(space, ground.combinations, lambda data: {}, set())))
        assert len(found) >= 8
        for one in found:
            ground.setting(one.data)  # raises where a row is none of the space
            assert len(np.unique(one.data.rows, axis=0)) == 2
