"""State that a run keeps, shares or overwrites must not hide what it leaks."""

import numpy as np
import pytest
from tapes import Again

from dpassay.audit.lockstep.run import lockstep, needs
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.tape import record

N = 4
ALIKE = LinearLosses(np.zeros((N, 1)))
PAIR = Pair(ALIKE.replace(0, np.array([1.0])), ALIKE, 0)
BUFFER = np.zeros(1)


def mean(problem):
    return problem.rows.mean(axis=0)


def overwrites_what_was_released(problem, tape):
    value = tape.gaussian("g", np.zeros(1), std=1.0, sensitivity=0.25)
    value[:] = mean(problem)
    return value


def overwrites_what_was_released_without_noise(problem, tape):
    value = tape.gaussian("g", np.zeros(1), std=0.0, sensitivity=0.0)
    value[:] = mean(problem)
    return value


def overwrites_public_values(problem, tape):
    start, _ = tape.public("start", lambda rng: (rng.standard_normal(1), "name"))
    start[:] = mean(problem)
    return {"start": start}


def overwrites_its_batch(problem, tape):
    first = tape.fresh("b", N, 2, order="index")
    first.indices[:] = int(problem.rows[0, 0])
    return first.indices


def returns_a_buffer(problem, tape):
    return np.mean(problem.rows, axis=0, out=BUFFER)


def reveals_a_buffer(problem, tape):
    tape.reveal("r", np.mean(problem.rows, axis=0, out=BUFFER))


LEAKS = [
    overwrites_what_was_released,
    overwrites_what_was_released_without_noise,
    overwrites_public_values,
    overwrites_its_batch,
    returns_a_buffer,
    reveals_a_buffer,
]


@pytest.mark.parametrize("run", LEAKS, ids=[run.__name__ for run in LEAKS])
def test_worlds_share_no_array(run):
    """All worlds would return the same array, with the last world's values in it."""
    assert {finding.kind for finding in lockstep(run, PAIR, [0]).findings} & {Kind.OUTPUT, Kind.REVEALED_VALUE}


@pytest.mark.parametrize(
    ("call", "noise"),
    [
        ("gaussian", {"std": 1.0}),
        ("laplace", {"scale": 1.0}),
        ("above_threshold", {"threshold": 0.0, "threshold_scale": 1.0, "query_scale": 1.0}),
    ],
)
def test_a_query_in_a_buffer_is_read_at_once(call, noise):
    def run(problem, tape):
        return getattr(tape, call)("q", np.mean(problem.rows, axis=0, out=BUFFER), sensitivity=0.25, **noise)

    assert lockstep(run, PAIR, [0]).movements["q"].moved == 0.25


def test_work_in_place_is_post_processing():
    """Every world halves its own copy."""

    def run(problem, tape):
        for _ in range(2):
            w = tape.gaussian("g", mean(problem), std=1.0, sensitivity=0.25)
            w *= 0.5
            w = tape.gaussian("h", mean(problem) + w, std=1.0, sensitivity=0.25)
        return w

    found = lockstep(run, PAIR, [0])
    assert not found.findings and found.movements["h"].moved == pytest.approx(0.25)


def test_a_transcript_keeps_what_was_released():
    def run(tape):
        value = tape.gaussian("g", np.ones(2), std=1.0, sensitivity=1.0)
        batch = tape.fresh("b", N, N)
        batch.indices[:] = 0
        value[:] = 7.0
        return value

    transcript = record(run, 0)
    run(Again(transcript, 0))
    assert not np.any(transcript.releases[0].value == 7.0)
    assert sorted(transcript.batches[0]) == list(range(N))


def test_a_run_that_changes_its_problem_is_refused():
    """Every later world would see the change: here, two data sets without the record in which they differ."""

    def run(problem, tape):
        moved = mean(problem)
        problem.rows[0] = 0.0
        return tape.gaussian("g", moved, std=1.0, sensitivity=0.25)

    with pytest.raises(BadInput, match="changes the problem"):
        needs(run, LinearLosses(np.ones((N, 1))))
