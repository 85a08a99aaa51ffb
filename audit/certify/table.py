"""Numbers of finitely many values as a table, with an axis for each thing of finitely many values they are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference.arrays import Array

_VALUES, _ENTRIES = 16, 4096  # of a private number, and of a table: more are not followed


class Source:
    """What has one of these values; ``of``: the private number."""

    def __init__(self, values: Array, of: Any = None):
        self.values, self.of = values, of


class Table(NamedTuple):
    """Which number it is, where each source has one of its values."""

    sources: tuple[Source, ...]
    numbers: Array

    def spread(self, sources: tuple[Source, ...]) -> Array:
        """With an axis for each of these sources."""
        order = [self.sources.index(one) for one in sources if one in self.sources]
        return self.numbers.transpose(order).reshape([len(one.values) if one in self.sources else 1 for one in sources])


_OF_ENTRIES = np.where, np.clip  # other names stand in NumPy while code is certified


def by_entry(function: Any) -> bool:
    """Does each number that NumPy makes depend on those in its own place alone?"""
    if not isinstance(function, np.ufunc):
        return function in _OF_ENTRIES
    of_the_code = all(one.endswith("O->O") for one in function.types)
    return function.signature is None and function.nout == 1 and not of_the_code


def tabled(function: Callable[..., Any], args: Sequence[Any]) -> Table | None:
    """What a function of entries makes of tables, few-valued private numbers and plain ones; None of others."""
    tables = [one if isinstance(one, Table) else of_value(one) for one in args]
    if any(table is None and type(one) not in _PLAIN for table, one in zip(tables, args, strict=True)):
        return None
    sources = tuple(dict.fromkeys(source for one in tables if one is not None for source in one.sources))
    shape = [len(one.values) for one in sources]
    if math.prod(shape) > _ENTRIES:
        return None
    given = [one if table is None else table.spread(sources) for table, one in zip(tables, args, strict=True)]
    with np.errstate(all="ignore"):
        numbers = np.broadcast_to(function(*given), shape)
    return Table(sources, numbers) if np.isfinite(numbers).all() else None


_PLAIN = {bool, int, float, np.bool_, np.int64, np.float64}


def of_value(one: Any) -> Table | None:
    """Of a private number: how it was made, or the few values that it may have, which are the same ones next time."""
    whole = getattr(one, "truth", False) or getattr(one, "integer", False)
    few: Table | None = getattr(one, "few", None)
    if few is None and whole and not (one.holes or one.absent or one.hollow) and one.high - one.low < _VALUES:
        values = np.arange(one.low, one.high + 1).astype(bool if one.truth else int)
        one.few = few = Table((Source(values, one.now()),), values)
    return few
