"""A report and its store: which of the two is believed when, and what a kill between them leaves."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from dpassay.audit.row import Row
from dpassay.audit.running import report_file
from dpassay.audit.running.report_file import Report, load, save, store_of
from dpassay.audit.running.store import Store
from dpassay.reference.errors import BadInput

ROW = Row(
    "a/b", "", "printed", "", 1.0, 1e-5, "replace-one", float("inf"), "", True, None, "", "tight", "", True, [], [], [],
    {"x": 1.0}, None, 10, 60, 0.95, 0, 0.1, "0" * 16, {"n": 3},
)  # fmt: skip
OTHER = replace(ROW, algorithm="a/c")


def rows(path, anew=False):
    return Report(path, anew=anew).rows()


@pytest.fixture
def path(tmp_path):
    save(tmp_path / "report.json", [ROW])
    return tmp_path / "report.json"


def test_rows_are_kept_before_the_report_is_written(path):
    Report(path).keep([OTHER])
    assert load(path) == [ROW] and rows(path) == [ROW, OTHER]
    assert Report(path, order=[OTHER.key]).write() == [OTHER, ROW] == load(path)


def test_nothing_but_the_report_is_left_of_a_run_that_has_ended(path):
    assert rows(path) == [ROW] and [one.name for one in path.parent.iterdir()] == ["report.json"]


def test_a_deleted_report_stays_deleted(path):
    path.unlink()
    assert rows(path) == [] and save(path, [OTHER]) == [OTHER] == load(path)


def test_what_a_killed_run_has_kept_does_not_come_back_after_its_report_was_deleted(path, monkeypatch):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with monkeypatch.context() as killed:
        killed.setattr(os, "getpid", lambda: gone.pid)
        Report(path).keep([OTHER])
    path.unlink()
    third = replace(ROW, algorithm="a/d")
    assert Report(path, resume=True).rows() == [OTHER]
    assert save(path, [third]) == [third] == load(path)


def test_what_a_killed_run_has_kept_is_in_the_next_report(path):
    Report(path).keep([OTHER])
    path.unlink()
    assert rows(path) == [OTHER] == save(path, [OTHER])


def test_a_report_that_is_written_in_between_loses_nothing(path):
    """Two processes at once: the one that ends first takes the store away."""
    third, fourth = replace(ROW, algorithm="a/d"), replace(ROW, algorithm="a/e")
    one, other = Report(path), Report(path)
    one.keep([OTHER])
    other.keep([third])
    assert other.write() == [ROW, OTHER, third]
    one.keep([fourth])
    assert one.write() == [ROW, OTHER, third, fourth] == load(path)


@pytest.mark.more
def test_two_processes_on_one_report_lose_no_row(path):
    """Two writers of eight rows each, at the same time."""
    code = (
        "import sys; from dataclasses import replace; from pathlib import Path\n"
        "from dpassay.audit.running.report_file import load, save\n"
        "row = load(Path('report.json'))[0]\n"
        "for k in range(8): save(Path('shared.json'), [replace(row, variant=sys.argv[1] + str(k))])"
    )
    words = [sys.executable, "-c", code]
    writers = [subprocess.Popen([*words, f"w{k}-"], cwd=path.parent) for k in range(2)]
    assert [writer.wait() for writer in writers] == [0] * 2
    assert len(json.loads((path.parent / "shared.json").read_text())["rows"]) == 16


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


@pytest.mark.parametrize("version", ["9", None])
def test_a_store_of_another_version_is_refused(path, version):
    Store(store_of(path), "--output").put("about", {"dpassay": version})
    with pytest.raises(BadInput, match="another version"):
        rows(path)
    assert save(path, [OTHER], replace=True) == [OTHER]


def test_rows_that_are_none_are_named(path):
    Store(store_of(path), "--output").put("row", {"a/b@printed": ROW.as_dict() | {"claimed": "many"}})
    with pytest.raises(BadInput, match=r"a/b@printed\.claimed"):
        rows(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("places", [{"finding": "call (x)", "line": 3}]),
        ("places", [{"finding": "call (x)", "file": "a.py", "line": "3"}]),
        ("witnesses", [{"format": 1}]),
        ("witnesses", [{"finding": {"kind": "call", "label": None, "detail": ""}}]),
    ],
)
def test_a_place_or_a_witness_without_what_is_read_of_it_is_named(path, field, value):
    path.write_text(
        json.dumps(report_file.document([ROW])).replace(f'"{field}": []', f'"{field}": {json.dumps(value)}')
    )
    with pytest.raises(BadInput, match=rf"rows\[0\]\.{field}\[0\]"):
        load(path)


@pytest.mark.parametrize("after", [0, 1])
def test_a_kill_around_the_writing_leaves_a_report_that_the_store_knows(path, monkeypatch, after):
    """Before the report is written, and between that and the store's last word."""

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


def test_a_device_and_a_link(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert save(tmp_path / "pipe", [ROW]) == [ROW]
    assert json.loads(os.read(reader, 100_000))["rows"][0]["algorithm"] == "a/b"
    os.close(reader)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere/report.json")
    save(tmp_path / "link", [ROW])
    assert (tmp_path / "link").is_symlink() and rows(tmp_path / "elsewhere" / "report.json") == [ROW]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["elsewhere", "link", "pipe"]


def test_a_movement_without_bound_is_read_back(path):
    """A query that nothing clips moves by infinitely much: JSON has no number for that."""
    row = replace(ROW, shares={"value": math.inf}, movements={"value": math.inf})
    assert save(path, [row]) == [row] == load(path)
