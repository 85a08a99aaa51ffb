"""Pages of the reproduction ledger: tables, images beside the page, rows of an audit report."""

import json

import pytest

from dpassay.audit.reproductions.report import Report, Table, sandwich_table
from dpassay.reference.errors import BadInput

ROW = {
    "algorithm": "minimax_sosp/dp_rgda",
    "variant": "small",
    "reading": "printed",
    "claimed": 1.0,
    "delta": 1e-5,
    "accounted": 6.7371,
    "realised": "infinity",
    "verdict": "violated",
    "why": "replay: |v|",
}


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
    path = tmp_path / "audit.json"
    effort = {"runs": 1000, "confidence": 0.95, "seed": 0}
    path.write_text(json.dumps({"effort": effort, "rows": [ROW, ROW | {"algorithm": "dro/x"}]}), encoding="utf-8")
    table = sandwich_table(path, "minimax_sosp")
    assert table.title == "Sandwich: 1000 runs, confidence 0.95, seed 0"
    why = "replay: |v|"
    assert table.rows == [("dp_rgda:small", "printed", "(1, 1e-05)", "6.737", "infinity", "violated", why)]
    with pytest.raises(BadInput, match="no row of adaptive_batch"):
        sandwich_table(path, "adaptive_batch")
    path.write_text('{"rows": 3}', encoding="utf-8")
    with pytest.raises(BadInput, match="not a report of"):
        sandwich_table(path, "dro")


def test_the_known_cause_of_a_catalogued_row_is_named(tmp_path):
    path = tmp_path / "audit.json"
    row = ROW | {"variant": "appendixB2-n9-d2-T3-K2-q3-b9"}
    effort = {"runs": 10, "confidence": 0.95, "seed": 0}
    path.write_text(json.dumps({"effort": effort, "rows": [row]}), encoding="utf-8")
    why = sandwich_table(path, "minimax_sosp").rows[0][-1]
    assert "cause: step/v (and then step/u) is released without noise" in why
    path.write_text(json.dumps({"effort": effort, "rows": [row | {"why": why.split("cause: ")[1]}]}), encoding="utf-8")
    assert (
        sandwich_table(path, "minimax_sosp").rows[0][-1].count("step/v (and then step/u) is released without noise")
        == 1
    )
