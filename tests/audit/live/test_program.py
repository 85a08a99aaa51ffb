"""Programs that speak the protocol behave as algorithms in Python do; those that crash, hang or lie get one line."""

import os
import shlex
import sys
import time
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from dpassay.audit.crosscheck.recording import VectorTape
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.live import program as live_program
from dpassay.audit.live.messages import ProgramRefused, ProgramUnsupported
from dpassay.audit.live.program import LiveProgram, run_live
from dpassay.audit.lockstep.outcome import caught
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.row import Effort
from dpassay.audit.running import programs
from dpassay.audit.running.programs import ProgramBroken, ProgramEnded
from dpassay.audit.subjects.programs import audited
from dpassay.audit.subjects.replay import agreed
from dpassay.audit.terminal.progress import progress
from dpassay.reference import BadInput, LiveTape, Pair, Tape, find
from dpassay.reference.case import bind
from dpassay.reference.findings import Kind
from dpassay.reference.problems.linear import LinearLosses

SPEAKER = [sys.executable, "-S", str(Path(__file__).with_name("speaker.py"))]
CASE = find("baselines/dp_sgd:fixed-size")[0]
PROBLEM = LinearLosses(np.array([[0.5], [0.25], [0.0]]))
SCHEDULE, LONGER = (CASE.space().schedule({"n": 3, "d": 1, "steps": steps, "batch": 2}) for steps in (1, 3))
PAIR, FAR = (
    Pair(*(LinearLosses(np.array([[x], [0.0], [0.0]])) for x in (here, -1.0)), 0, "first record") for here in (1.0, 3.0)
)
QUICK = Effort(runs=10, pilot=50, examples=15)


def speaker(mode="good", *more, timeout=10.0):
    return LiveProgram([*SPEAKER, mode, *map(str, more)], CASE.id, timeout=timeout)


def failure(mode, *more, kind=ProgramBroken):
    """What one run raises, on one line; the program is gone afterwards."""
    with speaker(mode, *more) as program:
        with pytest.raises(kind) as error:
            program(PROBLEM, SCHEDULE, LiveTape(0))
        assert not program._idle
    assert "\n" not in str(error.value)
    return str(error.value)


# -- as algorithms ------------------------------------------------------------------------------------------------
def test_lockstep_gives_the_same_loss_and_reuses_its_processes():
    instance = CASE.build()
    with speaker() as program:
        for seed in range(3):
            expected = lockstep(instance.mechanism, instance.pair, [seed])
            found = lockstep(bind(program, instance.schedule), instance.pair, [seed])
            assert found.complete and not found.findings and not found.inexact
            assert found.loss == pytest.approx(expected.loss, rel=1e-9)
        assert program.started == 5  # two sides, with and without the target, and the check world


@pytest.mark.parametrize("mode", ["good", "forgets", "noisy"])  # noisy: more complaints than a pipe holds
def test_problems_may_change_between_cases(mode):
    problems = [LinearLosses(np.array([[x], [0.0], [0.0]])) for x in (0.5, -0.5)]
    with speaker(mode) as program:
        for problem in [*problems, *problems]:
            expected = CASE.build().run(problem, SCHEDULE, LiveTape(3))
            assert np.allclose(program(problem, SCHEDULE, LiveTape(3)), expected, rtol=1e-12)
        assert program.started == 1


def test_a_run_that_was_cut_off_leaves_its_process_usable():
    """The worlds part, so none comes to its end; the processes answer the next case all the same."""
    with speaker("branch") as program:
        for seed in range(3):
            found = lockstep(bind(program, LONGER), PAIR, [seed], check=False)
            assert not found.complete and found.findings
        assert program.started == 4


