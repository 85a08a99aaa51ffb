"""Where secret batches of other records hide the losses, a pair with like records is audited in place of the worst."""

import numpy as np
import pytest

from dpassay.audit import Effort, assay
from dpassay.audit.assaying.worst import with_exact_losses
from dpassay.audit.search.ground import AllOf, Data
from dpassay.reference import PrivacyClaim, Space
from dpassay.reference.space import Rows

SPACE = Space(Rows("d", bound=None, labels=(-1.0, 1.0)), {"n": (4,), "d": (1,)})
ROWS = np.array([[3.0, 1.0], [-2.0, 1.0], [5.0, -1.0], [1.0, 1.0]])
DATA = Data({"n": 4, "d": 1}, ROWS, np.array([-3.0, -1.0]), 0)


def sampled_sum(rows, tape, steps=2):
    """Poisson batches of clipped rows."""
    for _ in range(steps):
        batch = tape.poisson("batch", len(rows), 0.5)
        query = np.clip(rows[batch.indices, :-1], -1, 1).sum(axis=0)
        tape.gaussian("sum", query, std=2.0, sensitivity=2.0, batch=batch)


def full_sum(rows, tape):
    tape.gaussian("sum", np.clip(rows[:, :-1], -1, 1).sum(axis=0), std=2.0, sensitivity=2.0)


def test_the_other_records_are_made_alike():
    found = with_exact_losses(AllOf(sampled_sum, SPACE).setting(DATA), sampled_sum, SPACE)
    others = found.data.rows[1:]
    assert found.alike and (others == others[0]).all() and found.data.rows[0].tolist() == [3.0, 1.0]
    assert others[0, :-1] == 0, "any other records would be counted by the size of the batch"
    assert found.data.there.tolist() == [-3.0, 1.0] or found.data.there.tolist() == [-3.0, -1.0]


def test_a_pair_with_exact_losses_stays():
    setting = AllOf(full_sum, SPACE).setting(DATA)
    assert with_exact_losses(setting, full_sum, SPACE) is setting


def test_without_any_such_pair_the_worst_one_stays():
    def counts(rows, tape):
        batch = tape.poisson("batch", len(rows), 0.5)
        tape.gaussian("size", np.array([float(len(batch.indices))]) * rows[0, 0], std=1.0, sensitivity=9.0, batch=batch)

    setting = AllOf(counts, SPACE).setting(DATA)
    assert with_exact_losses(setting, counts, SPACE) is setting


def test_in_a_box_and_without_labels():
    space = Space(Rows("d", box=(1.0, 3.0)), {"n": (3,), "d": (1,)})
    data = Data({"n": 3, "d": 1}, np.array([[3.0], [2.0], [1.0]]), np.array([1.0]), 0)

    def run(rows, tape):
        batch = tape.poisson("batch", len(rows), 0.5)
        tape.gaussian("sum", (rows[batch.indices] - 1.0).sum(axis=0), std=2.0, sensitivity=2.0, batch=batch)

    found = with_exact_losses(AllOf(run, space).setting(data), run, space)
    assert found.alike and found.data.rows.tolist() == [[3.0], [1.0], [1.0]]


@pytest.mark.some(1)
@pytest.mark.parametrize(("epsilon", "failed"), [(1.0, True), (4.0, False)])
def test_sampled_batches_get_a_verdict(epsilon, failed):
    found = assay(sampled_sum, SPACE, PrivacyClaim(epsilon, 1e-5), effort=Effort(runs=80, pilot=60, examples=20))
    assert found.verdict.failed is failed and found.realised is not None and 0 < found.realised <= found.accounted
    assert "other records made alike" in found.why
