"""Programs that speak the protocol behave as algorithms in Python do."""

from functools import partial

import numpy as np
import pytest

from dpassay.audit.lockstep.run import Needs, lockstep
from dpassay.audit.row import Effort
from dpassay.audit.running.programs import ProgramEnded
from dpassay.audit.search.engine import search
from dpassay.audit.subjects.programs import audited
from dpassay.reference.case import bind
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.tape import LiveTape, Tape

from .test_manners import CASE, speaker

QUICK = Effort(runs=10, pilot=50, examples=15)


def test_the_same_tape_gives_the_same_run():
    """Output, labels, queries, scales and batches are those of the reference, on any seed."""
    instance = CASE.build()
    with speaker() as program:
        for seed in (0, 1):
            ours, theirs = LiveTape(seed), LiveTape(seed)
            expected = instance.run(instance.pair.here, instance.schedule, ours)
            found = program(instance.pair.here, instance.schedule, theirs)
            assert np.allclose(found, expected, rtol=1e-12)
            assert [e.label for e in ours.transcript.events] == [e.label for e in theirs.transcript.events]
            for one, other in zip(ours.transcript.releases, theirs.transcript.releases, strict=True):
                assert np.allclose(one.law.query, other.law.query, rtol=1e-12)
                assert (one.sensitivity, one.draws) == (other.sensitivity, other.draws)
                assert one.law.scale == pytest.approx(other.law.scale, rel=1e-15)


def test_lockstep_gives_the_same_loss_and_reuses_its_processes():
    instance = CASE.build()
    with speaker() as program:
        for seed in range(3):
            expected = lockstep(instance.mechanism, instance.pair, [seed])
            found = lockstep(bind(program, instance.schedule), instance.pair, [seed])
            assert found.complete and not found.findings and not found.inexact
            assert found.loss == pytest.approx(expected.loss, rel=1e-9)
        assert program.started == 5  # two sides, with and without the target, and the check world


@pytest.mark.parametrize("mode", ["good", "forgets"])
def test_problems_may_change_between_cases(mode):
    schedule = CASE.space().schedule({"n": 3, "d": 1, "steps": 1, "batch": 2})
    problems = [LinearLosses(np.array([[x], [0.0], [0.0]])) for x in (0.5, -0.5)]
    with speaker(mode) as program:
        for problem in [*problems, *problems]:
            expected = CASE.build().run(problem, schedule, LiveTape(3))
            assert np.allclose(program(problem, schedule, LiveTape(3)), expected, rtol=1e-12)
        assert program.started == 1


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("no clip", Kind.SENSITIVITY_EXCEEDED),
        ("un-noised use", Kind.OUTPUT),
        ("branch", Kind.CALL),
        ("undeclared batch", Kind.UNDECLARED_BATCH),
        ("half the noise", Kind.OVER_BUDGET),
    ],
)
def test_planted_bugs_are_found_with_their_cause(mode, kind):
    """A search of eight examples (seed 0); each bug shows on almost all data."""
    with speaker(mode) as program:
        found = search(program, CASE.space(), CASE.claim, examples=8)
    assert kind in [finding.kind for finding in found.findings]


@pytest.mark.slow  # more than a second; those of the examples are audited by `make journeys`
def test_a_correct_program_is_not_accused():
    with speaker() as program:
        row = audited(CASE, program, QUICK)
        assert program.started <= 6
    assert (row.undeclared, row.findings, row.reading) == ([], [], "program")
    assert row.accounted == pytest.approx(2.44, abs=0.01)
    assert row.upper_bound and "open:" not in row.why, "no certificate of what runs elsewhere"


MORE_STEPS = CASE.space().schedule({"n": 3, "d": 1, "steps": 3, "batch": 2})
PAIR = Pair(*(LinearLosses(np.array([[x], [0.0], [0.0]])) for x in (1.0, -1.0)), 0, "first record")


def test_a_run_that_was_cut_off_leaves_its_process_usable():
    """The worlds part, so none comes to its end; the processes answer the next case all the same."""
    with speaker("branch") as program:
        for seed in range(3):
            found = lockstep(bind(program, MORE_STEPS), PAIR, [seed], check=False)
            assert not found.complete and found.findings
        assert program.started == 4


def test_the_programs_of_the_worlds_work_at_the_same_time(tmp_path):
    """Each waits, at every step, until another one has come as far: one after the other they would be late."""
    what = Needs(sampled=True, fresh=0, inner=False)
    with speaker("meets", tmp_path, timeout=60.0) as program:
        found = lockstep(bind(program, MORE_STEPS), PAIR, [0], what=what, check=False)
    assert found.complete


class Asking(Tape):
    """Evaluates the first queries, as many as it is told to."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def _released(self, label, law, sensitivity, draws):
        self.seen = law.first(self.count)
        return 2

    def _indices(self, draw):
        raise NotImplementedError

    def _value(self, kind, label, draw):
        raise NotImplementedError


def test_queries_are_asked_for_only_as_far_as_they_are_needed():
    """Query 3 would end the program; who needs three queries does not come to it."""
    problem = LinearLosses(np.array([[0.5], [3.0]]))
    with speaker("crash in a query") as program:
        tape = Asking(3)
        assert program(problem, None, tape) == 2
        assert tape.seen.tolist() == [1.5, 2.5, 3.5]
        with pytest.raises(ProgramEnded, match="exit status 9"):
            program(problem, None, Asking(4))
        assert program(problem, None, Asking(2)) == 2  # another process


def test_a_program_that_has_gone_on_is_asked_for_no_more_queries():
    """Whoever reads the transcript later gets what was evaluated; the next case is not disturbed."""
    problem = LinearLosses(np.array([[0.5], [3.0]]))
    with speaker() as program:
        tape = Asking(3)
        program(problem, None, tape)
        assert tape.transcript.releases[0].law.all_queries().tolist() == [1.5, 2.5, 3.5]
        assert program(problem, None, Asking(2)) == 2
        assert program.started == 1


def test_above_threshold_in_lockstep():
    problems = [LinearLosses(np.array([[x], [0.0]])) for x in (1.0, -1.0)]
    with speaker() as program:
        found = lockstep(partial(_unscheduled, program), Pair(*problems, 0, "first record"), [0])
    assert found.complete and not found.findings
    assert found.movements["search"].moved == 2.0


def _unscheduled(program, problem, tape):
    return program(problem, None, tape)
