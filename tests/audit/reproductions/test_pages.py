"""Pages of the reproduction ledger: tables, images beside the page, rows of an audit report."""

import math
from dataclasses import replace

import pytest

from dpassay.audit.reproductions.report import Report, Table, sandwich_table
from dpassay.audit.row import Row
from dpassay.audit.running.report_file import save
from dpassay.reference.errors import BadInput

ROW = Row(
    algorithm="minimax_sosp/dp_rgda", variant="small", reading="printed", data="", claimed=1.0, delta=1e-5,
    relation="replace-one", accounted=6.7371, accounting="", upper_bound=True, realised=math.inf, realised_by="",
    verdict="violated", why="replay: |v|", expected=True, undeclared=[], missing=[], findings=[], movements={},
    power=None, runs=1000, pilot=400, confidence=0.95, seed=0, seconds=1.0, code="", facts={},
)  # fmt: skip


def test_page_has_the_tables_the_notes_and_its_images_beside_it(tmp_path):
    image = tmp_path / "plots" / "figure_1.png"
    image.parent.mkdir()
    image.write_bytes(b"image")
    report = Report("minimax_sosp", [Table("A table", ("|x|", "y"), [("1", "a|b")])], [image], ["A note."])
    page = report.write_page(tmp_path / "docs" / "page.md", "dpassay reproduce minimax_sosp")
    text = page.read_text(encoding="utf-8")
    assert "| \\|x\\| | y |\n| --- | --- |\n| 1 | a\\|b |\n" in text
    assert "![figure 1](figure_1.png)" in text and "- A note." in text and "`dpassay reproduce minimax_sosp`" in text
    assert (tmp_path / "docs" / "figure_1.png").read_bytes() == b"image"
    assert report.write_page(image.parent / "page.md", "x").exists()  # image in place already


def test_sandwich_rows_of_one_paper(tmp_path):
    """Of a report as `dpassay audit` writes it: the option refused every one of them."""
    path = tmp_path / "audit.json"
    save(path, [ROW, replace(ROW, variant="other", realised=None), replace(ROW, algorithm="dro/x", seed=3)])
    table = sandwich_table(path, "minimax_sosp")
    assert table.title == "Sandwich: 1000 runs, confidence 0.95, seed 0"
    cells = ("printed", "(1, 1e-05)", "6.737")
    assert table.rows == [
        ("dp_rgda:other", *cells, "-", "violated", "replay: |v|"),
        ("dp_rgda:small", *cells, "infinity", "violated", "replay: |v|"),
    ]
    with pytest.raises(BadInput, match="no row of adaptive_batch"):
        sandwich_table(path, "adaptive_batch")
    path.write_text('{"rows": 3}', encoding="utf-8")
    with pytest.raises(BadInput, match="no report of this version"):
        sandwich_table(path, "dro")


def test_the_known_cause_of_a_catalogued_row_is_named_once(tmp_path):
    row = replace(ROW, variant="appendixB2-n9-d2-T3-K2-q3-b9")
    save(tmp_path / "audit.json", [row])
    why = sandwich_table(tmp_path / "audit.json", "minimax_sosp").rows[0][-1]
    cause = "step/v (and then step/u) is released without noise"
    assert f"cause: {cause}" in why
    save(tmp_path / "audit.json", [replace(row, why=why.split("cause: ")[1])])
    assert sandwich_table(tmp_path / "audit.json", "minimax_sosp").rows[0][-1].count(cause) == 1
