"""A bug in the source: a patch of one file, what it does in a sentence, and whether it must be caught."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpassay.reference.errors import require

from .operators import plant, sites
from .planted import SCALES

#: files of `reference/` that are no algorithms: their bugs are the spine's, which other tests hold
SPINE = ("tape.py", "replay.py", "transcript.py", "case.py", "space.py", "noise.py", "once.py")
FOLDERS = ("accounting", "laws", "problems", "solvers")


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
        thread: where somebody made this mistake (``owner/repository#number``), or empty.
    """

    name: str
    file: str
    line: int
    text: str
    must: bool
    why: str
    thread: str = ""
    only_noise: bool = False


@dataclass(frozen=True)
class Patch:
    """A bug as a person makes it: ``old`` (once in the file) becomes ``new``."""

    name: str
    file: str
    old: str
    new: str
    why: str
    must: bool = True
    thread: str = ""
    only_noise: bool = False

    def bug(self, reference: Path) -> Bug:
        """The bug in today's file.

        Raises:
            BadInput: the old text is not there, or more than once: the algorithm has changed, and the patch must.
        """
        text = (reference / self.file).read_text(encoding="utf-8")
        count = text.count(self.old)
        require(count == 1, f"patch {self.name} ({self.file})", count, "the old text must be there exactly once")
        changed = text.replace(self.old, self.new)
        if "_planted." in self.new:
            mark = "from __future__ import annotations\n"
            changed = changed.replace(mark, mark + "from dpassay.reference import _planted\n", 1)
        ast.parse(changed)
        line = text[: text.index(self.old)].count("\n") + 1
        return Bug(self.name, self.file, line, changed, self.must, self.why, self.thread, self.only_noise)


def generated(reference: Path) -> Iterator[Bug]:
    """Every operator at every place of every algorithm's file, in the order of the files."""
    for path in sorted(reference.rglob("*.py")):
        file = path.relative_to(reference).as_posix()
        if file in SPINE or file.split("/")[0] in FOLDERS:
            continue
        text = path.read_text(encoding="utf-8")
        seen: Counter[str] = Counter()
        for site in sites(text):
            name = f"{file.removesuffix('.py')}:{site.line}:{site.operator.name}"
            seen[name] += 1
            name += f":{seen[name]}" if seen[name] > 1 else ""
            scale = site.operator.name in (*SCALES, "threshold_bare", "released_twice", "one_step_more")
            yield Bug(name, file, site.line, plant(text, site), site.operator.must, site.operator.why, "", scale)
