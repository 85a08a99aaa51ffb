"""Randomness that code has from elsewhere than an argument: global names, generators that it makes or keeps.

While plain code runs, what it draws by `np.random` and `random`, from a generator that it makes without a seed, or
from one in its module or on its object, comes from the generator of the run. A generator with a fixed seed stays what
it is: everybody can draw the same noise. So do the global names where the module fixes their seed.
"""

import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

from dpassay.audit.certify.generators import OldNames, names_of_python
from dpassay.audit.certify.patched import fixes_the_seed

from .places import WAY_OUT, NotUnderstood, here, of_the_code

CURRENT: ContextVar[Any] = ContextVar("generator of the run", default=None)  # the two worlds have one each
GLOBAL: ContextVar[Any] = ContextVar("generator of the global names", default=None)  # with the seed of the module
FIXED: dict[str, None] = {}  # lines that made a generator with a fixed seed
_GENERATORS = (np.random.Generator, np.random.RandomState)


def _asked_by_the_code() -> bool:
    """Outside of runs, and for libraries, everything is as it was."""
    return CURRENT.get() is not None and of_the_code(sys._getframe(2).f_code.co_filename)


def _drawn_for_code(real: Any, draw: Callable[..., Any]) -> Any:
    @wraps(real)
    def called(*given: Any, **named: Any) -> Any:
        return (draw if _asked_by_the_code() else real)(*given, **named)

    return called


def _made(real: Any, seed: Any = None, *rest: Any) -> Any:
    """The generator of the run, unless the seed is fixed and was not drawn."""
    run = CURRENT.get()
    if seed is None or isinstance(seed, np.random.Generator) or (hasattr(run, "sown") and run.sown(seed)):
        return run
    FIXED[here()] = None
    return real(seed, *rest)


def _class_of(real: Any) -> Any:
    class Legacy(real):  # type: ignore[misc]  # code asks whether something is one
        def __new__(cls, seed: Any = None) -> Any:
            return _made(real, seed) if _asked_by_the_code() else real(seed)

    return Legacy


def _seed(*_: Any) -> Any:
    why = f"fixes the noise of every run, so everybody can draw it: leave the seed to who runs the code, or {WAY_OUT}"
    raise NotUnderstood("seed", here(), why)


