"""Outputs that hold others: lists, tuples, dicts and objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def inside(output: Any, change: Callable[[Any], Any]) -> Any:
    """The same with every part changed, in order; what holds nothing stays as it is."""
    if type(output) in (list, tuple):
        return type(output)(change(one) for one in output)
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output)(*(change(one) for one in output))
    if isinstance(output, dict):
        return {key: change(one) for key, one in output.items()}
    if hasattr(output, "__dict__") and not isinstance(output, type) and not callable(output):
        return {name: change(one) for name, one in sorted(vars(output).items())}
    return output
