"""The examples in C and in JavaScript are right, and twins of them with one planted leak are caught by its cause."""

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from dpassay.audit.crosscheck.storage import load
from dpassay.audit.live.program import LiveProgram, run_live
from dpassay.audit.report.campaign import judge, read_expected
from dpassay.audit.running.programs import ProgramBroken
from dpassay.reference import LiveTape, find
from dpassay.reference.findings import Kind

EXAMPLES = Path(__file__).parents[3] / "examples"
SGD, LINE_SEARCH = "baselines/dp_sgd:fixed-size@baseline", "second_order_erm/opt_ls@repaired"
MISSING = {
    "c": "" if shutil.which("cc") and shutil.which("make") else "needs cc and make",
    "js": "" if shutil.which("node") else "needs node",
}


def built(language, folder, file="", before="", after=""):
    """The command of an example, copied into a folder, perhaps with a line changed, built."""
    if MISSING[language]:
        pytest.skip(MISSING[language])
    shutil.copytree(EXAMPLES / f"live-{language}", folder, dirs_exist_ok=True)
    if file:
        text = (folder / file).read_text()
        assert text.count(before) == 1
        (folder / file).write_text(text.replace(before, after))
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
@pytest.mark.parametrize(
    ("language", "key", "kind", "twin"),  # `test_program.py` finds the same bugs in Python
    [
        ("c", SGD, Kind.SENSITIVITY_EXCEEDED, ("dp_sgd.c", "clip / norm : 1", "clip / sqrt(norm) : 1")),
        (
            *("c", LINE_SEARCH, Kind.EARLY_END),  # it stops on the true loss
            ("opt_ls.c", "k <= T && !certified", "k <= T && !certified && risk_value(r, w) > 0.1"),
        ),
        ("js", SGD, Kind.UNDECLARED_BATCH, ("dp_sgd.js", "sensitivity, batch);", "sensitivity);")),
    ],
)
def test_the_command_ends_with_one_on_planted_leaks(language, key, kind, twin, tmp_path, dpassay):
    command = built(language, tmp_path / "example", *twin)
    options = ["--runs", 50, "--pilot", 50, "--examples", 60, "--json"]
    code, out, err = dpassay("audit", key, "--program", command, *options)
    assert code == 1 and f'"kind": "{kind.value}"' in out, out + err


@pytest.mark.slow
@pytest.mark.parametrize("key", [SGD, LINE_SEARCH])
def test_the_command_ends_well_on_the_examples(example, key, dpassay):
    code, out, err = dpassay("audit", key, "--program", example, "--json")
    (row,) = json.loads(out)["rows"]
    assert row["findings"] == [] and row["realised"] > 0
    assert code == {"tight": 0, "consistent": 0}[row["verdict"]], out + err
