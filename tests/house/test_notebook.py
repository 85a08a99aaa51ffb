"""The notebook runs from top to bottom and prints what it shows.

``python tests/house/test_notebook.py`` runs it and keeps what it prints and draws.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "claim_to_curve.ipynb"


def executed(folder):
    """The notebook, run by a kernel of this environment in a folder."""
    nbformat = pytest.importorskip("nbformat", reason="the package nbclient is not installed")
    client = pytest.importorskip("nbclient", reason="the package nbclient is not installed")
    pytest.importorskip("ipykernel", reason="the package ipykernel is not installed")
    found = nbformat.read(NOTEBOOK, as_version=4)
    for cell in found.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = []
    client.NotebookClient(found, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in found.cells:
        cell.metadata = {}  # when it ran is not kept
    return found


def shown(notebook):
    """What each cell of code printed, and whether it drew something; pictures may differ between versions."""
    return [
        [output.get("text") or sorted(output.get("data", {})) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
def test_the_notebook_prints_what_it_shows(tmp_path):
    found = executed(tmp_path)
    committed = pytest.importorskip("nbformat").read(NOTEBOOK, as_version=4)
    assert shown(found) == shown(committed), "run `python tests/house/test_notebook.py`"
    assert sum("image/png" in output for cell in shown(committed) for output in cell) == 2
    assert not list(tmp_path.iterdir())


if __name__ == "__main__":
    import nbformat

    with TemporaryDirectory() as place:
        nbformat.write(executed(place), NOTEBOOK)
