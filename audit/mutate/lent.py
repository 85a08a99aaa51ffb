"""A changed line of the reference, lent to the living functions for the time of one run.

The changed function is compiled alone, from the text of its file; only its code is exchanged, and the old one comes
back when the run is over. Nothing of anybody else's is compiled.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import dpassay.reference
from dpassay.reference.equality import forget

from . import planted
from .operators import Site

HOME = Path(dpassay.reference.__file__).resolve().parent
ANNOTATIONS = __future__.annotations.compiler_flag  # nothing of a changed function is evaluated but its body


@lru_cache(maxsize=256)
def source(file: str) -> str:
    """The text of a file below ``reference/``."""
    return (HOME / file).read_text(encoding="utf-8")


def module_of(file: str) -> types.ModuleType:
    """The living module of a file below ``reference/``."""
    return sys.modules["dpassay.reference." + file.removesuffix(".py").replace("/", ".")]


@contextmanager
def lent(file: str, site: Site) -> Iterator[None]:
    """The living functions of a file below ``reference/`` run the changed text.

    SyntaxError where that is no Python, or the place is in no function.
    """
    name, code = _code(file, site)
    module = module_of(file)
    living = [one for one in _living(module).get(name, ()) if one.__code__.co_freevars == code.co_freevars]
    kept = [(one, one.__code__) for one in living]
    forget()
    vars(module)["_planted"] = planted
    try:
        for one in living:
            one.__code__ = code
        yield
    finally:
        for one, before in kept:
            one.__code__ = before
        forget()
        vars(module).pop("_planted", None)


@lru_cache(maxsize=1024)  # one change is run on many vectors
def _code(file: str, site: Site) -> tuple[str, types.CodeType]:
    """Qualified name and changed code of the function that the place is in; a method is compiled in its class."""
    text = source(file)
    lines = text.splitlines(keepends=True)
    owner, node = next(((o, n) for o, n in _defined(file) if n.lineno <= site.line <= (n.end_lineno or 0)), ("", None))
    if node is None or node.end_lineno is None:
        raise SyntaxError(f"{file}, line {site.line} is in no function")
    first, last = (sum(map(len, lines[:number])) for number in (node.lineno - 1, node.end_lineno))
    changed = text[first : site.first] + site.text + text[site.last : last]
    head = "\n" * (node.lineno - 1) if not owner else "\n" * (node.lineno - 2) + f"class {owner}:\n"
    code: types.CodeType = compile(head + changed, str(HOME / file), "exec", flags=ANNOTATIONS, dont_inherit=True)
    for name in filter(None, (owner, node.name)):
        code = next(one for one in code.co_consts if isinstance(one, types.CodeType) and one.co_name == name)
    return f"{owner}.{node.name}" if owner else node.name, code


@lru_cache(maxsize=256)
def _defined(file: str) -> tuple[tuple[str, ast.FunctionDef], ...]:
    """The functions of a file, and the methods of its classes with the names of these."""
    found: list[tuple[str, ast.FunctionDef]] = []
    for node in ast.parse(source(file)).body:
        if isinstance(node, ast.FunctionDef):
            found.append(("", node))
        elif isinstance(node, ast.ClassDef):
            found += [(node.name, one) for one in node.body if isinstance(one, ast.FunctionDef)]
    return tuple(found)


@lru_cache(maxsize=256)
def _living(module: types.ModuleType) -> dict[str, list[types.FunctionType]]:
    """The module's functions and methods by their qualified names."""
    found: dict[str, list[types.FunctionType]] = {}
    for value in list(vars(module).values()):
        own = isinstance(value, type) and value.__module__ == module.__name__
        for one in list(vars(value).values()) if own else [value]:
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
    value = inspect.unwrap(value) if callable(value) else value  # what a decorator runs
    return value if isinstance(value, types.FunctionType) else None
