"""What a reader copies from the pages is run as it stands: files, programs, what they print, commands, the notebook.

``python tests/house/test_pages_run.py`` runs the notebook and keeps what it prints and draws.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.reference.tape import LiveTape

ROOT = Path(__file__).resolve().parents[2]


def page_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


# -- journeys: every file is written and every command run, in the order of the page
JOURNEYS = {  # with the pages that hold files for it
    "README.md": ("docs/crosscheck.md",),
    "docs/tutorial.md": (),
    "docs/crosscheck.md": (),
    "docs/ci.md": (),
    "docs/claims.md": (),
    "docs/pytest.md": (),
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# (\w+\.(?:py|toml))\n")
CODE = re.compile(r"\s+# exit code (\d+)$")


def steps(text: str) -> list[tuple[str, str]]:
    """In the order of the page: files to write, by name, and commands to run, under the name ``sh``."""
    found = []
    for kind, body in BLOCK.findall(text):
        named = FILE.match(body)
        if kind == "sh":
            found += [("sh", line) for line in body.splitlines() if line.strip()]
        elif named:
            found.append((named[1], body))
    return found


def wrong(text: str, folder: Path) -> list[tuple[str, int, str]]:
    """Commands that did not exit as their line says (0 where it says nothing), with what they printed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
    found = []
    for name, body in steps(text):
        if name != "sh":
            (folder / name).write_text(body, encoding="utf-8")
            continue
        said, words = CODE.search(body), shlex.split(body, comments=True)
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != int(said[1] if said else 0):
            found.append((body, done.returncode, done.stdout[-2000:] + done.stderr[-2000:]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", JOURNEYS)
def test_a_page_does_what_it_says(page, tmp_path):
    for other in JOURNEYS[page]:
        for name, body in steps(page_of(other)):
            if name != "sh":
                (tmp_path / name).write_text(body, encoding="utf-8")
    assert wrong(page_of(page), tmp_path) == []


def test_a_command_that_exits_otherwise_is_noticed_and_pages_have_some(tmp_path):
    page = "```python\n# a.py\nraise SystemExit(4)\n```\n\n```sh\npython a.py  # exit code 4\npython a.py\n```\n"
    assert [(command, code) for command, code, _ in wrong(page, tmp_path)] == [("python a.py", 4)]
    assert all(any(name == "sh" for name, _ in steps(page_of(page))) for page in JOURNEYS)


# -- programs: each prints what the text block below it says
PROGRAMS = (
    "docs/reading.md",
    pytest.param("docs/own.md", marks=pytest.mark.slow),  # a second; `make journeys` runs it
    "docs/training.md",
    "docs/search.md",
    "docs/statistics.md",
    "docs/neighbours.md",
)
PROGRAM = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def printed(text, name, capsys):
    """Pairs of what each program of a page printed and what the page says; names are kept from one to the next."""
    names: dict[str, object] = {}
    found = []
    for program, shown in PROGRAM.findall(text):
        exec(compile(program, f"<{name}>", "exec"), names)  # no file has this name: its text is no source
        found.append((capsys.readouterr().out, shown))
    return found


@pytest.mark.more
@pytest.mark.parametrize("page", PROGRAMS)
def test_programs_print_what_the_page_says(page, capsys):
    found = printed(page_of(page), page, capsys)
    assert found and [said for said, _ in found] == [shown for _, shown in found]


@pytest.mark.more
def test_the_program_of_the_page_about_a_solver_of_your_own(capsys):
    blocks = re.findall(r"```python\n(.*?)```", page_of("docs/output_perturbation.md"), flags=re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, object] = {}
    exec(compile("\n".join(blocks), "output_perturbation.md", "exec"), names)
    said = capsys.readouterr().out
    assert names["accuracy"] > 0.75  # seed 1 of the page
    assert said.count("release refused") == 2  # two passes of SGD, one step of Newton
    assert "SGD, polished [" in said and "quiet: []" in said and "loud: ['revealed value']" in said
    released = [names["algorithm1"].run(names["problem"], names["schedule"], LiveTape(seed)) for seed in range(200)]
    right = [((names["features"] @ weights > 0) == (names["labels"] > 0)).mean() for weights in released]
    assert np.mean(right) == pytest.approx(0.81, abs=0.01) and np.std(right) == pytest.approx(0.10, abs=0.01)
    assert float(re.search(r"same noise: (\S+)", said)[1]) < 1e-3


# -- commands about a module that the page shows
@pytest.fixture
def run_beside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("d.json").write_text("[1, 2, 3]")
    Path("e.json").write_text("[1, 2, 4]")

    def run(module, text, *lines):
        Path(f"{module}.py").write_text(text)
        monkeypatch.delitem(sys.modules, module, raising=False)  # of another test
        return [CliRunner().invoke(app, shlex.split(line)[1:]) for line in lines]

    return run


@pytest.mark.more
@pytest.mark.parametrize(("name", "code"), [("private_mean", 0), ("forgets_to_clip", 1)])
def test_the_commands_of_the_page_about_your_own_do_what_it_says(name, code, run_beside):
    page = page_of("docs/own.md")
    commands = [line for line in page.splitlines() if re.match(f"dpassay .*taped.{name}", line)]
    found = run_beside("taped", PROGRAM.findall(page)[1][0], *commands)
    assert [one.exit_code for one in found] == [code] * (1 + code)


@pytest.mark.parametrize(
    ("beginnings", "more", "codes"),
    [
        (["dpassay blackbox mymodule:mechanism"], " --samples 1000", (0, 3)),
        pytest.param(["dpassay audit mymodule:run", "dpassay neighbours replay"], "", (1,), marks=pytest.mark.more),
    ],
)
def test_the_commands_of_the_auditors_page_do_what_it_says(beginnings, more, codes, run_beside):
    """The right claim stands; the wrong one falls, and once more when its witness is replayed."""
    page = page_of("docs/auditor.md")
    lines = [next(line for line in page.splitlines() if line.startswith(one)).split("  ")[0] for one in beginnings]
    (module,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert all(one.exit_code in codes for one in run_beside("mymodule", module, *(line + more for line in lines)))


@pytest.mark.more
@pytest.mark.parametrize(("clipped", "code"), [(True, 0), (False, 1)])
def test_the_four_numbers_of_the_readme_are_those_that_its_command_prints(clipped, code, run_beside):
    parts = r"```python\n(.*?)```\n\n```sh\n(.*?)\n```\n\n```text\n(.*?)```"
    program, command, shown = re.search(parts, page_of("README.md"), re.DOTALL).groups()
    assert program.startswith("# mine.py\n") and len([line for line in program.splitlines() if line.strip()]) <= 10
    (done,) = run_beside("mine", program if clipped else re.sub(r"clipped = .*", "clipped = rows", program), command)
    lines = [line.split() for line in done.output.splitlines()]
    assert done.exit_code == code and clipped == all(line.split() in lines for line in shown.splitlines())
    assert clipped != ("unbounded: mine.py:7 sums rows that nothing bounds" in " ".join(done.output.split()))


NOTEBOOK = ROOT / "examples" / "claim_to_curve.ipynb"


def executed(folder):
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
    assert shown(found) == shown(committed), "run `python tests/house/test_pages_run.py`"
    assert sum("image/png" in output for cell in shown(committed) for output in cell) == 2
    assert not list(tmp_path.iterdir())


if __name__ == "__main__":
    import nbformat

    with TemporaryDirectory() as place:
        nbformat.write(executed(place), NOTEBOOK)
