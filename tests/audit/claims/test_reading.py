"""``claims.toml``: what is understood, and how what is not is said."""

import json
import math
from types import SimpleNamespace

import pytest

from dpassay.audit.claims.ending import FailOn
from dpassay.audit.claims.lock import read_lock
from dpassay.audit.claims.model import Claim, read_claims
from dpassay.audit.claims.reached import code_of
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
algorithm = "baselines/dp_sgd"
epsilon = 2.0
delta = 1e-6
owner = "someone"
"""


def read(tmp_path, text):
    path = tmp_path / "claims.toml"
    path.write_text(text)
    return read_claims(path)[0]


def test_the_claims_of_a_file_share_its_level(tmp_path):
    file = read(tmp_path, GOOD)
    assert [one.name for one in file.claim] == ["first", "second"] and file.confidence == 1 - 0.05 / 2


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("epsilon = 1\n", "epsilon = -1\n", ("claims.toml:6: claim first.epsilon = -1", "greater than 0")),
        ("epsilon = 1\n", 'epsilon = "1"\n', ("claims.toml:6", "epsilon = '1'")),
        ("epsilon = 1\n", "epsilon = true\n", ("claims.toml:6", "epsilon = True")),
        ("epsilon = 1\n", "epsilon = nan\n", ("claims.toml:6", "epsilon = nan")),
        ("delta = 1e-5\n", "delta = 1.0\n", ("claims.toml:7: claim first.delta = 1.0",)),
        ("delta = 1e-5\n", "", ("claims.toml:3: claim first.delta", "required")),
        ("delta = 1e-5\n", "delta = 0\n", ("claims.toml:7: claim first.delta = 0", "greater than 0")),
        ("delta = 1e-6\n", "delta = 1e-6\ngdp = 0.5\n", ("claims.toml:14: claim second.gdp", "is no field")),
        ("delta = 1e-6\n", "delta = 1e-6\nfiles = [3]\n", ("claims.toml:14: claim second.files[0] = 3",)),
        ('owner = "someone"', 'ovner = "someone"', ("claims.toml:14: claim second.ovner", "is no field")),
        ('name = "second"', 'name = "first"', ("'first' is there twice",)),
        ('name = "second"', 'name = "a b"', ("claims.toml:10: claim a b.name",)),
        ('name = "second"\n', "", ("claims.toml:9: claim[1].name", "required")),
        ("version = 1", "version = 2", ("claims.toml:1: version = 2",)),
        ("version = 1", "false_alarms = 2\nversion = 1", ("claims.toml:1: false_alarms = 2",)),
        ('owner = "someone"', 'scores = ["a.csv"]', ("claim second.scores", "is no field")),
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


@pytest.mark.parametrize("mildest", FailOn)
def test_fail_on_goes_down_to_its_verdict(mildest):
    every = [Verdict.VIOLATED, Verdict.LEAKS, Verdict.OVERSHOOTS, Verdict.OVER_BUDGET, Verdict.INCONCLUSIVE]
    counted = [one for one in Verdict if mildest.counts(SimpleNamespace(verdict=one.value, severity="error"))]
    assert counted == every[: list(FailOn).index(mildest)]
    assert not mildest.counts(SimpleNamespace(verdict="violated", severity="warning"))


# Locks and claims that are damaged or hostile: one that would hold nothing, and data that is elsewhere.
BLOCK = {
    "mechanism": "m", "space": "", "relation": "replace-one", "claimed": [1.0, 1e-5],
    "severity": "error", "verdict": "tight", "accounted": 1.0, "realised": None,
    "limit": "infinity", "by": "likelihood", "power": 1.0, "sequence": "s", "pair": {}, "missed": [],
    "effort": {"runs": 1000},
    "releases": [{"label": "g", "law": "Gaussian", "count": 1, "scale": [1.0, 2.0], "sensitivity": 1.0,
                  "participation": "always"}],
}  # fmt: skip


def lock(folder, **changes):
    """A lock of one block, with other values."""
    path = folder / "privacy.lock.json"
    path.write_text(json.dumps({"format": 2, "claims": {"a": {**BLOCK, **changes}}}))
    return read_lock(path)


def test_a_sound_lock_is_read(tmp_path):
    assert lock(tmp_path).claims["a"].accounted == 1.0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("accounted", math.nan),  # nothing is above NaN: whatever the account rises to would pass
        ("accounted", []),
        ("limit", math.inf),
        ("claimed", [1.0]),
        ("claimed", [1.0, 1e-5, 0.0]),
        ("verdict", "TIGHT"),
        ("power", math.nan),
        ("pair", {"rows": [[math.inf]]}),
        ("releases", [{**BLOCK["releases"][0], "scale": []}]),
        ("releases", [{**BLOCK["releases"][0], "sensitivity": math.inf}]),
    ],
)
def test_a_lock_that_would_hold_nothing_is_refused(tmp_path, field, value):
    with pytest.raises(BadInput, match=rf"claims\.a.*{field}|{field}"):
        lock(tmp_path, **{field: value})


def test_what_the_command_of_a_program_names_is_part_of_its_claim(tmp_path):
    program = tmp_path / "p.py"
    claim = Claim(name="a", algorithm="dro", program=f"python {program}", epsilon=1.0, delta=1e-5)
    codes = []
    for text in ("one", "one", "other"):
        program.write_text(text)
        codes.append(code_of(claim, tmp_path, 0.95))
    assert codes[0] == codes[1] != codes[2]


def test_a_claim_names_no_data_elsewhere(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (tmp_path / "p.npy").touch()
    claim = Claim(name="a", algorithm="dro", files=["../p.npy"], epsilon=1.0, delta=1e-5)
    with pytest.raises(BadInput, match=r"files\[0\].*lies outside"):
        code_of(claim, folder, 0.95)
