"""``dpassay audit MODULE:RUN``: broken algorithms exit 1 with a witness that replays, correct ones do not."""

import json
import shutil
from pathlib import Path

import pytest

from dpassay.reference.accounting.cost import Account

BROKEN = Path(__file__).parents[1] / "search" / "broken.py"
SMALL = ["--runs", "60", "--pilot", "50", "--examples", "30"]


@pytest.fixture
def dpassay(dpassay, tmp_path):
    """Beside a copy of the broken algorithms: exit code, and all that is said."""
    shutil.copy(BROKEN, tmp_path / "planted.py")

    def call(*words):
        code, out, err = dpassay(*words)
        return code, out + err

    return call


@pytest.mark.some(1)
@pytest.mark.parametrize(("kept", "code"), [(0.5, 1), (1.0, 0)])
def test_an_accountant_that_counts_half_is_a_finding(dpassay, monkeypatch, kept, code):
    exact = Account.epsilon
    monkeypatch.setattr(Account, "epsilon", lambda self, delta: kept * exact(self, delta))
    Path("twice.py").write_text(
        "def run(rows, tape):\n"
        "    total = sum(min(1.0, max(-1.0, float(row[0]))) for row in rows)\n"
        "    for step in range(2):\n"
        "        tape.gaussian('sum', total, std=4.0, sensitivity=2.0)\n"
    )
    got, text = dpassay("audit", "twice:run", "--epsilon", 4, "--delta", 1e-5, "--output", "twice.json")
    (row,) = json.loads(Path("twice.json").read_text())["rows"]
    words = "the accounting is wrong, or a run cost more than the one that was accounted"
    assert got == code and (words in row["why"]) == (code == 1), text
    assert row["verdict"] == ("overshoots" if code else "tight" if row["realised"] > 3.6 else "consistent")


def test_the_report_holds_coverage_and_witnesses_and_a_witness_replays(dpassay, tmp_path):
    words = ("audit", "planted:true_branch", "--space", "planted:space", "--epsilon", 3, *SMALL)
    assert dpassay(*words, "--output", "own.json")[0] == 1
    (row,) = json.loads(Path("own.json").read_text())["rows"]
    assert row["verdict"] == "leaks" and row["coverage"]["lines"] == row["coverage"]["lines reached"]
    assert row["witnesses"][0]["finding"]["kind"] == "early end"
    code, text = dpassay("neighbours", "replay", "own.witness-1.json", "--module", "planted")
    assert code == 1 and "the same finding" in text and "planted.py" in text
    source = Path("planted.py").read_text().replace("np.linalg.norm(g) > 0.6", "np.linalg.norm(v) > 0.6")
    Path("mended.py").write_text(source)
    Path("own.witness-1.json").write_text(Path("own.witness-1.json").read_text().replace("planted:", "mended:"))
    code, text = dpassay("neighbours", "replay", "own.witness-1.json", "--module", "mended")
    assert code == 0 and "not this finding" in text


def test_a_witness_file_does_not_choose_what_is_imported(dpassay, tmp_path):
    Path("evil.py").write_text("from pathlib import Path\nPath('was-run').touch()\n")
    dpassay("audit", "planted:true_branch", "--epsilon", 3, *SMALL, "--output", "own.json")
    document = json.loads(Path("own.witness-1.json").read_text())
    for field in ("algorithm", "space"):
        for name in ("evil:run", "evil:/", "evil:x/y"):
            Path("bad.json").write_text(json.dumps(document | {"about": document["about"] | {field: name}}))
            code, text = dpassay("neighbours", "replay", "bad.json", "--module", "planted")
            assert code == 2, text
    assert not Path("was-run").exists()


CODE = """
def halves(data, rng):
    \"\"\"Half of the noise that is needed.\"\"\"
    return data.sum(axis=0) + rng.laplace(scale=0.5, size=data.shape[1])


def on_a_tape(problem, tape):
    return tape.gaussian("sum", problem.sum(), std=2.0, sensitivity=1.0)


def coin(data, rng):
    return bool(data[0, 0] > 0) if rng.random() < 0.9 else bool(rng.random() < 0.5)
"""


@pytest.mark.more
def test_a_failed_verdict_on_plain_code_names_its_reading(dpassay, tmp_path):
    """In the table, in one line, in Markdown and JSON; red case: an output with an exact law."""
    (tmp_path / "named.py").write_text(CODE)
    words = ("--relation", "replace-one", "--runs", "50", "--pilot", "50", "--examples", "5")
    files = ("--markdown", tmp_path / "m.md", "--junit", tmp_path / "j.xml")
    code, out = dpassay("audit", "named:halves", "--epsilon", "1", *words, *files)
    assert code == 1 and "violated" in out
    assert "violated" in (tmp_path / "m.md").read_text()
    assert "violated, as read: the releases add up" in (tmp_path / "j.xml").read_text()
    (row,) = json.loads((tmp_path / "reports" / "named-halves.json").read_text())["rows"]
    assert row["verdict"] == "violated" and "where the code first looks at it" in row["as_read"]
    code, out = dpassay("audit", "named:coin", "--epsilon", "0.5", *words)
    assert code == 1 and "as read" not in out


def test_show_says_what_ones_own_code_is(dpassay, tmp_path):
    (tmp_path / "named.py").write_text(CODE)
    code, out = dpassay("show", "named:halves")
    assert (
        code == 0 and "plain NumPy" in out and "named.py, run at line 2" in out and "dpassay audit named:halves" in out
    )
    assert "Half of the noise" in out and "on a tape" in dpassay("show", "named:on_a_tape")[1]
    code, err = dpassay("show", "named:nothing")
    assert code == 2 and "cannot be loaded" in err and "known:" not in err
    code, err = dpassay("show", "dro/dubble_spider")
    assert code == 2 and "near it: dro/double_spider" in err and len(err) < 200
