"""Answers that need not be found again: kept on disk under a hash of everything that decides them.

Which source an answer hangs on says :mod:`dpassay.reference.sources`; the interpreter and the libraries count always.
"""

import json
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from .errors import BadInput
from .extras import version_of
from .files import read_json, write_text

LIBRARIES = (
    "numpy", "scipy", "dp-accounting", "hypothesis", "scikit-learn", "greenlet", "sympy", "mpmath", "z3-solver",
)  # fmt: skip


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
        if isinstance(found, dict) and found.get("code") == f"{code} {environment()}":
            return found.get("answer")
    return None


def keep(name: str, code: str, answer: Any) -> None:
    """Keep an answer (plain data) in place of the one of older code; a folder that cannot be written to keeps none."""
    place = folder()
    if place is not None:
        with suppress(BadInput, OSError):
            path = place / f"{name}.json"
            write_text(path, json.dumps({"code": f"{code} {environment()}", "answer": answer}), name)


@cache
def environment() -> str:
    """The interpreter and the libraries whose numbers go into an answer."""
    versions = ((name, version_of(name)) for name in LIBRARIES)
    return ", ".join([sys.version, *(f"{name} {version}" for name, version in versions if version)])
