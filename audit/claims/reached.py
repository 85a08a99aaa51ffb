"""What a claim reaches: the modules of the project that its code imports, directly or not, and its files.

Rows are kept under a hash of all that decides them, and need not be made again.
"""

import hashlib
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.row import Row
from dpassay.audit.running.report_file import load, save
from dpassay.audit.search.coverage import own_functions
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import inside
from dpassay.reference.kept import environment
from dpassay.reference.sources import code_of as code_of_modules
from dpassay.reference.sources import forget, own, source

from .audited import Subject, audited, named, placed, resolve
from .model import Claim, ClaimsFile, Lines

_LIBRARIES = tuple(Path(sysconfig.get_paths()[name]).resolve() for name in ("stdlib", "platstdlib"))
FOLDER = ".dpassay_cache"
_MOST = 500  # rows that are kept
_ABOUT = {"name", "severity", "owner", "cite"}  # they change nothing that is computed


def code_of(claim: Claim, folder: Path, confidence: float) -> str:
    """A hash of all that decides a claim's row, but for the versions of libraries.

    Its parameters and confidence; the modules that its code and what audits it reach, followed through the project and
    not into installed packages; the files that it names, and those of its program.
    """
    code = [name.partition(":")[0] for name in (claim.algorithm, claim.space) if name and is_code(name)]
    files = [hashlib.sha256(path.read_bytes()).hexdigest() for path in _files(claim, folder)]
    parameters = claim.model_dump_json(exclude=_ABOUT)
    return code_of_modules([audited.__module__, *code], parameters, repr(confidence), *files, ours=_ours)[:24]


def look_over(file: ClaimsFile, numbers: Sequence[int], lines: Lines) -> dict[int, str]:
    """The hash of each claim, by position: whatever a claim names must be there, before the first one is run."""
    forget()
    here, found = lines.path.parent, {}
    if str(here.resolve()) not in sys.path:  # modules may also lie beside the claims
        sys.path.insert(0, str(here.resolve()))
    for number in numbers:
        try:
            resolve(file.claim[number])
            found[number] = code_of(file.claim[number], here, file.confidence)
        except BadInput as error:
            raise placed(error, number, file.claim[number], lines) from None
    return found


def _ours(name: str) -> bool:
    """Of this package, or with a source that lies in no installed package and not in Python."""
    names = (name.partition(".")[0], name)
    return own(name) or not any(_installed(path) for one in names if (path := source(one)) is not None)


def lines_of(subject: Subject) -> frozenset[str]:
    """The lines of the algorithm's own files, stripped."""
    run = getattr(subject.run, "mechanism", subject.run)
    names = {function.__code__.co_filename for function in own_functions(run)}
    texts = [Path(name).read_text(encoding="utf-8", errors="replace") for name in sorted(names) if Path(name).is_file()]
    return frozenset(line.strip() for text in texts for line in text.splitlines())


def _files(claim: Claim, folder: Path) -> list[Path]:
    """Named files, and words of a command that are files: the program itself, its arguments."""
    for number, name in enumerate(claim.files):
        field = f"files[{number}]"
        require(inside(folder, name, field).is_file(), field, name, "there is no such file")
    words = (claim.program or "").split()
    return [*(folder / name for name in claim.files), *(Path(word) for word in words if Path(word).is_file())]


@cache
def _installed(path: Path) -> bool:
    if not {"site-packages", "dist-packages"}.isdisjoint(path.parts):
        return True
    return any(path.resolve().is_relative_to(one) for one in _LIBRARIES)


class Cache:
    """Rows beside the claims file, one file each.

    A row comes back only for the same code, data, parameters, interpreter and libraries. What cannot be read counts as
    not there.
    """

    def __init__(self, folder: Path):
        self._folder = folder / FOLDER

    def get(self, code: str, claim: Claim) -> Row | None:
        """The row, marked as kept, under the claim's present name and owner."""
        with suppress(BadInput, ValueError):
            (row,) = load(self._path(code))
            return replace(named(row, claim), cached=True)
        return None

    def put(self, code: str, row: Row) -> None:
        """Keep a row; a folder that cannot be written to keeps none."""
        with suppress(BadInput, OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / ".gitignore").write_text("*\n", encoding="utf-8")
            save(self._path(code), [row], replace=True)
            kept = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
            for path in kept[_MOST:]:
                path.unlink(missing_ok=True)

    def _path(self, code: str) -> Path:
        return self._folder / f"{hashlib.sha256(f'{code} {environment()}'.encode()).hexdigest()[:32]}.json"
