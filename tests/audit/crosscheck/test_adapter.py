"""The campaign: outcomes, exit codes, time limits, whatever an adapter does; programs of others, and their bugs."""

import json
import os
import re
import shutil
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as Xml

import pytest

from dpassay.audit.crosscheck.adapter import run_all
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.report.campaign import Expected, exit_code, judge

ADAPTER = """
import os, sys, time


def right(case, tape):
    from dpassay.audit.crosscheck.recording import run_again
    from dpassay.reference.baselines.dp_sgd import run

    print("this is for people")
    if case["algorithm"] != "baselines/dp_sgd":
        raise NotImplementedError("only DP-SGD")
    return run_again(run, case, tape)


def deaf(case, tape):
    os.fork() or time.sleep(60)
    time.sleep(60)


def changed(case, tape):
"""
WRONG = {  # by vector: what the adapter does there, its outcome, words of the message
    "smallest": ("os._exit(7)", "error", "exit status 7"),
    "ordinary": ("time.sleep(60)", "error", "took longer than 3 s for an answer"),
    "boundary": (r'raise ValueError("line one\nline two \x1b[2J")', "error", "line one line two"),
    "ties": ("return object()", "error", "FORMULAS"),
    "zero-gradient": ('tape.gaussian("gradient", [float("nan")] * 2, std=1.0, sensitivity=1.0)', "error", "finite"),
    "long-records": ('tape.gaussian("gradient", "no numbers", std=1.0, sensitivity=1.0)', "error", "ValueError"),
    "nan-record": ("return NotImplemented", "unsupported", ""),
    "infinite-record": ("return [0.0]", "fail", "must be refused"),
    "negative-noise": ('tape.gaussian("gradient", [0.0], std=1.0, sensitivity=1.0)', "fail", "asked for a release"),
    "unknown-label": ("raise SystemExit(0)", "pass", "refused"),
}
for _name, (_does, _, _) in WRONG.items():
    ADAPTER += f'    if case["id"].endswith("/{_name}"):\n        {_does}\n'
ADAPTER += "    return right(case, tape)\n"


@pytest.fixture
def adapter(tmp_path, monkeypatch):
    """A module with adapters in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(ADAPTER)
    return "mine"


@pytest.mark.slow
def test_an_adapter_that_fails_in_every_way_is_judged_vector_by_vector(adapter):
    vectors = [one for one in load("baselines/dp_sgd") if "full-batch" in one["id"]]
    found = {one.id.split("/")[-1]: one for one in run_all(f"{adapter}:changed", vectors, limit=3.0)}
    assert len(found) == len(vectors)
    for name, (_, outcome, words) in WRONG.items():
        assert found[name].outcome == outcome and words in found[name].message, found[name]
        assert "\n" not in found[name].message and "\x1b" not in found[name].message


@pytest.mark.slow
def test_a_process_that_does_not_answer_is_ended_with_its_children(adapter):
    running = run_all(f"{adapter}:deaf", load("baselines/dp_sgd"), limit=1.0)
    found = next(running)
    assert found.outcome == "error" and "took longer" in found.message
    time.sleep(0.1)
    assert f"{adapter}:deaf" not in os.popen("ps -eo args").read()


def test_the_command_counts_reports_and_exits(adapter, dpassay, tmp_path):
    words = ("crosscheck", "run", f"{adapter}:right", "--algorithm")
    code, out, _ = dpassay(*words, "baselines/dp_sgd", "--json", "--junit", "out.xml")
    report = json.loads(out)
    assert code == 0 and report["summary"]["pass"] == report["vectors"] == report["run"] > 10
    suite = Xml.parse(tmp_path / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == (str(report["vectors"]), "0")
    code, out, _ = dpassay(*words, "dro/single_sample")
    assert code == 3 and " pass " in out and "--expected FILE names what may stay unsupported" in out  # that is no pass
    (tmp_path / "known.toml").write_text('["baselines/dp_sgd*"]\noutcome = "fail"\nwhy = "a bug"\n')
    code, out, _ = dpassay(*words, "baselines/dp_sgd", "--expected", "known.toml")
    assert code == 1 and "passes, but was expected not to" in out


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ({"a1": "fail", "b": "pass"}, 0),
        ({"a1": "error"}, 1),  # red otherwise than was said
        ({"a1": "pass"}, 1),  # an unexpected pass
        ({"b": "unsupported"}, 3),
    ],
)
def test_exit_codes_of_outcomes(outcomes, code):
    found = [SimpleNamespace(id=name, outcome=outcome) for name, outcome in outcomes.items()]
    assert exit_code(judge(found, [Expected("a*", "fail", "because")])) == code


# other people's programs, which answer for a dozen algorithms, and bugs in them --------------------------------------
HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "crosscheck.md"
BUGS = tomllib.loads((HERE / "bugs.toml").read_text(encoding="utf-8"))["bug"]


@pytest.fixture
def planted(dpassay, tmp_path, monkeypatch):
    """The command on all vectors of an algorithm, for a program, perhaps with a bug."""

    def judge(program, algorithm, old="", new=""):
        text = (HERE / "programs" / program).read_text(encoding="utf-8")
        assert not old or text.count(old) == 1
        path = tmp_path / program
        path.write_text(text.replace(old, new) if old else text, encoding="utf-8")
        if path.suffix == ".js":
            if shutil.which("node") is None:
                pytest.skip("node is not installed")
            return dpassay("crosscheck", "live", f"node {path}", "--algorithm", algorithm, "--seeds", 0)
        return dpassay("crosscheck", "run", f"{path.stem}:run", "--algorithm", algorithm)

    return judge


@pytest.mark.slow
@pytest.mark.parametrize(("program", "algorithm"), sorted({(one["program"], one["algorithm"]) for one in BUGS}))
def test_the_programs_are_right(planted, program, algorithm):
    code, out, err = planted(program, algorithm)
    assert code == 0, out + err


@pytest.mark.parametrize(
    "bug",
    [pytest.param(one, id=one["id"], marks=[] if one["id"] == "leaf-is-a-mean" else pytest.mark.slow) for one in BUGS],
)
def test_a_planted_bug_is_red_and_shown(planted, bug):
    code, out, err = planted(*(bug[name] for name in ("program", "algorithm", "old", "new")))
    assert code == 1, out + err
    assert bug.get("named", "") in out and bug.get("near", "") in out, out
    assert re.search(rf"^  reference/\S+\.py:\d+{re.escape(bug.get('line', ': '))}", out, re.MULTILINE), out


def test_the_page_says_how_many_are_named():
    drawn = [one for one in BUGS if one["set"] == "drawn"]
    named, near = (sum(kind in one for one in drawn) for kind in ("named", "near"))
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert len(drawn) == 40
    assert f"In {named} of 40 the output says what is wrong" in text and f"In {near} more a change" in text
    assert f"In the other {40 - named - near}" in text
