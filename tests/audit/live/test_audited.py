"""Programs on data of their own, and in the search for the worst neighbours."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from dpassay.audit.subjects.replay import agreed
from dpassay.reference.errors import BadInput

LAWS = shlex.join([sys.executable, "-S", str(Path(__file__).parent / "laws_speaker.py")])
FEW = ("--runs", 50, "--pilot", 50, "--examples", 10)
OWN = """
from dpassay.reference.space import Rows, Space

COLUMN = Space(Rows(1, None, box=(0.0, 1.0)), {"n": (2, 3)}, lambda rows, sizes: rows)
"""


@pytest.fixture
def column(tmp_path, monkeypatch):
    (tmp_path / "own_column.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "own_column:COLUMN"
    sys.modules.pop("own_column", None)


@pytest.mark.more
def test_a_program_on_data_of_its_own_is_audited(dpassay, column):
    """Laplace noise of scale 2 for a sum that moves by 1: 0.5, which keeps 0.6 and breaks 0.3."""
    words = ["audit", "laplace", "--program", LAWS, "--space", column, "--delta", 1e-5, *FEW]
    code, out, err = dpassay(*words, "--epsilon", 0.6, "--json")
    (row,) = json.loads(out)["rows"]
    assert code in (0, 3), out + err
    assert row["reading"] == "program" and row["data"] == f"{column}; tried with n 2 to 3" and not row["findings"]
    assert row["accounted"] == pytest.approx(0.5, abs=1e-4)
    assert dpassay(*words, "--epsilon", 0.3)[0] == 1
    assert Path("reports/laplace.program.json").is_file()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"--epsilon": None}, ("--epsilon", "what do you claim")),
        ({"--space": "own_column:NOTHING"}, ("--space", "cannot be loaded")),
        ({"--space": None}, ("--epsilon", "--program with --space")),
        ({"--space": "rows"}, ("--space", "must be MODULE:SPACE")),
        ({"--relation": "add-remove"}, ("--relation", "is for replace-one neighbours")),
        ({"--relation": "both"}, ("--relation", "must be replace-one or add-remove")),
        ({"--examples": 0}, ("--examples", "need a search")),
        ({"--program": "no-such-command-here"}, ("no-such-command-here",)),
        ({"name": "own_column:COLUMN"}, ("algorithm", "plain name")),
        ({"name": "own_column:COLUMN", "--space": None, "--epsilon": None}, ("--program", "plain name")),
    ],
)
def test_what_is_wrong_is_said_in_one_line(dpassay, refused, column, changed, words):
    said = {"name": "laplace", "--program": LAWS, "--space": column, "--epsilon": 0.6} | changed
    told = [said.pop("name")]
    for option, value in said.items():
        told += [] if value is None else [option] if value == "" else [option, value]
    refused(dpassay("audit", *told), *words)


def test_a_file_does_not_choose_the_program():
    assert agreed(None, None, "w.json") is None
    assert agreed("./mine", "./theirs", "w.json") == "./mine"
    with pytest.raises(BadInput, match=r"w\.json: program = './theirs': is a command, and a file must not choose"):
        agreed(None, "./theirs", "w.json")
    with pytest.raises(BadInput, match="the witness is not of a program"):
        agreed("./mine", None, "w.json")
