"""Problems, schedules and released values as JSON data that a stranger can compute with, and back.

An object becomes ``{"class": ..., its fields, "derived": ..., "formulas": ...}``: the formulas are those that are
written of its class (``FORMULAS``, or ``formulas.toml`` in the reference), what it computes from its fields is in
``derived`` (``DERIVED``), and the class is named by its path below ``dpassay.reference``. A function is never written
as a name: a class that holds functions has formulas for them.

Back again there are only the reference's frozen dataclasses with their fields: what a file names is imported from a
file of the reference alone, and nothing but such a class is called.
"""

import re
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from dpassay import reference
from dpassay.audit.plain import array_of, number_of, plain
from dpassay.reference.arrays import Array
from dpassay.reference.dro.divergences import chi_square, cressie_read, kl, kl_cvar
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import parse_toml, read_text
from dpassay.reference.problems.margin_losses import LOGISTIC, SIGMOID, ridge, saturating

HOME = "dpassay.reference."
RESERVED = ("class", "derived", "formulas")
_NAME = re.compile(r"((?:[a-z]\w*\.)+)([A-Z]\w*)", re.ASCII)


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
    if isinstance(value, np.ndarray | np.generic):
        return _encode(value.tolist(), where)
    if value is None or isinstance(value, bool | int | float | str | Enum):
        return plain(value)
    if isinstance(value, Mapping):
        return {str(name): _encode(entry, f"{where}[{name}]") for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(entry, f"{where}[{index}]") for index, entry in enumerate(value)]
    return _told(value, where)


def _told(value: Any, where: str) -> dict[str, Any]:
    """An instance with its class, fields, derived constants and formulas: of its class, or of its name (a link)."""
    kind = type(value)
    formulas = formulas_of(kind, str(getattr(value, "name", "")))
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


def formulas_of(kind: type, name: str = "") -> Mapping[str, str]:
    """What is written of a class: its own ``FORMULAS``, the table in its folder, or those of the class it extends.

    The table ``module.Class`` stands in the folder's ``formulas.toml``, in plain notation. Of a class whose objects
    hold functions it bears the object's name (``logistic``, ``kl_cvar(0.2)``).
    """
    for one in kind.__mro__:
        found: Mapping[str, str] | None = vars(one).get("FORMULAS")
        if found is None and one.__module__.startswith(HOME):
            *folders, file = one.__module__.removeprefix(HOME).split(".")
            tables = _tables(Path(reference.__file__).parent.joinpath(*folders, "formulas.toml")).get(file, {})
            found = tables.get(one.__qualname__) or tables.get(name.partition("(")[0])
        if found is not None:
            return found
    return {}


@cache
def _tables(path: Path) -> dict[str, Any]:
    return parse_toml(read_text(path, "formulas"), str(path)) if path.exists() else {}


# back to objects
FAMILIES: dict[str, dict[str, Callable[..., Any]]] = {  # of classes that hold functions: by name, of a constant or none
    "problems.margin_losses.Link": {"logistic": lambda: LOGISTIC, "sigmoid": lambda: SIGMOID},
    "problems.margin_losses.Regulariser": {"saturating": saturating, "ridge": ridge},
    "dro.divergences.Divergence": {one.__name__: one for one in (chi_square, kl, kl_cvar, cressie_read)},
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
    make = _of_family(name, data, where) if name in FAMILIES else _of_class(name, data, where)
    try:
        return make()
    except BadInput:
        raise
    except (TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise BadInput(where, name, f"refuses these fields: {error}") from None


def _of_family(name: str, data: Mapping[str, Any], where: str) -> Callable[[], Any]:
    known, said = FAMILIES[name], data.get("name")
    member = str(said).partition("(")[0]
    require(member in known, f"{where}: {name}", said, f"known: {', '.join(known)}")
    constants = data.get("constants", {"weight": data["weight"]} if "weight" in data else {})
    require(isinstance(constants, Mapping), f"{where}.constants", constants, "must be an object")

    def made() -> Any:
        found = known[member](*(_number(one, f"{where}.{key}") for key, one in constants.items()))
        require(said in (member, found.name), f"{where}.name", said, f"must be {found.name!r}, by its constants")
        return found

    return made


def _of_class(name: str, data: Mapping[str, Any], where: str) -> Callable[[], Any]:
    kind, hints = _class(name, where)
    wanted = tuple(field.name for field in fields(kind))
    extra = sorted(set(data) - set(wanted) - set(RESERVED) - {"name"})
    require(not extra, where, extra, f"{name} has no such field")
    missing = [one for one in wanted if one not in data]
    require(not missing, where, missing, f"{name} needs them")
    return partial(kind, **{one: _value(hints[one], data[one], f"{where}.{one}") for one in wanted})


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
