"""Programs that crash, hang, flood or lie: one clear line, no hang, no zombie, bounded memory."""

import os
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.live import conversation
from dpassay.audit.live.messages import ProgramRefused, ProgramUnsupported
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.row import Effort
from dpassay.audit.running import programs
from dpassay.audit.running.programs import ProgramBroken, ProgramEnded
from dpassay.audit.search.engine import search
from dpassay.audit.subjects.programs import audited, to_its_end
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.tape import LiveTape

SPEAKER = Path(__file__).parent / "speaker.py"
CASE = find("baselines/dp_sgd:fixed-size")[0]
PROBLEM = LinearLosses(np.array([[0.5], [0.25], [0.0]]))
SCHEDULE = CASE.space().schedule({"n": 3, "d": 1, "steps": 1, "batch": 2})


def speaker(mode="good", *more, timeout=10.0):
    return LiveProgram([sys.executable, "-S", str(SPEAKER), mode, *map(str, more)], CASE.id, timeout=timeout)


def failure(mode, *more, kind=ProgramBroken, timeout=10.0):
    """What one run raises, on one line; the program is gone afterwards."""
    with speaker(mode, *more, timeout=timeout) as program:
        with pytest.raises(kind) as error:
            program(PROBLEM, SCHEDULE, LiveTape(0))
        assert program.running == 0
    assert "\n" not in str(error.value)
    return str(error.value)


def gone(pid):
    """The process has ended (its parent may be anybody by now)."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("garbage", "'hello, world', which is no line of JSON"),
        ("bytes", "which is no line of JSON"),
        ("text", "query of 'gradient': "),
        ("unknown batch", "depends on batch 5; it has drawn 1 so far"),
        ("missing field", "sensitivity: Field required"),
        ("version 2", "speaks version 2 of the protocol, not 1"),
        ("hi", "answered hello as follows"),
        ("dies at once", "did not answer hello: the program ended with exit status 1; it said: no licence"),
    ],
)
def test_what_the_protocol_does_not_know_is_said_in_one_line(mode, text):
    assert text in failure(mode)


@pytest.mark.parametrize("mode", ["silent", "half line and wait", "does not read"])
def test_a_program_that_hangs_is_late(mode):
    start = time.monotonic()
    problem = LinearLosses(np.ones((30_000, 1)))  # more than a pipe holds
    with speaker(mode, timeout=0.4) as program:
        with pytest.raises(ProgramBroken, match=r"0\.4 s"):
            program(problem, SCHEDULE, LiveTape(0))
        with pytest.raises(ProgramBroken, match=r"0\.4 s"):  # at once: it is not started again
            program(problem, SCHEDULE, LiveTape(0))
        assert program.running == 0
    assert time.monotonic() - start < 50  # it sleeps for 60


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("crash", "was killed by SIGABRT; it said: Traceback: all is lost"),
        ("half line", "ended with exit status 0 in the middle of a line"),
        ("closes its output", "closed its output"),
    ],
)
def test_a_crash_is_an_end_of_that_run_and_the_next_starts_another(mode, text, monkeypatch):
    monkeypatch.setattr(programs, "_GRACE", 0.05)
    assert text in failure(mode, kind=ProgramEnded)
    with speaker(mode) as program:
        for _ in range(3):
            with pytest.raises(ProgramEnded):
                program(PROBLEM, SCHEDULE, LiveTape(0))
        assert program.started == 3


def test_endless_output_is_cut_off(monkeypatch):
    """The limits that are stated, made small: a line, a case, the number of calls."""
    assert "without waiting for an answer" in failure("endless lines")
    monkeypatch.setattr(programs, "MOST_LINE", 2**20)
    assert "more than 1 MiB in one line" in failure("endless line")
    monkeypatch.setattr(conversation, "MOST_CALLS", 50)
    assert "more than 50 calls" in failure("endless calls")
    monkeypatch.setattr(programs, "MOST_CASE", 1000)
    assert "in one case" in failure("endless calls")


def test_a_flood_of_complaints_neither_blocks_nor_is_kept():
    with speaker("noisy") as program:
        assert len(program(PROBLEM, SCHEDULE, LiveTape(0))) == 1
        (worker,) = program._idle
        assert len(worker.process._said) <= 4096


@pytest.mark.parametrize("mode", ["fork", "fork and go"])
def test_descendants_end_with_the_program(mode, tmp_path):
    """Also where the program itself is gone, and a child holds its output open."""
    pids = tmp_path / "pids"
    start = time.monotonic()
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


@pytest.mark.parametrize("mode", ["nan", "null", "batch too large", "infinite noise"])
def test_a_call_that_no_tape_takes_ends_the_run_but_not_the_program(mode):
    """As in Python: what is not finite in one run (an overflow, say) does not stop the audit."""
    with speaker(mode) as program:
        for _ in range(2):
            with pytest.raises(BadInput, match=r"query|batch size|std") as error:
                program(PROBLEM, SCHEDULE, LiveTape(0))
            assert not isinstance(error.value, ProgramBroken)
        assert program.started <= 2


@pytest.mark.parametrize(
    ("mode", "kind", "text"),
    [
        ("refuses", ProgramRefused, "batch_size 2 is even"),
        ("unsupported", ProgramUnsupported, "does not implement this case: only dp_ftrl"),
    ],
)
def test_a_case_may_be_refused_and_the_program_stays(mode, kind, text):
    with speaker(mode) as program:
        for _ in range(2):
            with pytest.raises(kind, match=text):
                program(PROBLEM, SCHEDULE, LiveTape(0))
        assert program.started == 1


# -- as verdicts ------------------------------------------------------------------------------------------------
QUICK = Effort(runs=10, pilot=50, examples=20)


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("crash on large rows", "early end"), pytest.param("wider on one side", "law", marks=pytest.mark.slow)],
)
def test_an_end_or_a_shape_that_depends_on_the_data_is_a_finding(mode, kind):
    """Rows above 2 are in the space (seed 0): one neighbour ends, or asks something else, and everybody sees that."""
    with speaker(mode) as program:
        found = search(partial(to_its_end, program), CASE.space(), CASE.claim, examples=8)
    (finding,) = (one for one in found.findings if one.kind.value == kind)
    assert kind == "law" or "exit status 7" in finding.detail


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("crash", "killed by SIGABRT"),
        pytest.param("nan", "must be finite", marks=pytest.mark.more),  # ten seconds
        ("garbage", "no line of JSON"),
        ("remembers", "no function of data and tape: run again, the output is another"),
        ("draws by itself", "no function of data and tape: run again, release 'gradient' is another"),
    ],
)
def test_a_program_that_always_fails_is_bad_input(mode, text):
    with speaker(mode) as program, pytest.raises(BadInput, match=text):
        audited(CASE, program, QUICK)
