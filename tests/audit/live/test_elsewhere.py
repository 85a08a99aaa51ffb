"""Leaks that hang on something beside the protocol, and programs that are no function of what they are told."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.row import Effort
from dpassay.audit.running.programs import ProgramBroken
from dpassay.audit.subjects.programs import audited
from dpassay.reference.catalogue import find
from dpassay.reference.findings import Kind

from .test_examples import SGD, Twin, built

SPEAKER = Path(__file__).parent / "speaker.py"
CASE = find("baselines/dp_sgd:fixed-size")[0]
EFFORT = Effort(runs=50, pilot=50, examples=12)


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """The findings of an audit of the speaker in some mode, with a home of its own; why it was refused, if it was."""
    monkeypatch.setenv("HOME", str(tmp_path))

    def judge(*words):
        with LiveProgram([sys.executable, "-S", str(SPEAKER), *words], CASE.id) as program:
            try:
                row = audited(CASE, program, EFFORT)
            except ProgramBroken as error:
                return str(error)
        return {one.kind for one in row.findings}

    return judge


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("argument", "leaks"), True),
        (("argument",), False),
        (("first process",), True),  # and the others do not leak
        (("first data",), True),  # what a file in the home holds decides
        (("scratch file of its own",), False),
        (("parent",), False),  # it looks who runs it: the limit that the page names
    ],
)
def test_a_leak_of_one_world_or_of_one_data_set_is_found_and_a_file_for_each_process_is_none(judged, words, found):
    kinds = judged(*words)
    assert Kind.OUTPUT in kinds if found else kinds == set()


@pytest.mark.slow
def test_a_leak_when_it_is_alone_is_refused(judged):
    """In lockstep it is never alone, and would pass: the first look runs it both ways."""
    assert "in its midst" in judged("alone")


@pytest.mark.slow
def test_an_environment_variable_is_seen_as_it_is_set(judged, monkeypatch):
    """What the page says: a program is audited under the variables of the command, and not under others."""
    assert judged("environment variable") == set()
    monkeypatch.setenv("SPEAKER", "leaks")
    assert Kind.OUTPUT in judged("environment variable")


GAUSSIAN = 'const released = live.gaussian("gradient", mean, std, sensitivity, batch);'
BROKEN = (  # file, before, after, words of the one line
    ("the clock", "learning_rate * released[j]", "learning_rate * Date.now() * released[j]", "no function"),
    (
        "a counter in a file", GAUSSIAN,
        'const fs = require("fs");\n    fs.appendFileSync("counter", "x");\n'
        f'    {GAUSSIAN[:-1]}.map((x) => x * fs.readFileSync("counter").length);', "run again",
    ),
    (
        "a scratch file of one name for all its processes", GAUSSIAN,
        'const fs = require("fs");\n    fs.writeFileSync("scratch", JSON.stringify(mean));\n'
        f'    {GAUSSIAN[:-1]}.map((x, j) => x + JSON.parse(fs.readFileSync("scratch"))[j]);', "in its midst",
    ),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "before", "after", "words"), BROKEN, ids=[one[0] for one in BROKEN])
def test_a_program_that_is_no_function_of_what_it_is_told_is_refused(name, before, after, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = built("js", tmp_path / "example", Twin(name, SGD, None, "dp_sgd.js", before, after))
    options = ["--runs", "50", "--pilot", "50", "--examples", "20"]
    done = CliRunner().invoke(app, ["audit", SGD, "--program", command, *options])
    assert isinstance(done.exception, ProgramBroken) and words in str(done.exception), done.output
