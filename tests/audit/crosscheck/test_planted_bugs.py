"""Programs of other people that answer for ten algorithms pass every vector; each bug of `bugs.toml` in them is red."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "crosscheck.md"
BUGS = tomllib.loads((HERE / "bugs.toml").read_text(encoding="utf-8"))["bug"]
DRAWN = [one for one in BUGS if one["set"] == "drawn"]
PAIRS = sorted({(one["program"], one["algorithm"]) for one in BUGS})
QUICK = {"scans-no-dual-scale", "modules-half-sensitivity", "leaf-is-a-mean"}


def held_to(dpassay, program, algorithm):
    """The command on all vectors of an algorithm: a function in Python, or a program on the live protocol."""
    if program.suffix == ".js":
        if shutil.which("node") is None:
            pytest.skip("node is not installed")
        return dpassay("crosscheck", "live", algorithm, "--program", f"node {program}", "--seeds", 0)
    return dpassay("crosscheck", "run", f"{program.stem}:run", "--algorithm", algorithm)


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Writes a program with a bug; returns its path."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")

    def write(bug):
        text = (HERE / "programs" / bug["program"]).read_text(encoding="utf-8")
        assert text.count(bug["old"]) == 1
        path = tmp_path / bug["program"]
        path.write_text(text.replace(bug["old"], bug["new"]), encoding="utf-8")
        return path

    return write


@pytest.mark.slow
@pytest.mark.parametrize(("program", "algorithm"), PAIRS)
def test_the_programs_are_right(dpassay, monkeypatch, program, algorithm):
    monkeypatch.setenv("PYTHONPATH", str(HERE / "programs"), prepend=":")
    code, out, err = held_to(dpassay, HERE / "programs" / program, algorithm)
    assert code == 0, out + err


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "bug", [pytest.param(one, id=one["id"], marks=[] if one["id"] in QUICK else pytest.mark.slow) for one in BUGS]
)
def test_a_planted_bug_is_red_and_shown(dpassay, planted, bug):
    code, out, err = held_to(dpassay, planted(bug), bug["algorithm"])
    assert code == 1, out + err
    assert bug.get("named", "") in out and bug.get("near", "") in out, out
    assert re.search(r"^  reference/\S+\.py:\d+: ", out, re.MULTILINE), out


def test_the_page_says_how_many_are_named():
    named, near = (sum(kind in one for one in DRAWN) for kind in ("named", "near"))
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert len(DRAWN) == 40
    assert f"In {named} of 40 the output says what is wrong" in text and f"In {near} more a change" in text
    assert f"In the other {40 - named - near}" in text
