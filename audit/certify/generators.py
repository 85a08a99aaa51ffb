"""The generator that code draws from while it is certified: public numbers, noise, coins and secret batches."""

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from dpassay.reference.transcript import Draw

from .derivation import Open, here, refuse
from .draws import FEW, Answers, Ledger, Looked, Noise, OneSided, coins_of, fresh_generator, shape_of
from .facts import Records
from .public import Public, in_random_order, is_sized, public
from .shapes import Batch, Mask
from .table import tabled
from .value import Value, bare, ledger_of, private, seen_as

_COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal)
_PUBLIC = {"gamma", "beta", "poisson", "standard_exponential", "logistic", "standard_cauchy"}


class OldNames(np.random.Generator):
    """A generator that has the names of NumPy's older one as well, and those of Python's for Gaussian noise."""

    __class__ = property(lambda self: np.random.RandomState)  # which scikit-learn's `check_random_state` asks for

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'Generator' object has no attribute {name!r}")

    def rand(self, *shape: int) -> Any:
        """As ``random``."""
        return self.random(shape[0] if len(shape) == 1 else shape or None)

    def randn(self, *shape: int) -> Any:
        """As ``standard_normal``."""
        return self.standard_normal(shape or None)

    def randint(self, low: Any, high: Any = None, size: Any = None, **more: Any) -> Any:
        """As ``integers``."""
        return self.integers(low, high, size, **more)

    random_sample = ranf = sample = lambda self, size=None: self.random(size)
    gauss = normalvariate = lambda self, mu=0.0, sigma=1.0: self.normal(mu, sigma)


