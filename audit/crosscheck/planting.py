"""Changed lines of the reference, lent to the living functions for the time of one run.

A changed function is compiled alone, from the text of its file; only its code is exchanged, and it comes back when the
run is over. Nothing of anybody else's is compiled.
"""

from __future__ import annotations
import __future__

import ast
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import dpassay.reference
from dpassay.reference.equality import forget

from .changes import Change

HOME = Path(dpassay.reference.__file__).resolve().parent
ANNOTATIONS = __future__.annotations.compiler_flag  # every file of the reference has the future import
Site = tuple[str, Change]  # a file below ``reference/``, and what is changed in it


class TooLong(Exception):
    """A changed run does not end."""


@dataclass(frozen=True)
class Function:
    """One function of a file, in bytes: where its text is, in which class, and on which lines."""

    name: str
    owner: str
    first: int
    last: int
    lines: range

    @property
    def qualname(self) -> str:
        """As Python calls it."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


@lru_cache(maxsize=256)
def source(file: str) -> str:
    """The text of a file below ``reference/``."""
    return (HOME / file).read_text(encoding="utf-8")


@lru_cache(maxsize=256)
def functions(file: str) -> tuple[Function, ...]:
    """The functions of a file, and the methods of its classes; what is inside a function belongs to it."""
    raw = source(file).encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for owner, node in _defined(ast.parse(raw)):
        assert node.end_lineno is not None
        top = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        lines = range(top, node.end_lineno + 1)
        found.append(Function(node.name, owner, starts[node.lineno - 1], starts[node.end_lineno], lines))
    return tuple(found)


def _defined(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield "", node
        elif isinstance(node, ast.ClassDef):
            yield from ((node.name, one) for one in node.body if isinstance(one, ast.FunctionDef))


def function_of(file: str, change: Change) -> Function | None:
    """The function that a change is in; None where it is in none."""
    return next((one for one in functions(file) if one.first <= change.first and change.last <= one.last), None)


@lru_cache(maxsize=256)
def _lambdas(file: str) -> tuple[tuple[int, int], ...]:
    """Where the small functions of a file are, in bytes: an object may hold one, made when it was read."""
    raw = source(file).encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return tuple(
        (starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)
        for node in ast.walk(ast.parse(raw))
        if isinstance(node, ast.Lambda) and node.end_lineno is not None and node.end_col_offset is not None
    )


def in_a_lambda(file: str, change: Change) -> bool:
    """Is it changed inside a small function?"""
    return any(first <= change.first and change.last <= last for first, last in _lambdas(file))


@contextmanager
def planted_at(sites: Sequence[Site], lent: Mapping[str, Any]) -> Iterator[None]:
    """The living functions run the changed code, with these names beside those of their modules.

    Raises:
        SyntaxError: the changed text is none.
    """
    changed: dict[tuple[str, Function], list[Change]] = {}
    for file, change in sites:
        function = function_of(file, change)
        if function is not None:
            changed.setdefault((file, function), []).append(change)
    codes = {(file, one.qualname): _code(file, one, tuple(made)) for (file, one), made in changed.items()}
    kept: list[tuple[types.FunctionType, types.CodeType]] = []
    modules = [_module(file) for file, _ in sites]
    forget()
    for module in modules:
        vars(module).update(lent)
    try:
        for (file, name), code in codes.items():
            for living in _living(file).get(name, ()):
                if code.co_freevars == living.__code__.co_freevars:
                    kept.append((living, living.__code__))
                    living.__code__ = code
        yield
    finally:
        for living, code in kept:
            living.__code__ = code
        forget()
        for module in modules:
            for one in lent:
                vars(module).pop(one, None)


@lru_cache(maxsize=64)  # one change is run on many vectors, and at many times
def _code(file: str, function: Function, changes: tuple[Change, ...]) -> types.CodeType:
    """The changed function's code; a method is compiled inside a class of its name."""
    raw, last, parts = source(file).encode(), function.first, []
    for one in sorted(changes, key=lambda change: (change.first, change.last)):
        parts += [raw[last : one.first], one.text.encode()]
        last = one.last
    text = b"".join([*parts, raw[last : function.last]]).decode()
    head = f"class {function.owner}:\n" if function.owner else ""
    code: types.CodeType = compile(head + text, str(HOME / file), "exec", flags=ANNOTATIONS, dont_inherit=True)
    for name in filter(None, (function.owner, function.name)):
        code = next(one for one in code.co_consts if isinstance(one, types.CodeType) and one.co_name == name)
    return code


def _module(file: str) -> types.ModuleType:
    return sys.modules["dpassay.reference." + file.removesuffix(".py").replace("/", ".")]


@lru_cache(maxsize=256)
def _living(file: str) -> dict[str, list[types.FunctionType]]:
    """The module's functions by their qualified names."""
    found: dict[str, list[types.FunctionType]] = {}
    module = _module(file)
    for value in list(vars(module).values()):
        held = (
            list(vars(value).values()) if isinstance(value, type) and value.__module__ == module.__name__ else [value]
        )
        for one in held:
            function = _function(one)
            if function is not None and function.__module__ == module.__name__:
                found.setdefault(function.__code__.co_qualname, []).append(function)
    return found


def _function(value: Any) -> types.FunctionType | None:
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, cached_property):
        value = value.func
    elif isinstance(value, classmethod | staticmethod):
        value = value.__func__
    return value if isinstance(value, types.FunctionType) else None


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what does not end; outside the main thread there is no alarm, and no limit.

    Processor time is counted: what is found shall not hang on what else the machine does.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    on = [True]

    def ring(number: int, frame: Any) -> None:
        if on:
            raise TooLong

    told, sys.unraisablehook = sys.unraisablehook, _unsaid
    before: Callable[..., Any] | int | None = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.02)  # again and again: some places swallow what is raised
    try:
        yield
    finally:
        while on:  # it may ring in here as well
            with suppress(TooLong):
                on.clear()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        sys.unraisablehook = told


def _unsaid(_: Any) -> None:
    """What a changed run raises where nobody can catch it, as when a generator is closed, is nobody's business."""
