"""Problems, schedules and released values as JSON data that a stranger can compute with.

An object becomes ``{"class": ..., its fields, "derived": ..., "formulas": ...}``: the formulas are those that are
written of its class (``FORMULAS``, or ``formulas.toml`` in the reference), what it computes from its fields is in
``derived`` (``DERIVED``), and the class is named by its path below ``dpassay.reference``. A function is never written
as a name: a class that holds functions has formulas for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from dpassay.audit.plain import plain
from dpassay.reference.errors import BadInput
from dpassay.reference.written import formulas_of

HOME = "dpassay.reference."
RESERVED = ("class", "derived", "formulas")


def encode(value: Any, where: str = "value") -> Any:
    """A value as JSON data.

    Args:
        value: numbers, text, None, arrays, mappings, sequences, dataclasses of these, and objects whose class has
            ``FORMULAS``.
        where: the name of the value, for the error.

    Returns:
        Numbers as Python prints them (the shortest text that reads back as the same number), with ``"infinity"``,
        ``"-infinity"`` and ``"nan"`` for the rest; arrays of any shape as nested lists; objects as described above.

    Raises:
        BadInput: a function, or another object, that has no formulas: nobody could compute with its name. Or data
            that contain themselves.
    """
    try:
        return _encode(value, where)
    except RecursionError:
        raise BadInput(where, type(value).__name__, "contains itself, or is nested too deeply") from None


def _encode(value: Any, where: str) -> Any:
    if isinstance(value, np.ndarray):
        return _encode(value.tolist(), where)
    if isinstance(value, np.generic):
        return _encode(value.item(), where)
    if isinstance(value, Enum):
        return _encode(value.value, where)
    if value is None or isinstance(value, bool | int | float | str):
        return plain(value)
    if isinstance(value, Mapping):
        return {str(name): _encode(entry, f"{where}[{name}]") for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(entry, f"{where}[{index}]") for index, entry in enumerate(value)]
    return _object(value, where)


def _object(value: Any, where: str) -> dict[str, Any]:
    """An instance with its class, fields, derived constants and formulas: of its class, and of its own (a link)."""
    kind, own = type(value), getattr(value, "formulas", None)
    formulas = {**formulas_of(kind), **(own if isinstance(own, Mapping) else {})}
    described = is_dataclass(value) and not isinstance(value, type)
    if not described and not formulas:
        name = getattr(value, "__qualname__", kind.__qualname__)
        raise BadInput(where, name, "cannot be told to another program: give its class FORMULAS, or numbers instead")
    names = [field.name for field in fields(value)] if described else list(vars(value))
    found: dict[str, Any] = {"class": f"{kind.__module__}.{kind.__qualname__}".removeprefix(HOME)}
    for name in names:
        if name.startswith("_") or name in RESERVED:
            continue
        entry = getattr(value, name)
        if callable(entry) and not is_dataclass(entry) and not formulas_of(type(entry)):  # a bare function
            if formulas:
                continue
            raise BadInput(f"{where}.{name}", "a function", f"has no formula: give {kind.__qualname__} FORMULAS")
        found[name] = _encode(entry, f"{where}.{name}")
    derived = {name: _encode(getattr(value, name), f"{where}.{name}") for name in getattr(kind, "DERIVED", ())}
    return {**found, **({"derived": derived} if derived else {}), **({"formulas": formulas} if formulas else {})}
