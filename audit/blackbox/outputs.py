"""Outputs of any mechanism as one numeric table: callables, command lines and stored files.

A mechanism is `mechanism(dataset, rng) -> array | number | string | dict`; if it also has `many(dataset, rng, size)`,
that is used to draw a whole sample at once. Columns: numbers as they are, strings and booleans as integer codes (shared
between the two datasets), missing entries and short vectors as NaN.
"""

from __future__ import annotations

import json
import subprocess
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_numbers
from dpassay.reference.types import Array

Mechanism = Callable[[Any, np.random.Generator], Any]


def draw(mechanism: Mechanism, dataset: Any, size: int, rng: np.random.Generator) -> Any:
    """`size` independent outputs on `dataset`, in whatever form the mechanism gives them."""
    many = getattr(mechanism, "many", None)
    with foreign_code("mechanism", getattr(mechanism, "__qualname__", type(mechanism).__qualname__)):
        if many is None:
            return [mechanism(dataset, rng) for _ in range(size)]
        found = many(dataset, rng, size)
        require(len(found) == size, "many", len(found), f"must give {size} outputs")
        return found


@contextmanager
def foreign_code(field: str, name: str) -> Iterator[None]:
    """Whatever code of others raises becomes one line that says where; a `sys.exit(0)` in it is no verdict either.

    Raises:
        BadInput: naming `field`, the exception, and the file and line that it came from.
    """
    try:
        yield
    except BadInput:
        raise
    except (Exception, SystemExit) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}, line {frame.lineno}"
        raise BadInput(field, name, f"raised {type(error).__name__} ({where}): {error}") from None


class CommandLine:
    """A mechanism that is a program: {"dataset": ..., "seed": ...} on stdin, one JSON value on stdout."""

    def __init__(self, command: Sequence[str], timeout: float = 60.0) -> None:
        self.command = list(command)
        self.timeout = timeout

    def __call__(self, dataset: Any, rng: np.random.Generator) -> Any:
        """Run once with a seed drawn from `rng`; raises BadInput on a failing program or on no JSON."""
        plain = dataset.tolist() if isinstance(dataset, np.ndarray) else dataset
        request = json.dumps({"dataset": plain, "seed": int(rng.integers(2**31))}).encode()
        try:
            done = subprocess.run(self.command, input=request, capture_output=True, timeout=self.timeout, check=False)
        except OSError as error:
            raise BadInput("command", self.command, f"cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise BadInput("command", self.command, f"took longer than {self.timeout:g} s for one run") from None
        if done.returncode != 0:
            said = " ".join(done.stderr.decode(errors="replace").split())[-200:]
            raise BadInput("command", self.command, f"exit status {done.returncode}: {said}")
        try:
            return json.loads(done.stdout)
        except (ValueError, RecursionError) as error:
            raise BadInput("command", self.command, f"stdout is not JSON: {error}") from None


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


def _flatten(output: Any, name: str, row: dict[str, float]) -> None:
    """Spread one output over named cells."""
    if isinstance(output, Mapping):
        for key in output:
            _flatten(output[key], f"{name}.{key}", row)
    elif isinstance(output, str | bytes):
        text = output.encode() if isinstance(output, str) else output
        row[name] = float(zlib.crc32(text))  # a code: only equality matters, and atoms catch it
    elif output is None:
        row[name] = np.nan
    elif isinstance(output, np.ndarray | list | tuple):
        for index, item in enumerate(output):
            _flatten(item, f"{name}[{index}]", row)
        row[f"len({name})"] = float(len(output))
    else:
        row[name] = _number(output)


def _number(output: Any) -> float:
    try:
        if not isinstance(output, complex | np.complexfloating):
            return float(output)
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise BadInput("outputs", output, "is too large for a float") from None
    raise BadInput("outputs", output, "must be real numbers, arrays, strings or dicts of them")


def joined(outputs: Any, more: Any) -> Any:
    """Two samples of one side as one, in order."""
    arrays = isinstance(outputs, np.ndarray) and isinstance(more, np.ndarray)
    if arrays and outputs.shape[1:] == more.shape[1:] and outputs.dtype == more.dtype:
        return np.concatenate([outputs, more])
    return [*outputs, *more]


def known_columns(training: Sequence[Array], fresh: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Both without the columns that are empty in training.

    A score must be fixed before it is judged: which cells only the fresh outputs have must not change what is learned.
    """
    seen = ~np.all([np.isnan(table).all(axis=0) for table in training], axis=0)
    if not seen.any():
        return [np.zeros((len(table), 1)) for table in training], [np.zeros((len(table), 1)) for table in fresh]
    keep = slice(None) if seen.all() else seen
    return [table[:, keep] for table in training], [table[:, keep] for table in fresh]


def to_table(outputs_p: Any, outputs_q: Any) -> tuple[Array, Array]:
    """Both samples as matrices with the same columns, one row per run."""
    sides = [outputs_p, outputs_q]
    arrays = [np.asarray(side) if isinstance(side, np.ndarray) else None for side in sides]
    if all(a is not None and a.dtype.kind in "fiub" for a in arrays):
        tables = [np.asarray(a, dtype=float).reshape(len(a), -1) for a in arrays if a is not None]
        if tables[0].shape[1] == tables[1].shape[1]:
            return tables[0], tables[1]
    rows: list[list[dict[str, float]]] = [[], []]
    for side, target in zip(sides, rows, strict=True):
        for output in side:
            row: dict[str, float] = {}
            _flatten(output, "", row)
            target.append(row)
    names = sorted({name for side in rows for row in side for name in row})
    filled = [np.array([[row.get(n, np.nan) for n in names] for row in side], dtype=float) for side in rows]
    if 0 in (filled[0].size, filled[1].size):
        raise BadInput("outputs", (filled[0].shape, filled[1].shape), "both samples need at least one output")
    return filled[0], filled[1]
