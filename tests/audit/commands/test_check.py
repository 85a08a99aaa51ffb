"""``dpassay check`` and ``dpassay init``: claims of a file, as a project's CI runs them; of programs; with workers."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpassay.audit.claims.model import read_claims

BROKEN = Path(__file__).parents[2] / "bugs" / "broken.py"
MINE = """
from dpassay.reference.space import Rows, Space

COLUMN = Space(Rows(1, None, box=(0.0, 1.0)), {"n": (2, 3)}, lambda rows, sizes: rows)

def raises(rows, tape):
    raise ValueError("never works")
"""
LIVE = Path(__file__).parents[1] / "live"


def claim(name, algorithm="planted:mean", epsilon=1.0, **more):
    fields = {"name": name, "algorithm": algorithm, "space": "planted:space", "epsilon": epsilon, "delta": 1e-5}
    fields |= {"runs": 60, "examples": 15, "effort": "quick"} | more
    return "[[claim]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items() if value != "")


GOOD, BAD, RAISES = claim("good"), claim("bad", "planted:half_sensitivity"), claim("a", "check_mine:raises")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "check_mine.py").write_text(MINE)
    shutil.copy(BROKEN, tmp_path / "planted.py")

    def write(*claims):
        (tmp_path / "claims.toml").write_text("version = 1\n" + "".join(claims))
        return tmp_path

    return write


def complaint(err, *words):
    (line,) = (one for one in err.splitlines() if one.startswith("dpassay: "))
    assert "Traceback" not in err and all(word in line for word in words), err


def test_failing_claims_are_named_with_cause_place_and_owner(dpassay, project):
    project(GOOD, BAD + 'owner = "team-a"\n')
    code, out, err = dpassay("check", "--jobs", 1)
    line = BROKEN.read_text().partition("return tape.gaussian(label")[0].count("\n") + 1
    assert code == 1 and all(one in out for one in ("sensitivity exceeded", f"at planted.py:{line}", "owner team-a"))
    assert "FAILED: 2 rows: 1 failed (bad: " in out and "97.5 % confidence" in out
    assert "checking: 1 of 2  good: " in err


def test_only_and_fail_on_and_a_warning_that_does_not_count(dpassay, project):
    project(GOOD, BAD, claim("small", epsilon=0.5), claim("mild", "planted:half_sensitivity", severity="warning"))
    assert "the time of --budget is up" in dpassay("check", "--only", "good", "--budget", 1e-3)[1]  # and is not kept:
    assert "from the cache" not in dpassay("check", "--only", "good")[1]
    assert dpassay("check", "--only", "small", "--fail-on", "over-budget")[0] == 1
    code, out, _ = dpassay("check", "--only", "b*", "--fail-on", "never")
    assert code == 0 and "3 of the file not checked" in out and "good" not in out
    code, out, _ = dpassay("check", "--only", "mild")
    assert code == 0 and "overshoots" in out and "a warning: it does not count" in out


def test_a_catalogue_case_is_held_to_the_claim(dpassay, project):
    """Accounted 1.0: 0.99 is over budget, and what a printed reading declares counts."""
    dp_sgd = {"algorithm": "baselines/dp_sgd:digits", "space": "", "examples": 2}
    project(claim("fine", **dp_sgd), claim("over", **dp_sgd | {"epsilon": 0.99}))
    code, out, _ = dpassay("check", "--jobs", 1, "--json")
    rows = {row["claim"]: row for row in json.loads(out)["rows"]}
    assert code == 1 and rows["fine"]["verdict"] != "over budget"
    assert rows["over"]["verdict"] == "over budget" and rows["over"]["realised"] is None


def program(name, told, mode=(), **more):
    """A claim about a program in another language, on a space of the user's own."""
    command = shlex.join([sys.executable, "-S", str(LIVE / "speaker.py"), *mode])
    fields = {"epsilon": 0.6, "space": "check_mine:COLUMN", "examples": 10, "program": command} | more
    return claim(name, told, **fields)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (claim("a", "check_mine:nobody"), ("claims.toml:13: claim a.algorithm", "cannot be loaded")),
        (claim("a", space="planted:mean"), ("claim a", "space")),
        (claim("a", "baselines/dp_sgd", space=""), ("claim a.algorithm", "a claim is about one")),
        (claim("a", "baselines/dp_sgd"), ("claim a.space", "has its own")),
        (claim("a", "nobody/knows", space=""), ("claim a.algorithm = 'nobody/knows'", "not in the catalogue")),
        (program("a", "word", space="check_mine:nothing"), ("claim a.space", "cannot be loaded")),
        (program("a", "word", space=""), ("claim a.algorithm", "is not in the catalogue")),
        (program("a", "word", relation="add-remove"), ("claim a.relation", "is for replace-one neighbours")),
        (program("a", "a:b"), ("claim a", "algorithm", "a name of the catalogue")),
    ],
)
def test_what_a_claim_names_must_be_there(dpassay, refused, project, bad, words):
    project(GOOD, bad)
    refused(dpassay("check", "--jobs", 1), *words)


