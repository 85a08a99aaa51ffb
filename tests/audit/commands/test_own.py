"""``dpassay audit MODULE:NAME``: any signature, every output, the line of a bug, and witnesses that replay."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpassay.audit.inputs.foreign import written_space
from dpassay.audit.subjects.own import nearest, open_own, rounded_up
from dpassay.audit.verdict import UNDERACCOUNTED
from dpassay.reference import Account, BadInput
from dpassay.reference.files import require_writable, write_text

BROKEN = Path(__file__).parents[2] / "bugs" / "broken.py"
SMALL = ("--runs", 60, "--pilot", 50, "--examples", 12, "-q")
PEOPLES = Path(__file__).parents[1] / "programs" / "right.py"  # with the signatures that people give their code
CODE = '''
def with_stdlib(rows, bound):
    return sum(max(-bound, min(bound, row[0])) for row in rows) + random.gauss(0, 8.0 * bound)

def numbers(values, epsilon, low=0.0, high=100.0):
    kept = [min(max(x, low), high) for x in values]
    assert isinstance(1.0, float) and np.zeros(1, dtype=float).dtype == float(0).__class__
    return sum(kept) / len(kept) + float(np.random.laplace(0, (high - low) / len(kept) / epsilon))

def either(data, epsilon):
    counts, _ = np.histogram(data, bins=5, range=(0, 100))
    return counts + np.random.laplace(0, 2 / epsilon, size=5)

def slow(rows, rng):
    import time

    time.sleep(60)

def hungry(rows, rng):
    return np.ones((10**6, 10**4)).sum() + rng.normal()

def tensors(rows, rng):
    import torch; return torch.tensor(rows).sum() + rng.normal()

async def awaited(rows, rng):
    return rng.normal()

def unclipped(rows, rng):
    """Nothing bounds it."""
    total = rows.sum(axis=0)
    return total + rng.normal(scale=8, size=rows.shape[1])

def bare(rows, rng):
    return rows.mean(axis=0)

def twice(rows, tape):
    total = sum(min(1.0, max(-1.0, float(row[0]))) for row in rows)
    for step in range(2):
        tape.gaussian('sum', total, std=4.0, sensitivity=2.0)

def loud(rows, tape):
    return tape.gaussian('sum', rows.sum(axis=0), std=0.2, sensitivity=2.0)
'''


@pytest.fixture
def mine(dpassay, tmp_path):
    def audited(name, *words, epsilon=1):
        claim = () if epsilon is None else ("--epsilon", epsilon)
        return dpassay("audit", f"signed:{name}", *claim, *SMALL, *words)

    (tmp_path / "signed.py").write_text(PEOPLES.read_text() + CODE)
    sys.modules.pop("signed", None)
    yield audited
    sys.modules.pop("signed", None)


RIGHT = ["laplace_mean", "count_above", "histogram", "frame_means", "logistic_regression", "DPClassifier", "meter.mean"]
RIGHT += ["numbers", "with_stdlib --with bound=2.0", "either --space Space.numbers()"]


@pytest.mark.some(1)
@pytest.mark.parametrize("line", RIGHT)
def test_right_code_is_certified_as_it_is(mine, line):
    code, out, err = mine(*line.split())
    assert code == 0 and "certified" in out, out + err


def test_code_for_numbers_is_held_to_rows_of_them_and_told_how_it_is_not(mine):
    code, out, _ = mine("either", "--examples", 4)
    said = "if a record is a single number: certified 1 with --space 'Space.numbers()'"
    assert code == 1 and said in " ".join(out.split())


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("numbers", ("--with", "high=1e9", "--with", "low=-1e9", "--examples", 4), 0),  # the noise follows
        ("either", ("--space", "Space.numbers(radius=50.0)", "--relation", "add-remove", "--examples", 4), 0),
        ("private_mean", ("--space", "Space.matrix(n=(1, 2), d=1)", "--relation", "zero-out", "--examples", 4), 0),
        ("count_above", ("--relation", "add-remove", "--examples", 20), 0),
        ("private_mean", ("--relation", "add-remove", "--examples", 20), 1),
        ("DPClassifier", ("--with", "noise=9.0"), 1),
    ],
    ids=["a larger range", "bounded numbers", "silent rows", "added rows", "n told", "half the noise"],
)
def test_values_and_spaces_that_are_named_count(mine, name, words, code):
    assert mine(name, *words)[0] == code
    assert "float" not in vars(sys.modules["signed"])  # it was another one while the code was audited


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("with_stdlib", (), "--with bound=VALUE"),
        ("laplace_mean", ("--with", "0.5"), "must be NAME=VALUE"),
        ("tensors", (), "works with torch"),
        ("awaited", (), "is an `async def`"),
        ("slow", (), "takes more than 1 seconds"),
        ("hungry", (), "takes more than 4 GB"),
    ],
)
def test_what_cannot_be_followed_is_refused_in_one_line(mine, refused, monkeypatch, name, words, said):
    monkeypatch.setattr("dpassay.audit.subjects.own.SECONDS", 1)
    refused(mine(name, *words), said)


def test_show_says_what_ones_own_code_is(mine, dpassay, refused):
    code, out, _ = dpassay("show", "signed:unclipped")
    text = Path("signed.py").read_text()
    line = text[: text.index("def unclipped")].count("\n") + 1
    assert code == 0 and "plain NumPy" in out and f"signed.py, run at line {line}" in out
    assert "dpassay audit signed:unclipped" in out and "Nothing bounds it." in out
    assert "on a tape" in dpassay("show", "signed:loud")[1]
    refused(dpassay("show", "signed:nothing"), "cannot be loaded")
    refused(dpassay("show", "dro/dubble_spider"), "near it: dro/double_spider")


# -- without a claim, with a space in words
def test_the_command_that_is_printed_holds_the_code_to_what_was_found(mine, dpassay, monkeypatch):
    code, out, _ = mine("private_mean", "signed:bare", epsilon=None)  # each function for itself
    (command,) = re.findall(r"^  dpassay (audit.*)$", out, flags=re.MULTILINE)
    assert code == 1 and "--epsilon 0.927 --delta 1e-05" in command and "no finite epsilon" in out
    assert {file.name.split(".")[0] for file in Path("reports").glob("*witness*")} == {"signed-bare"}
    assert dpassay(*shlex.split(command), *SMALL, "--examples", 4, "--require", "certified")[0] == 0
    with monkeypatch.context() as alone:  # a certificate says it without an audit of its own
        alone.setattr("dpassay.audit.subjects.own.assay", None)
        found = nearest("signed:private_mean", *open_own("signed:private_mean", None, None), 1e-5, 0)
    assert found.epsilon == 0.927
    monkeypatch.setattr("dpassay.audit.commands.audit.nearest", lambda *_: replace(found, epsilon=0.5))  # a poor search
    code, out, _ = mine("private_mean", epsilon=None)
    assert code == 0 and "--epsilon 0.927" in out
    assert [rounded_up(x) for x in (0.92612, 4.3771, 0.5, 1e-9)] == [0.927, 4.38, 0.5, 1e-9], "to the safe side"


def test_words_are_read_and_never_evaluated():
    assert written_space("Space.matrix((1,), radius=2.0)").rows.bound == 2.0
    assert written_space("Space.numbers(n=3)").sizes == {"n": (3,)}
    for words in ("n=1)(2)", "n=1.5)", "m=1)", "", "n=x)", "n=__import__('os'))"):
        for make in ("matrix", "numbers"):
            with pytest.raises(BadInput, match="space"):
                written_space(f"Space.{make}({words}")


# -- what the report says, and witnesses
@pytest.mark.more
@pytest.mark.parametrize(("kept", "code"), [(0.5, 1), (1.0, 0)])
def test_an_accountant_that_counts_half_is_a_finding(mine, monkeypatch, kept, code):
    exact = Account.epsilon
    monkeypatch.setattr(Account, "epsilon", lambda self, delta: kept * exact(self, delta))
    full = ("--runs", 1000, "--pilot", 400, "--examples", 150, "--output", "twice.json")
    got, out, _ = mine("twice", *full, epsilon=4)
    (row,) = json.loads(Path("twice.json").read_text())["rows"]
    assert got == code and (UNDERACCOUNTED in row["why"]) == (code == 1), out
    assert row["verdict"] == ("overshoots" if code else "tight" if row["realised"] > 3.6 else "consistent")


def test_the_report_holds_coverage_and_witnesses_which_replay_and_choose_no_import(dpassay, refused):
    shutil.copy(BROKEN, "planted.py")
    words = ("audit", "planted:true_branch", "--space", "planted:space", "--epsilon", 3, *SMALL, "--examples", 30)
    assert dpassay(*words, "--output", "own.json")[0] == 1
    (row,) = json.loads(Path("own.json").read_text())["rows"]
    assert (row["verdict"], row["witnesses"][0]["finding"]["kind"]) == ("leaks", "early end")
    assert row["coverage"]["lines"] == row["coverage"]["lines reached"]
    stored = Path("own.witness-1.json").read_text()
    Path("mended.py").write_text(Path("planted.py").read_text().replace("norm(g) > 0.6", "norm(v) > 0.6"))
    for module, said, code in (("planted", "Now: the same finding", 1), ("mended", "Now: not this finding", 0)):
        Path("w.json").write_text(stored.replace("planted:", f"{module}:"))
        again = dpassay("neighbours", "replay", "w.json", "--module", module)
        assert again[0] == code and said in again[1]

    Path("evil.py").write_text("from pathlib import Path\nPath('was-run').touch()\n")
    document = json.loads(stored)
    for field in ("algorithm", "space"):
        for name in ("evil:run", "evil:/", "evil:x/y"):
            Path("bad.json").write_text(json.dumps(document | {"about": document["about"] | {field: name}}))
            refused(dpassay("neighbours", "replay", "bad.json", "--module", "planted"))
    assert not Path("was-run").exists()


def test_all_outputs_of_one_s_own_algorithm(mine, monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    files = ("--junit", "out/j.xml", "--sarif", "out/s.sarif", "--markdown", "out/m.md")
    code, out, _ = mine("loud", *files, "--github")
    assert code == 1 and ElementTree.parse("out/j.xml").getroot().attrib["failures"] == "1"
    assert '"ruleId": "over-budget"' in Path("out/s.sarif").read_text()
    page = Path("out/m.md").read_text()
    assert "signed:loud@own" in page and Path("summary.md").read_text() == page + "\n"
    assert re.search(r"^::error .*signed%3Aloud", out, re.MULTILINE)
    assert out.splitlines()[-1].startswith("FAILED: 1 row: 1 failed (signed:loud@own: ")
    code, out, err = mine("loud", "--json", "--github")  # one document
    assert code == 1 and json.loads(out)["rows"][0]["algorithm"] == "signed:loud" and err.startswith("::error ")


def test_writing_is_whole_or_not_at_all_and_leaves_other_files_alone(tmp_path):
    """Another process may be writing the same file, and somebody may call a file so."""
    (tmp_path / "file").write_text("old")
    (tmp_path / "file.part").write_text("precious")
    with pytest.raises(BadInput):
        write_text(tmp_path / "file", "\ud800", "--output")
    assert (tmp_path / "file").read_text() == "old"
    require_writable(tmp_path / "file", "--output")
    write_text(tmp_path / "file", "{}", "--output")
    assert (tmp_path / "file.part").read_text() == "precious" and len(list(tmp_path.iterdir())) == 2


def shell(line):
    """A command line in a shell of its own; `$D` is dpassay."""
    variables = {**os.environ, "D": f"{sys.executable} -m dpassay.audit"}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=variables, check=False, timeout=120)


@pytest.mark.slow  # starts three processes
def test_output_that_nobody_reads_or_that_has_no_room():
    gone = shell("$D list | true; exit ${PIPESTATUS[0]}")
    assert gone.returncode == 141 and not gone.stderr, gone
    full = shell("$D list > /dev/full")
    assert full.returncode == 2 and full.stderr == "dpassay: standard output: No space left on device\n", full
    assert shell("$D show nothing 2> /dev/full").returncode == 2


# -- a bug is found at its line: by the command, in every format, and no message speaks of the apparatus
TRAINING = """\
import numpy as np

