"""Functions, methods and classes with the signatures that people give them, as ``mechanism(data, rng)``.

What is the data, what are labels, and what is a generator is known by the name of a parameter or its annotation; the
first parameter is the data where no name says so. Epsilon and delta are those of the claim. Any other parameter gets
its default, or the value that the user names.
"""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from dpassay.audit.search.coverage import nested, own_functions
from dpassay.reference.errors import BadInput, require

from .frames import frame, pandas

DATA = ("rows", "data", "x", "xs", "records", "dataset", "values", "samples", "points", "features", "database", "db")
FRAMES = ("df", "frame", "dataframe")
LABELS = ("y", "ys", "labels", "label", "targets", "target")
GENERATORS = ("rng", "generator", "gen", "random_state", "random_generator", "seed", "prng")
EPSILONS, DELTAS = ("epsilon", "eps"), ("delta",)
TAPES = ("tape", "schedule")
FOREIGN = ("torch", "jax", "tensorflow", "subprocess", "multiprocessing", "socket", "requests", "urllib")
_METHODS = (FunctionType, classmethod, staticmethod)
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def parameters(run: Callable[..., Any]) -> list[inspect.Parameter]:
    """Of the function, or of the method ``fit`` of a class or an object that is not called itself."""
    found = entry(run)
    try:
        return [one for one in inspect.signature(found).parameters.values() if one.kind not in _MANY]
    except (TypeError, ValueError):
        return []


def entry(run: Any) -> Any:
    """What is called with the data: a class stands for ``fit`` of an object that is made anew in each run."""
    kind = _class_of(run)
    if kind is not None and hasattr(kind, "fit"):
        return functools.partial(kind.fit, None)
    if not inspect.isroutine(run) and not isinstance(run, functools.partial) and hasattr(run, "fit"):
        return run.fit
    return run


def _class_of(run: Any) -> type | None:
    run = run.func if isinstance(run, functools.partial) else run
    return run if isinstance(run, type) else None


def role(parameter: inspect.Parameter) -> str:
    """``data``, ``frame``, ``labels``, ``rng``, ``epsilon``, ``delta``, ``tape``; empty for any other parameter."""
    said, name = str(parameter.annotation), parameter.name.lower()
    if "Generator" in said or "RandomState" in said or name in GENERATORS:
        return "rng"
    if "DataFrame" in said or name in FRAMES:
        return "frame"
    roles = {"epsilon": EPSILONS, "delta": DELTAS, "tape": TAPES}
    if parameter.default is parameter.empty:  # else they are settings, as `target=0.5`, `points=20`
        roles |= {"data": DATA, "labels": LABELS}
    return next((found for found, names in roles.items() if name in names), "")


def is_plain(run: Any) -> bool:
    """Is it plain code, and not ``run(problem, tape)``? Code whose arguments no name explains is on a tape."""
    given = parameters(run)
    roles = [role(one) for one in given]
    if not given or "tape" in roles:
        return False
    if "rng" in roles or _class_of(run) is not None:
        return True
    unknown = [one for one, what in zip(given, roles, strict=True) if not what and one.default is one.empty]
    said = roles[0] in ("data", "frame") and all(len(one.name) > 1 for one in unknown)
    return said or unknown in ([], given[:1])


def takes(run: Any, what: str) -> bool:
    """Has a parameter this role? Labels are the last column of the rows, a ``frame`` is one of pandas."""
    return any(role(one) == what for one in parameters(run))


def adapted(run: Callable[..., Any], **claimed: float) -> Callable[[Any, Any], Any]:
    """The code as ``mechanism(data, rng)``; what has this form already is itself.

    Args:
        run: plain code.
        claimed: epsilon and delta, for parameters of these names.

    Raises:
        BadInput: a parameter that has no value, or what the code works with cannot be followed.
    """
    refuse_foreign(run)
    given, name = parameters(run), getattr(run, "__name__", "run")
    if inspect.iscoroutinefunction(_function(run)):
        raise BadInput("algorithm", name, "is an `async def`, which nobody awaits here: write it as a plain `def`")
    roles = [role(one) for one in given]
    itself = entry(run) is run and roles[1:2] == ["rng"] and roles[0] not in ("rng", "frame")
    plain = all(one.kind is not one.KEYWORD_ONLY for one in given[:2])
    if itself and plain and all(one.default is not one.empty and not role(one) for one in given[2:]):
        return run
    if not {"data", "frame"} & set(roles) and "" in roles:
        roles[roles.index("")] = "data"
    require(bool({"data", "frame"} & set(roles)), "algorithm", name, "takes no data: call the first parameter `rows`")
    values: dict[str, Any] = {}
    for one, what in zip(given, roles, strict=True):
        if what in ("", "epsilon", "delta") and one.default is one.empty:
            require(what in claimed, "algorithm", name, f"needs a value for `{one.name}`: --with {one.name}=VALUE")
            values[one.name] = claimed[what]
    known = dict(zip((one.name for one in given), roles, strict=True))
    return _called(run, values, known, [one.name for one in given if one.kind is one.POSITIONAL_ONLY])


