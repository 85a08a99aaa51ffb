"""The notebook runs from top to bottom and prints what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "claim_to_curve.ipynb"


def shown(notebook):
    """What each cell of code printed, and whether it drew something."""
    return [
        [output.get("text") or sorted(output.get("data", {})) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
def test_the_notebook_prints_what_it_shows(tmp_path):
    """A kernel of this environment runs it in an empty folder; pictures may differ from one matplotlib to the next."""
    nbformat = pytest.importorskip("nbformat", reason="the package nbclient is not installed")
    client = pytest.importorskip("nbclient", reason="the package nbclient is not installed")
    pytest.importorskip("ipykernel", reason="the package ipykernel is not installed")
    committed = nbformat.read(NOTEBOOK, as_version=4)
    found = nbformat.read(NOTEBOOK, as_version=4)
    for cell in found.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client.NotebookClient(found, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert shown(found) == shown(committed)
    assert sum("image/png" in output for cell in shown(committed) for output in cell) == 2
    assert not list(tmp_path.iterdir())
