"""What commands print, write and exit with is what was recorded: changes for users are seen, and then wanted.

python tests/frozen/test_frozen.py             # record all anew
python tests/frozen/test_frozen.py NAME ...    # only these
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
INVOCATIONS: dict[str, str] = tomllib.loads((HERE / "invocations.toml").read_text())["invocations"]
TEXT = {".json", ".jsonl", ".xml", ".md", ".toml", ".html"}
SHORT = 40  # lines of a file that are kept
WIDTH = 240  # characters of a line that are kept
LIMIT = 600  # seconds; the slowest takes 20 on an idle machine


def plain(text: str, folder: Path) -> str:
    """The text without what differs between two machines: paths, times, versions, memory."""
    text = text.replace(str(folder.resolve()), "HERE").replace(str(folder), "HERE")
    text = text.replace(str(HERE.parents[1]), "CHECKOUT")
    text = re.sub(r"\b\d+(\.\d+)?( ?ms| ?s| seconds| minutes| min)\b", "TIME", text)
    text = re.sub(r" +(\d+\.\d\d|TIME) +(?=violated|consistent|inconclusive|\(no)", " TIME ", text)
    text = re.sub(r'("(seconds|created|timestamp|time|version|python|numpy|scipy|code)": ).*', r"\1...", text)
    text = re.sub(r' (time|timestamp|hostname)="[^"]*"', r' \1="..."', text)
    return "\n".join(line.rstrip()[:WIDTH] for line in text.splitlines())


def run(name: str) -> str:
    """Exit code, standard output and error, and the files that were written (a short one with its text)."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "here"
        shutil.copytree(HERE / "inputs", folder)
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        command = INVOCATIONS[name].replace("dpassay", f"{sys.executable} -m dpassay.audit", 1)
        width = {"COLUMNS": "120", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
        how = {"cwd": folder, "env": {**os.environ, **width}, "capture_output": True, "text": True, "timeout": LIMIT}
        done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, **how)
        parts = [f"$ {INVOCATIONS[name]}", f"exit {done.returncode}", "--- stdout", plain(done.stdout, folder)]
        parts += ["--- stderr", plain(done.stderr, folder), "--- files"]
        for path in sorted(folder.rglob("*")):
            hidden = any(part[0] == "." for part in path.relative_to(folder).parts)
            if path.is_file() and path.suffix in TEXT and not hidden and before.get(path) != path.read_bytes():
                lines = plain(path.read_text(encoding="utf-8", errors="replace"), folder).splitlines()
                long, short = f"more than {SHORT} lines", f"{len(lines)} lines"
                parts += [f"{path.relative_to(folder)}: {long if len(lines) > SHORT else short}"]
                parts += lines if len(lines) <= SHORT else []
        return "\n".join(parts) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", INVOCATIONS)
def test_an_invocation_does_what_was_recorded(name):
    assert run(name) == (HERE / "recorded" / f"{name}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or INVOCATIONS:
        (HERE / "recorded" / f"{name}.txt").write_text(run(name), encoding="utf-8")