class Asking(Tape):
    """Evaluates the first queries."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def _released(self, label, law, sensitivity, draws):
        self.seen = law.first(self.count)
        return 2

    _indices = _value = None


def test_queries_are_asked_for_only_as_far_as_they_are_needed():
    """Query 3 would end the program; who needs three queries does not come to it."""
    problem = LinearLosses(np.array([[0.5], [3.0]]))
    with speaker("crash in a query") as program:
        tape = Asking(3)
        assert program(problem, None, tape) == 2
        assert tape.seen.tolist() == [1.5, 2.5, 3.5]
        # whoever reads the transcript later gets what was evaluated; the next case is not disturbed
        assert tape.transcript.releases[0].law.all_queries().tolist() == [1.5, 2.5, 3.5]
        assert program(problem, None, Asking(2)) == 2 and program.started == 1
        with pytest.raises(ProgramEnded, match="exit status 9"):
            program(problem, None, Asking(4))
        assert program(problem, None, Asking(2)) == 2 and program.started == 2


# -- bad manners ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("mode", "kind", "text", "started"),
    [
        ("garbage", ProgramBroken, "'hello, world', which is no line of JSON", 1),
        ("unknown batch", ProgramBroken, "depends on batch 5; it has drawn 1 so far", 1),
        ("missing field", ProgramBroken, "sensitivity: is missing", 1),
        ("version 2", ProgramBroken, "speaks version 2 of the protocol, not 1", 1),
        ("hi", ProgramBroken, "answered hello, and not with", 1),
        ("dies at once", ProgramBroken, "answer hello: the program ended with exit status 1; it said: no licence", 1),
        ("silent", ProgramBroken, "0.4 s", 1),
        ("does not read", ProgramBroken, "0.4 s", 1),
        ("crash", ProgramEnded, "was killed by SIGABRT; it said: Traceback: all is lost", 3),
        ("half line", ProgramEnded, "ended with exit status 0 in the middle of a line", 3),
        ("closes its output", ProgramEnded, "closed its output", 3),
        # as in Python: what is not finite in one run (an overflow, say) does not stop the audit
        ("nan", BadInput, "query", 3),
        ("batch too large", BadInput, "batch size", 3),
        ("infinite noise", BadInput, "std", 3),
        ("refuses", ProgramRefused, "batch_size 2 is even", 1),
        ("unsupported", ProgramUnsupported, "does not implement this case: only dp_ftrl", 1),
    ],
)
def test_what_a_run_ends_with_is_said_in_one_line(mode, kind, text, started, monkeypatch):
    """Of three runs. Who breaks the protocol is not started again; after a crash the next run starts another."""
    monkeypatch.setattr(programs, "_GRACE", 0.05)
    problem = LinearLosses(np.ones((30_000, 1))) if mode == "does not read" else PROBLEM  # more than a pipe holds
    with speaker(mode, timeout=0.4 if text == "0.4 s" else 10.0) as program:
        for _ in range(3):
            with pytest.raises(kind) as error:
                program(problem, SCHEDULE, LiveTape(0))
            assert type(error.value) is kind and text in str(error.value) and "\n" not in str(error.value)
        assert program.started == started
        assert len(program._idle) == (kind in (ProgramRefused, ProgramUnsupported))


def test_worlds_without_end_are_no_processes_without_end(monkeypatch):
    """Every fresh batch is a world: a program that draws a thousand would be started two thousand times at once."""
    monkeypatch.setattr(live_program, "MOST_PROCESSES", 4)
    with speaker() as program, pytest.raises(ProgramBroken, match="is needed 5 times at once"):
        lockstep(bind(program, SCHEDULE), PAIR, [0])
    assert program.started == 4


def test_endless_output_is_cut_off(monkeypatch):
    """The limits that are stated, made small: a line, a case, the number of calls."""
    assert "without waiting for an answer" in failure("endless lines")
    monkeypatch.setattr(programs, "MOST_LINE", 2**20)
    assert "more than 1 MiB in one line" in failure("endless line")
    monkeypatch.setattr(live_program, "MOST_CALLS", 50)
    assert "more than 50 calls" in failure("endless calls")
    monkeypatch.setattr(programs, "MOST_CASE", 1000)
    assert "in one case" in failure("endless calls")


@pytest.mark.parametrize("mode", ["fork", "fork and go"])
def test_descendants_end_with_the_program(mode, tmp_path, gone):
    """Also where the program itself is gone, and a child holds its output open."""
    pids, start = tmp_path / "pids", time.monotonic()
    if mode == "fork and go":
        assert "exit status 0" in failure(mode, pids, kind=ProgramEnded)
    else:
        with speaker(mode, pids) as program:
            program(PROBLEM, SCHEDULE, LiveTape(0))
    assert time.monotonic() - start < 50  # it sleeps for 60
    assert all(gone(int(pid)) for pid in pids.read_text().split())


def test_no_zombie_is_left():
    with speaker("does not end") as program:
        program(PROBLEM, SCHEDULE, LiveTape(0))
        (pid,) = (worker.process._popen.pid for worker in program._idle)
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


# -- as verdicts ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("no clip", Kind.SENSITIVITY_EXCEEDED),
        ("crash on large rows", Kind.EARLY_END),
        ("wider on one side", Kind.LAW),
        ("un-noised use", Kind.OUTPUT),
        ("branch", Kind.CALL),
        ("wrong batch", Kind.WRONG_BATCH),
    ],
)
def test_planted_bugs_are_found_with_their_cause(mode, kind):
    with speaker(mode) as program:
        run = bind(partial(caught, program), LONGER)
        assert any(one.kind is kind for seed in range(3) for one in lockstep(run, FAR, [seed]).findings)


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("crash", "killed by SIGABRT"),
        ("garbage", "no line of JSON"),
        ("remembers", "no function of data and tape: run again, the output is another"),
        ("draws by itself", "no function of data and tape: run again, release 'gradient' is another"),
    ],
)
def test_a_program_that_always_fails_is_bad_input(mode, text):
    with speaker(mode) as program, pytest.raises(BadInput, match=text):
        audited(CASE, program, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "found"),
    [
        ("first process", {Kind.OUTPUT}),  # and the others do not leak
        ("first data", {Kind.OUTPUT}),  # what a file in the home holds decides
        ("scratch file of its own", set()),
        ("parent", set()),  # it looks who runs it: the limit that the page names
        ("environment variable", set()),  # audited under the variables of the command, and not under others
        ("environment variable, set", {Kind.OUTPUT}),
        ("alone", "in its midst"),  # in lockstep it never is, and would pass: the first look runs it both ways
    ],
)
def test_a_leak_of_one_world_or_of_one_data_set_is_found_and_a_file_for_each_process_is_none(
    mode, found, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    mode, _, value = mode.partition(", ")
    if value:
        monkeypatch.setenv("SPEAKER", "leaks")
    with speaker(mode) as program:
        if isinstance(found, str):
            with pytest.raises(ProgramBroken, match=found):
                audited(CASE, program, Effort(runs=50, pilot=50, examples=12))
            return
        kinds = {one.kind for one in audited(CASE, program, Effort(runs=50, pilot=50, examples=12)).findings}
    assert found <= kinds and bool(found) == bool(kinds)


def test_a_file_does_not_choose_the_program():
    assert agreed(None, None, "w.json") is None
    assert agreed("./mine", "./theirs", "w.json") == "./mine"
    with pytest.raises(BadInput, match=r"w\.json: program = './theirs': is a command, and a file must not choose"):
        agreed(None, "./theirs", "w.json")
    with pytest.raises(BadInput, match="the witness is not of a program"):
        agreed("./mine", None, "w.json")


# -- on test vectors --------------------------------------------------------------------------------------------------
KEY = "baselines/dp_sgd:fixed-size@baseline"
VECTORS = [vector for vector in load("baselines/dp_sgd") if vector["case"] == KEY]


def command(mode):
    return shlex.join([*SPEAKER, mode])


@pytest.mark.parametrize(
    ("mode", "which", "outcome", "text"),
    [
        ("half the noise", any, "fail", "gradient, std: "),
        ("no clip", any, "fail", "gradient, query"),
        ("un-noised use", any, "fail", "output[0]: "),
        ("wrong batch", any, "fail", "gradient, batches: expected [0], got []"),
        ("unsupported", all, "unsupported", "only dp_ftrl"),
        ("refuses", all, "error", "batch_size 2 is even"),
        ("crash", all, "error", "was killed by SIGABRT; it said: Traceback: all is lost"),
        ("nan", all, "error", "must be finite"),
    ],
)
def test_a_difference_is_named_with_its_place_and_no_answer_is_no_pass(mode, which, outcome, text):
    found = [(result.outcome, result.message) for result in run_live(command(mode), VECTORS)]
    assert which(here == outcome and text in message for here, message in found), found


def test_another_call_than_the_references_is_named_and_what_is_no_call_ends_all(monkeypatch):
    """Twice the steps: after the last release of the vector there is nothing to hand back. A bug of ours ends all."""
    vector = VECTORS[0]
    longer = {**vector, "schedule": {**vector["schedule"], "steps": 2 * vector["schedule"]["steps"]}}
    (result,) = run_live(command("good"), [longer])
    assert result.outcome == "fail" and "number of events" in result.message
    with pytest.raises(ProgramBroken, match="no line of JSON"):
        list(run_live(command("garbage"), [vector]))
    for bug in (ZeroDivisionError, NotImplementedError):
        monkeypatch.setattr(VectorTape, "_released", Mock(side_effect=bug))
        with pytest.raises(bug):
            list(run_live(command("good"), [vector]))


@pytest.mark.parametrize(
    ("mode", "options", "code", "text"),
    [
        ("good", ("--seeds", 1, "--json"), 0, f'"vectors": {len(VECTORS) + 1}'),
        ("half the noise", ("--no-mutants", "--junit", "j.xml"), 1, "numbers: yours is 0.5 times the reference's"),
        ("unsupported", (), 3, "unsupported"),
        # the loop of the un-noised twin: the query stands where the released value should be
        ("un-noised use", (), 1, "what goes on is the query, not the released value, on 2 of 2 vectors"),
    ],
)
def test_the_command_explains_and_counts(dpassay, mode, options, code, text):
    found, out, err = dpassay("crosscheck", "live", command(mode), "--algorithm", KEY, "--seeds", 0, *options)
    assert found == code and text in out, out + err
    assert "--junit" not in options or "<failure" in Path("j.xml").read_text()


@pytest.mark.more
def test_the_audit_of_a_program_says_what_it_is_at(dpassay, monkeypatch):
    monkeypatch.setattr("dpassay.audit.commands.audit.progress", partial(progress, pace=0))
    _, _, err = dpassay("audit", KEY, "--program", command("good"), "--runs=10", "--pilot=50", "--examples=15")
    assert "searching: 1 of 15" in err and "bounding from below: 1 of 60" in err
