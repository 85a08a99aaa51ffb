"""``claims.toml``: what is understood, and how what is not is said."""

import json
import math

import pytest

from dpassay.audit.claims.audited import audited, resolve, space_at
from dpassay.audit.claims.ending import FailOn
from dpassay.audit.claims.lock import read_lock
from dpassay.audit.claims.model import Algorithm, BlackBox, Outputs, Program, Scores, read_claims
from dpassay.audit.claims.reached import code_of
from dpassay.audit.claims.suite import look_over
from dpassay.audit.commands.init import first_file
from dpassay.audit.verdict import Verdict
from dpassay.reference.catalogue import find
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


# Locks and claims that are damaged or hostile: one that would hold nothing, and data that is elsewhere.
BLOCK = {
    "mechanism": "m", "space": "", "relation": "replace-one", "claimed": [[1.0, 1e-5], [2.0, 1e-6]],
    "severity": "error", "verdict": "tight", "accounted": [1.0, 2.0], "realised": [0.9, None],
    "limit": ["infinity", 2.0], "by": "likelihood", "power": 1.0, "sequence": "s", "pair": {}, "missed": [],
    "effort": {"runs": 1000}, "code": "c",
    "releases": [{"label": "g", "law": "Gaussian", "count": 1, "scale": [1.0, 2.0], "sensitivity": 1.0,
                  "participation": "always"}],
}  # fmt: skip


def lock(folder, **changes):
    """A lock of one block, with other values."""
    path = folder / "privacy.lock.json"
    path.write_text(json.dumps({"format": 1, "claims": {"a": {**BLOCK, **changes}}}))
    return read_lock(path)


def test_a_sound_lock_is_read(tmp_path):
    assert lock(tmp_path).claims["a"].accounted == [1.0, 2.0]
    assert lock(tmp_path, accounted=[None]).claims["a"].accounted == [None], "one for all pairs"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("accounted", [math.nan, 2.0]),  # nothing is above NaN: whatever the account rises to would pass
        ("accounted", []),
        ("realised", [0.9, 0.9, 0.9]),
        ("limit", [math.inf, 1.0]),
        ("claimed", [[1.0]]),
        ("claimed", []),
        ("claimed", [[1.0, 1e-5, 0.0]]),
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
    claim = Program(name="a", algorithm="dro", program=f"python {program}", epsilon=1.0, delta=1e-5)
    codes = []
    for text in ("one", "one", "other"):
        program.write_text(text)
        codes.append(code_of(claim, tmp_path, 0.95))
    assert codes[0] == codes[1] != codes[2]


@pytest.mark.parametrize(
    "mechanism",
    [
        'outputs = ["../p.npy", "p.npy"]',
        'scores = ["p.npy", "/etc/passwd"]',
        'function = "m:f"\ndataset = "../p.npy"\nneighbour = "p.npy"',
    ],
)
def test_a_claim_names_no_data_elsewhere(tmp_path, monkeypatch, mechanism):
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("p.npy", "../p.npy"):
        (folder / name).touch()
    head = 'version = 1\n[[claim]]\nname = "a"\nepsilon = 1.0\ndelta = 1e-5\n'
    (folder / "claims.toml").write_text(f"{head}{mechanism}\n")
    file, lines = read_claims(folder / "claims.toml")
    with pytest.raises(BadInput, match=r"claims\.toml:\d+: claim a.*lies outside") as error:
        look_over(file, [0], lines)
    assert str(error.value).isprintable()
    own = folder / "own.toml"
    own.write_text(f'{head}algorithm = "dro"\nfiles = ["../p.npy"]\n')
    with pytest.raises(BadInput, match=r"files\[0\].*lies outside"):
        code_of(read_claims(own)[0].claim[0], folder, 0.95)


# Claims about a name of the catalogue at sizes of one's own.
SIZES = {"n": 6, "d": 2, "steps": 4, "phase": 2, "batch": 6, "refresh": 6}


def claim(algorithm, sizes, epsilon=1.0, **more):
    about = {"name": "a", "algorithm": algorithm, "sizes": sizes, "epsilon": epsilon, "delta": 1e-5}
    return Algorithm(**about, runs=20, examples=10, **more)


def test_the_noise_is_that_of_the_sizes(tmp_path):
    row = audited(claim("dro/double_spider:chi_square@repaired", SIZES), tmp_path, 0.95)
    assert row.data == "n = 6, d = 2, steps = 4, phase = 2, batch = 6, refresh = 6" and row.reading == "repaired"
    assert 0.95 < row.accounted <= 1.0 and row.upper_bound
    assert all(one["n"] == 6 for one in (row.pair["sizes"],))
    row = audited(claim("dro/double_spider:chi_square@repaired", SIZES, 0.5), tmp_path, 0.95)
    assert row.verdict == "over budget"


@pytest.mark.more
def test_no_more_is_shown_than_accounted(tmp_path):
    """A run may be longer than the one that was accounted: then the search has seen what the longest costs."""
    row = audited(claim("second_order_erm/opt@repaired", {"n": 200, "steps": 10}), tmp_path, 0.95)
    assert row.realised is None or row.realised <= row.accounted
    assert f"{(row.realised or 0) / row.accounted:.0%} of the accounted epsilon" in row.why


@pytest.mark.more
def test_a_defect_shows_at_other_sizes(tmp_path):
    assert audited(claim("dro/double_spider:chi_square@printed", SIZES), tmp_path, 0.95).exit_code(True) == 1


def test_sizes_that_are_not_named_are_tried_as_before():
    (case,) = find("second_order_erm/opt@repaired")
    space = space_at(case, {"n": 40})
    assert space.sizes["n"] == (40,) and space.sizes["steps"] == case.space().sizes["steps"]


@pytest.mark.parametrize(
    ("algorithm", "sizes", "words"),
    [
        ("dro/double_spider:chi_square@repaired", {"n": 7}, "go with none of the other sizes"),
        ("dro/double_spider:chi_square@repaired", {"rows": 7}, "has the sizes d, n, steps"),
        ("mine:run", {"n": 7}, "is for names of the catalogue"),
    ],
)
def test_sizes_that_mean_nothing(algorithm, sizes, words, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("def run(rows, tape):\n    return 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match=words) as caught:
        resolve(claim(algorithm, sizes))
    assert caught.value.field.startswith("sizes")
