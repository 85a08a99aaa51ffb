"""Which rows of the catalogue run which functions, and whether a bug changes a run at all."""

from __future__ import annotations

import ast
import hashlib
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.tape import LiveTape
from dpassay.reference.transcript import Draw, Note, Release

READINGS = ("repaired", "baseline")  # a printed reading shows findings anyway


@dataclass(frozen=True)
class Reach:
    """A row, the functions that one run of it enters (file below ``reference/``, line of ``def``), seconds of a run."""

    case: Case
    functions: frozenset[tuple[str, int]]
    seconds: float


def reaches(reference: Path, cases: Sequence[Case] = CASES) -> list[Reach]:
    """One run of every repaired and baseline row of ``cases``, quickest rows first; making the row is part of it."""
    found = []
    for case in cases:
        if case.reading not in READINGS:
            continue
        codes: set[CodeType] = set()

        def note(frame: Any, event: str, _: Any, codes: set[CodeType] = codes) -> None:
            if event == "call":
                codes.add(frame.f_code)

        start = time.perf_counter()
        sys.setprofile(note)
        try:
            instance = case.build()
            instance.mechanism(instance.pair.here, LiveTape(0))
        finally:
            sys.setprofile(None)
        functions = frozenset(_place(code, reference) for code in codes) - {("", 0)}
        found.append(Reach(case, functions, time.perf_counter() - start))
    return sorted(found, key=lambda reach: (reach.seconds, reach.case.key))


def _place(code: CodeType, reference: Path) -> tuple[str, int]:
    """File below ``reference`` and first line; empty for code from elsewhere."""
    path = Path(code.co_filename).resolve()
    inside = path.is_relative_to(reference)
    return (path.relative_to(reference).as_posix(), code.co_firstlineno) if inside else ("", 0)


def near(files: Iterable[str], cases: Sequence[Case] = CASES) -> list[Case]:
    """The cases that may run one of these files: those of its paper; all of them for what the papers share."""
    folders = {file.split("/")[0] for file in files}
    papers = {case.id.split("/")[0] for case in cases} - {"baselines"}
    return [case for case in cases if not folders <= papers or case.id.split("/")[0] in folders]


def rows_of(reference: Path, reach: Sequence[Reach], file: str, line: int, most: int = 2) -> list[Case]:
    """Rows whose run enters the function around a line: the file's own algorithm first, then those with a space."""
    inside = _function_at((reference / file).read_text(encoding="utf-8"), line)
    using = [one for one in reach if any(name == file and first in inside for name, first in one.functions)]
    own = Path(file).stem
    using.sort(key=lambda one: (one.case.id.split("/")[1] != own, one.case.space is None))
    chosen: list[Case] = []
    for one in using:  # another variant or algorithm before another row of the same
        if all((case.id, case.data) != (one.case.id, one.case.data) for case in chosen):
            chosen.append(one.case)
    return (chosen + [one.case for one in using if one.case not in chosen])[:most]


def _function_at(text: str, line: int) -> set[int]:
    """First lines (decorators too) of the innermost function around a line."""
    inner: ast.AST | None = None
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or node.lineno):
            inner = node
    if not isinstance(inner, ast.FunctionDef):
        return set()
    return {inner.lineno, *(decorator.lineno for decorator in inner.decorator_list)}


def digest(case: Case, seeds: Sequence[int] = (0, 1, 2)) -> str:
    """A hash of everything that runs on both sides of the row's pair put on the tape, and of what they return."""
    instance, found = case.build(), hashlib.sha256()
    for problem in (instance.pair.here, instance.pair.there):
        for seed in seeds:
            tape = LiveTape(seed)
            output = instance.mechanism(problem, tape)
            for event in tape.transcript.events:
                found.update(_text(event).encode())
            found.update(_plain(output).encode())
    return found.hexdigest()


def _text(event: Release | Draw | Note) -> str:
    if isinstance(event, Release):
        law = vars(event.law)
        return f"{event.label} {event.sensitivity} {event.draws} {_plain(law)} {_plain(event.value)}"
    return f"{event}" if isinstance(event, Draw) else f"{event.label} {event.kind} {_plain(event.value)}"


def _plain(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return value.tobytes().hex()
    if isinstance(value, dict):
        return str({name: _plain(one) for name, one in sorted(value.items()) if not name.startswith("_")})
    if isinstance(value, list | tuple):
        return str([_plain(one) for one in value])
    if isinstance(value, float | int | str | bool | None):
        return repr(value)
    return _plain(vars(value)) if hasattr(value, "__dict__") else type(value).__name__


if __name__ == "__main__":
    from dpassay.reference.catalogue import find

    print(*(digest(find(key)[0]) for key in sys.argv[1:]))
