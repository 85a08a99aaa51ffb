"""Released values that know what they would be without noise: sums, means, projections of them know it as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.reference.types import Array


class Shadowed(np.ndarray[Any, Any]):
    """An array with its twin that was computed from queries; ``exact`` is None where that is not known."""

    exact: Array | None

    def __array_finalize__(self, other: Any) -> None:
        self.exact = None

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        call, how = getattr(ufunc, method), kwargs
        if how.get("out") is not None:
            return call(*map(_plain, inputs), **{**how, "out": tuple(map(_plain, how["out"]))})
        return shadowed(call(*map(_plain, inputs), **how), call(*map(_exact, inputs), **how))

    def __array_function__(self, function: Any, types: Any, positional: Any, named: Any) -> Any:
        return shadowed(
            function(*_mapped(_plain, positional), **named), function(*_mapped(_exact, positional), **named)
        )

    def __getitem__(self, place: Any) -> Any:
        return shadowed(_plain(self)[place], _exact(self)[place])

    def copy(self, order: Any = "C") -> Any:
        """A copy with its twin."""
        return shadowed(_plain(self).copy(), np.array(_exact(self)))


class ShadowedNumber(float):
    """A number that was computed from such arrays, with its twin: a length that a decision looks at."""

    exact: float


def shadowed(value: Any, exact: Any) -> Any:
    """An array or a number with its twin; anything else as it is."""
    if isinstance(value, np.floating) and isinstance(exact, np.floating):
        number = ShadowedNumber(value)
        number.exact = float(exact)
        return number
    if not isinstance(value, np.ndarray) or np.shape(value) != np.shape(exact) or value.dtype.kind != "f":
        return value
    found = value.view(Shadowed)
    found.exact = np.asarray(exact, dtype=float)
    return found


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Shadowed) else value


def _exact(value: Any) -> Any:
    return value if not isinstance(value, Shadowed) else _plain(value) if value.exact is None else value.exact


def _mapped(function: Any, values: Any) -> Any:
    """In lists and tuples too."""
    if isinstance(values, list | tuple):
        return type(values)(_mapped(function, one) for one in values)
    return function(values)
