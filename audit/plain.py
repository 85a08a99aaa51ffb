"""Values as JSON and people read them: infinities have no number in JSON, and nobody reads sixteen digits."""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput

NOT_FINITE = {"infinity": math.inf, "-infinity": -math.inf, "nan": math.nan}  # JSON has no numbers for them


def plain(value: Any) -> Any:
    """Plain data for JSON; infinities and NaN become words, NumPy's numbers Python's, records objects."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def number_of(value: Any) -> Any:
    """Back from `plain`: a word that stands for what is not finite as that number, anything else as it is."""
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def array_of(value: Any, null: float | None = None) -> Array | None:
    """A number of JSON, or nested lists of them of one shape, as an array; None for anything else.

    ``null`` is the number that ``null`` stands for, if it may stand for one.
    """
    try:
        found = np.asarray(value)
        if found.dtype.kind not in "iuf":
            found = np.asarray(_numbers(value, null), dtype=float)  # a large whole number is one, too
        return found.astype(float) if found.dtype.kind in "iuf" else None
    except (TypeError, ValueError, OverflowError):  # true, which is no number; lists of different lengths
        return None


def _numbers(value: Any, null: float | None) -> Any:
    if isinstance(value, list):
        return [_numbers(one, null) for one in value]
    found = null if value is None else number_of(value)
    if isinstance(found, bool | str) or found is None:
        raise TypeError
    return found


def rounded(value: Any, digits: int = 12) -> Any:
    """Plain data with numbers of so many significant digits."""
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{digits}g}")
    if isinstance(value, Mapping):
        return {key: rounded(one, digits) for key, one in value.items()}
    return [rounded(one, digits) for one in value] if isinstance(value, list) else value


def is_float(value: object) -> bool:
    """A number of JSON that a float can hold: no truth value, no NaN, no integer of four hundred digits."""
    return type(value) in (int, float) and -sys.float_info.max <= value <= sys.float_info.max  # type: ignore[operator]


def checked(adapter: Any, data: Any, where: str) -> Any:
    """Data of a file as a ``TypeAdapter`` of pydantic wants them; BadInput names the first field that is wrong."""
    from pydantic import ValidationError  # whoever has an adapter has imported it

    try:
        return adapter.validate_python(data)
    except RecursionError:
        raise BadInput(where, "malformed", "is nested too deeply") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ": ".join(filter(None, (where, ".".join(map(str, first["loc"])))))
        raise BadInput(field, first["input"], in_words(first)) from None


def in_words(refused: Mapping[str, Any]) -> str:
    """What is wrong with a field, of the details of an error of pydantic."""
    said = str(refused["msg"]).removeprefix("Value error, ").replace("Input should be", "must be")
    return {"extra_forbidden": "is no field that is known here", "missing": "is missing"}.get(refused["type"], said)


def json_text(document: Any) -> str:
    """Canonical JSON: plain data, sorted keys, the same text for the same content."""
    return json.dumps(plain(document), indent=1, sort_keys=True, allow_nan=False)


def number(value: float | str | None, beside: float | None = None) -> str:
    """Three digits; ``-`` where there is no number, ``inf`` for an infinity (and for `plain`'s word for it).

    Args:
        beside: a number that it is compared with: as many digits, up to eight, as make the two differ.
    """
    if value is None or math.isnan(float(value)):
        return "-"
    texts = ((f"{float(value):.{digits}g}", f"{beside or 0.0:.{digits}g}") for digits in range(3, 9))
    return next((text for text, other in texts if beside is None or text != other), f"{float(value):.3g}")