def test_a_claim_that_cannot_be_run_costs_no_other_its_row(dpassay, project):
    folder = project(GOOD, RAISES)
    wanted = ("--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md", "--output", "r.json", "--github")
    code, out, err = dpassay("check", "--jobs", 1, *wanted, "--baseline", "lock.json", "--update")
    complaint(err, "claim a.algorithm", "never works")
    told = ("NOT CHECKED: 1 row: 1 passed, 1 could not be checked", "not written")
    assert code == 2 and all(part in out for part in (*told, "::error title=dpassay%3A a not checked::")), out
    assert not (folder / "lock.json").exists()
    root = ElementTree.parse(folder / "j.xml").getroot()
    assert root.get("errors") == "1" and "never works" in root.find(".//error").get("message")
    (run,) = json.loads((folder / "s.json").read_text())["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "- not checked: `claims.toml" in (folder / "m.md").read_text()


def test_no_output_goes_over_what_the_command_uses(dpassay, refused, project):
    folder = project(GOOD)
    before = (folder / "claims.toml").read_text()
    for option in ("--junit", "--sarif", "--markdown", "--output"):
        refused(dpassay("check", option, "claims.toml"), option, "is used by the command as well")
        refused(dpassay("check", "--baseline", "l.json", "--update", option, "l.json"), option)
    assert (folder / "claims.toml").read_text() == before and not (folder / "l.json").exists()


def test_init_writes_once(dpassay, refused, project):
    folder = project()
    (folder / "claims.toml").unlink()
    code, out, _ = dpassay("init", "--algorithm", "planted:mean", "--space", "planted:space")
    before = (folder / "claims.toml").read_text()
    assert code == 0 and "dpassay check" in out and "planted:mean" in before
    assert [one.epsilon for one in read_claims(folder / "claims.toml")[0].claim] == [0.595]
    refused(dpassay("init"), "claims.toml", "never overwritten")
    assert (folder / "claims.toml").read_text() == before
    one = "Space.matrix(n=(2,), d=(1,))"
    assert dpassay("init", "new/other.toml", "--algorithm", "planted:mean", "--space", one)[0] == 0
    assert read_claims(folder / "new" / "other.toml")[0].claim[0].space == one


# -- programs in another language


def test_a_program_with_a_space_of_its_own(dpassay, refused, project):
    folder = project(program("right", "laplace"), program("wrong", "geometric half"))
    code, out, _ = dpassay("check", "--jobs", 1, "--no-cache", "--json")
    rows = {row["claim"]: row for row in json.loads(out)["rows"]}
    assert code == 1 and not rows["right"]["findings"] and rows["right"]["accounted"] == pytest.approx(0.5, abs=1e-4)
    assert [row["reading"] for row in rows.values()] == ["program", "program"]
    assert rows["wrong"]["verdict"] == "overshoots"
    witness = rows["wrong"]["witnesses"][0]
    (folder / "w.json").write_text(json.dumps(witness))
    told = ("--program", witness["about"]["program"])
    refused(dpassay("neighbours", "replay", "w.json", *told), "if you trust it: --module check_mine")
    code, out, _ = dpassay("neighbours", "replay", "w.json", *told, "--module", "check_mine")
    assert code == 1 and "Now: the same finding" in out

    words = ("audit", "laplace", *told, "--space", "check_mine:COLUMN", "--runs", 50, "--examples", 10, "--epsilon")
    assert dpassay(*words, 0.3)[0] == 1  # Laplace noise of scale 2 for a sum that moves by 1 is 0.5
    code, out, _ = dpassay(*words, 0.6, "--json")
    (row,) = json.loads(out)["rows"]
    assert code in (0, 3) and (row["reading"], row["findings"]) == ("program", [])
    assert row["data"] == "check_mine:COLUMN; tried with n 2 to 3" and Path("reports/laplace.program.json").is_file()
    refused(dpassay(*words, 0.6, "--relation", "add-remove"), "--relation", "is for replace-one neighbours")


# -- two workers: the same numbers as with one, and their errors come back whole; they take seconds to start
@pytest.mark.more
def test_one_worker_and_two_write_the_same_bytes(dpassay, project):
    folder, texts = project(GOOD, GOOD.replace('"good"', '"again"')), []
    for jobs in (1, 2):
        words = ("--jobs", jobs, "--no-cache", "--output", "rows.json", "--baseline", f"{jobs}.json", "--update")
        assert dpassay("check", *words)[0] in (0, 3)
        text = (folder / "rows.json").read_text() + (folder / f"{jobs}.json").read_text()
        texts.append(re.sub(r'"seconds": [\d.e-]+', "", text))
    assert texts[0] == texts[1]


@pytest.mark.more
def test_the_error_of_a_worker_comes_back_whole_and_the_row_of_the_other_one_as_well(dpassay, project):
    project(GOOD, RAISES)
    code, out, err = dpassay("check", "--jobs", 2, "--json")
    complaint(err, "claim a.algorithm", "never works")
    found = json.loads(out)
    assert code == 2 and [one["claim"] for one in found["unchecked"]] == ["a"] and len(found["rows"]) == 1
