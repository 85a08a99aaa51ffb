"""Programs as mechanisms: descendants end with them, output is bounded, one process may answer line by line."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.blackbox import programs
from dpassay.audit.blackbox.programs import CommandLine, KeptAlive
from dpassay.audit.running import programs as running
from dpassay.reference.errors import BadInput

RNG = np.random.default_rng(0)
ANSWERS = "import sys,json\nfor line in sys.stdin:\n    r = json.loads(line)\n    print(r['dataset'] + 1, flush=True)\n"


def python(code):
    return [sys.executable, "-c", code]


def says(text):
    """A program that answers its first line with this, and reads on."""
    return python(f"print({text}, flush=True); input(); input()")


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
    program = CommandLine(
        ["sh", "-c", f"{into_a_session_of_its_own}sh -c '{script}' & while ! [ -s {note} ]; do :; done; echo 1"]
    )
    start = time.monotonic()
    assert program(0, RNG) == 1 and time.monotonic() - start < 200
    assert _gone(int(note.read_text()))


@pytest.mark.parametrize(
    ("kind", "command", "why"),
    [
        (CommandLine, ["yes"], "printed more than"),
        (KeptAlive, says("'1' * 10**6"), "said more than"),
        *((kind, ["sleep", "60"], "took longer") for kind in (CommandLine, KeptAlive)),
        *((kind, ["no-such-program-here"], "cannot be started") for kind in (CommandLine, KeptAlive)),
        (KeptAlive, python("pass"), "ended"),
        (KeptAlive, says("'x'"), "not JSON"),
        (KeptAlive, says("""'{"outputs": [1, 2]}'"""), "gave 2 outputs where the count was 16"),
        (KeptAlive, says("""'{"outputs": 7}'"""), "gave int outputs where the count was 16"),
        (
            CommandLine,
            python("import sys; sys.stderr.write('x' * 9999 + ' the end'); sys.exit(3)"),
            r"exit status 3: .*the end",
        ),
    ],
)
def test_a_program_that_does_not_keep_to_the_protocol_is_named(kind, command, why, monkeypatch):
    for module, limit in ((programs, "MOST_BYTES"), (running, "MOST_LINE")):
        monkeypatch.setattr(module, limit, 100_000)
    program = kind(command, timeout=0.2 if command[0] == "sleep" else 60.0)
    with pytest.raises(BadInput, match=why):
        program.many(0, RNG, 100) if "count" in why else program(0, RNG)


def test_one_process_answers_many_times():
    program = KeptAlive(python(ANSWERS))
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


@pytest.mark.parametrize(("code", "requests", "distinct"), [(MANY, 2, 500), (ANSWERS, 500, 1)])
def test_many_outputs_are_asked_for_at_once_where_the_program_gives_them(code, requests, distinct, monkeypatch):
    """Five hundred outputs: sixteen, then the rest; or one by one, where the count is not understood."""
    sent, send = [], running.Process.send
    monkeypatch.setattr(running.Process, "send", lambda self, line: (sent.append(line), send(self, line)))
    program = KeptAlive(python(code))
    found = program.many(3, np.random.default_rng(0), 500)
    program.close()
    assert len(found) == 500 and all(3 <= one <= 4 for one in found)
    assert len(set(found)) == distinct and len(sent) == requests
