"""What a run of plain code released and returned, held against a second run."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.audit.lockstep.source_lines import parting
from dpassay.reference.equality import same
from dpassay.reference.errors import BadInput, printable
from dpassay.reference.transcript import Transcript

from .inside import opaque


class NotANumber(Exception):
    """The output holds NaN: the code divided by zero, or read an array elsewhere to which it added noise in place."""


def alike(one: Transcript, other: Transcript) -> bool:
    """Have two runs released and returned the same?"""
    return _released_alike(one, other) and same(one.output, other.output)


def _released_alike(one: Transcript, other: Transcript) -> bool:
    return len(one.releases) == len(other.releases) and all(
        same(a.value, b.value) for a, b in zip(one.releases, other.releases, strict=True)
    )


def refuse_opaque(name: str, one: Transcript, other: Transcript) -> None:
    """Where two runs released the same, what differs may only be a function that each run made anew.

    Raises:
        BadInput: saying so.
    """
    path, first, second = parting(one.output, other.output)
    if _released_alike(one, other) and opaque(first) and opaque(second):
        what = f"returns a {type(first).__name__}{f' at output{printable(path)}' if path else ''}"
        why = (
            "what it holds cannot be compared between runs; return the numbers (an array, a dict, an object with them)"
        )
        raise BadInput("mechanism", name, f"{what}: {why}")


def has_nan(output: Any) -> bool:
    """Is a number of the output not a number?"""
    if isinstance(output, np.ndarray | float | np.floating):
        return bool(np.isnan(output).any()) if np.asarray(output).dtype.kind == "f" else False
    if isinstance(output, list | tuple):
        return any(has_nan(one) for one in output)
    return isinstance(output, dict) and any(has_nan(one) for one in output.values())
