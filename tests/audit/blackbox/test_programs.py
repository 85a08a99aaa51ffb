"""Programs as mechanisms: descendants end with them, output is bounded, one process may answer line by line."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.blackbox import programs
from dpassay.audit.running import programs as running
from dpassay.reference.errors import BadInput

RNG = np.random.default_rng(0)
ANSWERS = "import sys,json\nfor line in sys.stdin:\n    r = json.loads(line)\n    print(r['dataset'] + 1, flush=True)\n"


def _gone(pid):
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("into_a_session_of_its_own", ["", "setsid "])
def test_what_a_program_leaves_behind_is_ended(tmp_path, into_a_session_of_its_own):
    note = tmp_path / "pid"
    script = f"echo $$ > {note}; exec sleep 300"
    program = programs.CommandLine(
        ["sh", "-c", f"{into_a_session_of_its_own}sh -c '{script}' & while ! [ -s {note} ]; do :; done; echo 1"]
    )
    start = time.monotonic()
    assert program(0, RNG) == 1 and time.monotonic() - start < 200
    assert _gone(int(note.read_text()))


def test_endless_output_is_cut(monkeypatch):
    monkeypatch.setattr(programs, "MOST_BYTES", 100_000)
    with pytest.raises(BadInput, match="printed more than"):
        programs.CommandLine(["yes"])(0, RNG)
    monkeypatch.setattr(running, "MOST_LINE", 100_000)
    with pytest.raises(BadInput, match="said more than"):
        programs.KeptAlive([sys.executable, "-c", "print('1' * 10**6, flush=True); input(); input()"])(0, RNG)


def test_a_late_or_missing_program_is_named():
    with pytest.raises(BadInput, match="took longer"):
        programs.CommandLine(["sleep", "60"], timeout=0.2)(0, RNG)
    with pytest.raises(BadInput, match="took longer"):
        programs.KeptAlive(["sleep", "60"], timeout=0.2)(0, RNG)
    for kind in (programs.CommandLine, programs.KeptAlive):
        with pytest.raises(BadInput, match="cannot be started"):
            kind(["no-such-program-here"])(0, RNG)


def test_one_process_answers_many_times():
    program = programs.KeptAlive([sys.executable, "-c", ANSWERS])
    assert [program(i, RNG) for i in range(50)] == list(range(1, 51))
    pid = program._process._popen.pid
    program.close()
    assert _gone(pid)


MANY = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    outputs = [request["dataset"] + rng.random() for _ in range(request.get("count", 1))]
    print(json.dumps({"outputs": outputs}) if "count" in request else outputs[0], flush=True)
"""


@pytest.mark.parametrize(("code", "requests"), [(MANY, 2), (ANSWERS, 500)])
def test_many_outputs_are_asked_for_at_once_where_the_program_gives_them(code, requests, monkeypatch):
    """Five hundred outputs: sixteen, then the rest; or one by one, where the count is not understood."""
    sent = []
    monkeypatch.setattr(
        running.Process, "send", lambda self, line, old=running.Process.send: (sent.append(line), old(self, line))
    )
    program = programs.KeptAlive([sys.executable, "-c", code])
    found = program.many(3, np.random.default_rng(0), 500)
    assert len(found) == 500 and all(3 <= one <= 4 for one in found)
    assert code == ANSWERS or len(set(found)) == 500
    assert len(sent) == requests
    program.close()


@pytest.mark.parametrize("said", ["[1, 2]", "7"])
def test_too_few_outputs_are_refused(said):
    code = f"input(); print('{{\"outputs\": {said}}}', flush=True); input()"
    with pytest.raises(BadInput, match="outputs where the count was 16"):
        programs.KeptAlive([sys.executable, "-c", code]).many(0, RNG, 100)


@pytest.mark.parametrize(("code", "why"), [("pass", "ended"), ("print('x', flush=True); input(); input()", "not JSON")])
def test_a_program_that_does_not_keep_to_the_protocol(code, why):
    with pytest.raises(BadInput, match=why):
        programs.KeptAlive([sys.executable, "-c", code])(0, RNG)


def test_failures_quote_the_end_of_standard_error():
    with pytest.raises(BadInput, match=r"exit status 3: .*the end"):
        programs.CommandLine(
            [sys.executable, "-c", "import sys; sys.stderr.write('x' * 9999 + ' the end'); sys.exit(3)"]
        )(0, RNG)
