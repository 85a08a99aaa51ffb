"""Writes what one run of the fast tests said into ``docs/versions.md``: ``noxfile.py`` calls it after each session.

    python docs/versions.py --session newest --junit junit.xml

It runs in the environment that was tested, and asks that environment for its versions. The row of the session is
replaced, the others are kept; nothing in it changes from one run to the next, so that the page only changes with
what was found.
"""

from __future__ import annotations

import argparse
import platform
import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from xml.etree import ElementTree as Xml

from dpassay.audit.marked import Block

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "versions.md"
VERSIONS = Block("versions")
USED = ("audit", "proofs", "plots")  # the extras whose versions are told
HEAD = ("| Dependencies | Python | Tests | Installed |", "|---|---|---|---|")
NEWEST, LOWEST = "newest", "lowest"


def declared() -> dict[str, str]:
    """Each library that a user needs, and its lowest declared version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for name in USED for one in project["optional-dependencies"][name]]
    found = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", one) for one in [*project["dependencies"], *extras]]
    return {one[1]: one[2] for one in found if one}


def tried() -> list[str]:
    """The Pythons that ``noxfile.py`` asks for."""
    asked = re.search(r"^PYTHONS = \((.*)\)$", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE)
    return re.findall(r"3\.\d+", asked[1]) if asked else []


def installed() -> str:
    """The versions in this environment, in one line."""
    found = []
    for name in sorted(declared()):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} not installed")
    return ", ".join(found)


def counted(report: Path) -> str:
    """``4,200 passed, 5 skipped, 0 failed``, from a report of pytest."""
    suite = Xml.parse(report).getroot()[0].attrib
    run, skipped, failures, errors = (int(suite[name]) for name in ("tests", "skipped", "failures", "errors"))
    if not run:
        raise ValueError(f"{report}: no test was run")
    return f"{run - skipped - failures - errors:,} passed, {skipped} skipped, {failures + errors} failed"


def rows_of(text: str) -> dict[tuple[str, str], str]:
    """The rows of a page, by dependencies and Python without its last number."""
    found = {}
    for line in VERSIONS.read(text, PAGE.name).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0] in (NEWEST, LOWEST):
            found[cells[0], ".".join(cells[1].split(".")[:2])] = line
    return found


def written(text: str, session: str, python: str, tests: str, versions: str) -> str:
    """The page with the row of this session, and a sentence on the Pythons that nobody has run."""
    rows = rows_of(text) | {
        (session, ".".join(python.split(".")[:2])): f"| {session} | {python} | {tests} | {versions} |"
    }
    order = sorted(rows, key=lambda key: (key[0] == LOWEST, [int(part) for part in key[1].split(".")]))
    lines = [*HEAD, *(rows[key] for key in order)]
    missing = [one for one in tried() if (NEWEST, one) not in rows]
    if missing:
        lines += ["", f"Not run with the newest versions: Python {', '.join(missing)}."]
    return VERSIONS.written(text, "\n".join(lines), PAGE.name)


def main() -> None:
    """Replace the row of one session."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--session", choices=(NEWEST, LOWEST), required=True)
    parser.add_argument("--junit", type=Path, required=True, help="of pytest (--junitxml)")
    words = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    told = written(page, words.session, platform.python_version(), counted(words.junit), installed())
    PAGE.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
