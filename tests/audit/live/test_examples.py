"""The examples in C and in JavaScript are right; `test_program.py` plants bugs in one in Python."""

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

EXAMPLES = Path(__file__).parents[3] / "examples"
SGD, LINE_SEARCH = "baselines/dp_sgd:fixed-size@baseline", "second_order_erm/opt_ls@repaired"
MISSING = {
    "c": "" if shutil.which("cc") and shutil.which("make") else "needs cc and make",
    "js": "" if shutil.which("node") else "needs node",
}


def built(language, folder):
    """The command of an example, copied into a folder and built."""
    if MISSING[language]:
        pytest.skip(MISSING[language])
    shutil.copytree(EXAMPLES / f"live-{language}", folder, dirs_exist_ok=True)
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


@pytest.mark.slow
@pytest.mark.parametrize("key", [SGD, LINE_SEARCH])
def test_the_command_ends_well_on_the_examples(example, key, dpassay):
    code, out, err = dpassay("audit", key, "--program", example, "--json")
    (row,) = json.loads(out)["rows"]
    assert row["findings"] == [] and row["realised"] > 0
    assert code == {"tight": 0, "consistent": 0}[row["verdict"]], out + err
