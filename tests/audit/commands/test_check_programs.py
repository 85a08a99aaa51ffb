"""``dpassay check``: claims about programs in another language."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from .test_check import claim

SPEAKER = Path(__file__).parents[1] / "live" / "speaker.py"


@pytest.mark.parametrize(
    ("mode", "code"),
    [
        pytest.param("good", 3, marks=pytest.mark.slow),
        pytest.param("half the noise", 1, marks=pytest.mark.slow),
        ("garbage", 2),
    ],
)
def test_a_program_is_held_to_its_claim(dpassay, project, mode, code):
    """A claim about a program in another language; so few runs decide nothing where it is right."""
    command = shlex.join([sys.executable, "-S", str(SPEAKER), mode])
    project(claim("sgd", "baselines/dp_sgd:fixed-size", 3.0, space="", program=command, runs=20, examples=3))
    found, out, err = dpassay("check", "--jobs", 1, "--no-cache")
    assert found in ((0, 3) if code == 3 else (code,)), out + err
    if code == 2:
        assert "claim sgd" in err and "no line of JSON" in err


OWN = """
from dpassay.reference.space import Rows, Space

COLUMN = Space(Rows(1, None, box=(0.0, 1.0)), {"n": (2, 3)}, lambda rows, sizes: rows)
"""
LAWS = Path(__file__).parents[1] / "live" / "laws_speaker.py"


def own_program(name, told, program=LAWS, **more):
    """A claim about a program that is in no catalogue, on a space of the user's own."""
    command = shlex.join([sys.executable, "-S", str(program)])
    more = {"space": "check_column:COLUMN", "runs": 50, "examples": 10} | more
    return claim(name, told, 0.6, program=command, **more)


def test_a_program_with_a_space_of_its_own(dpassay, refused, project):
    folder = project(own_program("right", "laplace"), own_program("wrong", "geometric half"))
    (folder / "check_column.py").write_text(OWN)
    code, out, _ = dpassay("check", "--jobs", 1, "--no-cache", "--json")
    rows = {row["claim"]: row for row in json.loads(out)["rows"]}
    assert code == 1 and not rows["right"]["findings"] and rows["right"]["accounted"] == pytest.approx(0.5, abs=1e-4)
    assert [row["reading"] for row in rows.values()] == ["program", "program"]
    assert rows["wrong"]["verdict"] == "overshoots" and rows["wrong"]["witnesses"][0]["about"]["program"]
    (folder / "w.json").write_text(json.dumps(rows["wrong"]["witnesses"][0]))
    words = ["neighbours", "replay", "w.json", "--program", rows["wrong"]["witnesses"][0]["about"]["program"]]
    refused(dpassay(*words), "if you trust it: --module check_column")
    code, out, _ = dpassay(*words, "--module", "check_column")
    assert code == 1 and "Now: the same finding" in out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"space": "check_column:nothing"}, ("space", "cannot be loaded")),
        ({"space": ""}, ("algorithm", "is not in the catalogue")),
        ({"relation": "add-remove"}, ("relation", "is for replace-one neighbours")),
        ({"told": "a:b"}, ("algorithm", "a name of the catalogue")),
    ],
)
def test_claims_about_programs_that_are_wrong(dpassay, refused, project, more, words):
    folder = project(own_program("p", **{"told": "word"} | more))
    (folder / "check_column.py").write_text(OWN)
    refused(dpassay("check", "--jobs", 1), "claim p", *words)
