"""Files of other people, and ours: every reading and writing error is one clear line.

What is read is data (JSON only); what is written is complete or not there.
"""

from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference.types import Array

from .errors import BadInput, require


def parse_json(text: str, where: str) -> Any:
    """JSON text as plain data.

    Raises:
        BadInput: naming ``where`` and, for a syntax error, the line. Nesting and numbers have Python's limits.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{where}: line {error.lineno}", error.msg, "the file must be JSON") from None
    except (ValueError, RecursionError) as error:
        why = "is nested too deeply" if isinstance(error, RecursionError) else "holds a number with too many digits"
        raise BadInput(where, "malformed", why) from None


def read_text(path: Path, field: str) -> str:
    """A text file.

    Raises:
        BadInput: it cannot be read, or is not text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(field, str(path), error.strerror or str(error)) from None
    except ValueError:
        raise BadInput(field, str(path), "is not a text file (UTF-8)") from None


def read_json(path: Path, field: str) -> Any:
    """A JSON file as plain data; :class:`BadInput` if it cannot be read or is not JSON."""
    return parse_json(read_text(path, field), str(path))


def read_numbers(path: Path, field: str) -> Array:
    """A comma-separated table of numbers, shape (lines, columns), at least one line.

    Raises:
        BadInput: it cannot be read, is empty, or holds something else; the line is named.
    """
    text = read_text(path, field).strip()
    require(bool(text), field, str(path), "is empty: must hold at least one line of numbers")
    try:
        return np.loadtxt(StringIO(text), delimiter=",", ndmin=2)
    except ValueError as error:
        raise BadInput(field, str(path), f"not a table of numbers ({' '.join(str(error).split())})") from None


def write_text(path: Path, text: str, field: str) -> None:
    """Write the whole file or nothing; folders are made. A link, a device or a pipe stays what it is.

    Raises:
        BadInput: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():  # a device: putting a file in its place would destroy it
            path.write_text(text, encoding="utf-8")
            return
        temporary = _beside(path)
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(os.path.realpath(path))
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise BadInput(field, str(path), getattr(error, "strerror", None) or str(error)) from None


def require_writable(path: Path, field: str) -> None:
    """Say before the work begins that its result cannot be written.

    Raises:
        BadInput: the folder cannot be made or written to, or the path is a folder.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        require(not path.is_dir(), field, str(path), "is a folder")
        if path.exists() and not path.is_file():
            require(os.access(path, os.W_OK), field, str(path), "cannot be written to")
            return
        probe = _beside(path)
        probe.touch()
        probe.unlink()
    except BadInput:
        raise
    except (OSError, ValueError) as error:
        raise BadInput(field, str(path), getattr(error, "strerror", None) or str(error)) from None


def _beside(path: Path) -> Path:
    """A file of this process alone in the same folder as the one that ``path`` leads to."""
    target = Path(os.path.realpath(path))
    return target.with_name(f"{target.name}.{os.getpid()}.part")
