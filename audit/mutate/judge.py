"""Plant one bug in a copy of the package, run `dpassay audit` on the rows that use the line, read the exit code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpassay.reference.case import Case

from . import planted
from .bugs import Bug
from .lent import HOME

UNDECIDED = ("missed", "within the claim", "no change")  # another row may show it; the gravest is kept
FOLDERS = ("reference", "audit", "proofs_check")
LIMIT = 180.0  # processor seconds after which a run is stopped (and counts as not caught)
PATIENCE = 20.0  # times that long by the clock, for one that waits for ever
_LIMITED = f"""
import resource, runpy
resource.setrlimit(resource.RLIMIT_CPU, ({LIMIT:.0f}, {LIMIT:.0f}))
runpy.run_module("dpassay.audit", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True)
class Judged:
    """What the command said of one bug.

    ``answer``: ``caught``, ``missed``, ``not accused`` (harmless, and passed), ``accused`` (harmless, but it failed),
    ``no change`` (missed, and no run differs: on the rows' own pairs, and on data sets, sizes and released values drawn
    from all of their spaces), ``within the claim`` (missed, and the accountant, which sees the changed noise, still
    finds less than is claimed), ``crashed``, ``too slow``, ``no row``.
    ``seconds``: processor time of the command.
    """

    bug: str
    must: bool
    why: str
    rows: tuple[str, ...]
    exit_code: int | None
    verdicts: tuple[str, ...]
    answer: str
    seconds: float


def judge(bug: Bug, rows: Sequence[Case], seed: int = 0, at_once: int = 1) -> Judged:
    """One bug, and the user's command on the rows that use the line, until one of them ends with exit code 1.

    Args:
        rows: that use the line, the first choice first.
        at_once: rows of one command.
    """
    found = Judged(bug.name, bug.must, bug.why, (), None, (), "no row", 0.0)
    for start in range(0, len(rows), at_once):
        one = _judged(bug, tuple(case.key for case in rows[start : start + at_once]), seed)
        if one.answer not in UNDECIDED:
            return one
        found = max(found, one, key=lambda each: (*UNDECIDED, "no row")[::-1].index(each.answer))
    return found


def _judged(bug: Bug, keys: tuple[str, ...], seed: int) -> Judged:
    with tempfile.TemporaryDirectory(prefix="dpassay-mutant-") as folder:
        root = planted_copy(Path(folder), bug)
        report = Path(folder) / "report.json"
        words = ["audit", *keys, "--jobs", "1", "--seed", str(seed), "--output", str(report)]
        code, seconds = _run(root, words)
        verdicts, within = _read(report)
        answer = _answer(bug, code, within)
        if answer == "missed" and not _changes(root, keys, bug):
            answer = "no change"
    return Judged(bug.name, bug.must, bug.why, keys, code, verdicts, answer, seconds)


def _answer(bug: Bug, code: int | None, within: bool) -> str:
    if code is None:
        return "too slow"
    if code not in (0, 1, 3):
        return "crashed"
    if not bug.must:
        return "accused" if code == 1 else "not accused"
    if code == 1:
        return "caught"
    return "within the claim" if bug.only_noise and within else "missed"


def planted_copy(folder: Path, bug: Bug) -> Path:
    """The package with the bug, below a folder that is returned, for ``PYTHONPATH``."""
    root = folder / "dpassay"
    for name in FOLDERS:
        shutil.copytree(HOME.parent / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "reference" / bug.file).write_text(bug.text, encoding="utf-8")
    shutil.copy(Path(planted.__file__), root / "reference" / "_planted.py")
    return folder


def _run(root: Path, words: Sequence[str]) -> tuple[int | None, float]:
    """Exit code, None where it took too long, and processor seconds: the same on a busy machine."""
    process = subprocess.Popen(
        [sys.executable, "-c", _LIMITED, *words],
        env=_environment(root),
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    watch = threading.Timer(PATIENCE * LIMIT, process.kill)
    watch.start()
    _, status, used = os.wait4(process.pid, 0)
    watch.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return (process.returncode if process.returncode >= 0 else None), used.ru_utime + used.ru_stime


def _environment(root: Path) -> dict[str, str]:
    """The copy comes first on the path; one thread of linear algebra, as in the suite."""
    return os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _read(report: Path) -> tuple[tuple[str, ...], bool]:
    """Verdicts of the rows, and whether all that was released adds up to no more than is claimed."""
    if not report.exists():
        return (), False
    rows = json.loads(report.read_text(encoding="utf-8"))["rows"]
    within = all(isinstance(row["accounted"], float) and row["accounted"] <= row["claimed"] for row in rows)
    return tuple(row["verdict"] for row in rows), within


def _changes(root: Path, keys: Sequence[str], bug: Bug) -> bool:
    """Does any run differ without the bug? The copy is as it should be from here on."""
    found = _digests(root, keys)
    shutil.copy(HOME / bug.file, root / "dpassay" / "reference" / bug.file)
    return found != _digests(root, keys)


def _digests(root: Path, keys: Sequence[str]) -> list[str]:
    words = ["-m", "dpassay.audit.mutate.digest", *keys]
    done = subprocess.run(
        [sys.executable, *words], env=_environment(root), cwd=root, capture_output=True, text=True, check=False
    )
    return done.stdout.split()
