"""Bugs in the source of the algorithms, and what `dpassay audit` says of each.

They are patches, read from a folder of TOML, and what the operators make. Each is planted in a copy of the package, and
the command is run there on rows that use the line, until one of them ends with exit code 1. Run as a program with keys
of rows, it prints a digest of what they do: does a bug change any run?
"""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from dpassay.audit.crosscheck.recording import RecordingTape, VectorTape, events_of, run_again
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.mutate import planted
from dpassay.audit.mutate.lent import HOME
from dpassay.audit.mutate.operators import Site, sites
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES, find
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import parse_toml, read_text

BUGS = HOME.parent / "tests" / "bugs"  # of the checkout whose code is judged
#: files of `reference/` that are no algorithms: their bugs are the spine's, which other tests hold
SPINE = ("tape.py", "transcript.py", "case.py", "space.py", "noise.py", "equality.py")
FOLDERS = ("accounting", "laws", "problems", "solvers")
ONLY_NOISE = (*planted.ONLY_NOISE, "threshold_bare", "released_twice", "one_step_more")
READINGS = ("repaired", "baseline")  # a printed reading shows findings anyway
TRIED = 4  # rows, where a bug changes nothing on the first
UNDECIDED = ("missed", "within the claim", "no change")  # another row may show it; the gravest is kept
LIMIT = 180.0  # processor seconds after which a run is stopped (and counts as not caught)
PATIENCE = 20.0  # times that long by the clock, for one that waits for ever
_LIMITED = f"""
import resource, runpy
resource.setrlimit(resource.RLIMIT_CPU, ({LIMIT:.0f}, {LIMIT:.0f}))
runpy.run_module("dpassay.audit", run_name="__main__", alter_sys=True)
"""


def plant(text: str, site: Site) -> str:
    """The file with the bug: one place changed, one import added."""
    return with_import(text[: site.first] + site.text + text[site.last :])


def with_import(text: str) -> str:
    head = re.match(r'("""(?s:.*?)"""\n)?\n*(from __future__ import annotations\n)?', text)
    return f"{text[: head.end()]}from dpassay.reference import _planted\n{text[head.end() :]}"


@dataclass(frozen=True)
class Bug:
    """One bug in one file of ``reference/``: the whole text with it; the other fields are those of a patch."""

    name: str
    file: str
    line: int
    text: str
    must: bool
    why: str
    only_noise: bool = False
    row: str = ""


@dataclass(frozen=True)
class Patch:
    """A bug as a person makes it: ``old`` (once in the file) becomes ``new``; `README.md` explains the fields."""

    name: str
    file: str
    old: str
    new: str
    why: str
    set: str = ""
    must: bool = True
    only_noise: bool = False
    thread: str = ""
    row: str = ""
    about: str = ""
    first_sight: str = ""
    survives: str = ""

    def bug(self) -> Bug:
        """The bug in today's file; if the old text is not there once, the algorithm has changed, and the patch must."""
        inside = ".." not in PurePosixPath(self.file).parts and (HOME / self.file).is_file()
        require(inside, f"patch {self.name}", self.file, "must name a file below reference/")
        text = (HOME / self.file).read_text(encoding="utf-8")
        count = text.count(self.old)
        require(count == 1, f"patch {self.name} ({self.file})", count, "the old text must be there exactly once")
        changed = text.replace(self.old, self.new)
        changed = with_import(changed) if "_planted." in self.new else changed
        try:
            ast.parse(changed)
        except SyntaxError as error:
            raise BadInput(f"patch {self.name} ({self.file})", str(error), "the new text must be Python") from None
        line = text[: text.index(self.old)].count("\n") + 1
        return Bug(self.name, self.file, line, changed, self.must, self.why, self.only_noise, self.row)


def read_patches(folder: Path = BUGS) -> list[Patch]:
    """The tables ``[[bug]]`` of every TOML file of a folder, in the order of the files."""
    documents = [parse_toml(read_text(path, "file of bugs"), str(path)) for path in sorted(folder.glob("*.toml"))]
    found = [Patch(**table) for document in documents for table in document.get("bug", [])]
    twice = [name for name, count in Counter(one.name for one in found).items() if count > 1]
    require(not twice, "bugs", ", ".join(twice), "each bug has a name of its own")
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
            only_noise = site.operator.name in ONLY_NOISE
            yield Bug(name, file, site.line, plant(text, site), site.operator.must, site.operator.why, only_noise)


def rows_of(bug: Bug | Patch) -> list[Case]:
    """The row that the bug names, those of the algorithm in its file, of its paper, or one of DP-SGD."""
    named = find(bug.row) if bug.row else []
    room, _, name = bug.file.removesuffix(".py").partition("/")
    cases = [case for case in CASES if case.reading in READINGS]
    own = [case for case in cases if case.id == f"{room}/{name}"]
    return named or own or [case for case in cases if case.paper == room] or find("baselines/dp_sgd:full-batch")


