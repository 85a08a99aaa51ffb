"""``claims.toml`` and its lock: what is read and what is refused, and what counts as worse than before."""

import json
import math
from types import SimpleNamespace

import pytest

from dpassay.audit.claims.compare import Change, Compared, compare
from dpassay.audit.claims.lock import Block, Lock, Released, lock_text, read_lock, write_lock
from dpassay.audit.claims.model import Claim, read_claims
from dpassay.audit.claims.reached import code_of
from dpassay.audit.terminal.options import FailOn
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


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("epsilon = 1\n", "epsilon = -1\n", ("claims.toml:6: claim first.epsilon = -1", "greater than 0")),
        ("epsilon = 1\n", 'epsilon = "1"\n', ("claims.toml:6", "epsilon = '1'")),
        ("epsilon = 1\n", "epsilon = nan\n", ("claims.toml:6", "epsilon = nan")),
        ("delta = 1e-5\n", "delta = 1.0\n", ("claims.toml:7: claim first.delta = 1.0",)),
        ("delta = 1e-5\n", "", ("claims.toml:3: claim first.delta", "missing")),
        ("delta = 1e-5\n", "delta = 0\n", ("claims.toml:7: claim first.delta = 0", "greater than 0")),
        ("delta = 1e-6\n", "delta = 1e-6\nfiles = [3]\n", ("claims.toml:14: claim second.files[0] = 3",)),
        ('owner = "someone"', 'ovner = "someone"', ("claims.toml:14: claim second.ovner", "is no field")),
        ('name = "second"', 'name = "first"', ("'first' is there twice",)),
        ('name = "second"', 'name = "a b"', ("claims.toml:10: claim a b.name",)),
        ("version = 1", "version = 2", ("claims.toml:1: version = 2",)),
        ("version = 1", "false_alarms = 2\nversion = 1", ("claims.toml:1: false_alarms = 2",)),
        ('algorithm = "mine:run"', 'algorithm = ""', ("claims.toml:5: claim first.algorithm",)),
        ('algorithm = "mine:run"', 'algorithm = "mine:run"\nrelation = "swap"', ("claims.toml:6", "zero-out")),
        ('algorithm = "mine:run"', 'algorithm = "mine:run"\nruns = 1', ("claims.toml:6: claim first.runs = 1",)),
        ("epsilon = 1\n", "epsilon = = 1\n", ("claims.toml: line 6", "TOML")),
        (GOOD, "", ("claims.toml", "version")),
        (GOOD, "claim = [3]\nversion = 1\n", ("claims.toml", "claim[0]")),
        (GOOD, "version = 1\nclaim = []\n", ("claims.toml:2: claim = []",)),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, words):
    good = read(tmp_path, GOOD)
    assert old in GOOD and [one.name for one in good.claim] == ["first", "second"] and good.confidence == 1 - 0.05 / 2
    with pytest.raises(BadInput) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    text = str(caught.value)
    assert "\n" not in text and all(word in text for word in words), text


def test_fail_on_goes_down_to_its_verdict():
    every = [Verdict.VIOLATED, Verdict.LEAKS, Verdict.OVERSHOOTS, Verdict.OVER_BUDGET, Verdict.INCONCLUSIVE]
    for number, mildest in enumerate(FailOn):
        assert [one for one in Verdict if mildest.counts(one.value)] == every[:number]


def test_a_program_is_part_of_its_claim_and_data_lie_beside_it(tmp_path, monkeypatch):
    program, folder = tmp_path / "p.py", tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    claim = Claim(name="a", algorithm="dro", program=f"python {program}", epsilon=1.0, delta=1e-5)
    codes = [program.write_text(text) and code_of(claim, folder, 0.95) for text in ("one", "one", "other")]
    assert codes[0] == codes[1] != codes[2]
    with pytest.raises(BadInput, match=r"files\[0\].*lies outside"):
        code_of(claim.model_copy(update={"files": ["../p.py"]}), folder, 0.95)


