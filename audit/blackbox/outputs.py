"""Outputs of any mechanism as one numeric table: callables and command lines.

A mechanism is `mechanism(dataset, rng) -> array | number | string | dict`; if it also has `many(dataset, rng, size)`,
that is used to draw a whole sample at once. Columns: numbers as they are, strings and booleans as integer codes (shared
between the two datasets), missing entries and short vectors as NaN.
"""

from __future__ import annotations

import json
import subprocess
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpassay.audit.foreign import foreign_code
from dpassay.reference.errors import BadInput, require
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
