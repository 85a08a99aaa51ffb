"""Lines of source and parts of outputs: whose a file is, where a run raised, what differs."""

import linecache
import sysconfig
import traceback
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dpassay.reference.equality import same


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


@cache  # asked for every draw
def file_name(path: str) -> str:
    """``file.py``, without its folder."""
    return Path(path).name


def line_of(file: str, number: int, function: str) -> str:
    """``file.py:12 in run: the text of the line``."""
    return f"{file_name(file)}:{number} in {function}: {linecache.getline(file, number).strip()}"


_PACKAGE = Path(__file__).resolve().parents[2]
_INSTALLED = ("site-packages", "dist-packages")
_STDLIB = Path(sysconfig.get_paths()["stdlib"]).resolve()  # as paths below are: an interpreter may stand behind a link


def is_apparatus(name: str) -> bool:
    """Is this file part of what runs algorithms (``audit`` without the loops of the demo, the top of ``reference``)?"""
    path = Path(name).resolve()
    ours = path.is_relative_to(_PACKAGE / "audit") and path != _PACKAGE / "audit" / "commands" / "demo_loops.py"
    return ours or path.parent == _PACKAGE / "reference"


@cache
def trade(name: str) -> str:
    """``theirs``, ``ours`` (an algorithm of this package), a ``block`` of the reference, the ``tape``, or ``other``."""
    path = Path(name).resolve()
    installed = any(part in name for part in _INSTALLED) or path.is_relative_to(_STDLIB)
    if installed or not name.endswith(".py"):  # none, or of what was compiled
        return "other"
    if not any(path.is_relative_to(_PACKAGE / one) for one in ("audit", "proofs_check", "reference")):
        return "theirs"
    below = path.relative_to(_PACKAGE).parts[1]
    known = {"tape.py": "tape", "arrays.py": "ours", "blocks": "block", "accounting": "other", "laws": "other"}
    return known.get(below, "other" if is_apparatus(name) else "ours")


def place_raised(error: BaseException) -> str:
    """`` (file.py:12)``, the innermost line of others' code, else of an algorithm here.

    Empty where only the apparatus has run: a function that cannot be called has no line.
    """
    frames = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    found = [one for sort in ("ours", "theirs") for one in frames if trade(one[0]) == sort]
    return f" ({Path(found[-1][0]).name}:{found[-1][1]})" if found else ""
