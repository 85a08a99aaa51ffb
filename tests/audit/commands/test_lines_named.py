"""A bug in code is found at its line: by the command, in every format, and no message speaks of the apparatus."""

import ast
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dpassay.audit

AUDIT = Path(dpassay.audit.__file__).resolve().parent
CODE = """\
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


def sides(rows, tape):
    short = clipped(rows)
    name = "small"
    if short.sum() > 0.5:
        name = "large"
    return tape.gaussian(name, short.mean(axis=0), std=scale_of(len(rows)), sensitivity=2.0 / len(rows))


def momentum(rows, tape):
    weights = velocity = np.zeros(rows.shape[1])
    for _ in range(2):
        exact = clipped(weights - rows).mean(axis=0)
        noisy = tape.gaussian("gradient", exact, std=2 * scale_of(len(rows)), sensitivity=2.0 / len(rows))
        velocity = 0.5 * velocity + noisy
        weights = weights - velocity
    return weights
"""
CLIP = "rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))"
BUGS = [  # function, old text, new text, beginning of the line named first
    ("plain", "", "", ""),
    ("plain", "sigma = 2.0 * bound", "sigma = 1.0 * bound", "sigma = 1.0"),  # which the bound is equal to
    ("plain", f"return {CLIP}", "return rows", "centre = clipped(rows)"),
    ("on_tape", "average = clipped(rows).mean", "average = clipped(rows).sum", "average = clipped(rows).sum"),
    ("sides", "", "", "if short.sum()"),
    ("momentum", "velocity + noisy", "velocity + exact", "velocity = 0.5"),
]


@pytest.mark.some(4)
@pytest.mark.parametrize(("function", "old", "new", "named"), BUGS)
def test_the_line_of_a_bug_is_named_first_in_every_format(dpassay, function, old, new, named):
    module = f"lines_{BUGS.index((function, old, new, named))}"
    text = CODE.replace(old, new) if old else CODE
    Path(f"{module}.py").write_text(text, encoding="utf-8")
    effort = ("--runs", "100", "--pilot", "50", "--examples", "30", "--quiet")
    files = ("--output", "r.json", "--sarif", "r.sarif", "--junit", "r.xml")
    code, out, _ = dpassay("audit", f"{module}:{function}", "--epsilon", "1", *effort, *files)
    assert code == bool(named)
    if not named:
        return
    line = next(number for number, one in enumerate(text.splitlines(), 1) if one.strip().startswith(named))
    row = json.loads(Path("r.json").read_text())["rows"][0]
    result = json.loads(Path("r.sarif").read_text())["runs"][0]["results"][0]
    case = ElementTree.parse("r.xml").getroot().find(".//testcase")
    assert (row["places"][0]["file"], row["places"][0]["line"]) == (f"{module}.py", line)
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == line
    assert case is not None and case.get("line") == str(line)
    assert f"at {module}.py:{line}" in out
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
def test_code_that_raises_is_told_nothing_of_the_apparatus(dpassay, name):
    Path("odd.py").write_text(ODD, encoding="utf-8")
    code, _, err = dpassay("audit", f"odd:{name}", "--epsilon", "1", "--examples", "4", "--quiet")
    assert code == 2 and len(err.splitlines()) == 1
    assert not INNER.search(err)


def test_no_message_that_is_written_down_names_the_apparatus():
    """The texts of every `raise` and `require` of the audit."""
    found = []
    for path in sorted(AUDIT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if INNER.search(text) else ():
            asked = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require"
            if asked or (isinstance(node, ast.Raise) and node.exc):
                texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
                found += [f"{path.name}: {one}" for one in texts if isinstance(one, str) and INNER.search(one)]
    assert not found