def _array(real: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy asks each number of a list for itself, so noise that was drawn number by number is put together before."""

    def made(values: Any, dtype: Any = None, **options: Any) -> Any:
        listed = type(values) in (list, tuple) and bool(values)
        if listed and all(getattr(one, "mixed", True) is False for one in values):
            return np.stack(values).astype(dtype or float)
        return real(values, dtype, **options)

    return made


_PYTHON = {**names_of_python(lambda: GLOBAL.get()), "seed": _seed}


class _Forward(np.random.Generator):
    """Stands for a generator that the code keeps: whatever is asked of it, that of the run answers."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))  # never drawn from

    def __getattribute__(self, name: str) -> Any:
        return getattr(CURRENT.get(), name)


def _kept(name: str, generator: Any) -> Any:
    """What stands for a generator that the code keeps; of one with a fixed seed each run has the same numbers."""
    bits = generator.bit_generator if isinstance(generator, np.random.Generator) else generator._bit_generator
    drawn = getattr(getattr(bits, "seed_seq", None), "entropy", 0)  # by the system: 128 bits
    if isinstance(drawn, int) and drawn >= 2**64:
        return _Forward()
    FIXED[f"`{name}`"] = None
    return deepcopy(generator)


def _of_the_run(name: str) -> Callable[..., Any]:
    return lambda *given, **named: getattr(GLOBAL.get(), name)(*given, **named)


def _replacements() -> dict[int, tuple[Any, Any]]:
    """By identity of what is replaced: itself, so that it stays, and what stands for it."""
    new: list[tuple[Any, Any]] = [(np.random.RandomState, _class_of(np.random.RandomState))]
    for name in dir(np.random):
        real = getattr(np.random, name)
        if name == "default_rng":
            new.append((real, _drawn_for_code(real, lambda *given, real=real: _made(real, *given))))
        elif hasattr(OldNames, name) and callable(real):
            new.append((real, _drawn_for_code(real, _of_the_run(name))))
    new.append((np.random.seed, _drawn_for_code(np.random.seed, _seed)))
    new += [(real, _drawn_for_code(real, draw)) for name, draw in _PYTHON.items() if (real := getattr(random, name))]
    new += [(real, _drawn_for_code(real, _array(real))) for real in (np.array, np.asarray)]
    return {id(real): (real, stand_in) for real, stand_in in new}


_REPLACED = _replacements()
_GLOBAL_NAMES = vars(np), vars(np.random), vars(random)
_EVERYWHERE = [(names, name) for names in _GLOBAL_NAMES for name in names if id(names[name]) in _REPLACED]
_lock = threading.Lock()
_running = [0]  # runs that are on their way, in both worlds
_changed: list[tuple[dict[str, Any], str, Any]] = []  # where a name was, and what it stood for


class _Number(type):
    """Of the name `float` in the code: a number of noise that has not met data stays what it is."""

    def __instancecheck__(cls, one: Any) -> bool:
        return isinstance(one, float)

    def __call__(cls, one: Any = 0.0) -> Any:
        return one if getattr(one, "mixed", True) is False and not np.shape(one) else float(one)


class _Float(float, metaclass=_Number):
    dtype = np.dtype(float)


_ABSENT = object()


@contextmanager
def followed(code: Callable[..., Any], rng: Any, kept_only: bool = False) -> Iterator[Any]:
    """For the time of a run of this code, whatever generator it asks for is this one; runs may overlap.

    Args:
        code: a function or a method; its module and its object may keep generators.
        rng: what it draws from.
        kept_only: these generators alone, no global names.
    """
    of_code = names_of(code)
    seeded = any(fixes_the_seed(str(names.get("__file__"))) for names in of_code)
    if seeded:
        FIXED["`np.random`"] = None
    tokens = CURRENT.set(rng), GLOBAL.set(OldNames(np.random.PCG64(0)) if seeded else rng)
    own = [(names, name) for names in of_code for name in names]
    with _lock:
        _running[0] += 1
        for names in of_code if not kept_only else ():
            if "__builtins__" in names and "float" not in names:
                _put(names, "float", _Float)
        for names, name in own if kept_only else (*_EVERYWHERE, *own):
            if id(names[name]) in _REPLACED and not kept_only:
                _put(names, name, _REPLACED[id(names[name])][1])
            elif type(names[name]) in _GENERATORS:
                _put(names, name, _kept(name, names[name]))
    try:
        yield rng
    finally:
        CURRENT.reset(tokens[0])
        GLOBAL.reset(tokens[1])
        with _lock:
            _running[0] -= 1
            while _changed and not _running[0]:
                names, name, before = _changed.pop()
                names[name] = before
                if before is _ABSENT:
                    del names[name]


def _put(names: dict[str, Any], name: str, new: Any) -> None:
    _changed.append((names, name, names.get(name, _ABSENT)))
    names[name] = new


def names_of(code: Any) -> list[dict[str, Any]]:
    """Global names of the code, and the attributes of its object."""
    found = []
    while code is not None:
        function = getattr(code, "__func__", code)
        if hasattr(function, "__globals__") and of_the_code(function.__code__.co_filename):
            found.append(function.__globals__)
        holder = getattr(code, "holder", None)
        for one in (getattr(code, "__self__", None), holder, getattr(holder, "__self__", None)):
            if hasattr(one, "__dict__") and not isinstance(one, type | ModuleType):
                found.append(vars(one))
        code = getattr(code, "__wrapped__", None) or getattr(code, "func", None)
    return found
