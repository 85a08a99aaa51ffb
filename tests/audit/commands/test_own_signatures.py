"""``dpassay audit MODULE:NAME`` of code with the signatures that people give it: no adapter, nothing declared."""

import re
import shlex
import sys

import pytest

from dpassay.audit.inputs.foreign import written_space
from dpassay.audit.subjects.own import nearest, open_own, rounded_up
from dpassay.reference.errors import BadInput

SMALL = ["--runs", "60", "--pilot", "50", "--examples", "12"]
CODE = """
import random
import time

import numpy as np
import pandas as pd


def mean(data, epsilon, low=0.0, high=1.0):
    values = np.clip(data[:, 0], low, high)
    return values.mean() + np.random.laplace(scale=(high - low) / (len(values) * epsilon))


def labelled(X, y, rng=None):
    rng = rng or np.random.default_rng()
    return np.clip(X[:, 0] * y, -1, 1).sum() + rng.normal(0, 8.0)


def in_front(rng, data):
    return float(np.clip(data[:, 0], 0, 1).sum()) + rng.laplace(scale=1.0)


def ages(df: pd.DataFrame, epsilon):
    return df["age"].clip(0, 100).mean() + np.random.laplace(scale=100 / (len(df) * epsilon))


def with_stdlib(rows, bound):
    return sum(max(-bound, min(bound, row[0])) for row in rows) + random.gauss(0, 8.0 * bound)


def numbers(values, epsilon, low=0.0, high=100.0):
    kept = [min(max(x, low), high) for x in values]
    assert isinstance(1.0, float) and np.zeros(1, dtype=float).dtype == float(0).__class__
    return sum(kept) / len(kept) + float(np.random.laplace(0, (high - low) / len(kept) / epsilon))


def either(data, epsilon):
    counts, _ = np.histogram(data, bins=5, range=(0, 100))
    return counts + np.random.laplace(0, 2 / epsilon, size=5)


class Model:
    def __init__(self, noise=8.0, random_state=None):
        self.noise, self.rng = noise, np.random.default_rng(random_state)

    def fit(self, X, y):
        z = X * y[:, None]
        z = z / np.maximum(1, np.linalg.norm(z, axis=1, keepdims=True))
        self.coef_ = z.sum(axis=0) + self.rng.normal(0, self.noise, X.shape[1])
        return self

    def total(self, rows):
        return np.clip(rows[:, 0], -1, 1).sum() + self.rng.normal(0, self.noise)


model = Model()


def slow(rows, rng):
    time.sleep(60)


def hungry(rows, rng):
    return np.ones((10**6, 10**4)).sum() + rng.normal()


def tensors(rows, rng):
    import torch

    return torch.tensor(rows).sum() + rng.normal()
"""


@pytest.fixture
def signed(dpassay, tmp_path):
    (tmp_path / "signed.py").write_text(CODE)
    sys.modules.pop("signed", None)
    yield lambda name, *words: dpassay("audit", f"signed:{name}", "--epsilon", "1", *SMALL, *words)
    sys.modules.pop("signed", None)


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mean", ()),
        ("labelled", ()),
        ("in_front", ()),
        ("ages", ()),
        ("with_stdlib", ("--with", "bound=2.0")),
        ("Model", ()),
        ("model.total", ()),
        ("numbers", ()),  # it takes no matrix
        ("either", ("--space", "Space.numbers()")),
    ],
)
def test_right_code_is_certified_as_it_is(signed, name, words):
    code, out, err = signed(name, *words)
    assert code == 0 and "certified" in out, out + err


def test_code_for_numbers_is_held_to_rows_of_them_and_told_how_it_is_not(signed):
    code, out, _ = signed("either")
    assert code == 1 and "if a record is a single number: certified 1 with --space 'Space.numbers()'" in " ".join(
        out.split()
    )


def test_numbers_that_nothing_bounds_are_seen(signed):
    assert signed("numbers", "--with", "high=1e9", "--with", "low=-1e9")[0] == 0  # the noise follows
    assert signed("either", "--space", "Space.numbers(radius=50.0)", "--relation", "add-remove")[0] == 0
    assert "float" not in vars(sys.modules["signed"])  # it was another one while the code was audited


@pytest.mark.parametrize(
    ("name", "words"),
    [("mean", ("--with", "low=-1.0")), ("Model", ("--with", "noise=4.0", "--examples", "60"))],
    ids=["mean", "Model"],
)
def test_a_value_that_is_named_counts(signed, name, words):
    """Twice the range passes as the scale follows it; half the noise does not."""
    assert signed(name, *words)[0] == (1 if name == "Model" else 0)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("with_stdlib", "--with bound=VALUE"),
        ("tensors", "works with torch"),
        ("slow", "takes more than 1 seconds"),
        ("hungry", "takes more than 4 GB"),
    ],
)
def test_what_cannot_be_followed_is_refused_in_one_line(signed, monkeypatch, name, said):
    monkeypatch.setattr("dpassay.audit.subjects.own.SECONDS", 1)
    code, _, err = signed(name)
    assert code == 2 and said in err and len(err.strip().splitlines()) == 1, err


def test_a_value_without_a_name_is_refused(signed):
    code, _, err = signed("mean", "--with", "0.5")
    assert code == 2 and "must be NAME=VALUE" in err


# `dpassay audit MODULE:RUN` without --epsilon, with a space in words, for added or removed records.
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
def mine(tmp_path):
    (tmp_path / "no_claim.py").write_text(MINE)
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
