"""A report and its store: which of the two is believed when, and what a kill between them leaves."""

import json
import math
import os
import subprocess
import sys
from dataclasses import MISSING, fields, replace

import pytest

from dpassay.audit.commands.report import report
from dpassay.audit.report.problems import relative
from dpassay.audit.row import Row
from dpassay.audit.running import report_file
from dpassay.audit.running.report_file import Report, load, save, store_of
from dpassay.audit.running.store import Store
from dpassay.reference.errors import BadInput

ROW = Row(  # with infinities, for which JSON has no number
    "a/b", "", "printed", "", 1.0, 1e-5, "replace-one", math.inf, "", True, None, "", "tight", "", True, [], [], [],
    {"x": math.inf}, None, 10, 60, 0.95, 0, 0.1, "0" * 16, {"n": 3}, shares={"x": math.inf},
)  # fmt: skip
OTHER = replace(ROW, algorithm="a/c")


def rows(path, anew=False):
    return Report(path, anew=anew).rows()


@pytest.fixture
def path(tmp_path):
    save(tmp_path / "report.json", [ROW])
    return tmp_path / "report.json"


def test_rows_are_kept_before_the_report_is_written_also_where_it_goes_meanwhile(path):
    Report(path).keep([OTHER])
    assert load(path) == [ROW] and rows(path) == [ROW, OTHER]
    assert Report(path, order=[OTHER.key]).write() == [OTHER, ROW] == load(path)
    Report(path).keep([OTHER])
    path.unlink()
    assert rows(path) == [OTHER] == save(path, [OTHER])


def test_a_deleted_report_stays_deleted_also_what_a_killed_run_has_kept(path, monkeypatch):
    assert rows(path) == [ROW] and [one.name for one in path.parent.iterdir()] == ["report.json"]
    path.unlink()
    assert rows(path) == [] and save(path, [OTHER]) == [OTHER] == load(path)
    save(path, [ROW], replace=True)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with monkeypatch.context() as killed:
        killed.setattr(os, "getpid", lambda: gone.pid)
        Report(path).keep([OTHER])
    path.unlink()
    third = replace(ROW, algorithm="a/d")
    assert Report(path, resume=True).rows() == [OTHER]
    assert save(path, [third]) == [third] == load(path)


def test_a_report_that_is_written_in_between_loses_nothing(path):
    """Two processes at once: the one that ends first takes the store away."""
    third, fourth = replace(ROW, algorithm="a/d"), replace(ROW, algorithm="a/e")
    one, other = Report(path), Report(path)
    one.keep([OTHER])
    other.keep([third])
    assert other.write() == [ROW, OTHER, third]
    one.keep([fourth])
    assert one.write() == [ROW, OTHER, third, fourth] == load(path)


def test_a_run_that_starts_anew_replaces_the_rows_with_its_first(path):
    report = Report(path, anew=True)
    assert load(path) == [ROW]
    report.keep([OTHER])
    report.keep([replace(OTHER, variant="v")])
    assert load(path) == [ROW] and rows(path) == report.rows(), "also after a kill"
    assert len(report.write()) == 2
    assert ROW not in load(path)


def test_a_damaged_store_is_refused_and_set_aside_by_a_run_that_starts_anew(path, capsys):
    report = Report(path)
    report.keep([OTHER])
    report.keep([ROW])
    store = store_of(path)
    damaged = store.read_bytes().replace(b"a/c", b"a/d", 1)
    store.write_bytes(damaged)
    with pytest.raises(BadInput, match=r"store.*damaged: line 2.*without it, rows of the report are taken"):
        rows(path)
    assert save(path, [OTHER], replace=True) == [OTHER] == load(path)
    assert store.with_name(store.name + ".0").read_bytes() == damaged and "set aside" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "record", "words"),
    [
        ("about", {"dpassay": "9"}, "another version"),
        ("about", {"dpassay": None}, "another version"),
        ("row", {"a/b@printed": ROW.as_dict() | {"claimed": "many"}}, r"a/b@printed\.claimed"),
    ],
)
def test_a_store_of_another_version_or_of_no_rows_is_refused(path, kind, record, words):
    Store(store_of(path), "--output").put(kind, record)
    with pytest.raises(BadInput, match=words):
        rows(path)
    assert save(path, [OTHER], replace=True) == [OTHER]


