"""Programs that are audited: on data of their own, and leaks that hang on something beside the protocol."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from dpassay.audit.live.program import LiveProgram
from dpassay.audit.row import Effort
from dpassay.audit.running.programs import ProgramBroken
from dpassay.audit.subjects.programs import audited
from dpassay.audit.subjects.replay import agreed
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind

HERE = Path(__file__).parent
LAWS = shlex.join([sys.executable, "-S", str(HERE / "laws_speaker.py")])
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


CASE = find("baselines/dp_sgd:fixed-size")[0]
EFFORT = Effort(runs=50, pilot=50, examples=12)


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """The findings of an audit of the speaker in some mode, with a home of its own; why it was refused, if it was."""
    monkeypatch.setenv("HOME", str(tmp_path))

    def judge(mode):
        with LiveProgram([sys.executable, "-S", str(HERE / "speaker.py"), mode], CASE.id) as program:
            try:
                row = audited(CASE, program, EFFORT)
            except ProgramBroken as error:
                return str(error)
        return {one.kind for one in row.findings}

    return judge


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "found"),
    [
        ("first process", True),  # and the others do not leak
        ("first data", True),  # what a file in the home holds decides
        ("scratch file of its own", False),
        ("parent", False),  # it looks who runs it: the limit that the page names
    ],
)
def test_a_leak_of_one_world_or_of_one_data_set_is_found_and_a_file_for_each_process_is_none(judged, mode, found):
    kinds = judged(mode)
    assert Kind.OUTPUT in kinds if found else kinds == set()


@pytest.mark.slow
def test_a_leak_when_it_is_alone_is_refused(judged):
    """In lockstep it is never alone, and would pass: the first look runs it both ways."""
    assert "in its midst" in judged("alone")


@pytest.mark.slow
def test_an_environment_variable_is_seen_as_it_is_set(judged, monkeypatch):
    """What the page says: a program is audited under the variables of the command, and not under others."""
    assert judged("environment variable") == set()
    monkeypatch.setenv("SPEAKER", "leaks")
    assert Kind.OUTPUT in judged("environment variable")
