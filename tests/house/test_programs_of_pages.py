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
    "docs/reading.md",
    pytest.param("docs/own.md", marks=pytest.mark.slow),  # a second; `make journeys` runs it
    "docs/training.md",
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


def readme():
    """The program of the README, the command below it, and what it says that the command prints."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```\n\n```sh\n(.*?)\n```\n\n```text\n(.*?)```", text, re.DOTALL)
    return found.groups()


def test_the_program_of_the_readme_has_ten_lines():
    program, _, _ = readme()
    assert program.startswith("# mine.py\n") and len([line for line in program.splitlines() if line.strip()]) <= 10


@pytest.mark.more
def test_the_four_numbers_of_the_readme_are_those_that_its_command_prints(tmp_path, monkeypatch):
    program, command, shown = readme()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # of another test
    for text, code in ((program, 0), (re.sub(r"clipped = .*", "clipped = rows", program), 1)):
        Path("mine.py").write_text(text)
        try:
            done = CliRunner().invoke(app, shlex.split(command)[1:])
        finally:
            sys.modules.pop("mine", None)
        lines = [line.split() for line in done.output.splitlines()]
        assert done.exit_code == code
        assert (code == 0) == all(line.split() in lines for line in shown.splitlines())
        assert (code == 1) == ("unbounded: mine.py:7 sums rows that nothing bounds" in " ".join(done.output.split()))
