"""The Python programs of the pages run in order and print what the text block below each says."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "docs/reading.md",
    pytest.param("docs/own.md", marks=pytest.mark.slow),  # a second; `make journeys` runs it
    "docs/search.md",
    "docs/statistics.md",
    "docs/neighbours.md",
)
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def run(text, name, capsys):
    """Pairs of what each program of a page printed and what the page says; names are kept from one to the next."""
    names: dict[str, object] = {}
    found = []
    for program, shown in BLOCK.findall(text):
        exec(compile(program, f"<{name}>", "exec"), names)  # no file has this name: its text is no source
        found.append((capsys.readouterr().out, shown))
    return found


@pytest.mark.more
@pytest.mark.parametrize("page", PAGES)
def test_programs_print_what_the_page_says(page, capsys):
    found = run((ROOT / page).read_text(encoding="utf-8"), page, capsys)
    assert found and [printed for printed, _ in found] == [shown for _, shown in found]


@pytest.mark.more
@pytest.mark.parametrize(("name", "code"), [("private_mean", 0), ("forgets_to_clip", 1)])
def test_the_commands_of_the_page_about_your_own_do_what_it_says(name, code, tmp_path, monkeypatch):
    """`mine.py` is the first program of the page; the witness of what fails shows it again."""
    page = (ROOT / "docs" / "own.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # of another test
    Path("mine.py").write_text(BLOCK.findall(page)[0][0])
    commands = [line for line in page.splitlines() if line.startswith("dpassay ") and name in line]
    assert len(commands) == 1 + code
    try:
        found = [CliRunner().invoke(app, shlex.split(line)[1:]).exit_code for line in commands]
    finally:
        sys.modules.pop("mine", None)
    assert found == [code] * len(commands)


def test_a_page_that_says_something_else_is_noticed(capsys):
    ((printed, shown),) = run("```python\nprint(1 + 1)\n```\n\n```text\n3\n```", "page", capsys)
    assert printed != shown


def test_the_program_of_the_readme_is_five_lines():
    """Beside the file `mine.py`, which has ten at most."""
    programs = [program for program, _ in BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))]
    sizes = [len([line for line in program.splitlines() if line.strip()]) for program in programs]
    assert len(programs) == 2 and programs[0].startswith("# mine.py\n")
    assert sizes[0] <= 10 and sizes[1] <= 5
