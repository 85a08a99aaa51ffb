"""A NumPy generator whose draws come from a tape: noise stays lazy, choices of records become secret batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.audit.certify.draws import AS_A_SEED
from dpassay.reference.arrays import Indices

from .answers import Chosen
from .desk import Desk
from .noisy import Noisy
from .places import here

# every other method of a generator: a draw that the adversary may know
_PUBLIC = [
    *("beta", "bytes", "chisquare", "dirichlet", "f", "gamma", "hypergeometric", "logistic", "lognormal", "logseries"),
    *("multinomial", "multivariate_hypergeometric", "negative_binomial", "noncentral_chisquare", "noncentral_f"),
    *("pareto", "permuted", "poisson", "power", "rayleigh", "standard_cauchy", "standard_gamma", "standard_t"),
    *("triangular", "vonmises", "wald", "weibull", "zipf"),
]


class _Refused:
    """What NumPy raised in place of a draw; two are alike if type and text are."""

    def __init__(self, error: Exception):
        self.error = error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Refused) and repr(self.error) == repr(other.error)

    __hash__ = None  # type: ignore[assignment]  # compared, never looked up


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
        if self._value is None and self._size is None:
            return self._rng.coin(rate if below else 1.0 - float(rate))
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

    def __float__(self) -> float:
        return float(self.value())

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
            self._value = self._rng.public("permutation", len(self), of_records=True)
        return self._value

    def __len__(self) -> int:
        return int(self._rng._desk.records or 0)

    def __getitem__(self, index: Any) -> Any:
        if self._value is None and isinstance(index, slice) and index.step in (None, 1):
            first, last, _ = index.indices(len(self))
            if first == self._next and last >= first and self._rng.promised + last - first <= len(self):
                self._next, self._rng.promised = last, self._rng.promised + last - first
                return Piece(self._rng, last - first)
        return self.value()[index]

    def __iter__(self) -> Any:
        return (self[number : number + 1][0] for number in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in (np.array_split, np.split) and args[0] is self and not kwargs:
            ends = np.cumsum([len(piece) for piece in function(np.arange(len(self)), *args[1:])]).tolist()
            return [self[first:end] for first, end in zip([0, *ends], ends, strict=False)]
        return function(*(one.value() if isinstance(one, Order) else one for one in args), **kwargs)


class Piece:
    """The next records of an order, drawn when somebody looks: then it is known what they are used for."""

    def __init__(self, rng: TapeGenerator, size: int):
        self._rng, self._size = rng, size
        self._value: Any = None

    def value(self) -> Any:
        """Their indices."""
        if self._value is None:
            self._value = self._rng.fresh(self._size)
        return self._value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Any:
        return iter(self.value())

    def __getitem__(self, index: Any) -> Any:
        return self.value()[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.value(), name)


class OldNames(np.random.Generator):
    """A generator that has the names of NumPy's older one as well."""

    def rand(self, *shape: int) -> Any:
        """As ``random``."""
        return self.random(shape[0] if len(shape) == 1 else shape or None)

    def randn(self, *shape: int) -> Any:
        """As ``standard_normal``."""
        return self.standard_normal(shape or None)

    def randint(self, low: Any, high: Any = None, size: Any = None, **_: Any) -> Any:
        """As ``integers``."""
        return self.integers(low, high, size)

    random_sample = ranf = sample = lambda self, size=None: self.random(size)


