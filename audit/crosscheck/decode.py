"""Encoded problems and schedules as objects of the reference again: only its frozen dataclasses, only their fields.

What a file names is imported only from a file of the reference itself, and nothing but such a class is called.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from dpassay import reference
from dpassay.audit.plain import array_of, number_of
from dpassay.reference.arrays import Array
from dpassay.reference.dro.divergences import chi_square, cressie_read, kl, kl_cvar
from dpassay.reference.errors import BadInput, require
from dpassay.reference.problems.margin_losses import LOGISTIC, SIGMOID, ridge, saturating

from .encode import HOME, RESERVED

_NAME = re.compile(r"((?:[a-z]\w*\.)+)([A-Z]\w*)", re.ASCII)


def _named(data: Mapping[str, Any], what: str, known: Mapping[str, Any]) -> Any:
    require(data.get("name") in known, what, data.get("name"), f"known: {', '.join(known)}")
    return known[str(data["name"])]


def _penalty(data: Mapping[str, Any]) -> Any:
    made = _named(data, "regulariser", {"saturating": saturating, "ridge": ridge})
    return made(_number(data.get("weight"), "regulariser.weight"))


def _divergence(data: Mapping[str, Any]) -> Any:
    name, constants = str(data.get("name")), data.get("constants")
    one: dict[str, Callable[[float], Any]] = {"kl_cvar": kl_cvar, "cressie_read": cressie_read}
    if name in ("chi_square", "kl"):
        return chi_square() if name == "chi_square" else kl()
    family = name.split("(")[0]
    good = family in one and isinstance(constants, Mapping) and len(constants) == 1
    require(good, "divergence", name, f"known: chi_square, kl, {', '.join(one)}, each of these with its constant")
    return one[family](_number(next(iter(dict(constants or {}).values())), "divergence.constants"))


FAMILIES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "problems.margin_losses.Link": lambda data: _named(data, "link", {one.name: one for one in (LOGISTIC, SIGMOID)}),
    "problems.margin_losses.Regulariser": _penalty,
    "dro.divergences.Divergence": _divergence,
}


def decode(data: Any, where: str = "value") -> Any:
    """The object of the reference that :func:`encode` wrote; a bare list of numbers becomes an array.

    Raises:
        BadInput: a class that is not in the list, a field that is missing or of another type, or values that the
            class itself refuses.
    """
    try:
        return _numbers(data, where) if isinstance(data, list) else _object(data, where)
    except RecursionError:
        raise BadInput(where, "malformed", "is nested too deeply") from None


def _object(data: Any, where: str) -> Any:
    good = isinstance(data, Mapping) and isinstance(data.get("class"), str)
    require(good, where, data, 'must be an object with the string "class"')
    name = str(data["class"])
    if name in FAMILIES:
        return FAMILIES[name](data)
    kind, hints = _class(name, where)
    wanted = tuple(field.name for field in fields(kind))
    extra = sorted(set(data) - set(wanted) - set(RESERVED) - {"name"})
    require(not extra, where, extra, f"{name} has no such field")
    missing = [one for one in wanted if one not in data]
    require(not missing, where, missing, f"{name} needs them")
    values = {one: _value(hints[one], data[one], f"{where}.{one}") for one in wanted}
    try:
        return kind(**values)
    except BadInput:
        raise
    except (TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise BadInput(where, name, f"refuses these fields: {error}") from None


@lru_cache(maxsize=128)
def _class(name: str, where: str) -> tuple[Any, dict[str, Any]]:
    found: Any = None
    parts = _NAME.fullmatch(name)
    if parts and (Path(reference.__file__).parent / f"{parts[1][:-1].replace('.', '/')}.py").is_file():
        found = vars(import_module(HOME + parts[1][:-1])).get(parts[2])
    good = isinstance(found, type) and is_dataclass(found) and f"{found.__module__}.{found.__qualname__}" == HOME + name
    require(good and found.__dataclass_params__.frozen, f"{where}: class", name, "is not a class of the reference")
    return found, get_type_hints(found)


def _value(hint: Any, data: Any, where: str) -> Any:
    """``data`` as a value of the annotated type."""
    hint = _meant(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if data is None and type(None) in arguments:
            return None
        plain = [one for one in arguments if one is not type(None)]
        return _value(plain[0] if len(plain) == 1 else Any, data, where)
    if origin is np.ndarray:
        whole = "int64" in str(hint)
        return np.asarray(_numbers(data, where), dtype=np.int64 if whole else np.float64)
    if origin is tuple:
        require(isinstance(data, list), where, data, "must be a list")
        inner = arguments[0] if arguments else Any
        return tuple(_value(inner, one, f"{where}[{index}]") for index, one in enumerate(data))
    if isinstance(data, Mapping):
        return _object(data, where) if "class" in data else {k: _scalar(v, f"{where}[{k}]") for k, v in data.items()}
    if hint is float:
        return _number(data, where)
    return _scalar(data, where)


def _meant(hint: Any) -> Any:
    """The type that an alias stands for: from 2.5 on NumPy's ``NDArray`` is one (PEP 695)."""
    alias = getattr(get_origin(hint), "__value__", None)
    return hint if alias is None else _meant(alias[get_args(hint)])


def _scalar(data: Any, where: str) -> Any:
    require(data is None or isinstance(data, bool | int | float | str), where, data, "must be a number, text or null")
    return number_of(data)


def _number(data: Any, where: str) -> float:
    value = _scalar(data, where)
    require(isinstance(value, int | float) and not isinstance(value, bool), where, data, "must be a number")
    try:
        return float(value)
    except OverflowError:
        raise BadInput(where, "an integer", "has too many digits") from None


def _numbers(data: Any, where: str) -> Array:
    """Nested lists of numbers of one shape."""
    found = array_of(data)
    if found is None:
        raise BadInput(where, data, "must be numbers, or lists of them of one shape")
    return found
