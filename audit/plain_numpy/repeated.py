"""What a run of plain code released and returned, held against a second run."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.reference.equality import same
from dpassay.reference.transcript import Transcript


class NotANumber(Exception):
    """The output holds NaN: the code divided by zero, or read an array elsewhere to which it added noise in place."""


def alike(one: Transcript, other: Transcript) -> bool:
    """Have two runs released and returned the same?"""
    if len(one.releases) != len(other.releases) or not same(one.output, other.output):
        return False
    return all(same(a.value, b.value) for a, b in zip(one.releases, other.releases, strict=True))


def has_nan(output: Any) -> bool:
    """Is a number of the output not a number?"""
    if isinstance(output, np.ndarray | float | np.floating):
        return bool(np.isnan(output).any()) if np.asarray(output).dtype.kind == "f" else False
    if isinstance(output, list | tuple):
        return any(has_nan(one) for one in output)
    return isinstance(output, dict) and any(has_nan(one) for one in output.values())
