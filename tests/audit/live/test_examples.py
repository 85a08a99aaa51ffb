"""The examples in C and in JavaScript are right, and twins of them with one planted leak are caught by its cause."""

import json
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.live.program import LiveProgram, run_live
from dpassay.audit.report.campaign import judge, read_expected
from dpassay.audit.running.programs import ProgramBroken
from dpassay.reference.catalogue import find
from dpassay.reference.findings import Kind
from dpassay.reference.tape import LiveTape

EXAMPLES = Path(__file__).parents[3] / "examples"
SGD, LINE_SEARCH = "baselines/dp_sgd:fixed-size@baseline", "second_order_erm/opt_ls@repaired"
MISSING = {
    "c": "" if shutil.which("cc") and shutil.which("make") else "needs cc and make",
    "js": "" if shutil.which("node") else "needs node",
}


@dataclass(frozen=True)
class Twin:
    """An example with one line changed."""

    name: str
    key: str
    kind: Kind
    file: str = ""
    before: str = ""
    after: str = ""


TWINS = (  # `test_program.py` finds the same bugs in Python
    ("c", Twin("wrong clip", SGD, Kind.SENSITIVITY_EXCEEDED, "dp_sgd.c", "clip / norm : 1", "clip / sqrt(norm) : 1")),
    (
        "c",
        Twin(
            "stop on the true loss", LINE_SEARCH, Kind.EARLY_END, "opt_ls.c",
            "k <= T && !certified", "k <= T && !certified && risk_value(r, w) > 0.1",
        ),
    ),
    ("js", Twin("batch not named", SGD, Kind.UNDECLARED_BATCH, "dp_sgd.js", "sensitivity, batch);", "sensitivity);")),
)  # fmt: skip


def built(language, folder, twin=None):
    """The command of an example, copied into a folder, with a line changed, built."""
    if MISSING[language]:
        pytest.skip(MISSING[language])
    shutil.copytree(EXAMPLES / f"live-{language}", folder, dirs_exist_ok=True)
    if twin is not None:
        path = folder / twin.file
        text = path.read_text()
        assert text.count(twin.before) == 1, twin
        path.write_text(text.replace(twin.before, twin.after))
    if language == "js":
        return shlex.join(["node", str(folder / "main.js")])
    (folder / "live").unlink(missing_ok=True)
    flags = "-std=c11 -O1 -Wall -Wextra -Wpedantic -Werror"
    done = subprocess.run(["make", "-C", str(folder), f"CFLAGS={flags}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(folder / "live")


@pytest.fixture(scope="module", params=["c", "js"])
def example(request, tmp_path_factory):
    return built(request.param, tmp_path_factory.mktemp("example"))


@pytest.mark.parametrize("algorithm", ["baselines/dp_sgd", "second_order_erm/opt_ls"])
def test_the_examples_pass_on_all_vectors(example, algorithm):
    """Input that must be refused is among them; what an example does not know stands in its file."""
    known = read_expected(EXAMPLES / "live-c" / "expected.toml")
    results = list(run_live(example, load(algorithm)))
    wrong = [one.result for one in judge(results, known) if one.unexpected]
    assert len(results) > 10 and not wrong, [(one.id, one.message) for one in wrong]


def test_the_examples_say_what_they_do_not_know(example):
    (case,) = find("second_order_erm/opt@repaired")
    instance = case.build()
    with LiveProgram(example, case.id, case.reading) as program, pytest.raises(ProgramBroken, match="it knows"):
        program(instance.pair.here, instance.schedule, LiveTape(0))


@pytest.mark.slow  # a compiler and a search each
@pytest.mark.parametrize(("language", "twin"), TWINS, ids=[twin.name for _, twin in TWINS])
def test_the_command_ends_with_one_on_planted_leaks(language, twin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = built(language, tmp_path / "example", twin)
    options = ["--runs", "50", "--pilot", "50", "--examples", "60", "--json"]
    done = CliRunner().invoke(app, ["audit", twin.key, "--program", command, *options])
    assert done.exit_code == 1, done.output
    assert f'"kind": "{twin.kind.value}"' in done.output


@pytest.mark.slow
@pytest.mark.parametrize("key", [SGD, LINE_SEARCH])
def test_the_command_ends_well_on_the_examples(example, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["audit", key, "--program", example, "--json"])
    (row,) = json.loads(done.stdout)["rows"]
    assert row["findings"] == [] and row["realised"] > 0
    assert done.exit_code == {"tight": 0, "consistent": 0}[row["verdict"]], done.output
