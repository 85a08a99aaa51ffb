"""Which rows of the catalogue run which functions."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.tape import LiveTape

from .lent import HOME

READINGS = ("repaired", "baseline")  # a printed reading shows findings anyway


@dataclass(frozen=True)
class Reach:
    """A row, the functions that one run of it enters (file below ``reference/``, line of ``def``), calls of a run."""

    case: Case
    functions: frozenset[tuple[str, int]]
    calls: int


def reaches(cases: Sequence[Case] = CASES) -> list[Reach]:
    """One run of every repaired and baseline row of ``cases``, the shortest run first."""
    found = []
    for case in cases:
        if case.reading not in READINGS:
            continue
        counts: Counter[CodeType] = Counter()

        def note(frame: Any, event: str, _: Any, counts: Counter[CodeType] = counts) -> None:
            if event == "call":
                counts[frame.f_code] += 1

        sys.setprofile(note)
        try:
            instance = case.build()
            made = counts.total()  # a schedule may be kept by a row before: that is not counted
            instance.mechanism(instance.pair.here, LiveTape(0))
        finally:
            sys.setprofile(None)
        functions = frozenset(map(_place, counts)) - {("", 0)}
        found.append(Reach(case, functions, counts.total() - made))
    return sorted(found, key=lambda reach: (reach.calls, reach.case.key))


def _place(code: CodeType) -> tuple[str, int]:
    """File below ``reference`` and first line; empty for code from elsewhere."""
    path = Path(code.co_filename).resolve()
    inside = path.is_relative_to(HOME)
    return (path.relative_to(HOME).as_posix(), code.co_firstlineno) if inside else ("", 0)


def near(files: Iterable[str], cases: Sequence[Case] = CASES) -> list[Case]:
    """The cases that may run one of these files: those of its paper; all of them for what the papers share."""
    folders = {file.split("/")[0] for file in files}
    papers = {case.paper for case in cases} - {"baselines"}
    return [case for case in cases if not folders <= papers or case.paper in folders]


def rows_of(reach: Sequence[Reach], file: str, line: int, most: int = 2) -> list[Case]:
    """Rows whose run enters the function around a line: the file's own algorithm first, then those with a space."""
    inside = _function_at((HOME / file).read_text(encoding="utf-8"), line)
    using = [one for one in reach if any(name == file and first in inside for name, first in one.functions)]
    own = Path(file).stem
    using.sort(key=lambda one: (one.case.id.split("/")[1] != own, one.case.space is None))
    chosen: list[Case] = []
    for one in using:  # another variant or algorithm before another row of the same
        if all(_kind(case) != _kind(one.case) for case in chosen):
            chosen.append(one.case)
    return (chosen + [one.case for one in using if one.case not in chosen])[:most]


def _kind(case: Case) -> tuple[str, str, str]:
    return case.id, case.data, case.variant


def _function_at(text: str, line: int) -> set[int]:
    """First lines (decorators too) of the innermost function around a line."""
    inner: ast.AST | None = None
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or node.lineno):
            inner = node
    if not isinstance(inner, ast.FunctionDef):
        return set()
    return {inner.lineno, *(decorator.lineno for decorator in inner.decorator_list)}
