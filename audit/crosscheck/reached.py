"""What the reference ran, and what its names held, until it asked for the first thing that differs: a slice of it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference.equality import forget
from dpassay.reference.transcript import Batch

from .edits import Scope, Shape
from .exact import is_problem
from .making import run_again
from .planting import HOME
from .recording import VectorTape
from .records import RECORDS
from .rounding import Run

FEW = 4  # values that are held together
OF_MANY = ("problems/domains.py", "problems/finite_sum.py")  # what every problem is made of
NOT_MUTATED = ("tape.py", "transcript.py", "errors.py", "equality.py", "records.py", "laws", "accounting", "replay.py",
               "extras.py", "checks.py")  # fmt: skip


@dataclass
class Reached:
    """Lines by file below ``reference/``, and the scopes of functions by file and first line."""

    lines: dict[str, set[int]] = field(default_factory=dict)
    scopes: dict[tuple[str, int], Scope] = field(default_factory=dict)

    def files(self) -> list[str]:
        """The algorithm's own first, then what others use too; solvers, which cost most, last."""
        return sorted(self.lines, key=_nearness)

    def ran(self, file: str, first: int, last: int) -> bool:
        """Was any line from first to last run?"""
        return not self.lines.get(file, set()).isdisjoint(range(first, last + 1))

    def scope(self, file: str, function: ast.FunctionDef) -> Scope:
        """What the names of a function were; nothing where it was not run."""
        first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        return self.scopes.get((file, first), Scope())


def _nearness(file: str) -> tuple[int, str]:
    shared = file.startswith(("blocks/", "problems/")) or "/" not in file
    return (3 if file.startswith("solvers/") else 2 if file in OF_MANY else 1 if shared else 0), file


def reached(run: Run, vector: Mapping[str, Any], until: int | None) -> Reached:
    """One run of the reference on a vector, watched until so many events were asked for (None: to its end)."""
    found, tape = Reached(), VectorTape(vector["events"])
    names: dict[str, str | None] = {}

    def watch(frame: Any, event: str, _: Any) -> Callable[..., Any] | None:
        name = frame.f_code.co_filename
        if name not in names:
            names[name] = _file(name)
        file = names[name]
        return None if file is None else partial(note, file)

    def note(file: str, frame: Any, event: str, _: Any) -> Callable[..., Any] | None:
        if event == "line" and (until is None or tape.position < until):
            found.lines.setdefault(file, set()).add(frame.f_lineno)
        elif event == "return":
            _note_names(found.scopes.setdefault((file, frame.f_code.co_firstlineno), Scope()), frame.f_locals)
        return partial(note, file)

    forget()  # what is known already would not be run
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        with suppress(Exception), np.errstate(all="ignore"):
            run_again(run, vector, tape)
    finally:
        sys.settrace(before)
    return found


def _file(name: str) -> str | None:
    path = Path(name)
    path = path.resolve() if path.exists() else path
    if not path.is_relative_to(HOME):
        return None
    inside = path.relative_to(HOME)
    return None if any(part in NOT_MUTATED for part in inside.parts) else inside.as_posix()


def _note_names(scope: Scope, names: Mapping[str, Any]) -> None:
    for name, value in names.items():
        shape = _shape(value)
        if isinstance(value, Batch):
            scope.records.add(f"{name}.indices")
        elif RECORDS.search(name) and shape is not None and len(shape) == 1 and value.dtype.kind == "i":
            scope.records.add(name)
        elif is_problem(value):
            scope.problems.add(name)
        if shape is not None:
            scope.names[name] = shape
            if isinstance(value, int):
                scope.whole.add(name)
        elif type(value) is tuple and 1 < len(value) <= FEW:
            scope.tuples[name] = len(value)
        elif is_dataclass(value) and not isinstance(value, type):
            held = {one.name: getattr(value, one.name, None) for one in fields(value)}
            scope.fields[name] = {one: type(it) for one, it in held.items() if type(it) in (int, float, bool)}
            if "." not in name:
                _note_names(scope, {f"{name}.{one}": it for one, it in held.items() if is_dataclass(it)})


def _shape(value: Any) -> Shape | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | np.number):
        return ()
    if isinstance(value, np.ndarray) and value.dtype.kind in "if":
        return tuple(value.shape)
    return None
