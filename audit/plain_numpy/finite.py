"""A mechanism that makes finitely many choices: every way through it, so the exact law of what it returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .generator import OldNames, Uniforms
from .noise_laws import WholeOutput

MOST_PATHS = 5_000  # ways through a mechanism that are followed


class NotFinite(Exception):
    """It draws something that has no finite list of values, or there are too many ways through it."""


class PathGenerator(OldNames):
    """A generator whose draws take the values of one way through the code, and then the first that is possible.

    Draws without a method here have no finite list of values.

    Args:
        wanted: the number of the value for each choice at the beginning.

    Attributes:
        others: ways that are not taken, each up to where it parts from this one; the one to go next is the last.
        logs: log probabilities of the values that are taken.
    """

    def __init__(self, wanted: tuple[int, ...]):
        super().__init__(np.random.PCG64(0))  # never drawn from
        self._wanted, self._taken = wanted, list[int]()
        self.others: list[tuple[int, ...]] = []
        self.logs: list[float] = []

    def one_of(self, probabilities: Any) -> int:
        """The number of a value with these probabilities; impossible values are never taken."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(probabilities, dtype=float))
        if len(self._taken) < len(self._wanted):
            found = self._wanted[len(self._taken)]
        else:
            found, *others = np.flatnonzero(logs > -math.inf).tolist()
            self.others += [(*self._taken, one) for one in reversed(others)]
            if len(self.others) >= MOST_PATHS:
                raise NotFinite
        self._taken.append(found)
        self.logs.append(float(logs[found]))
        return found

    def coin(self, probability: float) -> bool:
        """Heads with this probability."""
        return self.one_of([1 - probability, probability]) == 1

    def _each(self, size: Any, draw: Callable[[], Any], dtype: Any = None) -> Any:
        if size is None:
            return draw()
        found = np.empty(_length(size), dtype=object)
        for number in range(len(found)):  # one by one: NumPy would ask a list of intervals for their values
            found[number] = draw()
        return found if dtype is None else found.astype(dtype)

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Uniform numbers, of which only comparisons are known."""
        return self._each(size, lambda: Uniforms(self, None))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Likewise, from 0 to 1."""
        return self.random(size) if low == 0 and high == 1 else _refused()

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Coins: with ``n`` = 1."""
        if np.ndim(n) or n != 1:
            raise NotFinite
        each = iter(np.broadcast_to(np.asarray(p, dtype=float), () if size is None else (_length(size),)).ravel())
        return self._each(size, lambda: self.one_of([1 - (one := next(each)), one]), np.int64)

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = None, endpoint: bool = False) -> Any:
        """Each with the same probability."""
        low, high = (0, low) if high is None else (low, high)
        if np.ndim(low) or np.ndim(high) or (values := int(high) - int(low) + bool(endpoint)) > MOST_PATHS:
            raise NotFinite  # one list entry each would take all memory
        return self._each(size, lambda: int(low) + self.one_of([1 / values] * values), np.int64)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """With or without replacement."""
        if np.ndim(a) == 0 and int(a) > MOST_PATHS:
            raise NotFinite
        values = np.arange(int(a)) if np.ndim(a) == 0 else np.asarray(a)
        weights = np.full(len(values), 1 / len(values)) if p is None else np.asarray(p, dtype=float).copy()

        def pick() -> int:
            found = self.one_of(weights / weights.sum())
            weights[found] *= replace
            return found

        return values[self._each(size, pick, np.int64)]

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Every order."""
        values = np.arange(int(x)) if np.ndim(x) == 0 else np.asarray(x)
        return values[self.choice(len(values), len(values), replace=False)]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Likewise, in place."""
        x[...] = np.take(x, self.choice(len(x), len(x), replace=False), axis=axis)


def _refused(*_: Any, **__: Any) -> Any:
    raise NotFinite


for _name in ("public", "taken", *dir(np.random.Generator)):
    if not _name.startswith("_") and _name not in vars(PathGenerator) and _name not in ("bit_generator", "spawn"):
        setattr(PathGenerator, _name, _refused)


def whole_law(mechanism: Callable[[Any, np.random.Generator], Any], data: Any, delta: float) -> WholeOutput:
    """The exact law of the output on this data, as keys.

    Raises:
        NotFinite: it has none that is finite, or more than ``MOST_PATHS`` ways lead through it.
    """
    found: dict[Any, list[float]] = {}
    ways: list[tuple[int, ...]] = [()]
    done = 0
    while ways:
        rng = PathGenerator(ways.pop())
        found.setdefault(key_of(mechanism(data, rng)), []).append(math.fsum(rng.logs))
        ways += rng.others
        done += 1
        if done + len(ways) > MOST_PATHS:
            raise NotFinite
    keys = sorted(found, key=repr)
    logs = np.array([np.logaddexp.reduce(found[key]) for key in keys])
    return WholeOutput(tuple(keys), logs - np.logaddexp.reduce(logs), delta)


def key_of(value: Any) -> Any:
    """An output as something that can be compared: nested tuples, numbers to twelve digits."""
    if isinstance(value, np.ndarray):
        return ("array", value.shape, tuple(key_of(one) for one in value.ravel().tolist()))
    if isinstance(value, np.generic):
        return key_of(value.item())
    if isinstance(value, dict):
        return tuple((str(name), key_of(one)) for name, one in sorted(value.items(), key=lambda entry: str(entry[0])))
    if isinstance(value, list | tuple):
        return tuple(key_of(one) for one in value)
    if isinstance(value, set | frozenset):
        return tuple(sorted((key_of(one) for one in value), key=repr))
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if value is None or isinstance(value, bool | int | str | bytes):
        return value
    raise NotFinite


def _length(size: Any) -> int:
    if np.ndim(size) == 0:
        return int(size)
    if len(size) != 1:
        raise NotFinite
    return int(size[0])
