"""Where batches come by index, the target is tried in each of them."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.audit.lockstep.script import Script
from dpassay.audit.search.engine import search
from dpassay.audit.search.ground import AllOf, Data
from dpassay.audit.search.open_batches import OpenBatches
from dpassay.audit.search.premises import Premises
from dpassay.audit.search.runner import Runner
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Kind
from dpassay.reference.space import Space

CLAIM = PrivacyClaim(1e6, 1e-5)
SPACE = Space.matrix(n=(40,), d=(1,))


def phases(rows, tape, right=True):
    """Four batches of ten; the last release uses the second batch as well, after three values next to zero."""
    batches, calm = [], True
    for number in range(4):
        batch = tape.fresh(f"batch/{number}", len(rows), 10, order="index")
        batches.append(batch)
        mean, used = rows[batch.indices, 0].mean(), (batch,)
        if number == 3 and calm:
            mean, used = mean + rows[batches[1].indices, 0].mean(), ((batches[1], batch) if right else used)
        value = tape.gaussian(f"phase/{number}", mean, std=9.0, sensitivity=0.2, batch=used)
        calm = calm and abs(value) < 0.5


def forgetful(rows, tape):
    phases(rows, tape, right=False)


@pytest.mark.parametrize("seed", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_batch_that_is_not_declared_is_found_where_only_its_records_show_it(seed):
    """Seeds 0 and 2; ten records of forty show it where three values stay small: without the places neither sees it."""
    found = search(forgetful, SPACE, CLAIM, seed=seed, tracing=False)
    assert {one.kind for one in found.findings} == {Kind.UNDECLARED_BATCH}
    assert not search(phases, SPACE, CLAIM, seed=seed, tracing=False, examples=60).findings


def test_the_target_comes_into_each_batch_and_the_others_fall_silent():
    ground = AllOf(phases, SPACE)
    runner = Runner(phases, ground, Premises(CLAIM, "replace-one"), {}, False)
    data = Data({"n": 40, "d": 1}, np.full((40, 1), 0.5), np.array([-1.0]), 3)
    batches, seen = OpenBatches(SPACE), []
    batches.note(runner.scripted(ground.setting(data), 0, Script()), data, Script(), 0)
    batches.go(lambda one, script, seed: seen.append(one))
    assert [one.target for one in seen] == [0, 10, 20, 30] * 2
    assert all(one.rows[one.target] == 0.5 for one in seen)
    assert [np.count_nonzero(one.rows) for one in seen] == [40] * 4 + [1] * 4


def test_secret_batches_have_no_places():
    def sampled(rows, tape):
        batch = tape.batch("batch", len(rows), 10)
        tape.gaussian("mean", rows[batch.indices].mean(), std=9.0, sensitivity=0.2, batch=batch)

    ground = AllOf(sampled, SPACE)
    runner = Runner(sampled, ground, Premises(CLAIM, "replace-one"), {}, False)
    data, seen = Data({"n": 40, "d": 1}, np.full((40, 1), 0.5), np.array([-1.0]), 3), []
    batches = OpenBatches(SPACE)
    batches.note(runner.scripted(ground.setting(data), 0, Script()), data, Script(), 0)
    batches.go(lambda one, script, seed: seen.append(one))
    assert not seen