def names_of_python(generator: Callable[[], Any]) -> dict[str, Callable[..., Any]]:
    """What the names of Python's module `random` are, drawn from the generator of the run."""

    def picked(values: Any, **options: Any) -> Any:
        return values[generator().choice(len(values), **options)]

    def choices(values: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> Any:
        shares = np.diff(cum_weights, prepend=0.0) if weights is None and cum_weights is not None else weights
        chances = None if shares is None else np.asarray(shares, dtype=float) / np.sum(shares)
        return [picked(values, p=chances) for _ in range(int(k))]

    def sample(values: Any, k: int) -> Any:
        places = generator().choice(len(values), int(k), replace=False)
        if values == range(len(values)):
            return getattr(places, "tolist", lambda: places)()  # a secret batch is not listed
        return [values[one] for one in places]

    own = "random", "gauss", "normalvariate", "uniform", "shuffle"
    named = {name: lambda *args, name=name, **options: getattr(generator(), name)(*args, **options) for name in own}
    return named | {
        "expovariate": lambda lambd=1.0: generator().exponential(1.0 / lambd),
        "randint": lambda a, b: generator().integers(a, b + 1),
        "randrange": lambda *ends: generator().integers(*ends),
        "choice": picked,
        "choices": choices,
        "sample": sample,
    }


class StandIn(OldNames):
    """In place of a generator, while its draws are followed. Each kind says what noise and public numbers are."""

    _noise: Any  # of a law, at a place, with a scale, so many
    _known: Any  # what everybody may know: the draw of a name with what it is given
    _into: Any  # why nothing is drawn into an array

    # each a function of its own with NumPy's names: what a finding says of a line is found by them
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Gaussian noise."""
        return self._noise("normal", loc, scale, size)

    def standard_normal(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        """Gaussian noise."""
        return self._noise("normal", 0.0, 1.0, size) if out is None else self._into(out)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Laplace noise."""
        return self._noise("laplace", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Noise for the place of the largest number."""
        return self._noise("gumbel", loc, scale, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """From 0 to 1 as `random`; others are public."""
        usual = type(low) in (int, float) and type(high) in (int, float) and (low, high) == (0, 1)
        return self.random(size) if usual else self._known("uniform", low, high, size)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """In place, by a permutation."""
        if isinstance(x, np.ndarray):
            x[...] = np.take(x, self.permutation(x.shape[axis]), axis=axis)
        else:
            x[:] = [x[one] for one in self.permutation(len(x))]

    def spawn(self, n_children: int) -> list[Any]:
        """Children are the same generator."""
        return [self] * n_children

    @classmethod
    def fill_in(cls, draw: Callable[[str], Any]) -> None:
        """Gives all of NumPy's draws a method that have none here."""
        own = {name for kind in cls.__mro__ if issubclass(kind, StandIn) for name in vars(kind)} | {"bit_generator"}
        for name in dir(np.random.Generator):
            if name[0] != "_" and name not in own:
                setattr(cls, name, draw(name))


class Draws(StandIn):
    """A generator that code may draw from; it draws public numbers, noise, and secret batches."""

    def __init__(self, ledger: Ledger):
        super().__init__(np.random.PCG64(ledger.seed))
        self.notes, self._real = ledger, fresh_generator([ledger.seed, 1])

    __class__ = seen_as(lambda self: np.random.RandomState)

    def _copied(self, *_: Any) -> Any:
        raise Open("a generator is copied, or set back: the same noise again")

    bit_generator = property(_copied)
    __copy__ = __deepcopy__ = __reduce_ex__ = __getstate__ = _copied

    def _noise(self, law: str, loc: Any, scale: Any, size: Any) -> Any:
        refuse(private(scale), "a noise scale that depends on private data")
        refuse(private(size), "a number of draws that depends on private data")
        refuse(ledger_of(scale) is not None, "a noise scale that follows released values or public draws")
        of_loc = loc._shape if private(loc) else np.shape(loc)
        shape = np.broadcast_shapes(of_loc, np.shape(scale)) if size is None else tuple(np.atleast_1d(size).tolist())
        scale = np.asarray(scale, dtype=float)
        refuse(not np.isfinite(scale).all() or (scale < 0).any(), "a noise scale that is negative or no number")
        noise = Noise(self.notes, law, np.broadcast_to(scale, shape), self.notes.cells(shape))
        return noise if not private(loc) and not np.any(bare(loc)) else noise + loc

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *_: Any, **__: Any) -> Any:
        """Of a public diagonal covariance it is noise for each number."""
        variances = None if private(cov) or private(size) else np.diagonal(cov)
        if variances is None or np.any(bare(cov) != np.diag(bare(variances))):
            return self._known("multivariate_normal", mean, cov, size)
        return self.normal(mean, np.sqrt(variances), (*np.atleast_1d(() if size is None else size), len(variances)))

    def choice(self, a: Any, size: Any = None, replace: Any = True, p: Any = None, *rest: Any, **more: Any) -> Any:
        """Without replacement from all records: a secret batch. With private probabilities: a release."""
        n = self.notes.n
        if private(p):
            return self._of_probabilities(a, p, size)
        if not replace and p is None and np.ndim(a) == 0 and a == n and size is not None and np.ndim(size) == 0:
            return self.batch(int(size))
        listed = replace and not private(a) and ledger_of((a, p)) is None
        coins = self._coins(size, range(a) if type(a) is int else a, p) if listed else None
        if coins is not None:
            return coins
        found = self._known("choice", a, size, replace, p, *rest, **more)
        return found if replace or len(np.unique(bare(a))) < np.size(a) else in_random_order(found)

    def _of_probabilities(self, a: Any, p: Value, size: Any) -> Any:
        """Weights whose logarithms move by s, up to one number for all, make probabilities that do by 2 s."""
        rated = [one.k for one in p.forms if one.kind == "rated"]
        if private(a) or size is not None or p.at is not None or p.ndim != 1 or not rated:
            raise Open("a choice with private probabilities that are no exponential of private numbers has no rule")
        place = self.notes.choose(p, min(rated), len(p))
        return place if np.ndim(a) == 0 else public(np.asarray(a), self.notes)[place]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """A public order."""
        if private(x) or not isinstance(x, Public):
            raise Open("shuffling private data, a list or a plain array; draw a permutation, and choose with it")
        if (order := getattr(x, "order", None)) is not None:
            order[0].gone = True
            np.ndarray.setflags(x, write=True)
        x[...] = np.take(x, self._known("permutation", x.shape[axis]), axis=axis)
        in_random_order(x)

    def permutation(self, x: Any, *args: Any, **options: Any) -> Any:
        """A public order."""
        return in_random_order(self._known("permutation", x, *args, **options))

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """A coin is a uniform number below p; other counts are public."""
        if private(n) or ledger_of(n) is not None or np.ndim(n) or n != 1:
            return self._known("binomial", n, p, size)
        return (self.random((np.shape(p) or None) if size is None else size) < p).astype(int)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """A half of two-sided noise."""
        if private(p) or ledger_of(p) is not None or np.ndim(p) or not 0 < float(p) < 1:
            return self._known("geometric", p, size)
        return OneSided(self._noise("geometric", 0.0, -1 / math.log1p(-float(p)), size))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """A half of Laplace noise."""
        if private(scale) or ledger_of(scale) is not None:
            return self._known("exponential", scale, size)
        return OneSided(self._noise("exponential", 0.0, scale, size))

    def integers(self, low: Any, high: Any = None, size: Any = None, *rest: Any, **options: Any) -> Any:
        """Whole numbers."""
        ends = (0, low) if high is None else (low, high)
        plain = not rest and not options and type(ends[0]) is type(ends[1]) is int
        coins = self._coins(size, range(*ends)) if plain else None
        return self._known("integers", low, high, size, *rest, **options) if coins is None else coins

    def _coins(self, size: Any, values: Any, chances: Any = None) -> Answers | None:
        """One of few numbers for each record, or several; None of other draws."""
        if not (self._of_records(size) and np.ndim(values) == 1 and 0 < len(values) <= FEW):
            return None
        values = np.asarray(bare(values))
        chances = np.full(len(values), 1 / len(values)) if chances is None else chances
        return coins_of(self.notes, size, values, chances) if values.dtype.kind in "bif" else None

    def _of_records(self, size: Any) -> bool:
        """As many numbers as records, or several for each?"""
        if private(size) or size is None or ledger_of(size) is not None or np.ndim(size) > 1 or self.notes.plain:
            return False
        return np.size(size) > 0 and int(np.ravel(size)[0]) == self.notes.n

    def batch(self, size: int) -> Batch:
        """Some of the records."""
        ledger, number = self.notes, len(self.notes.batches)
        ledger.batches.append(Draw(number, here(), "without-replacement", ledger.n, size, size / ledger.n))
        return Batch(number, size, ledger.n, False)

    def poisson_batch(self, rate: float, of: Records | None = None) -> Mask:
        """Each record by itself; ``of`` those, where their number is private."""
        ledger, number = self.notes, len(self.notes.batches)
        ledger.batches.append(Draw(number, here(), "poisson", ledger.n, None, float(rate)))
        found = Batch(number, ledger.n, ledger.n, True, of=of)
        if of is None:
            found.answers = coins_of(ledger, (ledger.n,), [False, True], [1 - rate, rate])
        return Mask(found)

    def random(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        """Uniform numbers; one a record and compared with a rate, they are a Poisson batch."""
        if out is not None:
            self._into()
        if (of := _of_each(size)) is not None:
            return OfEach(self, of)
        return Uniforms(self, size) if self._of_records(size) else self._known("random", size)

    def _into(self, *_: Any) -> NoReturn:
        raise Open("numbers are drawn into an array; let them be a new one")

    def _known(self, name: str, *args: Any, **options: Any) -> Any:
        if any(private(one) for one in (*args, *options.values())):
            raise Open(f"a draw by {name} whose law depends on private data has no rule")
        found = getattr(self._real, name)(*bare(args), **{key: bare(one) for key, one in options.items()})
        found = public(found, self.notes)
        given = [part for one in (*args, *options.values()) for part in (one if type(one) is tuple else (one,))]
        by_number = any(np.ndim(one) == 0 and ledger_of(one) is not None for one in given)
        if np.ndim(bare(found)) and (by_number or is_sized(args, options)):
            found.sized = True  # so many as released numbers say
        return found


def _of_each(size: Any) -> Records | None:
    """All records, if it is their private number."""
    size = size[0] if isinstance(size, tuple) and len(size) == 1 else size
    return size.records if private(size) and size.count and size.records.everyone else None


class Secret(int):
    """A whole number that nobody knows: a generator with this seed is as good as any."""


class Uniforms(Looked):
    """Uniform numbers of the records: compared with a public rate they are a secret Poisson batch, or other coins."""

    def __init__(self, draws: Draws, size: Any):
        ledger = draws.notes
        super().__init__(ledger, "uniform", 1.0, ledger.cells(shape_of(size)))
        self._draws, self._numbers = draws, None

    def known(self) -> Any:
        """Told to everybody; where they chose a batch they are used."""
        if self._numbers is None:
            self.ledger.use(self.cells)
            self._numbers = self._draws._known("random", self.shape)
        return self._numbers

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc in _COMPARISONS and method == "__call__" and self._numbers is None:
            found = self._compared(ufunc, *inputs)
            if found is not None:
                return found
        return super().__array_ufunc__(ufunc, method, *inputs, **options)

    def _compared(self, ufunc: Any, one: Any, other: Any) -> Any:
        """With a public rate, or one of few: which of the intervals between rates it is. None of other numbers."""
        rate: Any = other if one is self else one
        rates = tabled(lambda rate: rate * 1.0, (rate,))
        if rates is None or (private(rate) and rate._shape != self.shape):
            return None
        self.ledger.use(self.cells)
        if not private(rate) and one is self and ufunc in _COMPARISONS[:2] and self.ndim == 1 and 0 < rate <= 1:
            return self._draws.poisson_batch(float(rate))
        ends = np.unique([0.0, 1.0, *np.clip(rates.numbers, 0, 1).ravel()])
        places = coins_of(self.ledger, self.shape, (ends[1:] + ends[:-1]) / 2, np.diff(ends))
        return ufunc(places, other) if one is self else ufunc(one, places)


class OfEach:
    """Uniform numbers, one for each of a private number of records: compared with a public rate a Poisson batch."""

    __array_ufunc__ = None  # and nothing else

    def __init__(self, draws: Draws, of: Records):
        self._draws, self._of, self._used = draws, of, False

    def __lt__(self, rate: Any) -> Mask:
        if self._used or private(rate) or np.ndim(rate) or not 0 < bare(rate) <= 1:
            self._secret()
        self._used = True
        return self._draws.poisson_batch(float(bare(rate)), of=self._of)

    def _secret(self, *_: Any) -> NoReturn:
        raise Open("numbers of a private number of records serve for one comparison with a public rate")

    __le__ = __lt__
    __eq__ = __ne__ = __hash__ = __str__ = __repr__ = __format__ = _secret


def _public_draw(name: str) -> Callable[..., Any]:
    def method(self: Draws, *args: Any, **options: Any) -> Any:
        refuse(name not in _PUBLIC, f"the draw {name} has no rule")
        return self._known(name, *args, **options)

    method.__name__, method.__doc__ = name, "A public draw, or none that is followed."
    return method


Draws.fill_in(_public_draw)
