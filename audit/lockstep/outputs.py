"""Where two outputs part, and at which line they were returned: a leak through the output has a place, too."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

from dpassay.reference.equality import same
from dpassay.reference.errors import printable


def parting(one: Any, other: Any, path: str = "") -> tuple[str, Any, Any]:
    """The first part in which they differ, as one would write it behind the output, and the two values there."""
    if is_dataclass(one) and type(one) is type(other) and not isinstance(one, type):
        parts = [(f".{field.name}", getattr(one, field.name), getattr(other, field.name)) for field in fields(one)]
    elif isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        parts = [(f"[{key!r}]", one[key], other[key]) for key in one]
    elif isinstance(one, list | tuple) and type(one) is type(other) and len(one) == len(other):
        parts = [(f"[{number}]", *both) for number, both in enumerate(zip(one, other, strict=True))]
    else:
        return path, one, other
    return next((parting(a, b, path + name) for name, a, b in parts if not same(a, b)), (path, one, other))


def told(one: Any, other: Any) -> str:
    """That they differ, and in which part."""
    path, _, _ = parting(one, other)
    return f"the outputs differ at {printable(path)}" if path else "the outputs differ"


class Returned:
    """The lines at which some functions returned, in the order in which they came up."""

    def __init__(self, of: Sequence[FunctionType]):
        self._codes: set[CodeType] = {one.__code__ for one in of}
        self._lines: dict[str, None] = {}

    def __str__(self) -> str:
        return "; ".join(self._lines)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Runs inside are watched."""
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        return self._inside if frame.f_code in self._codes else None

    def _inside(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        if event == "return":
            self._lines[line_of(frame.f_code, frame.f_lineno)] = None
        return self._inside


def line_of(code: CodeType, number: int) -> str:
    """``file.py:12 in run: the text of the line``."""
    text = linecache.getline(code.co_filename, number).strip()
    return f"{Path(code.co_filename).name}:{number} in {code.co_name}: {text}"