def clipped(rows):
    return rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))

def scale_of(n):
    bound = 4.0 / n
    sigma = 2.0 * bound
    return sigma

def on_tape(rows, tape):
    average = clipped(rows).mean(axis=0)
    claim = 2.0 / len(rows)
    return tape.gaussian("mean", average, std=scale_of(len(rows)), sensitivity=claim)

def plain(rows, rng):
    centre = clipped(rows).mean(axis=0)
    sigma = scale_of(len(rows))
    return centre + rng.normal(scale=sigma, size=rows.shape[1])
"""
CLIP = "rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))"
CENTRED = "rest = rows - rows.mean(axis=0)\n    centre = clipped(rest[rng.random(len(rows)) < 0.5]).sum("
BUGS = [  # function, old text, new text, beginning of the line named first; others: tests/examples
    ("on_tape", "average = clipped(rows).mean", "average = clipped(rows).sum", "average = clipped(rows).sum"),
    ("plain", "sigma = 2.0 * bound", "sigma = 1.0 * bound", "sigma = 1.0"),  # which the bound is equal to
    ("plain", f"return {CLIP}", "return rows", "centre = clipped(rows)"),
    ("plain", "centre = clipped(rows).mean(", CENTRED, "rest = rows"),
    ("plain", "", "", ""),
]


@pytest.mark.some(2)
@pytest.mark.parametrize(("function", "old", "new", "named"), BUGS)
def test_the_line_of_a_bug_is_named_first_in_every_format(dpassay, function, old, new, named):
    module = f"lines_{BUGS.index((function, old, new, named))}"
    text = TRAINING.replace(old, new) if old else TRAINING
    Path(f"{module}.py").write_text(text, encoding="utf-8")
    effort = ("--runs", "100", "--pilot", "50", "--examples", "30", "--quiet")
    files = ("--output", "r.json", "--sarif", "r.sarif", "--junit", "r.xml")
    code, out, _ = dpassay("audit", f"{module}:{function}", "--epsilon", "1", *effort, *files)
    assert code == bool(named)
    if not named:
        return
    line = next(number for number, one in enumerate(text.splitlines(), 1) if one.strip().startswith(named))
    place = json.loads(Path("r.json").read_text())["rows"][0]["places"][0]
    result = json.loads(Path("r.sarif").read_text())["runs"][0]["results"][0]
    case = ElementTree.parse("r.xml").getroot().find(".//testcase")
    assert (place["file"], place["line"], case.get("line")) == (f"{module}.py", line, str(line))
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == line and f"at {module}.py:{line}" in out
    assert dpassay("report", "r.json", "--no-ledger", "--output", "r.html")[0] in (0, 1)
    assert f"{module}.py:{line}" in Path("r.html").read_text()


ODD = """\
def attribute(rows, tape):
    return tape.normal("x", rows.mean())

def called(rows, tape):
    return tape(rows)

def nothing():
    return 1.0

def shown(rows, tape):
    raise TypeError(repr(tape))
"""
INNER = re.compile(r"\b(lockstep|greenlet|hub|worlds|(?!Live|Scripted)\w+Tape)\b|\b(?!mine|data|odd)\w+\.py\b")


@pytest.mark.parametrize("name", ["attribute", "called", "nothing", "shown"])
def test_code_that_raises_is_told_nothing_of_the_apparatus(dpassay, refused, name):
    Path("odd.py").write_text(ODD, encoding="utf-8")
    result = dpassay("audit", f"odd:{name}", "--epsilon", "1", "--examples", "4", "--quiet")
    refused(result)
    assert not INNER.search(result[2])