def _called(run: Any, values: dict[str, Any], roles: dict[str, str], ordered: list[str]) -> Callable[[Any, Any], Any]:
    columns, kind = columns_of(entry(run)), _class_of(run)

    def mechanism(data: Any, rng: Any) -> Any:
        split = "labels" in roles.values()
        found = {"rng": rng, "data": data[:, :-1] if split else data, "labels": data[:, -1] if split else None}
        if "frame" in roles.values():
            found["frame"] = frame(found["data"], columns)
        named = values | {name: found[what] for name, what in roles.items() if what in found}
        first = [named.pop(name) for name in ordered]
        return entry(run)(*first, **named) if kind is None else _fitted(run, kind, first, named, rng)

    functools.update_wrapper(mechanism, _function(run))
    mechanism.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("data", "rng")]
    )
    mechanism.__wrapped__ = _function(run)  # type: ignore[attr-defined]
    mechanism.holder = run  # type: ignore[attr-defined]  # its object may keep a generator
    return mechanism


def _fitted(run: Any, kind: type, positional: list[Any], named: dict[str, Any], rng: Any) -> Any:
    """What an object of the class holds after ``fit``: what it gained, and what may have been written to.

    But for attributes that begin with ``_``, where it gained others.
    """
    made = [one for one in inspect.signature(kind).parameters.values() if role(one) == "rng"]
    known = getattr(run, "keywords", {})
    one = run(**{parameter.name: rng for parameter in made if parameter.name not in known})
    before = _held(one)
    returned = one.fit(*positional, **named)
    if returned is not None and returned is not one:
        return returned
    held = {name: value for name, value in _held(one).items() if not isinstance(value, np.random.Generator)}
    gained = {name: value for name, value in held.items() if name not in before or value is not before[name]}
    written = {name: value for name, value in held.items() if name not in gained and _may_change(value)}
    if not gained:
        return _public(written) or written
    return {**(_public(gained) or gained), **_public(written)}


def _public(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name[0] != "_" or name[-1] == "_"}


def _may_change(value: Any) -> bool:
    """May something be written into it?"""
    holder = hasattr(value, "__dict__") and not callable(value) and not isinstance(value, ModuleType)
    return holder or isinstance(value, list | dict | set | np.ndarray)


def _held(one: Any) -> dict[str, Any]:
    """Its attributes, and those of its classes: properties as whoever has it reads them."""
    found = {name: value for kind in reversed(type(one).__mro__) for name, value in vars(kind).items()}
    for name, value in list(found.items()):
        if name[0] != "_" and hasattr(type(value), "__get__") and not isinstance(value, _METHODS):
            del found[name]
            with suppress(Exception):  # before it is fitted
                read = getattr(one, name)
                found |= {} if inspect.isroutine(read) or isinstance(read, functools.partial) else {name: read}
    return {**{name: value for name, value in found.items() if name[:2] != "__"}, **vars(one)}


def columns_of(run: Any) -> list[str]:
    """Columns that the code, and what it calls, asks a data frame for."""
    asked = [name for one in own_functions(_function(run)) for name in _asked_by(one)]
    return list(dict.fromkeys(name for name in asked if name.isidentifier()))


def _asked_by(function: FunctionType) -> list[str]:
    """Texts in square brackets, also of what is named there; any text of the function, where that is its own name."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return []
    frames = [one.name for one in parameters(function) if role(one) == "frame"]
    fields = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    dotted = [node.attr for node in fields if ast.unparse(node.value) in frames]
    dotted = [name for name in dotted if not hasattr(pandas().DataFrame, name)]  # but for what every data frame has
    asked = [part for node in ast.walk(tree) if isinstance(node, ast.Subscript) for part in ast.walk(node.slice)]
    every = asked + [node for node in ast.walk(tree) if any(isinstance(one, ast.Name) for one in asked)]
    named = [function.__globals__.get(part.id) for part in every if isinstance(part, ast.Name)]
    found = [*(part.value for part in every if isinstance(part, ast.Constant)), *named]
    each = [one for value in found for one in (value if isinstance(value, list | tuple | dict) else [value])]
    return [*(one for one in each if isinstance(one, str)), *dotted]


def refuse_foreign(run: Any) -> None:
    """Code that works with what no generator and no array shows is refused before it runs.

    Raises:
        BadInput: naming what it works with, and what can be done.
    """
    functions = own_functions(_function(run))
    for function, code in ((one, code) for one in functions for code in nested(one.__code__)):
        for name in code.co_names:
            one = function.__globals__.get(name, ModuleType(name))  # imported inside
            module = one.__name__ if isinstance(one, ModuleType) else getattr(one, "__module__", None) or ""
            if (top := str(module).split(".")[0]) in FOREIGN:
                why = (
                    f"works with {top} (`{name}`), which is not followed: run it as a program on the live protocol "
                    "(docs/live.md), or audit its outputs with `dpassay blackbox`"
                )
                raise BadInput("algorithm", getattr(run, "__name__", "run"), why)


def _function(run: Any) -> Any:
    """The Python function that is run in the end."""
    found = entry(run)
    while True:
        inner = getattr(found, "func", None) or getattr(found, "__wrapped__", None) or getattr(found, "__func__", None)
        if inner is None or not callable(inner):
            break
        found = inner
    return found if inspect.isroutine(found) else type(found).__call__
