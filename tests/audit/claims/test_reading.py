"""``claims.toml``: what is understood, and how what is not is said."""

import pytest

from dpassay.audit.claims.ending import FailOn
from dpassay.audit.claims.model import Algorithm, BlackBox, Outputs, Scores
from dpassay.audit.claims.reading import read_claims
from dpassay.audit.commands.init import first_file
from dpassay.audit.verdict import Verdict
from dpassay.reference.errors import BadInput

GOOD = """version = 1

[[claim]]
name = "first"
algorithm = "mine:run"
epsilon = 1
delta = 1e-5

[[claim]]
name = "second"
scores = ["a.csv", "b.csv"]
gdp = 0.5
owner = "someone"
"""


def read(tmp_path, text):
    path = tmp_path / "claims.toml"
    path.write_text(text)
    return read_claims(path)[0]


def test_every_kind_of_claim(tmp_path):
    more = """
[[claim]]
name = "third"
outputs = ["a.npy", "b.npy"]
curve = [[1.0, 1e-5], [2, 1e-9]]
[[claim]]
name = "fourth"
command = "./run"
dataset = "d.json"
neighbour = "e.json"
epsilon = 1.0
delta = 0.0
"""
    file = read(tmp_path, GOOD + more)
    assert [type(one) for one in file.claim] == [Algorithm, Scores, Outputs, BlackBox]
    assert file.claim[0].pairs == [(1.0, 1e-5)]
    assert len(file.claim[1].pairs) == 3
    assert file.claim[2].pairs == [(1.0, 1e-5), (2.0, 1e-9)]
    assert file.confidence == 1 - 0.05 / 4


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("epsilon = 1\n", "epsilon = -1\n", ("claims.toml:6: claim first.epsilon = -1", "greater than 0")),
        ("epsilon = 1\n", 'epsilon = "1"\n', ("claims.toml:6", "epsilon = '1'")),
        ("epsilon = 1\n", "epsilon = true\n", ("claims.toml:6", "epsilon = True")),
        ("epsilon = 1\n", "epsilon = nan\n", ("claims.toml:6", "epsilon = nan")),
        ("delta = 1e-5\n", "delta = 1.0\n", ("claims.toml:7: claim first.delta = 1.0",)),
        ("delta = 1e-5\n", "", ("claims.toml:3: claim first", "go together")),
        ("delta = 1e-5\n", "delta = 0\n", ("claim first", "must be positive")),
        ("gdp = 0.5\n", "gdp = 0.5\nepsilon = 1\ndelta = 0\n", ("claims.toml:9: claim second", "epsilon and gdp")),
        ("gdp = 0.5\n", "", ("claim second", "found none")),
        ("gdp = 0.5\n", "curve = [[1, 2]]\n", ("claim second", "needs epsilon >= 0 and delta in")),
        ("gdp = 0.5\n", "curve = [[1]]\n", ("claims.toml:12: claim second.curve[0]",)),
        ('owner = "someone"', 'ovner = "someone"', ("claims.toml:13: claim second.ovner", "is no field")),
        ('name = "second"', 'name = "first"', ("'first' is there twice",)),
        ('name = "second"', 'name = "a b"', ("claims.toml:10: claim a b.name",)),
        ('name = "second"\n', "", ("claims.toml:9: claim[1].name", "required")),
        ("version = 1", "version = 2", ("claims.toml:1: version = 2",)),
        ("version = 1", "false_alarms = 2\nversion = 1", ("claims.toml:1: false_alarms = 2",)),
        ('["a.csv", "b.csv"]', '["a.csv"]', ("claim second", "two without")),
        ('algorithm = "mine:run"', 'algorithm = ""', ("claims.toml:5: claim first.algorithm",)),
        ('algorithm = "mine:run"', 'algorithm = "mine:run"\nrelation = "zero-out"', ("claims.toml:6", "zero-out")),
        ('algorithm = "mine:run"', 'algorithm = "mine:run"\nruns = 1', ("claims.toml:6: claim first.runs = 1",)),
        ("epsilon = 1\n", "epsilon = = 1\n", ("claims.toml: line 6", "TOML")),
        (GOOD, "", ("claims.toml", "version")),
        (GOOD, "claim = 3\nversion = 1\n", ("claims.toml:1: claim = 3",)),
        (GOOD, "claim = [3]\nversion = 1\n", ("claims.toml", "claim[0]")),
        (GOOD, "version = 1\nclaim = []\n", ("claims.toml:2: claim = []",)),
        (GOOD, '{"version": 1, "claims": []}', ("claims.toml: line 1", "TOML")),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, words):
    assert old in GOOD
    with pytest.raises(BadInput) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    text = str(caught.value)
    assert "\n" not in text
    assert all(word in text for word in words), text


@pytest.mark.parametrize(
    ("algorithm", "space", "name"), [(None, None, "dp-sgd"), ("mine:f", None, "f"), ("m:f", "m:s", "f")]
)
def test_the_first_file_holds_one_claim(tmp_path, algorithm, space, name):
    (claim,) = read(tmp_path, first_file(algorithm, space, 0.25)).claim
    assert (claim.name, claim.epsilon) == (name, 2.0 if algorithm is None else 0.25)


def test_fail_on_goes_down_to_its_verdict():
    assert FailOn.VIOLATED.verdicts == {Verdict.VIOLATED}
    assert FailOn.OVERSHOOTS.verdicts == {Verdict.VIOLATED, Verdict.LEAKS, Verdict.OVERSHOOTS}
    assert Verdict.OVER_BUDGET in FailOn.OVER_BUDGET.verdicts
    assert Verdict.INCONCLUSIVE not in FailOn.OVER_BUDGET.verdicts
    assert Verdict.INCONCLUSIVE in FailOn.INCONCLUSIVE.verdicts
    assert Verdict.CONSISTENT not in FailOn.INCONCLUSIVE.verdicts
    assert not FailOn.NEVER.verdicts
