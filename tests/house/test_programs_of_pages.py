"""The Python programs of the pages run in order and print what the text block below each says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/reading.md", "docs/own.md")
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def run(text, name, capsys):
    """Pairs of what each program of a page printed and what the page says; names are kept from one to the next."""
    names: dict[str, object] = {}
    found = []
    for program, shown in BLOCK.findall(text):
        exec(compile(program, name, "exec"), names)
        found.append((capsys.readouterr().out, shown))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_programs_print_what_the_page_says(page, capsys):
    found = run((ROOT / page).read_text(encoding="utf-8"), page, capsys)
    assert found and [printed for printed, _ in found] == [shown for _, shown in found]


def test_a_page_that_says_something_else_is_noticed(capsys):
    ((printed, shown),) = run("```python\nprint(1 + 1)\n```\n\n```text\n3\n```", "page", capsys)
    assert printed != shown


def test_the_program_of_the_readme_is_five_lines():
    (program,) = (program for program, _ in BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    assert len([line for line in program.splitlines() if line.strip()]) <= 5
