"""README, CONTRIBUTING and docs/: every link, path, command and option that they print exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from dpassay.audit.cli import COMMANDS, GROUPS, app
from dpassay.audit.exit_codes import MEANING
from dpassay.proofs_check.ledger import load_rows
from dpassay.reference.marked import LEDGER

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted((ROOT / "benchmarks" / "results").glob("*.md"))
FOLDERS = ("reference", "audit", "proofs_check", "benchmarks", "tests", "docs")
PATH = re.compile(rf"(?<![\w./-])((?:{'|'.join(FOLDERS)})/[\w./-]*[\w/])")
IDS = {str(page.relative_to(ROOT)): page for page in PAGES}


def printed(text: str) -> list[str]:
    """What stands between backticks and in code blocks, line by line; comments of a shell are cut off."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    indented = re.findall(r"^ {4}(\S.*)$", text, flags=re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    parts = [part for line in [*inline, *indented, *lines] for part in re.sub(r"\s+#.*", "", line).split(";")]
    return [part.strip() for part in parts]


def unknown(line: str) -> str:
    """What `dpassay` does not know in the command of this line, or nothing."""
    command, words = get_command(app), shlex.split(line)[1:]
    while words and hasattr(command, "commands"):
        name = words.pop(0)
        if name.startswith("--"):
            break
        if name.rstrip(",") not in command.commands:
            return name
        if name.endswith(","):  # "crosscheck export, compare, replay" names three
            continue
        command = command.commands[name]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return ", ".join(word for word in words if word.startswith("--") and word not in {*options, "--help"})


@pytest.mark.parametrize("page", IDS.values(), ids=IDS)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", IDS.values(), ids=IDS)
def test_named_files_exist(page):
    """Paths in backticks and code, from the root of the project."""
    found = {path for line in printed(page.read_text(encoding="utf-8")) for path in PATH.findall(line)}
    assert sorted(path for path in found if not (ROOT / path).exists()) == []


@pytest.mark.parametrize("page", IDS.values(), ids=IDS)
def test_printed_commands_are_known(page):
    lines = [line for line in printed(page.read_text(encoding="utf-8")) if re.match(r"dpassay \w", line)]
    assert {line: unknown(line) for line in lines if unknown(line)} == {}


@pytest.mark.parametrize("page", IDS.values(), ids=IDS)
def test_printed_benchmarks_have_their_options(page):
    for line in printed(page.read_text(encoding="utf-8")):
        for script, options in re.findall(r"python (benchmarks/\w+\.py)([^;`]*)", line):
            text = "".join(
                (ROOT / path).read_text(encoding="utf-8") for path in (script, "benchmarks/audit_figures.py")
            )
            missing = [option for option in re.findall(r"--[\w-]+", options) if f'"{option}"' not in text]
            assert not missing, line


@pytest.mark.parametrize("page", [*IDS.values(), ROOT / "LEDGER.md"], ids=[*IDS, "LEDGER.md"])
def test_rows_of_tables_have_the_cells_of_their_head(page):
    """A bar inside a cell is escaped."""
    cells, broken = 0, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        found = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if found and cells and found != cells:
            broken.append(number)
        cells = (cells or found) if found else 0
    assert broken == []


def test_what_does_not_exist_is_found():
    assert unknown("dpassay audit dro --alll") == "--alll"
    assert unknown("dpassay sequential blackbix m:f") == "blackbix"
    assert unknown("dpassay crosscheck export, compare, replay") == ""
    assert unknown("dpassay sequential combine one.json --json") == ""
    assert PATH.findall("see audit/nowhere.py.") == ["audit/nowhere.py"]


def commands(command, path="dpassay"):
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


@pytest.mark.parametrize(("path", "command"), list(commands(get_command(app))), ids=lambda one: str(one)[:40])
def test_help_is_whole(path, command):
    """Each parameter has a help text, and lists of commands say whole sentences."""
    assert [parameter.name for parameter in command.params if not parameter.help] == [], path
    for name, inner in getattr(command, "commands", {}).items():
        assert not inner.get_short_help_str(80).endswith("..."), f"{path} {name}"
        assert inner.short_help, f"{path} {name} has no line of its own in the list"


def test_every_command_is_on_the_page_of_the_commands():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`dpassay (\w+)", text.split("## Exit codes")[0])) - {"COMMAND"}
    assert listed == {*COMMANDS, *GROUPS}


def test_every_exit_code_is_on_the_page_of_the_commands():
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8").split("## Exit codes")[1]
    found = dict(re.findall(r"^\| (\d+) \| (.*) \|$", text, flags=re.MULTILINE))
    assert set(map(int, found)) == set(MEANING)
    assert all(found[str(code)].startswith(meaning) for code, meaning in MEANING.items())


def test_the_committed_ledger_has_todays_rows_and_the_results_its_tables():
    """Without deciding a row (the slow test does): the same rows, and the tables of docs/results.md in LEDGER.md."""
    ledger = (ROOT / "LEDGER.md").read_text(encoding="utf-8")
    wanted = [row.id.split("/", 1) for row in load_rows()]
    for paper in dict.fromkeys(paper for paper, _ in wanted):
        section = ledger.split(f"\n## {paper}\n")[1].split("\n## ")[0]
        ids = re.findall(r"^\| ([^|]+?) \|", section, flags=re.MULTILINE)[1:]
        assert ids == [name for key, name in wanted if key == paper], paper
    block = LEDGER.read((ROOT / "docs" / "results.md").read_text(encoding="utf-8"), "results.md")
    tables = [line for line in block.splitlines() if line.startswith("|")]
    assert len(tables) > 15 and [line for line in tables if line not in ledger.splitlines()] == []
