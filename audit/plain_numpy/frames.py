"""Data frames as a certificate follows them: columns by name, and the records that a private condition chooses.

As much of pandas as code with a few columns uses. What is not here ends the certificate.
"""

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.audit.certify.derivation import Open, refuse
from dpassay.audit.certify.value import Holder, bare, private, seen_as


def frame(features: Any, columns: list[str]) -> Any:
    """A frame of these columns; those without a name are ``x2`` and so on."""
    names = columns + [f"x{number}" for number in range(len(columns), features.shape[1])]
    names = names[: features.shape[1]]
    if private(features):
        return Frame(features, {name: number for number, name in enumerate(names)})
    return pandas().DataFrame(features, columns=names)


def pandas() -> Any:
    """Loaded where a frame is asked for."""
    import pandas as pd  # type: ignore[import-untyped]  # it takes half a second, and may not be there

    return pd


class _Held(Holder):
    """What frames and series have in common."""

    values = property(lambda self: self.to_numpy())

    def _as_text(self, *_: Any) -> str:
        return str(self.held)

    __str__ = __repr__ = __format__ = _as_text

    def to_numpy(self) -> Any:
        """The numbers; whether the frame changes with them, differs between versions of pandas."""
        return self.held[...]

    def __len__(self) -> int:
        return len(self.held)


class Frame(_Held):
    """Columns: places in the matrix, or what the code has put in their place."""

    def __init__(self, values: Any, columns: dict[str, Any]):
        self._values, self._columns = values, columns

    __class__ = seen_as(lambda self: pandas().DataFrame)
    held = property(lambda self: self._matrix())
    columns = property(lambda self: list(self._columns))
    shape = property(lambda self: (*self._values.shape[:1], len(self._columns)))
    loc = property(lambda self: _Located(self))
    iloc = property(lambda self: _Located(self, self.columns))

    def _whole(self, _: Any) -> Any:
        raise Open("a data frame is compared as a whole; take its columns")

    __eq__ = __ne__ = __contains__ = _whole

    def _matrix(self) -> Any:
        places = list(self._columns.values())
        if all(isinstance(one, int) for one in places):
            return self._values if len(places) == self._values.shape[-1] else self._values[:, places]
        return np.column_stack([self[name].held for name in self._columns])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._columns:
            raise Open(f"{name} of a data frame has no rule; take its columns")
        return self[name]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, list):
            refuse(len({*key}) < len(key), "a column of a data frame is taken twice")
            return Frame(self._values, {name: self._columns[name] for name in key})
        if isinstance(key, str):
            place = self._columns[key]
            return Series(self._values[:, place] if isinstance(place, int) else place)
        mask = bare(key)
        refuse(not private(mask), "a data frame is indexed by names, or by a truth value per record")
        chosen = {name: one if isinstance(one, int) else one[mask] for name, one in self._columns.items()}
        return Frame(self._values[mask], chosen)

    def __setitem__(self, key: Any, given: Any) -> None:
        given = bare(given)
        if not isinstance(key, str) or not private(given) or given.at != -1 or given.ndim != 1:
            raise Open("a column of a data frame is set to one private number a record")
        if not given.records.same(self._values.records) or given.absent != self._values.absent:
            raise Open("a column of a data frame is set to numbers of other records")
        self._columns = {**self._columns, key: given.copy()}

    def __setattr__(self, name: str, given: Any) -> None:
        if name in self.__dict__.get("_columns", {}):
            self[name] = given
        elif name.startswith("_"):
            super().__setattr__(name, given)
        else:
            raise Open("an attribute of a data frame is set that is no column of it")

    def copy(self, deep: bool = True) -> "Frame":
        """Columns of its own."""
        return Frame(self._values, dict(self._columns))

    def assign(self, **given: Any) -> "Frame":
        """A copy with these columns, or what functions make of it."""
        made = self.copy()
        for name, one in given.items():
            made[name] = one(made) if callable(one) else one
        return made


class _Located:
    """``df.loc[mask, names]``, and ``df.iloc[mask, places]``, which are given names."""

    def __init__(self, of: Frame, numbered: list[str] | None = None):
        self._of, self._numbered = of, numbered

    def __getitem__(self, key: Any) -> Any:
        rows, names = key if isinstance(key, tuple) else (key, slice(None))
        names = names if self._numbered is None else self._numbered[names]
        found = self._of.copy() if isinstance(rows, slice) and rows == slice(None) else self._of[rows]
        return found if isinstance(names, slice) and names == slice(None) else found[names]


_IN_PLACE = "a data frame's column is changed in place; make a new one, as `x = x.clip(0, 1)` does"


_SPREADS = np.var, np.std  # other names stand in NumPy while code is certified


class Series(_Held, NDArrayOperatorsMixin):
    """A number a record; its spread is that of a sample, unlike NumPy's."""

    def __init__(self, held: Any):
        self.held = held

    __class__ = seen_as(lambda self: pandas().Series)
    shape = property(lambda self: self.held.shape)
    size = property(lambda self: self.held.size)

    def __iter__(self) -> Any:
        return iter(self.held)

    def __bool__(self) -> bool:
        return bool(self.held)

    def __getitem__(self, key: Any) -> Any:
        refuse(isinstance(key, int), "a series is indexed by a truth value per record")
        return _series(self.held[bare(key)])

    def __setitem__(self, key: Any, given: Any) -> None:
        raise Open(_IN_PLACE)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        refuse("out" in options, _IN_PLACE)
        return _series(getattr(ufunc, method)(*map(bare, inputs), **options))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function in _SPREADS:
            raise Open(f"np.{function.__name__} of a series, which pandas takes to be a sample's; use its values")
        return _series(function(*map(bare, args), **{name: bare(one) for name, one in options.items()}))

    def clip(self, lower: Any = None, upper: Any = None, inplace: bool = False) -> Any:
        """Between two numbers."""
        refuse(inplace, _IN_PLACE)
        return _series(np.clip(self.held, lower, upper))

    def between(self, left: Any, right: Any, inclusive: str = "both") -> Any:
        """A truth value a record."""
        low = self.held >= left if inclusive in ("both", "left") else self.held > left
        high = self.held <= right if inclusive in ("both", "right") else self.held < right
        return _series(np.logical_and(low, high))

    def astype(self, kind: Any) -> Any:
        """Numbers of another type."""
        return _series(self.held.astype(kind))

    def value_counts(self) -> "_Counts":
        """Of the values that a ``reindex`` names."""
        return _Counts(self.held)

    def __getattr__(self, name: str) -> Any:
        if name in ("var", "std"):
            return lambda axis=0, skipna=True, ddof=1: getattr(np, name)(self.held, ddof=ddof)
        if name not in ("copy", "sum", "mean", "min", "max", "any", "all", "cumsum", "abs", "round"):
            raise Open(f"{name} of a data frame's column has no rule")
        return lambda *given, **options: _series(getattr(np, name)(self.held, *given, **options))


class _Counts:
    """How many records have each value; which values there are is private, until they are named."""

    def __init__(self, held: Any):
        self._held = held

    def reindex(self, index: Any, fill_value: Any = np.nan) -> Series:
        """The counts of these values, zero where no record has it."""
        refuse(private(index) or fill_value != 0, "counts are taken of public values, with fill_value=0")
        return Series(np.stack([(self._held == one).sum() for one in index]))

    def __getattr__(self, name: str) -> Any:
        raise Open("which values value_counts finds is private: name them, as in reindex(VALUES, fill_value=0)")


def _series(found: Any) -> Any:
    return Series(found) if private(found) and found.at == -1 and found.ndim == 1 else found
