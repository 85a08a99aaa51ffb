"""A content hash of the source that a case uses, so that a row made by other code is not taken for a finished one."""

from __future__ import annotations

import ast
import hashlib
from functools import cache, partial
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from dpassay.reference.case import Case

_JUDGES = "dpassay.audit.assay"  # the auditor's own code makes the row as well


def fingerprint(case: Case) -> str:
    """Of all modules that the case's builder or the auditor import, directly or not, in this package or beside it."""
    home = _home(case.build)
    modules = _reached(home) | _reached(_JUDGES)
    digest = hashlib.sha256()
    for name in sorted(modules):
        path = _source(name)
        if path is not None:
            digest.update(name.encode() + b"\0" + _content(path) + b"\0")
    return digest.hexdigest()[:16]


def _home(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__module__", "") or "")


@cache
def _reached(start: str) -> frozenset[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [one for one in _imports(name) if one.split(".")[0] == start.split(".")[0]]
    return frozenset(found)


@cache
def _imports(name: str) -> tuple[str, ...]:
    """Modules that a module names in its import statements, wherever they stand."""
    path = _source(name)
    if path is None:
        return ()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = []
    for node in ast.walk(ast.parse(_content(path))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            found += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(one for one in found if _source(one) is not None)


@cache
def _source(name: str) -> Path | None:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):  # a name in a module, or a module without a spec
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@cache
def _content(path: Path) -> bytes:
    return path.read_bytes()
