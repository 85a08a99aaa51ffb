"""A content hash of the source that a case uses, so that a row made by other code is not taken for a finished one."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from dpassay.reference.case import Case
from dpassay.reference.kept import room_hash

_JUDGES = "dpassay.audit.assaying.assay"  # the auditor's own code makes the row as well


def fingerprint(case: Case) -> str:
    """Of all modules that the case's table, its builder or the auditor import, directly or not, here or beside it."""
    home = _home(case.build)
    table = f"{home.rpartition('.')[0]}.cases"  # where a paper's claims stand, wherever its builders do
    modules = frozenset[str]().union(*map(reached, (home, table, _JUDGES)))
    digest = hashlib.sha256()
    for name, path in sorted(sources(modules).items()):
        digest.update(name.encode() + b"\0" + _content(path) + _data(path) + b"\0")
    return digest.hexdigest()[:16]


def package() -> str:
    """A hash of all source of the reference and the auditors."""
    return hashlib.sha256("".join(map(room_hash, ("reference", "audit"))).encode()).hexdigest()[:16]


def sources(modules: Iterable[str]) -> dict[str, Path]:
    """The source files of these modules, as far as they have one."""
    return {name: path for name in modules if (path := source(name)) is not None}


def forget() -> None:
    """Read sources anew, but for this package as a whole: what runs is what was read when it was loaded."""
    for kept in (reached, named, source, _content, _data):
        kept.cache_clear()


def _home(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__module__", "") or "")


@cache
def reached(start: str) -> frozenset[str]:
    """Modules of the same package that a module imports, directly or not."""
    top = start.partition(".")[0]
    return followed([start], lambda name: name.partition(".")[0] == top and source(name) is not None)


def followed(starts: Iterable[str], ours: Callable[[str], bool]) -> frozenset[str]:
    """These modules and what they import, directly or not, as far as they are ours; with the packages around them."""
    found: set[str] = set()
    todo = list(starts)
    while todo:
        name = todo.pop()
        if name not in found and ours(name):
            found.add(name)
            parents = name.split(".")[:-1]
            todo += [".".join(parents[: size + 1]) for size in range(len(parents))]  # to import a.b runs a/__init__.py
            todo += named(name)
    return frozenset(found)


@cache
def named(name: str) -> tuple[str, ...]:
    """What a module names in its import statements, wherever they stand; some names may be no modules."""
    path = source(name)
    if path is None:
        return ()
    return _named_by(_content(path), name if path.name == "__init__.py" else name.rpartition(".")[0])


@cache  # of content, and so never out of date
def _named_by(content: bytes, package: str) -> tuple[str, ...]:
    found = []
    for node in _statements(ast.parse(content)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            found += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(found)


def _statements(node: Any) -> Iterator[ast.AST]:
    """Statements only, in whatever block: most nodes of a tree are expressions, and none of those imports."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for one in getattr(node, block, ()):
            yield one
            yield from _statements(one)


@cache
def source(name: str) -> Path | None:
    """The source file of a module."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):  # a name in a module, or a module without a spec
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


@cache
def _data(path: Path) -> bytes:
    """What stands beside a module under its name."""
    beside = path.with_suffix(".toml")
    return beside.read_bytes() if beside.is_file() else b""
