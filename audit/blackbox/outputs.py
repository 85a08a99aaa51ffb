"""Outputs of any mechanism as one numeric table: callables and command lines.

A mechanism is `mechanism(dataset, rng) -> array | number | string | dict`; if it also has `many(dataset, rng, size)`,
that is used to draw a whole sample at once. Columns: numbers as they are, strings and booleans as integer codes (shared
between the two datasets), missing entries and short vectors as NaN.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpassay.audit.foreign import foreign_code
from dpassay.reference.errors import BadInput, require

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
