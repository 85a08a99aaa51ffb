"""A NumPy generator whose draws come from a tape: noise stays lazy, choices of records become secret batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.reference.types import Indices

from .desk import Desk
from .noisy import Noisy
from .places import here

# every other method of a generator: a draw that the adversary may know
_PUBLIC = [
    *("beta", "bytes", "chisquare", "dirichlet", "f", "gamma", "geometric", "hypergeometric", "integers", "logistic"),
    *("lognormal", "logseries", "multinomial", "multivariate_hypergeometric", "multivariate_normal"),
    *("negative_binomial", "noncentral_chisquare", "noncentral_f", "pareto", "permuted", "poisson", "power"),
    *("rayleigh", "standard_cauchy", "standard_gamma", "standard_t", "triangular", "vonmises", "wald", "weibull"),
    "zipf",
]


class TapeGenerator(np.random.Generator):
    """``np.random.Generator`` for one run on a tape."""

    def __init__(self, desk: Desk):
        super().__init__(np.random.PCG64(0))  # never drawn from: every method below asks the tape
        self._desk = desk

    # -- noise --------------------------------------------------------------------------------------------
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Gaussian noise, lazy."""
        return self._noise("gaussian", loc, scale, size)

    def standard_normal(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Gaussian noise, lazy."""
        return self._noise("gaussian", 0.0, 1.0, size)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Laplace noise, lazy."""
        return self._noise("laplace", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Gumbel noise, for report noisy max."""
        return self._noise("gumbel", loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Exponential noise, for report noisy max."""
        return self._noise("exponential", 0.0, scale, size)

    def standard_exponential(self, size: Any = None, *_: Any, **__: Any) -> Any:
        """Exponential noise, for report noisy max."""
        return self._noise("exponential", 0.0, 1.0, size)

    def _noise(self, kind: str, loc: Any, scale: Any, size: Any) -> Any:
        shape = () if size is None else (int(size),) if np.ndim(size) == 0 else tuple(int(one) for one in size)
        scale = scale.value() if isinstance(scale, Noisy) else scale
        if isinstance(loc, Noisy):
            return self._desk.draw(kind, shape, scale, 0.0, True) + loc
        plain_zero = type(loc) in (int, float) and loc == 0
        return self._desk.draw(kind, shape, scale, loc, not plain_zero)

    # -- choices of records -------------------------------------------------------------------------------
    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, *rest: Any, **more: Any) -> Any:
        """A secret batch where it chooses among all records without replacement; a public draw otherwise."""
        everyone = (np.ndim(a) == 0 and self._of_records(a)) or self._is_range(a)
        if everyone and not replace and p is None and size is not None and np.ndim(size) == 0:
            assert self._desk.records is not None
            self._desk.batch = self._desk.tape.batch(here(), self._desk.records, int(size))
            return self._desk.batch.indices
        return self._public("choice", a, size, replace, p, *rest, **more)

    def random(self, size: Any = None, *rest: Any, **more: Any) -> Any:
        """Uniform numbers; one for each record and compared with a rate, they are Poisson sampling."""
        draw = Uniforms(self, size)
        return draw if np.ndim(size) == 0 and size is not None and self._of_records(size) else draw.value()

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform numbers."""
        if type(low) in (int, float) and low == 0 and type(high) in (int, float) and high == 1:
            return self.random(size)
        return self._public("uniform", low, high, size)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Coins for the records are Poisson sampling; other counts are public."""
        if np.ndim(n) == 0 and n == 1 and np.ndim(p) == 0 and np.ndim(size) == 0 and self._of_records(size):
            return self.taken(float(p)).astype(np.int64)
        return self._public("binomial", n, p, size)

    def taken(self, rate: float) -> Any:
        """A secret mask over the records: each by itself with probability ``rate``."""
        assert self._desk.records is not None
        self._desk.batch = self._desk.tape.poisson(here(), self._desk.records, rate)
        mask = np.zeros(self._desk.records, dtype=bool)
        mask[self._desk.batch.indices] = True
        return mask

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """An order of the records, whose consecutive slices are fresh secret batches; other orders are public."""
        if self._of_records(x) or self._is_range(x):
            return Order(self)
        return self._public("permutation", x, axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """In place, in a public order."""
        order = self._public("permutation", len(x))
        x[...] = np.take(x, order, axis=axis)

    def spawn(self, n_children: int) -> list[Any]:
        """Children draw from the same tape."""
        return [self] * n_children

    def fresh(self, first: int, last: int) -> Indices:
        """The next ``last - first`` records of the one pass over the data."""
        assert self._desk.records is not None
        self._desk.batch = self._desk.tape.fresh(here(), self._desk.records, last - first)
        return self._desk.batch.indices

    def public(self, name: str, *args: Any, **more: Any) -> Any:
        """A draw that the adversary may know, by the real method of that name."""
        return self._public(name, *args, **more)

    def _public(self, name: str, *args: Any, **more: Any) -> Any:
        return self._desk.tape.public(here(), lambda rng: getattr(rng, name)(*args, **more))

    def _of_records(self, number: Any) -> bool:
        return self._desk.records is not None and np.ndim(number) == 0 and number == self._desk.records

    def _is_range(self, a: Any) -> bool:
        return np.ndim(a) == 1 and self._of_records(len(a)) and bool(np.array_equal(a, np.arange(len(a))))


def _forward(name: str) -> Any:
    def method(self: TapeGenerator, *args: Any, **more: Any) -> Any:
        return self.public(name, *args, **more)

    method.__name__, method.__doc__ = name, "A public draw."
    return method


for _name in _PUBLIC:
    setattr(TapeGenerator, _name, _forward(_name))


class Uniforms(NDArrayOperatorsMixin):
    """One uniform number a record, not drawn yet: ``< rate`` makes it Poisson sampling, any other use draws it."""

    __array_priority__ = 1001.0

    def __init__(self, rng: TapeGenerator, size: Any):
        self._rng, self._size, self._value = rng, size, None

    def value(self) -> Any:
        """Public uniform numbers."""
        if self._value is None:
            self._value = self._rng.public("random", self._size)
        return self._value

    def _compare(self, rate: Any, below: bool, otherwise: Any) -> Any:
        if self._value is None and np.ndim(rate) == 0:
            rate = float(rate) if below else 1.0 - float(rate)
            if 0 < rate <= 1:
                return self._rng.taken(rate)
        return otherwise(self.value(), rate)

    def __lt__(self, rate: Any) -> Any:
        return self._compare(rate, True, np.less)

    def __le__(self, rate: Any) -> Any:
        return self._compare(rate, True, np.less_equal)

    def __gt__(self, rate: Any) -> Any:
        return self._compare(rate, False, np.greater)

    def __ge__(self, rate: Any) -> Any:
        return self._compare(rate, False, np.greater_equal)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **rest: Any) -> Any:
        values = [one.value() if isinstance(one, Uniforms) else one for one in inputs]
        return getattr(ufunc, method)(*values, **rest)

    def __len__(self) -> int:
        return len(self.value())

    def __getitem__(self, index: Any) -> Any:
        return self.value()[index]


class Order:
    """A secret order of the records, used slice by slice; any other use makes it a public permutation."""

    def __init__(self, rng: TapeGenerator):
        self._rng, self._next, self._value = rng, 0, None

    def value(self) -> Any:
        """The whole order, public."""
        if self._value is None:
            self._value = self._rng.public("permutation", len(self))
        return self._value

    def __len__(self) -> int:
        return int(self._rng._desk.records or 0)

    def __getitem__(self, index: Any) -> Any:
        if self._value is None and isinstance(index, slice) and index.step in (None, 1):
            first, last, _ = index.indices(len(self))
            if first == self._next and last > first:
                self._next = last
                return self._rng.fresh(first, last)
        return self.value()[index]

    def __iter__(self) -> Any:
        return iter(self.value())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)
