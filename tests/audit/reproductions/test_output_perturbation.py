"""The reproduction runs end to end, writes what it says, and the repaired noise is the better one."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from dpassay.audit.commands.reproduce import reproduce


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


def test_unknown_paper_is_named(command):
    result = CliRunner().invoke(command, ["no_such_paper"])
    assert result.exit_code != 0
    assert "no_such_paper" in str(result.exception)
