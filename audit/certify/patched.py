"""What private values go through in place of NumPy's constructors and global generators, while code is certified."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .draws import Draws, Noise
from .value import Open, Value

_CONSTRUCTORS = ("asarray", "array", "asanyarray", "ascontiguousarray", "asfarray")
_LEGACY = ("normal", "laplace", "standard_normal", "randn", "rand", "randint", "choice", "permutation", "uniform")
_GLOBAL = ("gauss", "normalvariate")


def _constructor(real: Callable[..., Any], copies: bool) -> Callable[..., Any]:
    def made(value: Any, *args: Any, **options: Any) -> Any:
        if isinstance(value, Noise):
            return value
        if not isinstance(value, Value):
            if isinstance(value, list | tuple) and any(isinstance(one, Value) for one in value):
                return np.stack(value)
            return real(value, *args, **options)
        dtype = options.get("dtype", args[0] if args else None)
        if copies or (dtype is not None and np.dtype(dtype).kind != "f"):
            return value.astype(float if dtype is None else dtype)  # type: ignore[attr-defined]
        return value

    return made


@contextmanager
def patched(draws: Draws) -> Iterator[None]:
    """While it is open, arrays made of private values stay private, and the global generators draw from the ledger."""
    kept: list[tuple[Any, str, Any]] = []

    def put(place: Any, name: str, new: Any) -> None:
        if hasattr(place, name):
            kept.append((place, name, getattr(place, name)))
            setattr(place, name, new)

    def own(seed: Any = None, *_: Any) -> Any:
        if isinstance(seed, np.random.Generator):
            return seed
        if seed is not None:
            raise Open("a generator with a fixed seed: everybody can draw the same noise")
        return draws

    class Legacy:
        """Code asks whether something is one, and makes one."""

        def __new__(cls, seed: Any = None) -> Any:
            return own(seed)

    try:
        for name in _CONSTRUCTORS:
            if hasattr(np, name):
                put(np, name, _constructor(getattr(np, name), name == "array"))
        put(np.random, "default_rng", own)
        put(np.random, "RandomState", Legacy)
        for name in dir(np.random):
            if (
                name.islower()
                and not name.startswith("_")
                and callable(getattr(np.random, name))
                and name != "default_rng"
            ):
                put(np.random, name, getattr(draws, name) if name in _LEGACY else _refused(name))
        for name in _GLOBAL:
            put(random, name, lambda mu=0.0, sigma=1.0: draws.normal(mu, sigma))
        for name in ("random", "uniform", "choice", "sample", "shuffle", "randint", "randrange", "expovariate"):
            put(random, name, _refused(name))
        yield
    finally:
        for place, name, old in reversed(kept):
            setattr(place, name, old)


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise Open(f"the global draw {name} has no rule; draw from the generator that is handed in")

    return refuse