GRADIENT = Released(
    label="gradient", law="Gaussian", count=3, scale=2.0, sensitivity=[0.5, 1.0], participation="full batch"
)
BLOCK = Block(
    mechanism="mine:run", space="", relation="replace-one", claimed=[1.0, 1e-5], severity="error",
    verdict="consistent", accounted=0.9, realised=0.8, limit=0.95, by="likelihood", power=0.95, releases=[GRADIENT],
    sequence="a", pair={"target": 0}, missed=["mine.py: if rare: (never true)"],
    effort={"runs": 1000, "pilot": 400, "examples": 150, "seed": 0},
)  # fmt: skip
SOURCE = {"if rare:", "x = 1"}


def changed(source=SOURCE, **fields):
    return compare("name", BLOCK, BLOCK.model_copy(update=fields), source)


def gradient(**fields):
    return [GRADIENT.model_copy(update=fields)]


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"verdict": "leaks"}, "verdict"),
        ({"accounted": 0.91}, "accounted epsilon rises"),
        ({"accounted": "infinity"}, "accounted epsilon rises"),
        ({"realised": 0.96}, "realised epsilon rises beyond its interval"),
        ({"releases": gradient(scale=1.9)}, "noise scale of 'gradient'"),
        ({"releases": gradient(scale=[1.9, 2.0])}, "noise scale of 'gradient'"),
        ({"releases": gradient(sensitivity=None)}, "declared sensitivity of 'gradient'"),
        ({"releases": gradient(sensitivity=[0.5, 0.9])}, "declared sensitivity of 'gradient'"),
        ({"releases": gradient(count=4), "sequence": "b"}, "number of releases of 'gradient'"),
        ({"releases": gradient(law="Laplace"), "sequence": "b"}, "law of 'gradient'"),
        ({"releases": gradient(participation="sampled at rate 0.1")}, "participation of 'gradient'"),
        ({"sequence": "b"}, "sequence of releases"),
        ({"releases": [], "sequence": "b"}, "release 'gradient'"),
        ({"releases": [GRADIENT, *gradient(label="more")], "sequence": "b"}, "release 'more'"),
        ({"missed": [*BLOCK.missed, "mine.py: x = 1"]}, "a line with a release or a decision is not reached"),
        ({"missed": ["mine.py: x = 1"]}, "a line with a release or a decision is not reached"),
        ({"verdict": "inconclusive"}, "the audit lost power: verdict"),
        ({"realised": 0.1, "limit": 0.2}, "the audit lost power: it shows less, though no less is accounted"),
        ({"effort": BLOCK.effort | {"pilot": 300}}, "effort (pilot)"),
        ({"pair": {"target": 1}, "realised": 0.91}, "realised epsilon rises beyond its interval"),
        ({"relation": "add-remove"}, "relation"),
        ({"mechanism": "mine:other"}, "mechanism"),
        ({"space": "mine:space"}, "space"),
        ({"claimed": [1.0, 1e-4]}, "claimed"),
        ({"claimed": [1.1, 1e-6]}, "claimed"),
        ({"severity": "warning"}, "severity"),
    ],
)
def test_what_is_worse_fails(fields, what):
    assert [(one.what, one.fails) for one in changed(**fields)] == [(what, True)]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"accounted": 0.9 * (1 + 1e-6)},  # rounding of another machine
        {"accounted": 0.5},
        {"accounted": None, "realised": None},
        {"realised": 0.94},  # within the interval
        {"verdict": "tight"},
        {"pair": {"target": 1}, "realised": 0.89},  # other neighbours, and no more than was accounted
        {"pair": {"target": 1}, "realised": 0.1, "limit": 0.2},
        {"power": 0.1},  # an estimate: the verdict says what it comes to
        {"releases": gradient(scale=2.0 * (1 + 1e-6))},
        {"missed": []},
        {"limit": 0.7, "accounted": 0.8, "realised": 0.6},  # less is shown, as less is accounted
        {"effort": {"runs": 2000, "pilot": 400, "examples": 300, "seed": 0}},
        {"effort": BLOCK.effort | {"seed": 7}},
        {"source": {"if scarce:"}, "missed": ["mine.py: if scarce: (never true)"]},  # the line was edited
    ],
)
def test_what_is_no_worse_stays_green(fields):
    assert changed(**fields) == []


