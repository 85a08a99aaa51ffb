"""Locks and claims that are damaged or hostile: one that would hold nothing, and data that is elsewhere."""

from __future__ import annotations

import json
import math

import pytest

from dpassay.audit.claims.lock import read_lock
from dpassay.audit.claims.model import Program
from dpassay.audit.claims.reached import code_of
from dpassay.audit.claims.reading import read_claims
from dpassay.audit.claims.suite import look_over
from dpassay.reference.errors import BadInput

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
