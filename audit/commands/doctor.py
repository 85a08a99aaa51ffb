"""``dpassay doctor``: what the environment can do, one line each."""

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.plain import json_text
from dpassay.audit.terminal.options import AsJson
from dpassay.audit.version import installed_version
from dpassay.reference.errors import printable
from dpassay.reference.extras import installing, version_of

_EXTRAS = {  # of the package: what works with it
    "": "the algorithms and the accountant",
    "audit": "auditors and the command line",
    "proofs": "the proof ledger, dpassay prove",
    "plots": "figures of dpassay reproduce",
}
_NEEDED = ("", "audit")
_NEED = re.compile(r"""([\w.-]+)(?:\[.*\])?\s*\(?(?:>=\s*([\d.]+))?[^;]*(?:;.*extra\s*==\s*['"]([\w-]+)['"].*)?""")
_MARK = {"ok": ("ok", "green"), "note": ("--", "yellow"), "bad": ("NO", "bold red")}


class Line(NamedTuple):
    """One thing that was looked at: ``state`` is ``ok``, ``note`` (optional, missing) or ``bad`` (commands fail)."""

    name: str
    state: str
    text: str


def doctor(as_json: AsJson = False) -> None:
    """Say what this environment can do: versions, optional packages, cores, folders.

    Exit code 0 if everything that is needed is there (what is optional is only named), else 1.
    """
    lines = list(checks())
    failed = [line.name for line in lines if line.state == "bad"]
    if as_json:
        told = [one._asdict() for one in lines]
        print(json_text({"dpassay": installed_version(), "fine": not failed, "checks": told}))
    else:
        console = Console(soft_wrap=True, highlight=False)
        for line in lines:
            mark, style = _MARK[line.state]
            console.print(Text.assemble((mark, style), f"  {line.name:14} {printable(line.text)}"))
        ending = f"Not as it should be: {', '.join(failed)}." if failed else "Everything that is needed is there."
        console.print(Text(ending))
    raise typer.Exit(FAILED if failed else FINE)


def checks() -> Iterator[Line]:
    """All lines, in the order in which they are printed."""
    yield Line("dpassay", "ok", f"{installed_version()}, Python {platform.python_version()}, {platform.platform()}")
    yield from packages()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Line("cores", "ok", f"{usable}: --jobs {usable} is a good choice")
    yield folder("reports", Path("reports"), "audits keep their rows and witnesses here, or say --output")
    yield folder("temporary", Path(tempfile.gettempdir()), "worker processes need it; set TMPDIR")


def packages() -> Iterator[Line]:
    """What the package and its extras need, from its own metadata: one line each group."""
    try:
        wanted = [_NEED.fullmatch(text) for text in requires("dpassay") or []]
    except PackageNotFoundError:
        yield Line("packages", "note", "dpassay is not installed as a package: what it needs cannot be compared")
        return
    for extra, purpose in _EXTRAS.items():
        has, wrong = [], []
        for name, least, of in (one.groups("") for one in wanted if one is not None):
            if name == "dpassay" or of != extra:
                continue
            found = version_of(name)
            if found is None:
                wrong.append(f"missing {name}>={least}")
                continue
            has.append(f"{name} {found}")
            if _numbers(found) < _numbers(least):
                wrong.append(f"{name} {found}, needs {least}")
        title = f"extra {extra}" if extra else "packages"
        if wrong:
            install = installing(extra) if extra else "pip install . in a clone of dpassay"
            state = "bad" if extra in _NEEDED else "note"
            yield Line(title, state, f"{'; '.join(wrong)} (for {purpose}): {install}")
        elif has:
            yield Line(title, "ok", f"{', '.join(has)}: {purpose}")


def _numbers(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text.split("+")[0])[:3]]


def folder(name: str, path: Path, why: str) -> Line:
    """Can a file be made there (or the folder itself)? Nothing stays behind."""
    place = next(one for one in (path.resolve(), *path.resolve().parents) if one.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=place):
            pass
        free = shutil.disk_usage(place).free / 2**30
    except OSError as error:
        return Line(name, "bad", f"{path}: {error.strerror or error}: {why}")
    full = free < 0.1
    text = f"{path} can be written to, {free:.1f} GiB free" + (f": {why}" if full else "")
    return Line(name, "note" if full else "ok", text)
