"""`--junit --sarif --markdown --github` of `dpassay audit`: written, announced, refused before the work begins."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

SMALL = ("--runs", 60, "--pilot", 50, "--examples", 20)
OURS = "def run(rows, tape):\n    return tape.gaussian('sum', rows.sum(axis=0), std=0.2, sensitivity=2.0)\n"


@pytest.fixture
def own(dpassay, tmp_path, monkeypatch):
    (tmp_path / "loud.py").write_text(OURS)
    monkeypatch.syspath_prepend(str(tmp_path))
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


def test_a_row_of_the_catalogue_passes(dpassay):
    words = ("--runs", 60, "--pilot", 50, "--examples", 5, "--jobs", 1, "--junit", "j.xml")
    code, out, _ = dpassay("audit", "baselines/dp_sgd:digits", *words)
    root = Xml.parse("j.xml").getroot()
    assert code in (0, 3) and root.attrib["failures"] == "0" and root.attrib["tests"] == "1"
    assert out.splitlines()[-1].startswith(("PASSED: 1 row", "INCONCLUSIVE: 1 row"))


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
