"""README, CONTRIBUTING and docs/: every link, path, command and option that they print exists."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from dpassay.audit.cli import COMMANDS, GROUPS, Commands, app
from dpassay.audit.exit_codes import MEANING
from dpassay.audit.marked import LEDGER
from dpassay.proofs_check.derivation.ledger import block, examine, ledger
from dpassay.proofs_check.derivation.model import statements
from dpassay.reference.catalogue import CASES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted((ROOT / "benchmarks" / "results").glob("*.md"))
FOLDERS = ("reference", "audit", "proofs_check", "benchmarks", "tests", "docs")
FIGURES = (ROOT / "benchmarks" / "audit_figures.py").read_text(encoding="utf-8")  # options of all benchmarks
PATH = re.compile(rf"(?<![\w./-])((?:{'|'.join(FOLDERS)})/[\w./-]*[\w/])")


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
        if name.endswith(","):  # "crosscheck export, compare" names two
            continue
        command = command.loaded(name) if isinstance(command, Commands) else command.commands[name]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return ", ".join(word for word in words if word.startswith("--") and word not in {*options, "--help"})


def broken(check: Callable[[Path, str], object], *more: Path) -> dict[str, object]:
    """What a check finds, by page; a page of which it finds nothing is left out."""
    found = {str(page.relative_to(ROOT)): check(page, page.read_text(encoding="utf-8")) for page in (*PAGES, *more)}
    return {page: one for page, one in found.items() if one}


def nowhere(page, text):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", text)
    made = ("statements/", "algorithms/")  # pages that the site makes of files and of the catalogue
    return [one for one in targets if not one.startswith(made) and not (page.parent / one).exists()]


def missing(page, text):
    """Paths in backticks and code, from the root of the project."""
    return sorted({path for line in printed(text) for path in PATH.findall(line) if not (ROOT / path).exists()})


def unheard_of(page, text):
    lines = [line for line in printed(text) if re.match(r"dpassay \w", line)]
    return {line: found for line in lines if (found := unknown(line))}


def without_option(page, text):
    """Options that a benchmark does not have."""
    calls = [call for line in printed(text) for call in re.findall(r"python (benchmarks/\w+\.py)([^;`]*)", line)]
    known = {script: (ROOT / script).read_text(encoding="utf-8") + FIGURES for script, _ in calls}
    options = [(script, one) for script, words in calls for one in re.findall(r"--[\w-]+", words)]
    return [(script, option) for script, option in options if f'"{option}"' not in known[script]]


def uneven(page, text):
    """Rows of tables that have not the cells of their head."""
    cells, lines = 0, []
    for number, line in enumerate(text.splitlines(), 1):
        found = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if found and cells and found != cells:
            lines.append(number)
        cells = (cells or found) if found else 0
    return lines


@pytest.mark.parametrize("check", [nowhere, missing, unheard_of, without_option, uneven])
def test_what_a_page_names_is_there_and_its_tables_are_even(check):
    assert broken(check, *[ROOT / "LEDGER.md"] * (check is uneven)) == {}


def test_what_does_not_exist_is_found():
    assert without_option(None, "`python benchmarks/zoo.py --nothing`") == [("benchmarks/zoo.py", "--nothing")]
    assert uneven(None, "| a | b |\n| c |") == [2]
    assert unknown("dpassay audit dro --alll") == "--alll"
    assert unknown("dpassay sequential blackbix m:f") == "blackbix"
    assert unknown("dpassay crosscheck export, compare") == ""
    assert unknown("dpassay sequential combine one.json --json") == ""
    assert PATH.findall("see audit/nowhere.py.") == ["audit/nowhere.py"]


def commands(command, path="dpassay"):
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


def test_help_is_whole():
    found = list(commands(get_command(app)))
    assert len(found) > len(COMMANDS) + len(GROUPS)
    for path, command in found:
        assert [parameter.name for parameter in command.params if not parameter.help] == [], path
        for name, inner in getattr(command, "commands", {}).items():
            assert not inner.get_short_help_str(80).endswith("..."), f"{path} {name}"
            assert inner.short_help, f"{path} {name} has no line of its own in the list"


def test_every_command_and_every_exit_code_is_on_the_page_of_the_commands():
    commands, codes = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8").split("## Exit codes")
    assert set(re.findall(r"`dpassay (\w+)", commands)) - {"COMMAND"} == {*COMMANDS, *GROUPS}
    found = dict(re.findall(r"^\| (\d+) \| (.*) \|$", codes, flags=re.MULTILINE))
    assert set(map(int, found)) == set(MEANING)
    assert all(found[str(code)].startswith(meaning) for code, meaning in MEANING.items())


@pytest.fixture(scope="module")
def examined():
    return examine(statements(), jobs=2)


@pytest.mark.slow  # a minute and a half of CPU; `make journeys` runs it
def test_the_committed_ledger_is_todays_no_file_has_a_problem_and_no_step_is_undecided(examined):
    """A superfluous added fact, a conclusion that is given, a slip that its check does not show: all are problems."""
    assert {one.statement.key: one.derivation.problems for one in examined if one.derivation.problems} == {}
    assert [one.statement.key for one in examined if one.derivation.undecided] == []
    assert (ROOT / "LEDGER.md").read_text(encoding="utf-8") == ledger(examined), "run `make tables`"
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert LEDGER.read(results, "docs/results.md").strip() == block(examined).strip(), "run `make tables`"


@pytest.mark.slow
def test_the_privacy_of_an_algorithm_and_the_audit_of_its_printed_row_do_not_contradict_each_other(examined):
    """Where every printed row of an algorithm breaks its claim, no statement of its privacy is proved; and back."""
    privacy = {name: [one for one in examined if name in one.statement.algorithms and "privacy" in one.statement.sides]
               for one in examined for name in one.statement.algorithms}  # fmt: skip
    for name, found in privacy.items():
        printed = [case for case in CASES if case.id == name and case.reading == "printed"]
        assert printed, f"{name} is no algorithm with a printed reading"
        if all(case.declared for case in printed):
            assert not all(one.status.stands for one in found), name
        if not any(case.declared for case in printed):
            assert not any("false" in one.status.after for one in found), name
    assert len(privacy) > 10
