"""MODULE:NAME where a key of the catalogue may stand: crosscheck; cases of others."""

import json

import pytest

MINE = """
import numpy as np
from dpassay.reference import Space

space = Space.matrix(n=(2, 4), d=(1, 2), radius=1.0)


def mean(rows, tape):
    n = len(rows)
    return tape.gaussian("mean", rows.mean(axis=0), std=8.0 / n, sensitivity=2.0 / n)


def plain(rows, rng):
    return rows.sum(axis=0) + rng.normal(scale=8.0, size=rows.shape[1])
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "everywhere_mine.py").write_text(MINE)
    return tmp_path


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
    code, out, _ = dpassay(
        "audit",
        "named:halves",
        "--epsilon",
        "1",
        *words,
        "--markdown",
        tmp_path / "m.md",
        "--junit",
        tmp_path / "j.xml",
    )
    assert code == 1 and "violated" in out
    assert "violated" in (tmp_path / "m.md").read_text()
    assert "violated, as read: the releases add up" in (tmp_path / "j.xml").read_text()
    (row,) = json.loads((tmp_path / "reports" / "named-halves.json").read_text())["rows"]
    assert row["verdict"] == "violated" and "where the code first looks at it" in row["as_read"]
    code, out, _ = dpassay("audit", "named:coin", "--epsilon", "0.5", *words)
    assert code == 1 and "as read" not in out


def test_show_says_what_ones_own_code_is(dpassay, tmp_path):
    (tmp_path / "named.py").write_text(CODE)
    code, out, _ = dpassay("show", "named:halves")
    assert (
        code == 0 and "plain NumPy" in out and "named.py, run at line 2" in out and "dpassay audit named:halves" in out
    )
    assert "Half of the noise" in out and "on a tape" in dpassay("show", "named:on_a_tape")[1]
    code, _, err = dpassay("show", "named:nothing")
    assert code == 2 and "cannot be loaded" in err and "known:" not in err
    code, _, err = dpassay("show", "dro/dubble_spider")
    assert code == 2 and "near it: dro/double_spider" in err and len(err) < 200