class TapeGenerator(OldNames):
    """``np.random.Generator`` for one run on a tape."""

    def __init__(self, desk: Desk):
        super().__init__(np.random.PCG64(0))  # never drawn from: every method below asks the tape
        self._desk = desk
        self.promised = 0  # records of the one pass over the data

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

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Geometric noise; the difference of two has a law of its own."""
        if np.ndim(p) > 0:
            return self._public("geometric", p, size)
        return self._noise(f"geometric:{float(p)!r}", 0.0, 1.0, size)

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *_: Any, **__: Any) -> Any:
        """Gaussian noise with these covariances, lazy; seldom what it is called for is anything else."""
        covariance = np.asarray(cov, dtype=float)
        shape = (*np.atleast_1d(() if size is None else size).astype(int), len(covariance))
        if np.array_equal(covariance, np.diag(np.diagonal(covariance))):
            return self._noise("gaussian", 0.0, np.sqrt(np.diagonal(covariance)), shape) + mean
        values, vectors = np.linalg.eigh(covariance)
        return self._noise("gaussian", 0.0, 1.0, shape) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T + mean

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform numbers."""
        if type(low) in (int, float) and low == 0 and type(high) in (int, float) and high == 1:
            return self.random(size)
        return self._public("uniform", low, high, size)

    def _noise(self, kind: str, loc: Any, scale: Any, size: Any) -> Any:
        shape = () if size is None else (int(size),) if np.ndim(size) == 0 else tuple(int(one) for one in size)
        scale = scale.value() if isinstance(scale, Noisy) else scale
        if np.any(np.asarray(scale, dtype=float) < 0):
            raise ValueError("scale < 0")  # as NumPy does: code of others may count on it
        if isinstance(loc, Noisy):
            return self._desk.draw(kind, shape, scale, 0.0, True) + loc
        plain_zero = type(loc) in (int, float) and loc == 0
        return self._desk.draw(kind, shape, scale, loc, not plain_zero)

    # -- choices of records -------------------------------------------------------------------------------
    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, *rest: Any, **more: Any) -> Any:
        """A secret batch where it chooses among all records without replacement; a public draw otherwise."""
        everyone = (np.ndim(a) == 0 and self._of_records(a)) or self._is_range(a)
        if everyone and not replace and p is None and size is not None and np.ndim(size) == 0:
            records, label = self._desk.records, here()
            assert records is not None
            if not 1 <= size <= records:  # nothing is drawn: no record, or NumPy's word that there are too few
                return np.random.default_rng(0).choice(records, size, replace=False)
            return self._desk.drawn_batch(lambda: self._desk.tape.batch(label, records, int(size)))
        if p is not None and (size is None or (replace and np.ndim(size) == 0)):
            picks = [self._picked(p) for _ in range(1 if size is None else int(size))]
            values = np.arange(int(a)) if np.ndim(a) == 0 else np.asarray(a)
            return values[picks[0]] if size is None else values[picks]
        return self._public("choice", a, size, replace, p, *rest, of_records=everyone, **more)

    def _picked(self, probabilities: Any) -> int:
        """The number of a value with these probabilities: a release, since they may come from the data."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(probabilities, dtype=float))
        label = here()
        law = Chosen(tuple(range(len(logs))), logs - np.logaddexp.reduce(logs))
        return int(self._desk.tape.release(label, law, sensitivity=self._desk.habits.sensitivity(label, 1.0)))

    def coin(self, probability: Any) -> bool:
        """Heads with this probability: a release likewise."""
        one = min(max(float(probability), 0.0), 1.0)
        return self._picked([1 - one, one]) == 1

    def integers(self, low: Any, high: Any = None, *rest: Any, **more: Any) -> Any:
        """Whole numbers; public, but for a wide one of which a generator is made."""
        everyone = self._of_records(low if high is None else high)
        drawn = self._public("integers", low, high, *rest, of_records=everyone, **more)
        if np.ndim(drawn) == 0 and abs(drawn) >= AS_A_SEED:
            self._desk.seeds[int(drawn)] = here()
        return drawn

    def sown(self, seed: Any) -> bool:
        """Was this seed drawn here?"""
        return self._desk.sown(seed)

    def random(self, size: Any = None, *rest: Any, **more: Any) -> Any:
        """Uniform numbers; one for each record and compared with a rate, they are Poisson sampling."""
        draw = Uniforms(self, size)
        if size is None:
            return draw
        if isinstance(size, tuple) and len(size) == 1:
            return self.random(size[0], *rest, **more)
        return draw if np.ndim(size) == 0 and self._of_records(size) else draw.value()

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Coins for the records are Poisson sampling; other counts are public."""
        if np.ndim(n) == 0 and n == 1 and np.ndim(p) == 0 and np.ndim(size) == 0 and self._of_records(size):
            return self.taken(float(p)).astype(np.int64)
        if np.ndim(n) == 0 and n == 1 and np.ndim(p) == 0 and size is None:
            return int(self.coin(p))
        return self._public("binomial", n, p, size)

    def taken(self, rate: float) -> Any:
        """A secret mask over the records: each by itself with probability ``rate``."""
        records, label = self._desk.records, here()
        assert records is not None
        mask = np.zeros(records, dtype=bool)
        mask[self._desk.drawn_batch(lambda: self._desk.tape.poisson(label, records, rate))] = True
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

    def fresh(self, size: int) -> Indices:
        """The next records of the one pass over the data; of no records, what is released is called so."""
        records, label = self._desk.records, here()
        assert records is not None
        if not size:
            self._desk.of_nobody = True
            return np.array([], dtype=np.int64)
        return self._desk.drawn_batch(lambda: self._desk.tape.fresh(label, records, size))

    def public(self, name: str, *args: Any, **more: Any) -> Any:
        """A draw that the adversary may know, by the real method of that name."""
        return self._public(name, *args, **more)

    def _public(self, name: str, *args: Any, of_records: bool = False, **more: Any) -> Any:
        def draw(rng: np.random.Generator) -> Any:
            try:
                return getattr(rng, name)(*args, **more)
            except Exception as error:  # handed to the code that asked, in every world
                return _Refused(error)

        drawn = self._desk.public(here(), draw, of_records)
        if isinstance(drawn, _Refused):
            raise drawn.error
        return drawn

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
