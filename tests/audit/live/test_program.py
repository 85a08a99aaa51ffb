"""Programs that speak the protocol behave as algorithms in Python do."""

import json
import shlex
import sys
from functools import partial

import numpy as np
import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.live.program import run_live
from dpassay.audit.lockstep.run import Needs, lockstep
from dpassay.audit.row import Effort
from dpassay.audit.running.programs import ProgramBroken, ProgramEnded
from dpassay.audit.search.engine import search
from dpassay.audit.subjects.programs import audited
from dpassay.reference.case import bind
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.tape import LiveTape, Tape

from .test_manners import CASE, SPEAKER, speaker

QUICK = Effort(runs=10, pilot=50, examples=15)


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


# on test vectors: right ones pass, each planted difference is named, what must be refused is
KEY = "baselines/dp_sgd:fixed-size@baseline"
VECTORS = [vector for vector in load("baselines/dp_sgd") if vector["case"] == KEY]


def command(mode="good"):
    return shlex.join([sys.executable, "-S", str(SPEAKER), mode])


def outcomes(mode, **options):
    return [(result.outcome, result.message) for result in run_live(command(mode), VECTORS, **options)]


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("half the noise", "gradient, std: "),
        ("no clip", "gradient, query"),
        ("un-noised use", "output[0]: "),
        ("undeclared batch", "gradient, batches: expected [0], got []"),
    ],
)
def test_a_difference_is_named_with_its_place(mode, text):
    found = outcomes(mode)
    assert any(outcome == "fail" and text in message for outcome, message in found), found


@pytest.mark.parametrize(
    ("mode", "outcome", "text"),
    [
        ("unsupported", "unsupported", "only dp_ftrl"),
        ("refuses", "error", "batch_size 2 is even"),
        ("crash", "error", "was killed by SIGABRT; it said: Traceback: all is lost"),
        ("nan", "error", "must be finite"),
    ],
)
def test_what_a_program_does_not_answer_is_no_pass(mode, outcome, text):
    for found, message in outcomes(mode):
        assert found == outcome and text in message


def test_a_program_that_breaks_the_protocol_is_bad_input():
    with pytest.raises(ProgramBroken, match="no line of JSON"):
        outcomes("garbage")


def test_another_call_than_the_references_is_named():
    """Twice the steps: after the last release of the vector there is nothing to hand back."""
    vector = VECTORS[0]
    longer = {**vector, "schedule": {**vector["schedule"], "steps": 2 * vector["schedule"]["steps"]}}
    (result,) = run_live(command(), [longer])
    assert result.outcome == "fail" and "number of events" in result.message


def test_the_command_explains_and_counts(tmp_path):
    runner, output = CliRunner(), tmp_path / "junit.xml"
    done = runner.invoke(app, ["crosscheck", "live", KEY, "--program", command(), "--seeds", "1", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["vectors"] == len(VECTORS) + 1
    options = ["--program", command("half the noise"), "--seeds", "0", "--no-mutants", "--junit", str(output)]
    done = runner.invoke(app, ["crosscheck", "live", KEY, *options])
    assert done.exit_code == 1, done.output
    assert "numbers: yours is 0.5 times the reference's" in done.output and "<failure" in output.read_text()
    done = runner.invoke(app, ["crosscheck", "live", KEY, "--program", command("unsupported"), "--seeds", "0"])
    assert done.exit_code == 3


def test_the_command_shows_the_change_of_the_reference_that_does_the_same():
    """The loop of the un-noised twin: the query stands where the released value should be."""
    done = CliRunner().invoke(app, ["crosscheck", "live", KEY, "--program", command("un-noised use"), "--seeds", "0"])
    assert done.exit_code == 1, done.output
    assert "what goes on is the query, not the released value, on 2 of 2 vectors" in done.output
