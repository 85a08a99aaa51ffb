"""What a newcomer copies from README and the tutorial is run as it stands: files, commands, exit codes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {  # with the pages that hold files for it
    "README.md": ("docs/crosscheck.md",),
    "docs/tutorial.md": (),
    "docs/crosscheck.md": (),
    "docs/ci.md": (),
    "docs/claims.md": (),
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


def run(text: str, folder: Path) -> list[tuple[str, int, str]]:
    """Commands that did not exit as their line says (0 where it says nothing), with what they printed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
    wrong = []
    for name, body in steps(text):
        if name != "sh":
            (folder / name).write_text(body, encoding="utf-8")
            continue
        said = CODE.search(body)
        words = shlex.split(body, comments=True)
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != int(said[1] if said else 0):
            wrong.append((body, done.returncode, done.stdout[-2000:] + done.stderr[-2000:]))
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page, tmp_path):
    for other in PAGES[page]:
        for name, body in steps((ROOT / other).read_text(encoding="utf-8")):
            if name != "sh":
                (tmp_path / name).write_text(body, encoding="utf-8")
    assert run((ROOT / page).read_text(encoding="utf-8"), tmp_path) == []


def test_pages_have_something_to_run():
    for page in PAGES:
        assert any(name == "sh" for name, _ in steps((ROOT / page).read_text(encoding="utf-8"))), page


def test_a_command_that_exits_otherwise_is_noticed(tmp_path):
    page = "```python\n# a.py\nraise SystemExit(4)\n```\n\n```sh\npython a.py  # exit code 4\npython a.py\n```\n"
    assert [(command, code) for command, code, _ in run(page, tmp_path)] == [("python a.py", 4)]
