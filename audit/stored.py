"""Stored outputs and scores of other people: .npy (never unpickled), .csv of numbers, .jsonl."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_numbers


def load(path: Path) -> Any:
    """Stored outputs of one dataset: .npy (no pickles), .csv of numbers, or .jsonl with one output per line.

    Raises:
        BadInput: unreadable, another format, or a line that is not JSON (named).
    """
    try:
        if path.suffix == ".npy":
            return load_array(path)
        if path.suffix == ".csv":
            return read_numbers(path, "path")
        if path.suffix in (".jsonl", ".json"):
            return _json_lines(path)
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, BadInput):
            raise
        why = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise BadInput(str(path), "unreadable", why) from None
    raise BadInput("path", str(path), "must end in .npy, .csv or .jsonl")


def load_array(path: Path) -> NDArray[Any]:
    """A .npy file of numbers or strings, at least one entry, never unpickled."""
    found = np.load(path, allow_pickle=False)
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiubUS":
        raise BadInput(str(path), getattr(found, "dtype", type(found).__name__), "must be an array of real numbers")
    require(found.ndim > 0 and found.size > 0, str(path), found.shape, "must be an array with at least one entry")
    return found


def _json_lines(path: Path) -> list[Any]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            found.append(_json_line(f"{path}: line {number}", line))
    return found


def _json_line(where: str, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(where, line, f"is not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise BadInput(where, line[:60], "is nested too deeply, or a number has too many digits") from None
