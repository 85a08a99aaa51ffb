"""Programs that are no function of what they are told are refused."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.live.errors import ProgramBroken

from .test_examples import SGD, Twin, built

GAUSSIAN = 'const released = live.gaussian("gradient", mean, std, sensitivity, batch);'
BROKEN = (  # file, before, after, words of the one line
    ("noise of its own", "learning_rate * released[j]", "learning_rate * (released[j] + Math.random())", "no function"),
    ("the clock", "learning_rate * released[j]", "learning_rate * Date.now() * released[j]", "no function"),
    (
        "what it remembers", "function dpSgd(data, schedule) {",
        "let runs = 0;\nfunction dpSgd(data, schedule) {\n  runs += 1;\n  if (runs > 1) schedule = { ...schedule, "
        "learning_rate: 2 * schedule.learning_rate };", "no function",
    ),
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
