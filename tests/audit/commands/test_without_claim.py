"""`dpassay audit MODULE:RUN` without --epsilon, with a space in words, for added or removed records."""

import re
import shlex

import pytest

from dpassay.audit.inputs.foreign import written_space
from dpassay.audit.subjects.own import nearest, open_own, rounded_up
from dpassay.reference.errors import BadInput

MINE = """import numpy as np


def mean(rows, rng):
    clipped = rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    return clipped.mean(axis=0) + rng.normal(scale=8 / len(rows), size=rows.shape[1])


def unclipped(rows, rng):
    total = rows.sum(axis=0)
    return total + rng.normal(scale=8, size=rows.shape[1])


def bare(rows, rng):
    return rows.mean(axis=0)
"""
FEW = ("--runs", 60, "--pilot", 50, "--examples", 8, "-q")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "no_claim.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_the_command_that_is_printed_holds_the_code_to_what_was_found(dpassay, mine, monkeypatch):
    code, out, _ = dpassay("audit", "no_claim:mean", *FEW)
    (command,) = re.findall(r"^  dpassay (.*)$", out, flags=re.MULTILINE)
    assert code == 0 and "--epsilon 0.927 --delta 1e-05" in command
    assert dpassay(*shlex.split(command), *FEW, "--require", "certified")[0] == 0
    words = shlex.split(command.replace("0.927", "0.92"))
    junit = mine / "junit.xml"
    assert dpassay(*words, *FEW, "--require", "certified", "--junit", junit)[0] == 1  # a smaller claim falls
    assert "the verdict is over budget, certified is required" in junit.read_text()
    monkeypatch.setattr("dpassay.audit.subjects.own.assay", None)  # a certificate says it without an audit of its own
    assert nearest("no_claim:mean", *open_own("no_claim:mean", None, None), 1e-5, 0).epsilon == 0.927


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["unclipped", "bare"])
def test_what_has_no_finite_epsilon_fails_without_a_claim(dpassay, mine, name):
    code, out, _ = dpassay("audit", f"no_claim:{name}", *FEW)
    assert code == 1 and "no finite epsilon" in out


@pytest.mark.more
def test_a_space_in_words_and_added_records(dpassay, mine, refused):
    words = ("audit", "no_claim:mean", "--epsilon", 1, *FEW, "--space", "Space.matrix(n=(1, 2), d=1)")
    assert dpassay(*words)[0] == dpassay(*words, "--relation", "add-remove")[0] == 0
    refused(dpassay(*words[:-1], "Space.matrix(n=__import__('os'))"), "--space", "takes n, d")


def test_words_are_read_and_never_evaluated():
    assert written_space("Space.matrix((1,), radius=2.0)").rows.bound == 2.0
    assert written_space("Space.numbers(n=3)").sizes == {"n": (3,)}
    for words in ("n=1)(2)", "n=1.5)", "m=1)", "", "n=x)"):
        for make in ("matrix", "numbers"):
            with pytest.raises(BadInput, match="space"):
                written_space(f"Space.{make}({words}")


def test_epsilons_are_rounded_to_the_safe_side():
    assert [rounded_up(x) for x in (0.92612, 4.3771, 0.5, 1e-9)] == [0.927, 4.38, 0.5, 1e-9]
