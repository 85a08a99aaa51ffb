"""Reports that are damaged, hostile, older or newer: one line, and a page that takes in nothing from elsewhere."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, replace

import pytest

from dpassay.audit.commands.report import report
from dpassay.audit.report.html.figures import curves_of
from dpassay.audit.report.html.reproduced import pages
from dpassay.audit.report.problems import problems, relative
from dpassay.audit.row import Row
from dpassay.audit.running import report_file
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Finding, Kind


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


@pytest.mark.parametrize(
    ("name", "value"), [("claimed", "1"), ("verdict", "private"), ("findings", "none"), ("runs", 1.5), ("expected", 1)]
)
def test_a_field_of_another_kind_is_named(written, name, value):
    _, document, write = written
    with pytest.raises(BadInput, match=rf"rows\[0\]\.{name}"):
        report_file.load(write(rows=[document["rows"][0] | {name: value}]))
    with pytest.raises(BadInput, match="rows = 3"):
        report_file.load(write(rows=3))


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


@pytest.mark.parametrize(
    "counted", [{"lines": 1}, {"lines": 3, "lines reached": 2, "branches": 1, "branches reached": -1}]
)
def test_a_report_whose_coverage_is_half_there(written, counted):
    """The page took for granted that all four counts are there."""
    _, document, write = written
    with pytest.raises(BadInput, match=r"rows\[0\].coverage"):
        report_file.load(write(rows=[document["rows"][0] | {"coverage": counted}]))


def test_a_line_in_a_report_whose_number_no_line_has(written):
    """Python refuses to read more than 4,300 digits: a traceback, where a witness was said to be at such a line."""
    row, _, _ = written
    finding = Finding(Kind.SENSITIVITY_EXCEEDED, "g", 0, "x")
    about = {"finding": {"kind": "sensitivity exceeded", "label": "g", "detail": "x", "step": 0}}
    for digits, told in ((9, True), (5000, False)):
        witness = {**about, "line": f"a.py:{'1' * digits} in run"}
        shown = problems(replace(row, witnesses=[witness], findings=[finding]))
        assert any(spot.file.endswith("a.py") for one in shown for spot in one.spots) == told


def test_a_whole_number_that_no_float_can_be(written):
    """A scale of 400 digits was read, and ended the page in an overflow."""
    _, document, write = written
    with pytest.raises(BadInput, match="a number with too many digits"):
        report_file.load(write(rows=[document["rows"][0] | {"releases": [{"label": "g", "scale": 10**400}]}]))


def test_curves_of_a_claim_next_to_nothing_are_not_drawn(written):
    """The axis overflowed: a warning on standard error, from a file of somebody else."""
    row, _, _ = written
    curves = {"epsilons": [0.0, 1.0], "accounted": [0.5, 0.1]}
    assert curves_of(replace(row, curves=curves, claimed=1e-9, delta=1e-5)) is not None
    assert curves_of(replace(row, curves=curves, claimed=5e-324, delta=1e-5)) is None


def test_a_place_in_a_report_whose_file_no_file_can_be():
    assert relative("n" * 5000) == "n" * 5000 and relative("a\x00b") == "a\\x00b"


def test_a_page_takes_in_no_picture_from_elsewhere(tmp_path):
    (tmp_path / "secret.png").write_bytes(b"secret")
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "plot.png").write_bytes(b"plot")
    (folder / "dro.md").write_text("![a](link.png) ![b](../secret.png) ![c](plot.png) ![d](" + "x" * 5000 + ".png)\n")
    (found,) = pages(folder, ["dro"])
    assert found.body.count("data:image/png") == 1 and "[picture: a]" in found.body and "[picture: b]" in found.body
