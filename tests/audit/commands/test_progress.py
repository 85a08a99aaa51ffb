"""The progress of long commands: a bar where there is a terminal, lines with the time left where there is none."""

import os
import pty
import re
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from dpassay.audit.phases import phase, step, told
from dpassay.audit.terminal import progress as module
from dpassay.audit.terminal.progress import progress, session_progress, tracked, within


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_plain_lines_come_at_their_pace_with_the_time_left(capsys, clock):
    with progress("auditing", 40, done=10) as say:
        for number in range(10, 30):
            clock[0] += 4.0
            say(f"row {number}")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "auditing: 13 of 40  row 12  about 2 min left"
    assert lines[-1] == "auditing: 28 of 40  row 27  about 48 s left" and len(lines) == 6


def test_what_a_step_is_at_and_what_is_known_early_are_told_with_the_next_line(capsys, clock):
    with progress("checking", 1, pace=0) as say:
        with within(say, ["mine"], 2):
            phase("searching", 150)
            told("certified 0.926")
            step(3)
            assert capsys.readouterr().err == ""
            clock[0] += 11.0
            step(2)
        with within(say, ["yours", "mine", "theirs"], 2) as ended:  # other processes work on them
            phase("reading", 8)
            clock[0] += 11.0
            ended("yours")
        say("mine: certified")
    assert capsys.readouterr().err.splitlines() == [
        "certified 0.926",
        "checking: 0 of 1  searching: 5 of 150  for 11 s",
        "checking: 0 of 1  at work: mine, theirs  for 22 s",
        "checking: 1 of 1  mine: certified",
    ]


def test_short_work_says_nothing_and_quiet_work_neither(capsys, clock):
    assert list(tracked([1, 2, 3], "trying")) == [1, 2, 3]
    with progress("trying", 3, quiet=True, pace=0) as say:
        clock[0] += 100
        say("one")
        say.told("known early")
    assert capsys.readouterr().err == ""


def test_a_line_comes_while_nothing_is_finished(capsys, monkeypatch):
    monkeypatch.setattr(module, "PACE", 0.01)
    said, tries = "", 0
    with progress("checking", 1, pace=0):
        while "checking: 0 of 1  for " not in said and (tries := tries + 1) < 1000:
            time.sleep(0.01)
            said += capsys.readouterr().err
    assert tries < 1000


def test_control_characters_of_names_do_not_reach_the_terminal_and_a_session_counts_runs(capsys, clock):
    with progress("trying", 2, pace=0) as say:
        say("a\x1b[2J\nb")
    assert capsys.readouterr().err == "trying: 1 of 2  a\\x1b[2J b\n"
    with session_progress(200) as each:
        clock[0] += 20
        each(50, 4.605170185988092)
    assert capsys.readouterr().err == "betting: 50 of 200  wealth 10^2.0  about 60 s left\n"


PROGRAM = """
from dpassay.audit.terminal.progress import progress
with progress("auditing", 3) as say:
    for name in ("one", "two [bold]", "three"):
        say(name)
print("done")
"""


def on_a_terminal(**variables):
    """What a program writes on a terminal of its own, 90 columns wide."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "90", **variables}
    running = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    written = []
    with suppress(OSError):  # the other end is closed
        while more := os.read(ours, 65536):
            written.append(more)
    os.close(ours)
    assert running.wait(60) == 0
    return b"".join(written).decode()


def test_a_terminal_gets_a_bar_that_goes_away():
    text = on_a_terminal()
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    assert "3/3" in shown and "left" in shown and "\x1b[2K" in text  # the line is wiped in the end
    assert re.search(r"\x1b\[[0-9;]*3\d", text), "colours"
    plain = on_a_terminal(NO_COLOR="1")
    assert "3/3" in plain and not re.search(r"\x1b\[[0-9;]*3\dm", plain)
    assert "\x1b" not in on_a_terminal(TERM="dumb")  # one that can do nothing gets lines
