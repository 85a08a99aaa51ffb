"""Bugs in the source: patches read from a folder of TOML, and those that the operators make."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pydantic import ConfigDict, StrictBool, TypeAdapter
from pydantic.dataclasses import dataclass

from dpassay.audit.plain import checked
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import parse_toml, read_text

from .lent import HOME
from .operators import plant, sites
from .planted import ONLY_NOISE

#: files of `reference/` that are no algorithms: their bugs are the spine's, which other tests hold
SPINE = ("tape.py", "replay.py", "transcript.py", "case.py", "space.py", "noise.py", "equality.py")
FOLDERS = ("accounting", "laws", "problems", "solvers")
CHECKOUT = HOME.parent / "tests" / "bugs"  # of the checkout that runs; no part of an installed package


@dataclass(frozen=True)
class Bug:
    """One bug in one file.

    Args:
        name: unique.
        file: path below ``reference/``.
        line: of the change in the unchanged file.
        text: the whole file with the bug.
        must: it must be caught wherever it changes a run.
        why: what is wrong with it, or why it is harmless.
        only_noise: it changes noise scales or the number of releases and nothing else, so the accountant alone can say
            whether the claim holds (a schedule that is calibrated by a dry run of the changed code makes up for it).
        row: key of the catalogue row to judge it on; empty: the rows that use the line.
    """

    name: str
    file: str
    line: int
    text: str
    must: bool
    why: str
    only_noise: bool = False
    row: str = ""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Patch:
    """A bug as a person makes it: ``old`` (once in the file) becomes ``new``; a table ``[[bug]]`` of a TOML file.

    Args:
        set: who wrote it (one word).
        thread: where somebody made this mistake (``owner/repository#number``), or empty.
        about: the kind of mistake, in a word or two.
        first_sight: missed when it was first judged, and what was mended then.
        survives: not reported today, and why.
    """

    name: str
    file: str
    old: str
    new: str
    why: str
    set: str = ""
    must: StrictBool = True
    only_noise: StrictBool = False
    thread: str = ""
    row: str = ""
    about: str = ""
    first_sight: str = ""
    survives: str = ""

    def bug(self) -> Bug:
        """The bug in today's file.

        Raises:
            BadInput: the old text is not there, or more than once: the algorithm has changed, and the patch must; or
                the file is none of the reference, or the new text is no Python.
        """
        parts = PurePosixPath(self.file).parts
        inside = ".." not in parts and not self.file.startswith("/") and (HOME / self.file).is_file()
        require(inside, f"patch {self.name}", self.file, "must name a file below reference/")
        text = (HOME / self.file).read_text(encoding="utf-8")
        count = text.count(self.old)
        require(count == 1, f"patch {self.name} ({self.file})", count, "the old text must be there exactly once")
        changed = text.replace(self.old, self.new)
        if "_planted." in self.new:
            mark = "from __future__ import annotations\n"
            changed = changed.replace(mark, mark + "from dpassay.reference import _planted\n", 1)
        try:
            ast.parse(changed)
        except SyntaxError as error:
            raise BadInput(f"patch {self.name} ({self.file})", str(error), "the new text must be Python") from None
        line = text[: text.index(self.old)].count("\n") + 1
        return Bug(self.name, self.file, line, changed, self.must, self.why, self.only_noise, self.row)


_PATCHES = TypeAdapter(dict[str, list[Patch]])


def read_patches(folder: Path) -> list[Patch]:
    """The tables ``[[bug]]`` of every TOML file of a folder, in the order of the files.

    Raises:
        BadInput: no such folder, no bug in it, two of one name, or a table with a field that is wrong or missing.
    """
    require(folder.is_dir(), "--bugs", str(folder), "must be a folder of TOML files with tables [[bug]]")
    found: list[Patch] = []
    for path in sorted(folder.glob("*.toml")):
        document = parse_toml(read_text(path, "file of bugs"), str(path))
        found += checked(_PATCHES, {"bug": document.get("bug", [])}, str(path))["bug"]
    require(bool(found), "--bugs", str(folder), "holds no table [[bug]]")
    twice = [name for name, count in Counter(one.name for one in found).items() if count > 1]
    require(not twice, "--bugs", ", ".join(twice), "each bug has a name of its own")
    return found


def generated() -> Iterator[Bug]:
    """Every operator at every place of every algorithm's file, in the order of the files."""
    for path in sorted(HOME.rglob("*.py")):
        file = path.relative_to(HOME).as_posix()
        if file in SPINE or file.split("/")[0] in FOLDERS:
            continue
        text = path.read_text(encoding="utf-8")
        seen: Counter[str] = Counter()
        for site in sites(text):
            name = f"{file.removesuffix('.py')}:{site.line}:{site.operator.name}"
            seen[name] += 1
            name += f":{seen[name]}" if seen[name] > 1 else ""
            scale = site.operator.name in (*ONLY_NOISE, "threshold_bare", "released_twice", "one_step_more")
            yield Bug(name, file, site.line, plant(text, site), site.operator.must, site.operator.why, scale)
