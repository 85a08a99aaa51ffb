"""Answers that need not be found again: kept on disk under a hash of everything that decides them."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .errors import BadInput
from .files import read_json, write_text
from .papers import PAPERS

LIBRARIES = (
    *("numpy", "scipy", "dp-accounting", "hypothesis", "scikit-learn", "greenlet", "sympy", "mpmath", "z3-solver"),
)
_HOME = Path(__file__).resolve().parents[1]


def folder() -> Path | None:
    """Where answers are kept: ``DPASSAY_CACHE``, else a folder of the user's caches; None if the variable is empty."""
    asked = os.environ.get("DPASSAY_CACHE")
    if asked is not None:
        return Path(asked) if asked else None
    with suppress(RuntimeError):  # nobody's home is known
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpassay"
    return None


def kept(name: str, code: str) -> Any:
    """What was kept under a name by this very code; None where there is nothing, or nothing that can be read."""
    place = folder()
    with suppress(BadInput, OSError):
        found = read_json(place / f"{name}.json", name) if place is not None else None
        if isinstance(found, dict) and found.get("code") == code:
            return found.get("answer")
    return None


def keep(name: str, code: str, answer: Any) -> None:
    """Keep an answer (plain data) in place of the one of older code; a folder that cannot be written to keeps none."""
    place = folder()
    if place is not None:
        with suppress(BadInput, OSError):
            path = place / f"{name}.json"
            write_text(path, json.dumps({"code": code, "answer": answer}), name)


def code_of(rooms: Iterable[str], *more: str, papers: Iterable[str] = ()) -> str:
    """A hash of all source of these rooms of the package, of the interpreter, the libraries, and ``more``.

    Args:
        papers: those whose own code counts as well: the rest of the reference uses none of it.
    """
    digest = hashlib.sha256()
    own = [f"reference/{paper}" for paper in sorted(papers)]
    for part in (*(room_hash(room, apart=True) for room in rooms), *map(room_hash, own), environment(), *more):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


@cache
def room_hash(room: str, apart: bool = False) -> str:
    """Of all source of a room of the package, and of its data but the papers' statements; ``apart``: but the papers."""
    digest, left = hashlib.sha256(), {"statements", *(PAPERS if apart else ())}  # each statement answers for itself
    found = [path for end in ("py", "csv", "toml") for path in (_HOME / room).rglob(f"*.{end}")]
    for path in sorted(one for one in found if left.isdisjoint(one.relative_to(_HOME).parts)):
        digest.update(path.relative_to(_HOME).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def environment() -> str:
    """The interpreter and the libraries whose numbers go into an answer."""
    found = [sys.version]
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)
