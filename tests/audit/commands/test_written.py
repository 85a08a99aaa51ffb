"""`--junit --sarif --markdown --github` of `dpassay audit`: written, announced, refused before the work begins."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.files import require_writable, write_text

SMALL = ("--runs", 60, "--pilot", 50, "--examples", 20)
OURS = "def run(rows, tape):\n    return tape.gaussian('sum', rows.sum(axis=0), std=0.2, sensitivity=2.0)\n"


@pytest.fixture
def own(dpassay, tmp_path):
    (tmp_path / "loud.py").write_text(OURS)
    return lambda *words: dpassay("audit", "loud:run", "--epsilon", 1, *SMALL, *words)


def test_all_outputs_of_one_s_own_algorithm(own, monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    files = ("--junit", "out/j.xml", "--sarif", "out/s.sarif", "--markdown", "out/m.md")
    code, out, _ = own(*files, "--github")
    assert code == 1
    assert Xml.parse("out/j.xml").getroot().attrib["failures"] == "1"
    results = json.loads(Path("out/s.sarif").read_text())["runs"][0]["results"]
    assert "over-budget" in [one["ruleId"] for one in results]
    page = Path("out/m.md").read_text()
    assert "loud:run@own" in page and Path("summary.md").read_text() == page + "\n"
    lines = out.splitlines()
    assert lines[-1].startswith("FAILED: 1 row: 1 failed (loud:run@own: ")
    assert any(line.startswith("::error ") and "loud%3Arun" in line for line in lines)


def test_json_stays_one_document(own):
    code, out, err = own("--json", "--github")
    assert code == 1 and json.loads(out)["rows"][0]["algorithm"] == "loud:run" and err.startswith("::error ")


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("--junit", "."), "--junit"),
        (("--sarif", "loud.py/x"), "--sarif"),
        (("--markdown", "a.txt", "--sarif", "a.txt"), "--markdown"),
        (("--junit", "r.json", "--output", "r.json"), "--junit"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_audit(own, refused, words, field):
    refused(own(*words), field)
    assert not Path("reports").exists() or not list(Path("reports").glob("*.json"))


def test_a_failed_write_leaves_the_old_file(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(BadInput):
        write_text(tmp_path / "file", "\ud800", "--output")
    assert (tmp_path / "file").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_writing_leaves_other_files_alone(tmp_path):
    """Another process may be writing the same file, and somebody may call a file so."""
    other = tmp_path / "audit.json.part"
    other.write_text("precious")
    require_writable(tmp_path / "audit.json", "--output")
    write_text(tmp_path / "audit.json", "{}", "--output")
    assert other.read_text() == "precious" and len(list(tmp_path.iterdir())) == 2


def shell(line, **environment):
    """A command line in a shell of its own; `$D` is dpassay."""
    variables = {**os.environ, **environment, "D": f"{sys.executable} -m dpassay.audit"}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=variables, check=False, timeout=120)


@pytest.mark.slow  # starts three processes
def test_output_that_nobody_reads_or_that_has_no_room():
    gone = shell("$D doctor | true; exit ${PIPESTATUS[0]}")
    assert gone.returncode == 141 and not gone.stderr, gone
    full = shell("$D doctor > /dev/full")
    assert full.returncode == 2 and full.stderr == "dpassay: standard output: No space left on device\n", full
    assert shell("$D show nothing 2> /dev/full").returncode == 2
