"""The campaign: outcomes, expected failures, exit codes, time limits; an adapter cannot stop it, whatever it does."""

import json
import os
import time
from xml.etree import ElementTree as Xml

import pytest

from dpassay.audit.crosscheck.adapter import Adapter, run_all
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.report.campaign import Expected, exit_code, judge, read_expected
from dpassay.reference.errors import BadInput

ADAPTER = '''
import os, sys, time


def again(case, tape):
    from dpassay.audit.crosscheck.making import run_again
    from dpassay.reference.baselines.dp_sgd import run

    return run_again(run, case, tape)


def right(case, tape):
    print("this is for people")
    if case["algorithm"] != "baselines/dp_sgd":
        raise NotImplementedError("only DP-SGD")
    return again(case, tape)


def changed(case, tape):
    """Everything that can go wrong, by the vector."""
    name = case["id"].split("/")[-1]
    if name == "smallest":
        os._exit(7)
    if name == "ordinary":
        while True:
            time.sleep(1)
    if name == "boundary":
        raise ValueError("line one\\nline two \\x1b[2J")
    if name == "ties":
        return object()
    if name == "zero-gradient":
        tape.gaussian("gradient", [float("nan")] * 2, std=1.0, sensitivity=1.0)
    if name == "long-records":
        tape.gaussian("gradient", "no numbers", std=1.0, sensitivity=1.0)
    if name == "nan-record":
        return NotImplemented
    if name == "infinite-record":
        return [0.0]
    if name == "negative-noise":
        tape.gaussian("gradient", [0.0], std=1.0, sensitivity=1.0)
    if name == "unknown-label":
        raise SystemExit(0)
    return again(case, tape)


def deaf(case, tape):
    os.fork() or time.sleep(60)
    time.sleep(60)
'''


@pytest.fixture
def adapter(tmp_path, monkeypatch):
    """A module with adapters in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(ADAPTER)
    return "mine"


def dp_sgd_vectors():
    return [one for one in load("baselines/dp_sgd") if "full-batch" in one["id"]]


@pytest.mark.slow
def test_an_adapter_that_fails_in_every_way_is_judged_vector_by_vector(adapter):
    found = {one.id.split("/")[-1]: one for one in run_all(f"{adapter}:changed", dp_sgd_vectors(), limit=3.0)}
    assert len(found) == len(dp_sgd_vectors())
    expected = {
        "smallest": ("error", "exit status 7"),
        "ordinary": ("error", "took longer than 3 s for an answer"),
        "boundary": ("error", "line one line two"),
        "ties": ("error", "FORMULAS"),
        "zero-gradient": ("error", "finite"),
        "long-records": ("error", "ValueError"),
        "nan-record": ("unsupported", ""),
        "infinite-record": ("fail", "must be refused"),
        "negative-noise": ("fail", "asked for a release"),
        "unknown-label": ("pass", "refused"),
    }
    for name, (outcome, words) in expected.items():
        assert found[name].outcome == outcome and words in found[name].message, found[name]
        assert "\n" not in found[name].message and "\x1b" not in found[name].message


@pytest.mark.slow
def test_a_process_that_does_not_answer_is_ended_with_its_children(adapter):
    process = Adapter(f"{adapter}:deaf", 1.0)
    assert "took longer" in process.ask(dp_sgd_vectors()[0])["text"]
    time.sleep(0.1)
    alive = os.popen("ps -eo args").read()
    assert f"{adapter}:deaf" not in alive


def test_the_command_counts_reports_and_exits(adapter, dpassay, tmp_path):
    words = ("crosscheck", "run", f"{adapter}:right")
    code, out, _ = dpassay(*words, "--algorithm", "baselines/dp_sgd", "--json", "--junit", "out.xml")
    report = json.loads(out)
    assert code == 0 and report["summary"]["pass"] == report["vectors"] == report["run"] > 10
    suite = Xml.parse(tmp_path / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == (str(report["vectors"]), "0")
    code, out, _ = dpassay(*words, "--algorithm", "dro/single_sample")
    assert code == 3 and " pass " in out  # nothing was run: that is no pass
    (tmp_path / "known.toml").write_text('["dro/single_sample*"]\noutcome = "unsupported"\nwhy = "not written yet"\n')
    assert dpassay(*words, "--algorithm", "dro/single_sample", "--expected", "known.toml")[0] == 0
    (tmp_path / "known.toml").write_text('["baselines/dp_sgd*"]\noutcome = "fail"\nwhy = "a bug"\n')
    code, out, _ = dpassay(*words, "--algorithm", "baselines/dp_sgd", "--expected", "known.toml")
    assert code == 1 and "passes, but was expected not to" in out


def test_exit_codes_of_outcomes():
    class One:
        def __init__(self, name, outcome):
            self.id, self.outcome = name, outcome

    known = [Expected("a*", "fail", "because")]
    assert exit_code(judge([One("a1", "fail"), One("b", "pass")], known)) == 0
    assert exit_code(judge([One("a1", "error")], known)) == 1  # red otherwise than was said
    assert exit_code(judge([One("a1", "pass")], known)) == 1  # an unexpected pass
    assert exit_code(judge([One("b", "unsupported")], known)) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "TOML"),
        ('["a"]\noutcome = "pass"\nwhy = "x"\n', "outcome"),
        ('["a"]\noutcome = "fail"\n', "why"),
        ("a = 1\n", "table"),
    ],
)
def test_a_file_of_expected_failures_that_is_none(tmp_path, text, words):
    (tmp_path / "known.toml").write_text(text)
    with pytest.raises(BadInput, match=words) as error:
        read_expected(tmp_path / "known.toml")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "words",
    [
        ("nowhere:run",),
        ("mine:nothing",),
        ("mine",),
        ("mine:ADAPTER",),
        ("mine:right", "--algorithm", "nobody/knows"),
        ("mine:right", "--timeout", "0"),
        ("mine:right", "--vectors", "nowhere.json"),
        ("mine:right", "--expected", "nowhere.toml"),
    ],
)
def test_bad_usage_of_run(adapter, dpassay, refused, words):
    refused(dpassay("crosscheck", "run", *words))
