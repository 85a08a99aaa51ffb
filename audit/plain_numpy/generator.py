"""A NumPy generator whose draws come from a tape: noise stays lazy, choices of records become secret batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.reference.types import Indices

from .chosen import Chosen, drawn
from .desk import Desk
from .kinds import with_number
from .noisy import Noisy
from .places import here
from .refused import attempted, told
from .secret import Order, Uniforms
from .starts import known_noise

# every other method of a generator: a draw that the adversary may know
_PUBLIC = [
    *("beta", "bytes", "chisquare", "dirichlet", "f", "gamma", "hypergeometric"),
    *("lognormal", "logseries", "multinomial", "multivariate_hypergeometric"),
    *("negative_binomial", "noncentral_chisquare", "noncentral_f", "pareto", "permuted", "power"),
    *("rayleigh", "standard_gamma", "triangular", "vonmises", "wald", "weibull", "zipf"),
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

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *_: Any, **__: Any) -> Any:
        """Gaussian noise with these covariances, lazy; seldom what it is called for is anything else."""
        covariance = np.asarray(cov, dtype=float)
        diagonal = np.diagonal(covariance)
        shape = (*np.atleast_1d(() if size is None else size).astype(int), len(diagonal))
        if np.array_equal(covariance, np.diag(diagonal)):
            noise = self._noise("gaussian", 0.0, np.sqrt(diagonal), shape)
        else:
            values, vectors = np.linalg.eigh(covariance)
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            noise = self._noise("gaussian", 0.0, 1.0, shape)
            noise = noise.times(root.T) if isinstance(noise, Noisy) else noise @ root.T
        return noise + mean

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform numbers."""
        if type(low) in (int, float) and low == 0 and type(high) in (int, float) and high == 1:
            return self.random(size)
        if not self._desk.habits.lazy:
            return self._public("uniform", low, high, size)
        return self._noise("uniform", low, np.asarray(high, dtype=float) - low, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Logistic noise."""
        return self._less_usual("logistic", "logistic", loc, scale, size)

    def standard_cauchy(self, size: Any = None) -> Any:
        """Cauchy noise, for smooth sensitivity."""
        return self._less_usual("standard_cauchy", "cauchy", size)

    def standard_t(self, df: Any, size: Any = None) -> Any:
        """Student's noise, for smooth sensitivity."""
        return self._less_usual("standard_t", "student_t", df, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Geometric noise; the difference of two has a law of its own."""
        return self._less_usual("geometric", "geometric", p, size)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Poisson noise."""
        return self._less_usual("poisson", "poisson", lam, size)

    def _less_usual(self, name: str, kind: str, *given: Any) -> Any:
        """Noise where a lazy reading is wanted, else a public draw."""
        *numbers, size = given
        if not self._desk.habits.lazy or (name not in ("logistic", "standard_cauchy") and np.ndim(numbers[0]) > 0):
            return self._public(name, *given)
        if name == "logistic":
            return self._noise(kind, *given)
        return self._noise(with_number(kind, numbers[0]) if numbers else kind, 0.0, 1.0, size)

    def _noise(self, kind: str, loc: Any, scale: Any, size: Any) -> Any:
        shape = () if size is None else (int(size),) if np.ndim(size) == 0 else tuple(int(one) for one in size)
        scale = scale.value() if isinstance(scale, Noisy) else scale
        if np.any(np.asarray(scale, dtype=float) < 0):
            raise ValueError("scale < 0")  # as NumPy does: code of others may count on it
        if isinstance(loc, Noisy):
            return self._desk.draw(kind, shape, scale, 0.0, True) + loc
        plain_zero = type(loc) in (int, float) and loc == 0
        if plain_zero and here() in self._desk.habits.known:
            return known_noise(self._desk, kind, shape, scale)
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
        if self._desk.habits.lazy and p is not None and (size is None or (replace and np.ndim(size) == 0)):
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
        """Whole numbers; public."""
        everyone = self._of_records(low if high is None else high)
        return self._public("integers", low, high, *rest, of_records=everyone, **more)

    # names of NumPy's older generator
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

    def random(self, size: Any = None, *rest: Any, **more: Any) -> Any:
        """Uniform numbers; one for each record and compared with a rate, they are Poisson sampling."""
        draw = Uniforms(self, size)
        if size is None:
            return draw if self._desk.habits.lazy else draw.value()
        if isinstance(size, tuple) and len(size) == 1:
            return self.random(size[0], *rest, **more)
        return draw if np.ndim(size) == 0 and self._of_records(size) else draw.value()

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Coins for the records are Poisson sampling; other counts are public."""
        if np.ndim(n) == 0 and n == 1 and np.ndim(p) == 0 and np.ndim(size) == 0 and self._of_records(size):
            return self.taken(float(p)).astype(np.int64)
        if self._desk.habits.lazy and np.ndim(n) == 0 and n == 1 and np.ndim(p) == 0 and size is None:
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

    def fresh(self, first: int, last: int) -> Indices:
        """The next ``last - first`` records of the one pass over the data."""
        records, label = self._desk.records, here()
        assert records is not None
        return self._desk.drawn_batch(lambda: self._desk.tape.fresh(label, records, last - first))

    def no_records(self) -> None:
        """The noise that comes now is added to a sum over no records."""
        self._desk.of_nobody = True

    def left(self) -> int:
        """How many records the one pass over the data has not come to."""
        return self._desk.tape.unused(self._desk.records or 0)

    def public(self, name: str, *args: Any, **more: Any) -> Any:
        """A draw that the adversary may know, by the real method of that name."""
        return self._public(name, *args, **more)

    def _public(self, name: str, *args: Any, of_records: bool = False, **more: Any) -> Any:
        law = drawn(name, args, more) if self._desk.habits.lazy else None
        if law is not None:
            label = here()
            return self._desk.tape.release(label, law, sensitivity=self._desk.habits.sensitivity(label, 1.0))
        return told(self._desk.public(here(), lambda rng: attempted(getattr(rng, name), args, more), of_records))

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
