"""Vectors as lists, and numbers in single precision: nothing but the standard library."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any


class Single(float):
    """A number that is rounded to single precision after every operation."""

    def __new__(cls, value: float) -> Single:
        value = float(value)
        if math.isfinite(value):
            try:
                (value,) = struct.unpack("f", struct.pack("f", value))
            except OverflowError:
                value = math.copysign(math.inf, value)
        return super().__new__(cls, value)

    def __neg__(self) -> Single:
        return Single(-float(self))

    def __abs__(self) -> Single:
        return Single(abs(float(self)))


def _rounded(name: str) -> Any:
    plain = getattr(float, name)

    def operation(self: Single, other: Any) -> Any:
        found = plain(self, float(other))
        return found if found is NotImplemented else Single(found)

    return operation


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow"):
    setattr(Single, f"__{_name}__", _rounded(f"__{_name}__"))

WORDS = {"infinity": math.inf, "-infinity": -math.inf, "nan": math.nan}


def told(value: Any, kind: Any = float) -> Any:
    """Data with every number of this kind; the three words are numbers too."""
    if isinstance(value, dict):
        return {name: told(entry, kind) for name, entry in value.items()}
    if isinstance(value, list):
        return [told(entry, kind) for entry in value]
    if isinstance(value, str) and value in WORDS:
        return WORDS[value]
    return kind(value) if isinstance(value, float) else value


def numbers(value: Any, kind: Any) -> Any:
    """What a tape hands back, as lists of this kind of number."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    return [kind(one) for one in plain] if isinstance(plain, list) else kind(plain)


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0.0)


def norm(a: Sequence[float]) -> float:
    squares = dot(a, a)
    return type(squares)(math.sqrt(squares))


def plus(a: Sequence[float], b: Sequence[float], factor: float = 1.0) -> list[float]:
    """a + factor b."""
    return [x + factor * y for x, y in zip(a, b, strict=True)]


def times(factor: float, a: Sequence[float]) -> list[float]:
    return [factor * x for x in a]


def total(rows: Sequence[Sequence[float]], width: int) -> list[float]:
    found = [0.0] * width
    for row in rows:
        found = plus(found, row)
    return found


def clipped(row: Sequence[float], bound: float, bug: str = "") -> list[float]:
    """Not longer than the bound."""
    if bug == "infinity norm":
        return [max(-bound, min(bound, x)) for x in row]
    length = sum(abs(x) for x in row) if bug == "1-norm" else norm(row)
    if bug == "no clipping" or length <= bound:
        return list(row)
    return times(bound / length, row)


def check_finite(rows: Sequence[Sequence[float]]) -> None:
    for row in rows:
        if len(row) != len(rows[0]) or not all(math.isfinite(x) for x in row):
            raise ValueError("records must be finite and of one length")


def scale_of(schedule: dict[str, Any], label: str, sensitivity: float) -> float:
    """The noise of a release: printed, or a multiplier of its sensitivity."""
    noise = schedule["noise"]
    known = noise["by_label"][label]
    if known < 0:
        raise ValueError("negative noise")
    return known if noise["class"].endswith("Printed") else known * sensitivity