def test_a_bound_without_an_interval_is_only_held_to_the_claim():
    """Another seed may show more by chance; what is exact does not."""
    scores = BLOCK.model_copy(update={"limit": None, "by": "a bound"})
    assert compare("name", scores, scores.model_copy(update={"realised": 0.99}), SOURCE) == []
    exact = scores.model_copy(update={"by": "exact"})
    assert compare("name", exact, exact.model_copy(update={"realised": 0.99}), SOURCE)


def test_causes_are_read_off_the_releases():
    def cause(**fields):
        return changed(**fields)[0].cause

    assert cause(accounted=1.5, releases=gradient(scale=1.0)) == "less noise at 'gradient'"
    assert "released 4 times, before 3" in cause(accounted=1.5, releases=gradient(count=4), sequence="b")
    assert "sampled at rate 0.1" in cause(accounted=1.5, releases=gradient(participation="sampled at rate 0.1"))
    assert "further than before" in cause(realised=0.99)
    assert "renamed" in cause(releases=gradient(label="descent"), sequence="b")
    assert "fewer runs" in changed(verdict="inconclusive", effort=BLOCK.effort | {"runs": 10})[1].cause
    missed = ["mine.py: if scarce: (never true)", "mine.py: y = 2"]
    assert len(changed(source={"if scarce:", "y = 2"}, missed=missed)) == 2, "two for one"


def test_a_stronger_claim_does_not_fail_nor_what_is_worse_of_a_warning_but_that_it_became_one_does():
    assert [one.fails for one in changed(claimed=[0.9, 1e-5])] == [False]
    claims = {"a": "warning", "b": "error"}
    file = SimpleNamespace(claim=[SimpleNamespace(name=name, severity=how) for name, how in claims.items()])
    changes = tuple(Change(name, what, "old", "new") for name in "ab" for what in ("verdict", "severity"))
    assert Compared(changes, Lock(claims={}), ()).failing(file) == list(changes[1:])


def test_a_lock_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "privacy.lock.json"
    bare = BLOCK.model_copy(update={"missed": [], "releases": [], "power": None})
    lock = Lock(dpassay="1", confidence=0.975, claims={"one": BLOCK, "two": bare})
    write_lock(path, lock)
    assert read_lock(path) == lock
    assert list(json.loads(path.read_text())["claims"]) == ["one", "two"]
    assert lock_text(read_lock(path)) == path.read_text()
    assert max(map(len, path.read_text().splitlines())) < 200  # a field, or a release, a line


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("accounted", math.nan),  # nothing is above NaN: whatever the account rises to would pass
        ("limit", math.inf),
        ("claimed", [1.0, 1e-5, 0.0]),
        ("verdict", "TIGHT"),
        ("pair", {"rows": [[math.inf]]}),
        ("releases", [{**GRADIENT.model_dump(), "scale": []}]),
        ("releases", [{**GRADIENT.model_dump(), "sensitivity": math.inf}]),
    ],
)
def test_a_lock_that_would_hold_nothing_is_refused(tmp_path, field, value):
    path = tmp_path / "privacy.lock.json"
    claims = {"a": {**BLOCK.model_dump(), field: value}}
    path.write_text(json.dumps({"format": 2, "dpassay": "0.0.1", "claims": claims}))
    with pytest.raises(BadInput, match=rf"(claims\.a.*{field}|{field}).* the lock is of dpassay 0\.0\.1, this is "):
        read_lock(path)
