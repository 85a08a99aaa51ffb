"""``dpassay doctor``: what the environment can do, one line each."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.plain import json_text
from dpassay.audit.terminal.options import AsJson
from dpassay.audit.version import installed_version
from dpassay.reference.errors import printable
from dpassay.reference.extras import installing

_EXTRAS = {  # of the package: what works with it; the first is needed for the command line
    "audit": "auditors and the command line",
    "proofs": "the proof ledger, dpassay prove",
    "plots": "figures of dpassay reproduce and --plot",
}
_NEEDED = ("", "audit")
_MARK = {"ok": ("ok", "green"), "note": ("--", "yellow"), "bad": ("NO", "bold red")}


@dataclass(frozen=True)
class Line:
    """One thing that was looked at.

    Args:
        name: what it is.
        state: ``ok``, ``note`` (something optional is missing) or ``bad`` (commands will fail).
        text: what was found, and what to do about it.
    """

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
        print(json_text({"dpassay": installed_version(), "fine": not failed, "checks": [vars(one) for one in lines]}))
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
    yield _cores()
    yield folder("reports", Path("reports"), "audits keep their rows and witnesses here, or say --output")
    yield folder("temporary", Path(tempfile.gettempdir()), "worker processes need it; set TMPDIR")


def packages() -> Iterator[Line]:
    """What the package and its extras need, from its own metadata: one line each group."""
    try:
        wanted = requires("dpassay") or []
    except PackageNotFoundError:
        yield Line("packages", "note", "dpassay is not installed as a package: what it needs cannot be compared")
        return
    for extra in ("", *_EXTRAS):
        found = [one for one in map(_requirement, wanted) if one is not None and one[2] == extra]
        if not found:
            continue
        told = [(name, least, _version(name)) for name, least, _ in found]
        missing = [f"{name}>={least}" for name, least, has in told if has is None]
        old = [f"{name} {has}, needs {least}" for name, least, has in told if has is not None and _older(has, least)]
        have = ", ".join(f"{name} {has}" for name, _, has in told if has is not None)
        title = f"extra {extra}" if extra else "packages"
        if not (missing or old):
            yield Line(title, "ok", f"{have}: {_EXTRAS[extra]}" if extra else have)
            continue
        problem = "; ".join(filter(None, (f"missing {', '.join(missing)}" if missing else "", *old)))
        install = installing(extra) if extra else "pip install . in a clone of dpassay"
        purpose = f" (for {_EXTRAS[extra]})" if extra else ""
        yield Line(title, "bad" if extra in _NEEDED else "note", f"{problem}{purpose}: {install}")


def _requirement(text: str) -> tuple[str, str, str] | None:
    """``numpy>=2.0; extra == "audit"`` as name, least version, extra; None for what names the package itself."""
    name, _, marker = text.partition(";")
    found = re.fullmatch(r"\s*([\w.-]+)\s*\(?(?:>=\s*([\d.]+))?.*", name)
    extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", marker)
    if found is None or found[1] == "dpassay":
        return None
    return found[1], found[2] or "0", extra[1] if extra else ""


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _older(has: str, least: str) -> bool:
    def numbers(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"\d+", text.split("+")[0])[:3])

    return numbers(has) < numbers(least)


def _cores() -> Line:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = _quota()
    share = usable if allowed is None else min(usable, allowed)
    limited = f", of which this container may use {share:g}" if share < usable else ""
    return Line("cores", "ok", f"{usable}{limited}: --jobs {max(1, int(share))} is a good choice")


def _quota() -> float | None:
    """Cores that a control group allows, if it limits them."""
    try:
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return None if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        return None


def folder(name: str, path: Path, why: str) -> Line:
    """Can a file be made there (or the folder itself)? Nothing stays behind."""
    place = path.resolve()
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.NamedTemporaryFile(dir=place):
            pass
        free = shutil.disk_usage(place).free / 2**30
    except OSError as error:
        return Line(name, "bad", f"{path}: {error.strerror or error}: {why}")
    full = free < 0.1
    text = f"{path} can be written to, {free:.1f} GiB free" + (f": {why}" if full else "")
    return Line(name, "note" if full else "ok", text)