@dataclass(frozen=True)
class Judged:
    """What the command said of one bug.

    ``no change``: missed, and no run differs, on the rows' own pairs and on the test vectors of their algorithms;
    ``within the claim``: missed, and the accountant, which sees the changed noise, still finds less than is claimed.
    """

    bug: str
    must: bool
    why: str
    rows: tuple[str, ...]
    exit_code: int | None
    answer: str  # caught, missed, no change, within the claim; not accused, accused; crashed, too slow
    seconds: float  # of the processor


def run(bugs: Sequence[Bug], jobs: int, seed: int) -> Iterator[Judged]:
    """Judge every bug, in order as they are done; each runs the command in a process of its own."""
    yield from Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
        delayed(judge)(bug, rows_of(bug)[:TRIED], seed) for bug in bugs
    )


def judge(bug: Bug, rows: Sequence[Case], seed: int = 0) -> Judged:
    """One bug, and the user's command on the rows, one after the other, until one ends with exit code 1."""
    found = None
    for case in rows:
        one = _judged(bug, case.key, seed)
        if one.answer not in UNDECIDED:
            return one
        found = min(filter(None, (found, one)), key=lambda each: UNDECIDED.index(each.answer))
    assert found is not None
    return found


def _judged(bug: Bug, key: str, seed: int) -> Judged:
    with tempfile.TemporaryDirectory(prefix="dpassay-mutant-") as folder:
        root = planted_copy(Path(folder), bug)
        report = Path(folder) / "report.json"
        code, seconds = run_command(root, ["audit", key, "--jobs", "1", "--seed", str(seed), "--output", str(report)])
        rows = json.loads(report.read_text(encoding="utf-8"))["rows"] if report.exists() else []
        numbers = [(row["accounted"], row["claimed"]) for row in rows]
        within = bool(rows) and all(isinstance(spent, float) and spent <= claimed for spent, claimed in numbers)
        answer = _answer(bug, code, within)
        if answer == "missed" and not _changes(root, key, bug):
            answer = "no change"
    return Judged(bug.name, bug.must, bug.why, (key,), code, answer, seconds)


def _answer(bug: Bug, code: int | None, within: bool) -> str:
    if code not in (0, 1, 3):
        return "too slow" if code is None else "crashed"
    if not bug.must:
        return "accused" if code == 1 else "not accused"
    if code == 1:
        return "caught"
    return "within the claim" if bug.only_noise and within else "missed"


def planted_copy(folder: Path, bug: Bug) -> Path:
    root = folder / "dpassay"
    for name in ("reference", "audit", "proofs_check"):
        shutil.copytree(HOME.parent / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "reference" / bug.file).write_text(bug.text, encoding="utf-8")
    shutil.copy(Path(planted.__file__), root / "reference" / "_planted.py")
    return folder


def run_command(root: Path, words: Sequence[str]) -> tuple[int | None, float]:
    """Exit code, None where it took too long, and processor seconds: the same on a busy machine."""
    silent: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    process = subprocess.Popen([sys.executable, "-c", _LIMITED, *words], env=_environment(root), cwd=root, **silent)
    watch = threading.Timer(PATIENCE * LIMIT, process.kill)
    watch.start()
    _, status, used = os.wait4(process.pid, 0)
    watch.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return (process.returncode if process.returncode >= 0 else None), used.ru_utime + used.ru_stime


def _environment(root: Path) -> dict[str, str]:
    """The copy comes first on the path; one thread of linear algebra, as in the suite."""
    return os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _changes(root: Path, key: str, bug: Bug) -> bool:
    """Does any run differ without the bug? The copy is as it should be from here on."""

    def digest_there() -> str:
        words, how = [sys.executable, __file__, key], {"env": _environment(root), "cwd": root}
        return subprocess.run(words, **how, capture_output=True, text=True, check=False).stdout

    found = digest_there()
    shutil.copy(HOME / bug.file, root / "dpassay" / "reference" / bug.file)
    return found != digest_there()


def digest(case: Case, vectors: bool = True) -> str:
    """A hash of all that runs on both sides of the row's pair put on the tape, and those on the algorithm's vectors."""
    instance, found = case.build(), hashlib.sha256()
    for problem in (instance.pair.here, instance.pair.there):
        for seed in range(3):
            tape = RecordingTape(seed)
            output = instance.mechanism(problem, tape)
            found.update(f"{events_of(tape)} {_plain(output)}".encode())
    for vector in load(case.id) if vectors else ():
        if vector["expect"] == "run" and vector["reading"] == case.reading:
            again = VectorTape(vector["events"])
            try:
                output = run_again(instance.run, vector, again)
            except Exception as error:  # a changed run asks for what the vector does not have, or fails: that is told
                output = f"{type(error).__name__}: {error}"
            found.update(f"{events_of(again)} {_plain(output)}".encode())
    return found.hexdigest()


def _plain(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return value.tobytes().hex()
    if isinstance(value, dict):
        return str({name: _plain(one) for name, one in sorted(value.items()) if not name.startswith("_")})
    if isinstance(value, list | tuple):
        return str([_plain(one) for one in value])
    return _plain(vars(value)) if hasattr(value, "__dict__") else repr(value)


if __name__ == "__main__":
    print(*(digest(find(key)[0]) for key in sys.argv[1:]))
