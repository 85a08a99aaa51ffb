"""Reports of reproductions: pages, rows of an audit report, and the two papers that print no experiment."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from dpassay.audit.commands.reproduce import reproduce
from dpassay.audit.reproductions import adaptive_batch
from dpassay.audit.reproductions.report import Options, Report, Table, sandwich_table
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


def test_the_line_of_the_start_is_measured_as_the_runs_are(monkeypatch, tmp_path):
    """lambda_min^2 / rho with the rho of the sampled problem: 0.25 / 4.95 (without records it would be 4.5)."""
    seen = []
    monkeypatch.setattr(adaptive_batch, "_plot", lambda curves, sizes, starts, folder: seen.extend(starts) or folder)
    report = adaptive_batch.run(Options(quick=True, runs=1, output=tmp_path))
    assert np.allclose(seen, 0.25 / 4.95)
    unmoved = [float(row[-1]) for row in report.tables[0].rows if row[1] == "no noise"]
    assert unmoved and max(unmoved) <= max(seen)  # a run cannot be farther from its goal than where it began


@pytest.mark.more
def test_the_quick_report_shows_the_printed_noise_over_its_claim_and_the_repaired_within(tmp_path):
    report = adaptive_batch.run(Options(quick=True, output=tmp_path, runs=1))
    assert all(file.exists() for file in report.files)
    rows = {(row[0], row[1]): row for row in report.tables[0].rows}
    assert float(rows["10000", "Theorem 3.17"][3]) > 1.0  # claimed epsilon
    assert float(rows["10000", "repaired"][3]) <= 1.0


@pytest.fixture
def command():
    app = typer.Typer()
    app.command()(reproduce)
    return app


@pytest.mark.slow  # a whole reproduction, three seconds; `dpassay reproduce` has quick tests of the other papers
def test_quick_reproduction(command, tmp_path):
    """Fixed seed 0, three runs per cell; at epsilon 2 repaired beats printed by far more than the standard errors."""
    words = ["output_perturbation", "--quick", "--output", str(tmp_path), "--page", str(tmp_path / "page.md")]
    result = CliRunner().invoke(command, words)
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "output_perturbation.json").read_text())
    assert [(tmp_path / name).stat().st_size > 1000 for name in report["files"]] == [True, True]
    logistic, _, ranking, _ = ({row[0]: row[1:-1] for row in table["rows"]} for table in report["tables"])
    page = (tmp_path / "page.md").read_text()
    assert page.count("![") == 2
    names = [row[0] for table in report["tables"] for row in table["rows"]]
    assert all(page.count(f"| {name} |") == names.count(name) for name in names)
    loss = {name: float(cells[0].split("±")[0]) for name, cells in logistic.items()}
    assert loss["not private"] < loss["Algorithm 1, repaired"] < loss["Algorithm 1, printed"]
    area = {name: float(cells[-1].split("±")[0]) for name, cells in ranking.items()}
    assert area["Algorithm 3, printed"] < area["Algorithm 3, repaired"] <= area["not private"]
    assert "reconstructions" in result.output
