"""docs/auditor.md: its module and the commands about it do what the page says."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app

PAGE = (Path(__file__).parents[2] / "docs" / "auditor.md").read_text(encoding="utf-8")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (module,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    Path("mymodule.py").write_text(module)
    Path("d.json").write_text("[1, 2, 3]")
    Path("e.json").write_text("[1, 2, 4]")
    yield tmp_path
    sys.modules.pop("mymodule", None)


def run(beginning: str, *more: str) -> int:
    """Exit code of the first command of the page that begins so."""
    line = next(line for line in PAGE.splitlines() if line.startswith(beginning)).split("  ")[0]
    return CliRunner().invoke(app, [*shlex.split(line)[1:], *more]).exit_code


def test_the_right_claim_of_the_page_stands(place):
    assert run("dpassay blackbox mymodule:mechanism", "--samples", "1000") in (0, 3)


@pytest.mark.more
def test_the_wrong_claim_of_the_page_falls_twice(place):
    assert run("dpassay audit mymodule:run") == 1
    assert run("dpassay neighbours replay") == 1