@pytest.mark.parametrize("after", [0, 1])
def test_a_kill_around_the_writing_leaves_a_report_that_the_store_knows(path, monkeypatch, after):
    def killed(where, text, field):
        if after:
            write_text(where, text, field)
        raise SystemError("killed")

    write_text = report_file.write_text
    monkeypatch.setattr(report_file, "write_text", killed)
    with pytest.raises(SystemError):
        save(path, [OTHER])
    monkeypatch.undo()
    assert load(path) == ([ROW, OTHER] if after else [ROW])
    assert rows(path) == [ROW, OTHER]


def test_a_link_stays_one(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere/report.json")
    save(tmp_path / "link", [ROW])
    assert (tmp_path / "link").is_symlink() and rows(tmp_path / "elsewhere" / "report.json") == [ROW]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["elsewhere", "link"]


# Reports that are damaged, hostile, older or newer: one line.
DOCUMENT = report_file.document([ROW])
ENTRY, GONE = DOCUMENT["rows"][0], object()


def written(folder, **changes):
    (folder / "report.json").write_text(json.dumps(DOCUMENT | changes))
    return folder / "report.json"


def test_a_report_from_before_a_field_came_is_read(tmp_path):
    needed = {one.name for one in fields(Row) if one.default is MISSING and one.default_factory is MISSING}
    older = {name: value for name, value in ENTRY.items() if name in needed}
    assert set(older) < set(ENTRY)
    (found,) = load(written(tmp_path, rows=[older]))
    assert found == replace(ROW, shares={})
    found.witnesses.append({})
    assert load(written(tmp_path, rows=[older])) == [replace(ROW, shares={})], "lists are fresh ones"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"claimed": GONE}, r"rows\[0\].*'claimed'.*missing"),
        ({"verdict": GONE}, r"rows\[0\].*'verdict'.*missing"),
        ({"later": 1}, r"rows\[0\] = \['later'\].*newer one"),
        ({"claimed": "1"}, r"rows\[0\]\.claimed"),
        ({"verdict": "private"}, r"rows\[0\]\.verdict"),
        ({"findings": "none"}, r"rows\[0\]\.findings"),
        ({"runs": 1.5}, r"rows\[0\]\.runs"),
        ({"expected": 1}, r"rows\[0\]\.expected"),
        ({"places": [{"finding": "call (x)", "line": 3}]}, r"rows\[0\]\.places\[0\]"),
        ({"places": [{"finding": "call (x)", "file": "a.py", "line": "3"}]}, r"rows\[0\]\.places\[0\]"),
        ({"witnesses": [{"format": 1}]}, r"rows\[0\]\.witnesses\[0\]"),
        ({"witnesses": [{"finding": {"kind": "call", "label": None, "detail": ""}}]}, r"rows\[0\]\.witnesses\[0\]"),
        ({"coverage": {"lines": 1}}, r"rows\[0\].coverage"),  # the page took for granted that all four counts are there
        ({"coverage": {"lines": 3, "lines reached": 2, "branches": 1, "branches reached": -1}}, r"rows\[0\].coverage"),
        ({"releases": [{"label": "g", "scale": 10**400}]}, "too many digits"),  # ended the page in an overflow
    ],
)
def test_what_is_no_row_of_a_report_is_named(tmp_path, changes, words):
    row = {name: value for name, value in (ENTRY | changes).items() if value is not GONE}
    with pytest.raises(BadInput, match=words):
        load(written(tmp_path, rows=[row]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rows": 3}, "rows = 3"),
        ({"format": report_file.FORMAT - 1}, "it was made by another version"),
        ({"dpassay": "0.0.1"}, "another version"),  # it is shown, but does not go on
    ],
)
def test_what_is_no_report_is_said(tmp_path, changes, words):
    with pytest.raises(BadInput, match=words):
        load(written(tmp_path, **changes))
    if "dpassay" in changes:
        report(written(tmp_path, **changes), tmp_path / "page.html", ledger=False)
        assert "a/b" in (tmp_path / "page.html").read_text()


def test_a_file_that_none_can_be_is_shown_as_text():
    assert relative("n" * 5000) == "n" * 5000 and relative("a\x00b") == "a\\x00b"  # no file can have that name
