"""A space as it is written on the command line: ``Space.matrix(n=(1,), radius=2.0)``, read and never evaluated."""

from __future__ import annotations

import ast
from typing import Any

from dpassay.reference.errors import BadInput, require
from dpassay.reference.space import Space

_NAMES = ("Space.matrix", "dpassay.reference.Space.matrix")
_ARGUMENTS = ("n", "d", "radius")


def is_written(text: str) -> bool:
    """It is meant as a space in words, not as MODULE:SPACE."""
    return text.strip().startswith(tuple(f"{name}(" for name in _NAMES))


def written_space(text: str, field: str = "--space") -> Space:
    """The space that the words say.

    Raises:
        BadInput: another call, or arguments that are no plain numbers.
    """
    try:
        call = ast.parse(text.strip(), mode="eval").body
        require(isinstance(call, ast.Call) and ast.unparse(call.func) in _NAMES, field, text, "is no Space.matrix(...)")
        assert isinstance(call, ast.Call)
        given = dict(zip(_ARGUMENTS, map(ast.literal_eval, call.args), strict=False))
        given |= {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
        read: dict[str, Any] = {name: _sizes(value) if name in ("n", "d") else value for name, value in given.items()}
        return Space.matrix(**read)
    except BadInput:
        raise
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise BadInput(field, text, f"takes n, d (numbers, as in n=(1, 2)) and radius: {error}") from None


def _sizes(value: object) -> tuple[int, ...]:
    sizes = value if isinstance(value, tuple | list) else (value,)
    if not all(type(size) is int for size in sizes):
        raise TypeError("sizes are whole numbers")
    return tuple(sizes)
