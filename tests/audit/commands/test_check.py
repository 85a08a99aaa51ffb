"""``dpassay check`` and ``dpassay init``: claims of a file, as a project's CI runs them."""

import errno
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpassay.audit.claims.model import read_claims

MINE = """
import numpy as np
from dpassay.reference import Space

space = Space.matrix(n=(2, 4), d=(1, 2), radius=10.0)


def mean(rows, tape):
    n = len(rows)
    clipped = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    return tape.gaussian("mean", clipped.mean(axis=0), std=8.0 / n, sensitivity=2.0 / n)


def forgets(rows, tape):
    return tape.gaussian("mean", rows.mean(axis=0), std=8.0 / len(rows), sensitivity=2.0 / len(rows))


def raises(rows, tape):
    raise ValueError("never works")
"""


def claim(name, algorithm="check_mine:mean", epsilon=1.0, **more):
    fields = {"name": name, "algorithm": algorithm, "space": "check_mine:space", "epsilon": epsilon, "delta": 1e-5}
    fields |= {"runs": 60, "examples": 15, "effort": "quick"} | more
    return "[[claim]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items() if value != "")


@pytest.fixture
def project(project, tmp_path):
    """Beside a module of one's own."""
    (tmp_path / "check_mine.py").write_text(MINE)
    return project


def test_failing_claims_are_named_with_cause_place_and_owner(dpassay, project):
    project(claim("good"), claim("bad", "check_mine:forgets", owner="team-a"))
    code, out, err = dpassay("check", "--jobs", 1)
    assert code == 1
    assert "FAILED (overshoots): bad [check_mine.py:15, owner team-a]: sensitivity exceeded" in " ".join(out.split())
    assert "2 claims: 1 overshoots, 1 " in out
    assert "97.5 % confidence" in out
    assert "checking: 1 of 2  good: " in err


def test_only_and_fail_on(dpassay, project):
    project(claim("good"), claim("bad", "check_mine:forgets"), claim("small", epsilon=0.5))
    assert dpassay("check", "--only", "small", "--fail-on", "over-budget")[0] == 1
    code, out, _ = dpassay("check", "--only", "b*", "--fail-on", "never")
    assert code == 0 and "2 of the file not checked" in out and "good" not in out


def test_a_warning_is_shown_and_does_not_count(dpassay, project):
    project(claim("bad", "check_mine:forgets", severity="warning"))
    code, out, _ = dpassay("check")
    assert code == 0 and "warning: FAILED (overshoots): bad" in out


def test_a_catalogue_case_is_held_to_the_claim(dpassay, project):
    """Accounted 1.0: 0.99 is over budget, and what a printed reading declares counts."""
    dp_sgd = {"algorithm": "baselines/dp_sgd:digits", "space": ""}
    project(claim("fine", **dp_sgd), claim("over", **dp_sgd | {"epsilon": 0.99}))
    code, out, _ = dpassay("check", "--jobs", 1, "--json")
    rows = {row["claim"]: row for row in json.loads(out)["rows"]}
    assert code == 1
    assert rows["over"]["verdict"] == "over budget" and rows["over"]["realised"] is None
    assert rows["fine"]["verdict"] != "over budget"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (
            claim("a", "check_mine:nobody"),
            ("claims.toml:13: claim a.algorithm", "cannot be loaded"),
        ),
        (claim("a", space="check_mine:mean"), ("claim a", "space")),
        (claim("a", "baselines/dp_sgd", space=""), ("claim a.algorithm", "a claim is about one")),
        (claim("a", "baselines/dp_sgd"), ("claim a.space", "has its own")),
        (claim("a", "nobody/knows", space=""), ("claim a.algorithm = 'nobody/knows'", "not in the catalogue")),
    ],
)
def test_what_a_claim_names_must_be_there(dpassay, refused, project, bad, words):
    project(claim("good"), bad)
    code, out, err = dpassay("check", "--jobs", 1)
    lines = [line for line in err.splitlines() if line.startswith("dpassay: ")]
    assert code == 2 and not out and len(lines) == 1, err
    assert all(word in lines[0] for word in words), lines


def test_a_claim_that_cannot_be_run_costs_no_other_its_row(dpassay, project):
    """With two workers: ``test_workers_of_commands.py``."""
    folder = project(claim("good"), claim("a", "check_mine:raises"))
    wanted = ("--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md")
    code, out, err = dpassay("check", "--jobs", 1, *wanted, "--github", "--baseline", "lock.json", "--update")
    lines = [line for line in err.splitlines() if line.startswith("dpassay: ")]
    assert code == 2 and "Traceback" not in err
    assert len(lines) == 1 and "claim a.algorithm" in lines[0] and "never works" in lines[0]
    assert "1 claim: " in out and "(1 could not be checked)" in out and "NOT CHECKED: 1 row: 1 passed" in out
    assert "::error title=dpassay%3A a not checked::" in out
    assert "not written" in out and not (folder / "lock.json").exists()
    root = ElementTree.parse(folder / "j.xml").getroot()
    assert root.get("errors") == "1" and "never works" in root.find(".//error").get("message")
    (run,) = json.loads((folder / "s.json").read_text())["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "- not checked: `claims.toml" in (folder / "m.md").read_text()
    code, out, _ = dpassay("check", "--jobs", 1, "--json")
    found = json.loads(out)
    assert [one["claim"] for one in found["unchecked"]] == ["a"] and len(found["rows"]) == 1


def test_no_output_goes_over_what_the_command_uses(dpassay, refused, project):
    folder = project(claim("good"))
    before = (folder / "claims.toml").read_text()
    for option in ("--junit", "--sarif", "--markdown", "--output"):
        refused(dpassay("check", option, "claims.toml"), option, "is used by the command as well")
        refused(dpassay("check", "--baseline", "l.json", "--update", option, "l.json"), option)
    assert (folder / "claims.toml").read_text() == before and not (folder / "l.json").exists()


def test_init_writes_once(dpassay, refused, project):
    folder = project()
    (folder / "claims.toml").unlink()
    code, out, _ = dpassay("init", "--algorithm", "check_mine:mean", "--space", "check_mine:space")
    assert code == 0 and "dpassay check" in out
    before = (folder / "claims.toml").read_text()
    assert "check_mine:mean" in before and [one.epsilon for one in read_claims(folder / "claims.toml")[0].claim] == [
        0.927
    ]
    refused(dpassay("init"), "claims.toml", "never overwritten")
    assert (folder / "claims.toml").read_text() == before
    assert dpassay("init", "new/other.toml")[0] == 0


def test_init_without_room_leaves_nothing_in_the_way(dpassay, refused, monkeypatch):
    """The system refuses to write more than no byte at all, then there is room again."""

    def full(descriptor, *words, **more):
        os.close(descriptor)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr("dpassay.audit.commands.init.os.fdopen", full)
        refused(dpassay("init"), "claims.toml", "No space left")
    assert not Path("claims.toml").exists() and dpassay("init")[0] == 0
