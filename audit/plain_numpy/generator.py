"""NumPy generators for the code of others.

That of a run draws from its tape: noise stays lazy, choices of records become secret batches. Where a mechanism makes
finitely many choices, another one takes every way through it, which is the exact law of what it returns.
"""

import math
from collections.abc import Callable
from functools import partial, partialmethod
from typing import Any, NoReturn

import numpy as np

from dpassay.audit.certify.generators import StandIn
from dpassay.audit.lockstep.outcome import Raised, caught

from .desk import COMPARISONS, Desk, Lazy, Noisy
from .noise_laws import Chosen, WholeNumber, WholeOutput, whole_number
from .places import WAY_OUT, NotUnderstood, here, not_understood

Mechanism = Callable[[Any, np.random.Generator], Any]
MOST_PATHS = 5_000  # ways through a mechanism that are followed
_SHARES = (0.0, 0.3, 1.0)  # of the way from end to end, where a number that is drawn between two is tried
AS_A_SEED = 2**30  # of fewer numbers one is a place or a count, and all are soon tried


class Uniforms(Lazy):
    """Uniform numbers, one a record or one alone: compared with a rate they are a secret batch, or a coin.

    Any other use draws them, and everybody knows them.
    """

    def __init__(self, rng: Any, size: Any):
        self._rng, self._size, self._value, self._below = rng, size, None, dict[float, Any]()
        self._low, self._high, self._place = 0.0, 1.0, here()  # between these lies one number, after comparisons

    def value(self) -> Any:
        """Public numbers, where nothing was decided by them."""
        if self._below and not isinstance(self._rng, PathGenerator):
            why = f"is uniform, and used again after a comparison; draw it anew, or {WAY_OUT}"
            raise NotUnderstood("noise", self._place, why)
        if self._value is None:
            self._value = self._rng.shown(self._size, self._low, self._high)
        return self._value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **rest: Any) -> Any:
        if ufunc in COMPARISONS and self._value is None:
            (rate,) = (one for one in inputs if one is not self)
            below = (ufunc in (np.less, np.less_equal)) == (inputs[0] is self)
            if self._size is None:
                return self._decided(float(rate)) == below
            rate = rate if below or np.ndim(rate) else 1.0 - rate
            if np.ndim(rate) == 0 and 0 < rate <= 1:
                if float(rate) not in self._below:
                    self._below[float(rate)] = self.value() if self._below else self._rng.taken(float(rate))
                return self._below[float(rate)]
        return getattr(ufunc, method)(*(one.value() if isinstance(one, Uniforms) else one for one in inputs), **rest)

    def _decided(self, rate: float) -> bool:
        """Does the number lie below? What it is, is known no better."""
        rate = min(max(rate, self._low), self._high)
        chance = (rate - self._low) / (self._high - self._low)
        below = bool(self._rng.one_of([1 - chance, chance]) == 1)
        self._below[rate] = below
        self._low, self._high = (self._low, rate) if below else (rate, self._high)
        return below


