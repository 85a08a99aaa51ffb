"""Outputs alone as numbers, and the pair of neighbours that is audited."""

import math

import numpy as np
import pytest

from dpassay.audit import Effort, assay
from dpassay.audit.assaying.evidence import epsilon_of_output, numbers_of
from dpassay.audit.assaying.worst import with_exact_losses
from dpassay.audit.search.ground import AllOf, Data
from dpassay.reference import PrivacyClaim, Space
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.space import Rows

CLAIM = PrivacyClaim(1.0, 1e-5, Cite("dwork2014", "Definition 2.4"))
PAIR = Pair(1.0, 0.0, 0)
EFFORT = Effort(runs=300, pilot=100, examples=20)


def of_output(run, delta=1e-5, samples=400):
    return epsilon_of_output(run, PAIR, delta, samples=samples, confidence=0.95, seed=0)


def response(bit, tape):
    """Randomised response: right with probability 3/4; exactly log 3."""
    right = Categorical((0, 1), np.log([0.25, 0.75] if bit else [0.75, 0.25]))
    return tape.release("bit", right, sensitivity=None)


def test_finite_outputs_are_sampled():
    assert 0.5 < of_output(response) <= math.log(3)
    assert of_output(lambda bit, tape: response(bit, tape) * 0) == 0.0


def test_continuous_outputs_are_sampled():
    """The true value beside noise that the tape never saw: separated outputs; 400 a side, seed 0."""
    assert 2 < of_output(lambda x, tape: x + 0.01 * tape.noise("own", 1.0)) < math.inf
    assert of_output(lambda x, tape: x + 1e4 * tape.noise("own", 1.0)) < 1
    assert of_output(lambda x, tape: str(tape.noise("own", 1.0))) is None


def test_numbers_of_nested_outputs():
    assert numbers_of({"b": np.eye(2), "a": (1, [2.5])}) == [1.0, 2.5, 1.0, 0.0, 0.0, 1.0]
    assert numbers_of("word") is None and numbers_of([1, None]) is None


def leaky(x, tape):
    return tape.gaussian("g", x, std=4.0, sensitivity=1.0), x


def test_a_leak_that_the_output_shows_is_violated():
    found = assay(leaky, PAIR, CLAIM, effort=EFFORT)
    assert found.verdict == "violated" and found.by == "outputs" and 1 < found.realised < math.inf
    assert "the output alone" in found.why and not found.upper_bound


def test_a_leak_that_the_output_does_not_show_still_leaks():
    """The output moves by a ten-thousandth of its noise: no sample shows it, the replay does."""

    def run(x, tape):
        return tape.gaussian("g", x, std=4.0, sensitivity=1.0) + 1e-4 * x

    found = assay(run, PAIR, CLAIM, effort=EFFORT)
    assert found.verdict == "leaks" and found.realised < 1


def test_a_revealed_value_is_part_of_the_output():
    def run(x, tape):
        tape.reveal("norm", x)
        return tape.gaussian("g", x, std=4.0, sensitivity=1.0)

    assert assay(run, PAIR, CLAIM, effort=EFFORT).verdict == "violated"


@pytest.mark.parametrize(
    ("run", "pair", "why"),
    [
        (lambda x, tape: None, PAIR, "nothing is released, and the output is None"),
        (lambda x, tape: math.nan, PAIR, "nothing is released, and the output is NaN"),
        (lambda x, tape: 7.0, PAIR, "nothing is released, and the output is the same"),
        (leaky, Pair(1.0, 1.0, 0), "D and D' are the same"),
        (lambda x, tape: tape.gaussian("g", 0.0, std=4.0, sensitivity=1.0), PAIR, "no released value tells D from D'"),
        (lambda x, tape: tape.gaussian("g", x, std=4.0, sensitivity=None), PAIR, "not accounted: no sensitivity"),
        (lambda x, tape: [tape.gaussian("g", x, std=4.0, sensitivity=1.0), math.inf], PAIR, "output is not finite"),
    ],
)
def test_an_empty_audit_says_so(run, pair, why):
    found = assay(run, pair, CLAIM, effort=EFFORT)
    assert found.verdict == "inconclusive" and why in found.why


# Where secret batches of other records hide the losses, a pair with like records is audited in place of the worst.
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
    assert "data whose other records are equal" in found.why
