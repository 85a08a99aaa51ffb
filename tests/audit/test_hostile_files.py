"""Files that are damaged or hostile: one line that names the file, and never less than was asked for.

What fuzzing found, one test a kind; `benchmarks/fuzz.py` is the search itself.
"""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, fields

import numpy as np
import pytest

from dpassay.audit import report_file
from dpassay.audit.attacks.estimators import labelled_data
from dpassay.audit.blackbox.programs import _json
from dpassay.audit.claims.lock import read_lock
from dpassay.audit.claims.reading import read_claims
from dpassay.audit.commands.report import report
from dpassay.audit.crosscheck import storage
from dpassay.audit.crosscheck.campaign import read_expected
from dpassay.audit.row import Row
from dpassay.reference.errors import BadInput
from dpassay.reference.files import parse_toml

BLOCK = {
    "mechanism": "m", "space": "", "relation": "replace-one", "claimed": [[1.0, 1e-5], [2.0, 1e-6]],
    "severity": "error", "verdict": "tight", "accounted": [1.0, 2.0], "realised": [0.9, None], "limit": ["infinity", 2.0],
    "by": "likelihood", "power": 1.0, "sequence": "s", "pair": {}, "missed": [], "effort": {"runs": 1000}, "code": "c",
    "releases": [{"label": "g", "law": "Gaussian", "count": 1, "scale": [1.0, 2.0], "sensitivity": 1.0,
                  "participation": "always"}],
}  # fmt: skip


def told(error: pytest.ExceptionInfo[BadInput]) -> str:
    """What is said, on one line."""
    text = str(error.value)
    assert text.isprintable()
    return text


# TOML -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [read_claims, read_expected])
@pytest.mark.parametrize(
    ("text", "why"),
    [("a = " + "9" * 5000, "too many digits"), ("a = " + "[" * 3000, "nested too deeply"), ("a = \x1b", "TOML")],
)
def test_toml_that_python_does_not_read(tmp_path, read, text, why):
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(BadInput, match=why) as error:
        read(tmp_path / "x.toml")
    assert "x.toml" in told(error)


def test_toml_names_the_line():
    assert parse_toml("a = 1", "f") == {"a": 1}
    with pytest.raises(BadInput, match="f: line 2"):
        parse_toml("a = 1\nb = x\n", "f")


# locks ----------------------------------------------------------------------------------------------------------------


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
        ("releases", [{**BLOCK["releases"][0], "scale": []}]),
        ("releases", [{**BLOCK["releases"][0], "sensitivity": math.inf}]),
    ],
)
def test_a_lock_that_would_hold_nothing_is_refused(tmp_path, field, value):
    with pytest.raises(BadInput, match=rf"claims\.a.*{field}|{field}"):
        lock(tmp_path, **{field: value})


# vectors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [["c"], {"c": 1}, 3, None, "other", "odd"])
def test_a_file_of_vectors_whose_cases_are_none(tmp_path, case):
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps({"cases": {"c": {}, "odd": "text"}, "vectors": [{"case": case}]}))
    with pytest.raises(BadInput, match=r"vectors\[0\]\.case"):
        storage.read_vectors(path)


@pytest.mark.parametrize(
    "change",
    [
        {"files": 3},
        {"files": {"a.json": {}}},
        {"files": {"../outside.json": {"vectors": 1, "refused": 0, "sha256": "0" * 64}}},
        {"vectors": "many"},
        {"format": 2},
        {"files": {"a.json": {"vectors": 1, "refused": 0, "sha256": 5}}},
    ],
)
def test_a_damaged_manifest(tmp_path, monkeypatch, change):
    document = storage.manifest() | change
    (tmp_path / "manifest.json").write_text(json.dumps(document))
    monkeypatch.setattr(storage, "FOLDER", tmp_path)
    with pytest.raises(BadInput, match=r"vectors/manifest\.json"):
        list(storage.load())


# tables and datasets --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# nothing\n", "holds #"),
        ("", "is empty"),
        ("0,1\n1,1e300\n", "must be classes"),
        ("0,1\n1,-1\n", "must be classes"),
    ],
)
def test_labelled_data_that_is_none(tmp_path, text, why):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(BadInput, match=why) as error:
        labelled_data(str(tmp_path / "x.csv"))
    told(error)


def test_a_dataset_that_no_program_can_be_sent():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for data in (np.array([b"a", b"b"]), deep):
        with pytest.raises(BadInput, match="cannot be sent as JSON"):
            _json(data)


# reports --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    """A report of one row as data, and a way to write it."""
    plain = {"float": 1.0, "str": "x", "bool": True, "int": 3, "list": [], "dict": {}}
    values = {}
    for one in fields(Row):
        if one.default is MISSING and one.default_factory is MISSING:
            values[one.name] = plain[str(one.type).partition("[")[0].partition(" ")[0]]
    row = Row(**values | {"verdict": "tight", "algorithm": "a/b", "reading": "printed", "confidence": 0.95})
    document = report_file.document([row])

    def write(**changes):
        path = tmp_path / "report.json"
        path.write_text(json.dumps(document | changes))
        return path

    return row, document, write


def test_a_report_from_before_a_field_came_is_read(written):
    row, document, write = written
    needed = {one.name for one in fields(Row) if one.default is MISSING and one.default_factory is MISSING}
    older = {name: value for name, value in document["rows"][0].items() if name in needed}
    assert set(older) < set(document["rows"][0])
    (found,) = report_file.load(write(rows=[older]))
    assert found == row
    found.witnesses.append({})
    assert report_file.load(write(rows=[older])) == [row], "lists are fresh ones"


@pytest.mark.parametrize("name", ["claimed", "verdict"])
def test_a_report_without_a_field_that_every_row_has(written, name):
    _, document, write = written
    with pytest.raises(BadInput, match=rf"rows\[0\].*'{name}'.*missing"):
        report_file.load(write(rows=[{key: value for key, value in document["rows"][0].items() if key != name}]))


def test_a_newer_report_is_refused_and_says_so(written):
    _, document, write = written
    with pytest.raises(BadInput, match=r"rows\[0\] = \['later'\].*newer one"):
        report_file.load(write(rows=[document["rows"][0] | {"later": 1}]))
    with pytest.raises(BadInput, match="newer version of dpassay"):
        report_file.load(write(format=report_file.FORMAT + 1))
    with pytest.raises(BadInput, match="no report of this version"):
        report_file.load(write(format=report_file.FORMAT - 1))


def test_a_report_of_another_package_version_is_shown_but_does_not_go_on(written, tmp_path):
    _, _, write = written
    path = write(dpassay="0.0.1")
    with pytest.raises(BadInput, match="another version"):
        report_file.load(path)
    report(path, tmp_path / "page.html", ledger=False)
    assert "a/b" in (tmp_path / "page.html").read_text()