class TapeGenerator(StandIn):
    """``np.random.Generator`` for one run on a tape; what has no method here is a draw that the adversary may know."""

    def __init__(self, desk: Desk):
        super().__init__(np.random.PCG64(0))  # never drawn from: every method asks the tape
        self._desk = desk

    # -- noise, lazy --------------------------------------------------------------------------------------
    def _noise(self, kind: str, loc: Any, scale: Any, size: Any) -> Any:
        shape = () if size is None else (size,) if type(size) is int else tuple(map(int, np.atleast_1d(size)))
        scale = np.asarray(scale.value() if isinstance(scale, Noisy) else scale, dtype=float)
        if (scale < 0).any():
            raise ValueError("scale < 0")  # as NumPy does: code of others may count on it
        return self._desk.draw(kind, shape, scale, loc)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Geometric noise; the difference of two has a law of its own."""
        return self._known("geometric", p, size) if np.ndim(p) else self._noise(f"geometric:{float(p)!r}", 0, 1, size)

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *_: Any, **__: Any) -> Any:
        """Gaussian noise with these covariances."""
        values, vectors = np.linalg.eigh(np.asarray(cov, dtype=float))
        shape = (*np.atleast_1d(() if size is None else size).astype(int), len(values))
        return self._noise("normal", 0.0, 1.0, shape) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T + mean

    # -- choices of records -------------------------------------------------------------------------------
    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """A secret batch where it chooses among all records without replacement; a public draw otherwise."""
        everyone = self._everyone(a)
        if everyone and not replace and p is None and np.ndim(size) == 0 and size is not None:
            records, label = len(everyone), here()
            if not 1 <= size <= records:  # nothing is drawn: no record, or NumPy's word that there are too few
                return np.random.default_rng(0).choice(records, size, replace=False)
            return self._desk.drawn_batch(lambda: self._desk.tape.batch(label, records, int(size)))
        if p is not None and (size is None or (replace and np.ndim(size) == 0)):
            picks = [self.one_of(p) for _ in range(1 if size is None else int(size))]
            values = np.arange(int(a)) if np.ndim(a) == 0 else np.asarray(a)
            return np.take(values, picks[0] if size is None else picks, axis=axis)
        return self._known("choice", a, size, replace, p, axis, shuffle, of_records=bool(everyone))

    def one_of(self, probabilities: Any) -> int:
        """The number of a value with these probabilities: a release, since they may come from the data."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(probabilities, dtype=float))
        label = here()
        law = Chosen(tuple(range(len(logs))), logs - np.logaddexp.reduce(logs))
        seen = self._desk.noticed.picked.setdefault(label, set())
        if len(seen) < 2:
            seen.add(tuple(np.round(law.log_probabilities, 12)))
        if len(seen) == 1 and self._desk.shaken is not None:
            return int(law.sample(self._desk.shaken))
        return int(self._desk.tape.release(label, law, sensitivity=self._desk.code.sensitivity(label, 1.0)))

    def integers(self, low: Any, high: Any = None, *rest: Any, **more: Any) -> Any:
        """Whole numbers; public, but for a wide one of which a generator is made."""
        everyone = bool(self._everyone(low if high is None else high))
        drawn = self._known("integers", low, high, *rest, of_records=everyone, **more)
        if np.ndim(drawn) == 0 and (low if high is None else high - low) >= AS_A_SEED:
            self._desk.seeds[int(drawn)] = here()
        return drawn

    def sown(self, seed: Any) -> bool:
        """Was this seed drawn here?"""
        return self._desk.sown(seed)

    def _into(self, *_: Any) -> NoReturn:
        raise not_understood("numbers are drawn into an array", f"let them be a new one, or {WAY_OUT}")

    def random(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        """Uniform numbers; one for each record and compared with a rate, they are Poisson sampling."""
        if out is not None:
            self._into()
        size = size[0] if isinstance(size, tuple) and len(size) == 1 else size
        alone = size is None or (np.ndim(size) == 0 and self._everyone(size))
        return Uniforms(self, size) if alone else self._known("random", size)

    def shown(self, size: Any, *_: float) -> Any:
        """Uniform numbers that the code uses as they are: everybody knows them."""
        return self._known("random", size)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Coins for the records are Poisson sampling; other counts are public."""
        coins = np.ndim(n) == 0 and n == 1 and np.ndim(p) == 0
        if coins and size is None:
            one = min(max(float(p), 0.0), 1.0)
            return self.one_of([1 - one, one])
        if coins and self._everyone(size):
            return self.taken(float(p)).astype(np.int64)
        return self._known("binomial", n, p, size)

    def taken(self, rate: float) -> Any:
        """A secret mask over the records: each by itself with probability ``rate``."""
        records, label = int(self._desk.records or 0), here()
        mask = np.zeros(records, dtype=bool)
        mask[self._desk.drawn_batch(lambda: self._desk.tape.poisson(label, records, rate))] = True
        return mask

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """A public order; of the records, it hides from nobody who comes when."""
        return self._known("permutation", x, axis, of_records=bool(self._everyone(x)))

    def _known(self, name: str, *args: Any, of_records: bool = False, **more: Any) -> Any:
        """A draw that the adversary may know, by the real method of that name."""

        def drawn(rng: np.random.Generator) -> Any:
            return getattr(rng, name)(*args, **more)

        found = self._desk.public(here(), partial(caught, drawn), of_records)
        return drawn(np.random.default_rng(0)) if isinstance(found, Raised) else found  # what it raises, in every world

    def _everyone(self, a: Any) -> range:
        """The numbers of all records, where the code asks for a choice among these; else nothing."""
        records = range(self._desk.records or 0)
        if np.ndim(a) == 1 and len(a) == len(records) and np.array_equal(a, records):
            return records
        if np.ndim(a):
            return range(0)
        self._desk.asked.setdefault(here(), set()).add(int(a))
        return records if a == len(records) and here() not in self._desk.code.elsewhere else range(0)


TapeGenerator.fill_in(lambda name: partialmethod(TapeGenerator._known, name))


# -- every way through the code ----------------------------------------------------------------------------------------
class NotFinite(Exception):
    """It draws something that has no finite list of values, or there are too many ways through it."""


class PathGenerator(StandIn):
    """A generator whose draws take the values of one way through the code, and then the first that is possible.

    Draws without a method here have no finite list of values. One number between two ends may be drawn, too.

    Args:
        wanted: the number of the value for each choice at the beginning.
        share: of the way from end to end, where that number lies.

    Attributes:
        others: ways that are not taken, each up to where it parts from this one; the one to go next is the last.
        logs: log probabilities of the values that are taken.
        between: was such a number drawn?
    """

    def __init__(self, wanted: tuple[int, ...], share: float = 0.5):
        super().__init__(np.random.PCG64(0))  # never drawn from
        self._wanted, self._taken, self._share = wanted, list[int](), share
        self.others: list[tuple[int, ...]] = []
        self.logs: list[float] = []
        self.between = False

    def _refused(self, *_: Any, **__: Any) -> Any:
        raise NotFinite

    _noise = _known = _into = taken = _refused

    def shown(self, size: Any, low: Any, high: Any) -> float:
        """A number between these ends."""
        if size is not None or np.ndim(low) or np.ndim(high) or self.between:
            raise NotFinite
        self.between = True
        return float((1 - self._share) * low + self._share * high)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Between private ends, too."""
        return self.random(size) if (low, high) == (0.0, 1.0) else self.shown(size, low, high)

    def one_of(self, probabilities: Any) -> int:
        """The number of a value with these probabilities; impossible values are never taken."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(probabilities, dtype=float))
        if len(self._taken) < len(self._wanted):
            found = self._wanted[len(self._taken)]
        else:
            if not (logs > -math.inf).any():
                raise ValueError("nothing to choose from")
            found, *others = np.flatnonzero(logs > -math.inf).tolist()
            self.others += [(*self._taken, one) for one in reversed(others)]
            if len(self.others) >= MOST_PATHS:
                raise NotFinite
        self._taken.append(found)
        self.logs.append(float(logs[found]))
        return found

    def _each(self, size: Any, draw: Callable[[], Any], dtype: Any = None) -> Any:
        if size is None:
            return draw()
        found = np.empty(size, dtype=object)
        for number in range(found.size):  # one by one: NumPy would ask a list of intervals for their values
            found.flat[number] = draw()
        return found if dtype is None else found.astype(dtype)

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Uniform numbers, of which only comparisons are known."""
        return self._each(size, lambda: Uniforms(self, None)) if out is None else self._into()

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Coins: with ``n`` = 1."""
        if np.ndim(n) or n != 1:
            raise NotFinite
        size = (np.shape(p) or None) if size is None else size
        each = iter(np.broadcast_to(np.asarray(p, dtype=float), size or ()).ravel())
        return self._each(size, lambda: self.one_of([1 - (one := next(each)), one]), np.int64)

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = None, endpoint: bool = False) -> Any:
        """Each with the same probability."""
        low, high = (0, low) if high is None else (low, high)
        narrow = dtype not in (None, int, np.int64)  # numbers that wrap around
        if narrow or np.ndim(low) or np.ndim(high) or (values := int(high) - int(low) + bool(endpoint)) > MOST_PATHS:
            raise NotFinite  # one list entry each would take all memory
        return self._each(size, lambda: int(low) + self.one_of([1 / values] * values), np.int64)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """With or without replacement."""
        if (np.ndim(a) == 0 and int(a) > MOST_PATHS) or not shuffle:
            raise NotFinite
        values = np.arange(int(a)) if np.ndim(a) == 0 else np.asarray(a)
        count = values.shape[axis]
        weights = np.full(count, 1 / count) if p is None else np.asarray(p, dtype=float).copy()

        def pick() -> int:
            found = self.one_of(weights / weights.sum())
            weights[found] *= replace
            return found

        return np.take(values, self._each(size, pick, np.int64), axis=axis)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Every order."""
        values = np.arange(int(x)) if np.ndim(x) == 0 else np.asarray(x)
        return np.take(values, self.choice(values.shape[axis], values.shape[axis], replace=False), axis=axis)


PathGenerator.fill_in(lambda name: PathGenerator._refused)


def whole_law(mechanism: Mechanism, data: Any, delta: float) -> WholeOutput | WholeNumber:
    """The exact law of the output on this data, as keys; or of one number that is drawn evenly between ends.

    Raises:
        NotFinite: it has none that is finite, or more than ``MOST_PATHS`` ways lead through it.
    """

    def output(rng: PathGenerator) -> Any:
        found = mechanism(data, rng)
        return found.value() if isinstance(found, Uniforms) else found

    found: dict[Any, list[float]] = {}
    pieces = list[tuple[float, float, float]]()
    ways: list[tuple[int, ...]] = [()]
    done = 0
    while ways:
        way = ways.pop()
        rng = PathGenerator(way)
        given, log = output(rng), math.fsum(rng.logs)
        if rng.between:
            pieces.append((*_ends([output(PathGenerator(way, share)) for share in _SHARES]), log))
        else:
            found.setdefault(key_of(given), []).append(log)
        ways += rng.others
        done += 1
        if done + len(ways) > MOST_PATHS:
            raise NotFinite
    keys = sorted(found, key=repr)
    logs = np.array([np.logaddexp.reduce(found[key]) for key in keys])
    if pieces and not keys and all(low < high for low, high, _ in pieces):
        return whole_number(pieces, delta)
    if pieces:
        raise NotFinite
    return WholeOutput(tuple(keys), logs - np.logaddexp.reduce(logs), delta)


def _ends(outputs: list[Any]) -> tuple[float, float]:
    """Of an output that is a straight line in the number that was drawn."""
    if not all(isinstance(one, float | np.ndarray) and np.size(one) == 1 for one in outputs):
        raise NotFinite
    first, middle, last = (float(np.ravel(one)[0]) for one in outputs)
    if abs(first + _SHARES[1] * (last - first) - middle) > 1e-9 * max(abs(first), abs(last)):
        raise NotFinite
    return min(first, last), max(first, last)


def key_of(value: Any) -> Any:
    """An output as something that can be compared: nested tuples, numbers to twelve digits; of one entry the number."""
    if isinstance(value, np.ndarray | np.generic) and value.size == 1:
        return key_of(value.item())
    if isinstance(value, np.ndarray):
        return ("array", value.shape, tuple(key_of(one) for one in value.ravel().tolist()))
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
