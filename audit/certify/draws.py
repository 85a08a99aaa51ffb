"""The generator and the tape that code gets while it is certified: noise, releases, secret batches, decisions.

A query plus noise is a release: its sensitivity is what the value knows. One draw serves one release. What comes back
is public; a decision on it is taken both ways (`Paths`), because the other way may release more.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partialmethod
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.laws.categorical import exponential
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Cost, Law
from dpassay.reference.laws.number import Geometric, Number
from dpassay.reference.transcript import Draw

from .derivation import Open, forget, here, raised
from .facts import SOMETHING, Records, times
from .public import PLACES, Public, in_random_order, placed, public
from .shapes import Batch
from .table import Source, Table, by_entry, tabled
from .value import Value, alike, bare, is_real, join, ledger_of, private, seen_as

_ZEROS = np.zeros  # another name stands in NumPy while code is certified
ROUNDING = 1 + 1e-12  # bounds are sums of floats
_ASKED = 12_000  # releases and decisions in all runs of a certificate: trainings of some thousand steps
_SELDOM = 16  # asking for the time takes as long as following an operation
_MOST = 2_000  # decisions in one run


def fresh_generator(seed: Any) -> np.random.Generator:
    """As ``default_rng``, a name that gives draws of the ledger while code is certified."""
    return np.random.Generator(np.random.PCG64(seed))


class Part(NamedTuple):
    """Some entries of an array: the array, their places, and how far all of it moves in the norm of this order.

    They may be so many times entries of the array, or less: then so does the movement.
    """

    whole: Value
    places: Any
    order: float
    moves: float


@dataclass(frozen=True)
class Certified:
    """One release: where, its noise, and how far its query can move in the norm that the noise needs."""

    place: str
    law: Law
    moves: float
    counted: float  # as its movement
    draws: tuple[int, ...]
    records: Records
    declared: float | None = None
    cause: str = ""
    part: Part | None = None

    @property
    def cost(self) -> Cost:
        """By its law."""
        found = self.law.cost(self.counted)
        assert found is not None
        return found

    @property
    def kind(self) -> tuple[Any, ...]:
        """What it costs; equal for releases that cost the same."""
        return (*self.cost._replace(size=float(f"{self.cost.size:.10g}")), self.draws)

    @property
    def loss(self) -> float:
        """About how much it may show of a record."""
        return self.cost.size**2 if self.cost.kind == "gaussian" else self.cost.size

    @property
    def scale(self) -> float:
        """Of its noise."""
        return float(self.law.scale or 0.0)


@dataclass
class Limits:
    """How much is followed for one certificate: a count, which is the same on every machine, and a time far beyond."""

    deadline: float = math.inf
    most: float = _ASKED
    asked: int = 0

    def ask(self) -> None:
        """One more release or decision.

        Raises:
            Open: it is one too many.
        """
        self.asked += 1
        if self.asked > self.most or (self.asked % _SELDOM == 0 and time.process_time() > self.deadline):
            raise Open("the run releases or decides too often")


@dataclass
class Ledger:
    """One run: what it released, which draws are used, and which decisions on released values are taken."""

    n: int
    seed: int
    relation: Relation = "replace-one"
    wanted: tuple[int, ...] = ()
    releases: list[Certified] = field(default_factory=list)
    batches: list[Draw] = field(default_factory=list)
    decisions: list[tuple[str, int, int]] = field(default_factory=list)  # where, which way, of how many
    used: set[int] = field(default_factory=set)
    told: dict[int, float] = field(default_factory=dict)  # draws that are known to everybody
    known_noise: str = ""  # where, in words, a generator with a fixed seed was made
    drawn: int = 0
    limits: Limits = field(default_factory=Limits)
    done: bool = False
    unknown: bool = False  # no bound of a private value counts on how large released numbers are
    choosing: bool = False  # where a released truth decides between numbers, the number is taken for a released one
    chose: bool = False  # that was so
    plain: bool = False  # released values are plain numbers: whoever runs it says which ways it may take

    def __post_init__(self) -> None:
        self.rng = fresh_generator(self.seed)

    def __deepcopy__(self, *_: Any) -> Any:
        raise Open("a generator or its noise is copied: the same noise again")

    def decide(self, found: int, ways: int = 2) -> int:
        """The way wanted on this path, of so many; without one that of the value."""
        self.within_limits()
        number = len(self.decisions)
        taken = self.wanted[number] if number < len(self.wanted) else int(found)
        self.decisions.append((here(), taken, ways))
        return taken

    def within_limits(self) -> None:
        """A run that goes on and on is not followed."""
        self.limits.ask()
        if len(self.decisions) > _MOST:
            raise Open("the run decides on released values too often")

    def cells(self, shape: tuple[int, ...]) -> Any:
        """Numbers of fresh draws."""
        count = math.prod(shape)
        self.drawn += count
        return np.arange(self.drawn - count, self.drawn).reshape(shape)

    def use(self, cells: Any) -> None:
        """Each draw once."""
        flat = set(np.ravel(cells).tolist())
        if flat & self.used:
            raise Open("one draw of noise is used twice; draw it anew")
        self.used |= flat

    def tell(self, cells: Any) -> Any:
        """The numbers of draws that everybody knows from now on, and may use again."""
        flat = np.ravel(cells).tolist()
        new = [one for one in flat if one not in self.told]
        self.use(new)
        self.told |= zip(new, self.rng.normal(size=len(new)).tolist(), strict=True)
        return np.array([self.told[one] for one in flat]).reshape(np.shape(cells))

    def release(self, query: Value, law: Law, order: float, place: str = "", declared: float | None = None) -> Any:
        """Keeps the release, and gives a public value of its shape."""
        self.within_limits()
        query = _as_query(query)
        moves = query.move.of_order(order) * ROUNDING * self._sides(query)
        part = None
        if query.origin is not None and declared is None:
            whole, places, factor = query.origin
            most = times(factor, whole.move.of_order(order)) * ROUNDING * self._sides(query)
            part = Part(whole, places, order, most)
        self.keep(query, law, moves, place, declared, part)
        noise = self.rng.normal(size=query._shape) * (law.scale or 1.0)
        centre = float(np.clip(0.0, query.low, query.high))
        return public(noise + centre, self)

    def choose(self, query: Value, moves: float, ways: int, place: str = "") -> Any:
        """One of so many, whose probabilities move by the factor exp(2 moves) at most."""
        self.within_limits()
        query = _as_query(query)
        law = exponential([0.0] * ways, 1.0)
        self.keep(query, law, moves * ROUNDING * self._sides(query), place)
        return placed(public(self.rng.integers(ways), self), ways)

    def _sides(self, query: Value) -> int:
        """One record may appear where another one disappears: the accountant takes half of it for each."""
        if self.relation == "add-remove":
            return 1
        return 2 if any(number >= 0 and self.batches[number].kind == "poisson" for number in query.draws) else 1

    def left(self, output: Any) -> None:
        """The run is over: what it hands out holds nothing private, and it caught nothing that ends a certificate."""
        for one in raised.get() or ():
            raise one
        self.done = True
        _leave(output)  # which may release
        self.releases = as_few(self.releases)

    def keep(
        self,
        query: Value,
        law: Law,
        moves: float,
        place: str = "",
        declared: float | None = None,
        part: Part | None = None,
    ) -> None:
        """Notes a release."""
        draws = tuple(sorted(query.draws - {SOMETHING} if self.relation == "replace-one" else query.draws))
        if declared and self.relation == "add-remove":  # declared are sensitivities for replaced records
            declared /= 2
        counted = max(moves, declared or 0.0) if self.plain else moves  # other released values may move it that far
        self.releases.append(
            Certified(place or here(), law, moves, counted, draws, query.records, declared, query.cause, part)
        )


def _as_query(query: Value) -> Value:
    """As what is released: one record's entries move."""
    return query.solid().now().whole()


def as_few(releases: list[Certified], alike: bool = True) -> list[Certified]:
    """The same releases, with one for the entries of an array where it moves less than they do one by one.

    First of those that have one noise for what moves, then of any.
    """
    groups: dict[Hashable, list[tuple[list[Certified], set[Any]]]] = {}
    for one in releases:
        part, own = one.part, set[Any]()
        key: Hashable = id(one)
        if part is not None and one.scale:
            key = (id(part.whole), part.order, type(one.law), one.draws, alike and part.moves / one.scale)
            own = set(np.ravel(part.places).tolist())
        taken = groups.setdefault(key, [])
        free = next((group for group in taken if not group[1] & own), None)
        if free is None:
            taken.append(([one], own))
        else:
            free[0].append(one)
            free[1].update(own)
    found = [one for taken in groups.values() for group, _ in taken for one in _as_one(group)]
    return as_few(found, alike=False) if alike else found


def _as_one(group: list[Certified]) -> list[Certified]:
    """Over its noise the array moves by what the entries of least noise do, or less."""
    if len(group) == 1:
        return group
    scale = min(one.scale for one in group)
    alone = [one.moves * scale / one.scale for one in group]
    parts = [one.part._replace(moves=one.part.moves * scale / one.scale) for one in group if one.part is not None]
    most = max(one.moves for one in parts)
    if most >= (sum(alone) if parts[0].order == 1 else math.hypot(*alone)):
        return group
    part = parts[0]._replace(places=np.concatenate([np.ravel(one.places) for one in parts]), moves=most)
    law: Any = type(group[0].law)
    entries = sum(int(np.size(getattr(one.law, "query", 0.0))) for one in group)
    query: Any = np.float64(0.0) if issubclass(law, Number) else _ZEROS(entries)
    return [replace(group[0], law=law(query, scale), moves=most, counted=most, part=part)]


class Noise(NDArrayOperatorsMixin):
    """Noise that has not met data: independent draws (`cells`) of a law, each with its scale."""

    __array_priority__ = 2000.0

    def __init__(self, ledger: Ledger, law: str, scale: Any, cells: Any):
        self.ledger, self.law, self.cells, self.viewed = ledger, law, np.asarray(cells), False
        self.scale = np.array(np.broadcast_to(scale, self.cells.shape), dtype=float)  # nobody else can write to it

    __class__ = seen_as(lambda self: np.ndarray if self.cells.shape else np.float64)
    shape = property(lambda self: self.cells.shape)
    ndim = property(lambda self: self.cells.ndim)
    size = property(lambda self: self.cells.size)
    T = property(lambda self: self._part(self.scale.T, self.cells.T))

    def __getattr__(self, name: str) -> Any:
        if hasattr(np.ndarray, name) and not name.startswith("__"):
            raise Open(f"{name} of a draw of noise has no rule")
        raise AttributeError(name)

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, key: Any) -> Any:
        if ledger_of(key) is not None:
            raise Open("which noise it is follows released values or public draws")
        return self._part(self.scale[key], self.cells[key])

    def reshape(self, *shape: Any) -> Noise:
        """The same draws."""
        return self._part(self.scale.reshape(*shape), self.cells.reshape(*shape))

    def copy(self) -> Any:
        """The same draws, in memory of their own."""
        return self._of(self.scale, self.cells)

    def astype(self, dtype: Any, **options: Any) -> Any:
        """Cut to whole numbers it is no noise of this law."""
        return self.copy() if is_real(dtype) and not options else self.known().astype(dtype, **options)

    def _of(self, scale: Any, cells: Any) -> Noise:
        """Of the same law."""
        return Noise(self.ledger, self.law, scale, cells)

    def _part(self, scale: Any, cells: Any) -> Noise:
        """In the same memory: neither is written to from now on."""
        found = self._of(scale, cells)
        self.viewed = found.viewed = True
        return found

    def _written(self, found: Any) -> Any:
        """In place: every name of it stands for what was found."""
        if not isinstance(found, Noise):  # its draws are used
            return found
        if self.viewed:
            raise Open("noise is changed in place where another name shares its memory; write a = a * b")
        if not self.shape:  # a number is another one then, and an array of none the same: other names hold one of both
            self.scale = np.minimum(self.scale, found.scale)
            return found
        self.__dict__.update(found.__dict__)
        return self

    def known(self) -> Any:
        """The numbers, known to everybody: they protect nothing from now on."""
        return public(self.ledger.tell(self.cells) * self.scale, self.ledger)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.asarray(self.known())

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function in _TRIANGLES and type(self) is Noise and args[0] is self:  # no noise elsewhere
            return self._of(function(self.scale, *args[1:], **options), self.cells)
        return function(*(one.known() if isinstance(one, Noise) else one for one in args), **options)

    def _as_text(self, *_: Any) -> Any:
        raise Open("a draw becomes a text: who reads it knows the noise")

    __str__ = __repr__ = __format__ = __reduce_ex__ = _as_text

    def __bool__(self) -> bool:
        return bool(self.known())

    def __float__(self) -> float:
        return float(self.known())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if isinstance(out := options.get("out", (None,))[0], Noise):
            return out._written(getattr(ufunc, method)(*inputs, **{**options, "out": None}))
        if not any(isinstance(one, Noise) for one in inputs):
            return getattr(ufunc, method)(*inputs, **options)
        out = options.pop("out", (None,))[0]
        if private(out):  # `a += noise`: the name stands for what is released, and nothing is known of other names
            found = self.__array_ufunc__(ufunc, method, *(one.copy() if one is out else one for one in inputs))
            out.changed(Value(out._shape, None, Records(), cause="noise was added in place to an array of two names"))
            return found
        if out is not None:
            raise Open("noise is added in place; write a = a + noise")
        if method == "__call__" and len(inputs) == 2:
            a, b = inputs
            if ufunc in (np.add, np.subtract):
                return self._onto(a, b, ufunc)
            if ufunc in (np.multiply, np.true_divide) and not (isinstance(a, Noise) and isinstance(b, Noise)):
                noise, other = (a, b) if isinstance(a, Noise) else (b, a)
                if private(other):  # or a random weight, which is known to everybody from now on
                    return ufunc(*_looked(inputs))
                if (noise is a or ufunc is np.multiply) and ledger_of(other) is None:
                    return noise._scaled(ufunc, np.asarray(other, dtype=float))
        if method == "__call__" and ufunc is np.negative and self.law != "gumbel":
            return self
        return getattr(ufunc, method)(*_looked(inputs), **options)

    def _scaled(self, ufunc: Any, other: Any) -> Any:
        scale = ufunc(self.scale, other)
        other_law = self.law == "two-sided" or (self.law == "gumbel" and (scale < 0).any())
        if other_law or scale.shape != self.shape or not np.isfinite(scale).all():
            return ufunc(self.known(), other)
        return Noise(self.ledger, self.law, np.abs(scale), self.cells)

    def _onto(self, a: Any, b: Any, ufunc: Any) -> Any:
        if isinstance(a, Noise) and isinstance(b, Noise):
            if a.law == b.law and a.shape == b.shape and not (a.scale * b.scale).any():
                cells = np.where(a.scale > 0, a.cells, b.cells)
                return Noise(self.ledger, a.law, a.scale + b.scale, cells)
            once = len(np.unique(b.cells)) == b.cells.size
            if a.law == b.law == "normal" and a.shape == b.shape and (a.scale > 0).all() and once:
                self.ledger.use(b.cells)  # only the sum is left
                return Noise(self.ledger, "normal", np.hypot(a.scale, b.scale), a.cells)
            return ufunc(a.known(), b.known())
        query, noise = (a, b) if isinstance(b, Noise) else (b, a)
        if not private(query):
            return ufunc(*_looked((a, b)))
        if self.law == "gumbel" and ufunc is np.subtract:
            raise Open("Gumbel noise is taken away: its other tail hides nothing")
        return noise._released(query)

    def _released(self, query: Value) -> Any:
        if self.law in ("geometric", "uniform"):
            raise Open("one-sided noise hides nothing; take away another number of the same law")
        if query._shape != self.shape:
            raise Open("noise of another shape than what it is added to: one draw for several numbers")
        scales = np.unique(self.scale)
        if not self.cells.size:
            return _ZEROS(self.shape)
        cells = np.unique(self.cells)
        d = len(self.cells) if self.ndim else 0  # mirrored: two entries have one draw just where they mirror each other
        mirrored = self.shape == (d, d) and cells.size == d * (d + 1) // 2
        mirrored = mirrored and all(np.array_equal(one, one.T) for one in (self.cells, self.scale))
        if cells.size < self.cells.size and not (query.symmetric and mirrored):
            raise Open("one draw of noise is used twice; draw it anew")
        self.ledger.use(cells)
        # coordinates of other noise scales cost at most what the least noise costs
        least = float(scales[0])
        if self.law == "two-sided":
            if not (query.integer or query.truth):
                raise Open("geometric noise is added to numbers that need not be whole")
            return self.ledger.release(query, Geometric(_ZEROS(()), least), 1)
        if self.law == "normal":
            return self.ledger.release(query, Gaussian(_ZEROS(self.shape), least), 2)
        if least <= 0:
            raise Open("noise of scale zero")
        seen = Unseen(self, query, least)
        return seen if self.law == "gumbel" or (self.ndim == 1 and self.size > 1) else seen.known()


class OneSided(Noise):
    """A geometric number: less another one it is two-sided noise, which may begin with data in between."""

    def __init__(self, noise: Noise, query: Any = None, sign: int = 1):
        super().__init__(noise.ledger, noise.law, noise.scale, noise.cells)
        self._query, self._sign = query, sign

    def known(self) -> Any:
        """Told to everybody."""
        if self._query is not None:
            raise Open("one-sided noise hides nothing; take away another number of the same law")
        return super().known()

    def _of(self, scale: Any, cells: Any) -> Noise:
        if self._query is not None:
            self.known()
        return super()._of(scale, cells)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and ufunc is np.negative and self._query is None:
            return OneSided(self, None, -self._sign)
        if method == "__call__" and ufunc in (np.add, np.subtract) and not options:
            turned = -1 if ufunc is np.subtract else 1
            found = self._joined(inputs[0], inputs[1], turned)
            if found is not None:
                return found
        return super().__array_ufunc__(ufunc, method, *_looked(inputs), **options)

    def _joined(self, a: Any, b: Any, turned: int) -> Any:
        if isinstance(a, OneSided) and isinstance(b, OneSided):
            apart = b._query is None and a._sign != turned * b._sign and not np.intersect1d(a.cells, b.cells).size
            if not apart or a.shape != b.shape or not np.array_equal(a.scale, b.scale):
                return None
            self.ledger.use(b.cells)
            noise = Noise(self.ledger, "two-sided", a.scale, a.cells)
            return noise if a._query is None else a._query + noise
        query, noise = (a, b) if isinstance(b, OneSided) else (b, a)
        if private(query) and noise._query is None and query._shape == noise.shape and (noise is b or turned == 1):
            return OneSided(noise, query.copy(), turned * noise._sign if noise is b else noise._sign)
        return None


_TRIANGLES = {np.triu, np.tril}


class Looked(Noise):
    """Noise of which a part is public numbers: to whoever looks at one."""

    T = property(lambda self: self.known().T)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return super().__array_ufunc__(ufunc, method, *_looked(inputs), **options)

    def copy(self) -> Any:
        """Of the known numbers."""
        return self.known().copy()

    def astype(self, dtype: Any, **options: Any) -> Any:
        """Of the known numbers."""
        return self.known().astype(dtype, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.known(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.known()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.known()[key] = value

    def reshape(self, *shape: Any) -> Any:
        """Of the known numbers."""
        return self.known().reshape(*shape)


FEW = 16  # values of a coin
EVERYBODY = "everybody"  # what a coin serves for that was looked at


class Coin(Source):
    """A draw of finitely many values for each entry: it hides one answer, chooses records, or everybody knows it."""

    def __init__(self, ledger: Ledger, shape: tuple[int, ...], values: Any, chances: Any):
        super().__init__(values)
        self.chances = chances
        self._purpose: object = None
        self.places = ledger.rng.choice(len(chances), size=shape, p=chances)  # of the values that it has

    def serve(self, purpose: object) -> None:
        """For this, and nothing else."""
        if self._purpose is not None and self._purpose is not purpose:
            raise Open("one coin serves for several things (an answer, a choice of records, a number for everybody)")
        self._purpose = purpose

    @property
    def known(self) -> bool:
        """To everybody?"""
        return self._purpose is EVERYBODY


class Answers(Looked):
    """Made of coins, and perhaps of private numbers: who looks pays for the private ones, or else knows the coins."""

    def __init__(self, ledger: Ledger, shape: tuple[int, ...], table: Table):
        super().__init__(ledger, "coins", 1.0, np.broadcast_to(0, shape))
        self.table, self.told, self._place = table, None, here()

    dtype = property(lambda self: self.table.numbers.dtype)

    @property
    def coins(self) -> list[Coin]:
        """Of which it is made."""
        return [one for one in self.table.sources if isinstance(one, Coin)]

    def astype(self, dtype: Any, **_: Any) -> Any:
        """The same coins."""
        found = _joined(lambda numbers: numbers.astype(dtype), (self,))
        return self.known().astype(dtype) if found is None else found

    def known(self) -> Any:
        """The answers."""
        if self.told is None:
            private = [one.of for one in self.table.sources if not isinstance(one, Coin)]
            for one in self.coins:
                one.serve(self if private else EVERYBODY)
            if private:
                self._release(private)
            places = tuple(one.places if isinstance(one, Coin) else 0 for one in self.table.sources)
            self.told = public(self.table.numbers[places], self.ledger)
        return self.told

    def _release(self, private: list[Value]) -> None:
        """An entry costs the largest log ratio of its laws; no more entries change than whole numbers move by."""
        whole = [one.whole() for one in private]
        entries = private[0].entries if alike(private) else whole[0].entries
        moved = sum(one.move.one for one in whole) * ROUNDING
        cost = times(math.floor(min(entries, moved)), _loss(self.table))
        cause = f"{self._place}: an answer that some private numbers give, and others never do"
        query = Value((), **{**join(*whole), "cause": cause})
        self.ledger.choose(query, cost / 2, 2, self._place)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(one, Batch) for one in inputs):
            return NotImplemented
        found = _joined(ufunc, inputs) if method == "__call__" and by_entry(ufunc) and not options else None
        return getattr(ufunc, method)(*map(_looked, inputs), **options) if found is None else found

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if any(isinstance(one, Batch) for one in args):
            return NotImplemented
        found = _joined(function, args) if by_entry(function) and len(args) == 3 and not options else None
        return function(*map(_looked, args), **options) if found is None else found


def _loss(table: Table) -> float:
    """The largest log ratio of the probabilities of an answer, over any two values of the private numbers."""
    chances = np.ones(())
    for one in table.sources:
        chances = chances[..., None] * (one.chances if isinstance(one, Coin) else np.ones(len(one.values)))
    coins = tuple(place for place, one in enumerate(table.sources) if isinstance(one, Coin))
    with np.errstate(divide="ignore"):
        logs = [np.log(np.sum(chances * (table.numbers == answer), axis=coins)) for answer in np.unique(table.numbers)]
    return max(float(np.max(one) - np.min(one)) for one in logs)


def _looked(one: Any) -> Any:
    """What everybody may know of it."""
    if type(one) in (list, tuple):
        return type(one)(map(_looked, one))
    return one.known() if isinstance(one, Noise) else one


def _joined(function: Callable[..., Any], args: Sequence[Any]) -> Answers | None:
    """What a function of entries makes of coins and private numbers of one shape; None of others."""
    answers = [one for one in args if isinstance(one, Answers)]
    shapes = {one._shape if isinstance(one, Value) else one.shape for one in args if isinstance(one, Answers | Value)}
    told = any(one.told is not None or any(coin.known for coin in one.coins) for one in answers)
    if not answers or len(shapes) > 1 or told:
        return None
    table = tabled(function, [one.table if isinstance(one, Answers) else one for one in args])
    return None if table is None else Answers(answers[0].ledger, answers[0].shape, table)


def _shape(size: Any) -> tuple[int, ...]:
    return tuple(map(int, np.atleast_1d(size)))


def coins_of(ledger: Ledger, size: Any, values: Any, chances: Any) -> Answers:
    """A coin with these values for each entry."""
    shape = _shape(size)
    coin = Coin(ledger, shape, np.asarray(values), np.asarray(chances, dtype=float))
    return Answers(ledger, shape, Table((coin,), coin.values))


class Unseen(Looked):
    """Numbers and noise that nobody has looked at: the place of the largest is a release that costs less than they do.

    With noise of scale b, Laplace's or Gumbel's, it costs 2 s / b where no number moves by more than s: shift the noise
    of the winner by 2 s, and it still wins. After it, the numbers cost what they always do, and their place nothing.
    """

    def __init__(self, noise: Noise, query: Value, scale: float):
        super().__init__(noise.ledger, noise.law, noise.scale, noise.cells)
        self._query, self._least, self._place = _as_query(query), scale, here()
        self._numbers: Any = None
        self._winners: dict[str, tuple[Any, Certified]] = {}

    def known(self) -> Any:
        """The noisy numbers, released."""
        if self.law == "gumbel":
            raise Open("Gumbel noise has a rule for the place of the largest number alone")
        if self._numbers is None:
            kept = [one for _, one in self._winners.values()]
            self.ledger.releases = [one for one in self.ledger.releases if not any(one is other for other in kept)]
            law = Laplace(_ZEROS(self.shape), self._least)
            self._numbers = self.ledger.release(self._query, law, 1, self._place)
        return self._numbers

    def __setitem__(self, key: Any, value: Any) -> None:
        """Some are out of the running: the place of the largest of the others costs no more."""
        if self.law != "gumbel" or self._winners or private(key) or private(value) or np.any(bare(value) != -np.inf):
            self.known()[key] = value

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function in PLACES and len(args) == 1 and args[0] is self and not options:
            return getattr(self, function.__name__)()
        return super().__array_function__(function, types, args, options)

    def _won(self, name: str, *args: Any, **options: Any) -> Any:
        """The place; Laplace noise hides the smallest as well as the largest."""
        if args or options or self._numbers is not None or (name == "argmin" and self.law == "gumbel"):
            return getattr(self.known(), name)(*args, **options)
        if name not in self._winners:
            ledger, query = self.ledger, self._query
            sup = min(query.move.sup, query.move.one / 2)
            found = ledger.choose(query, sup / self._least, self.size, self._place)
            self._winners[name] = found, ledger.releases[-1]
        return self._winners[name][0]

    argmax, argmin = partialmethod(_won, "argmax"), partialmethod(_won, "argmin")


class OldNames(np.random.Generator):
    """A generator that has the names of NumPy's older one as well."""

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
        self._ledger, self._real = ledger, fresh_generator([ledger.seed, 1])

    def _copied(self, *_: Any) -> Any:
        raise Open("a generator is copied, or set back: the same noise again")

    bit_generator = property(_copied)
    __copy__ = __deepcopy__ = __reduce_ex__ = __getstate__ = _copied

    @property
    def plain(self) -> bool:
        """Are released values plain numbers?"""
        return self._ledger.plain

    def beside(self, known_noise: str) -> None:
        """There is another generator, of which everybody knows the numbers."""
        self._ledger.known_noise = known_noise

    def _noise(self, law: str, loc: Any, scale: Any, size: Any) -> Any:
        if private(scale):
            raise Open("a noise scale that depends on private data")
        if private(size):
            raise Open("a number of draws that depends on private data")
        if ledger_of(scale) is not None:
            raise Open("a noise scale that follows released values or public draws")
        of_loc = loc._shape if private(loc) else np.shape(loc)
        shape = np.broadcast_shapes(of_loc, np.shape(scale)) if size is None else tuple(np.atleast_1d(size).tolist())
        scale = np.asarray(scale, dtype=float)
        if not np.isfinite(scale).all() or (scale < 0).any():
            raise Open("a noise scale that is negative or no number")
        noise = Noise(self._ledger, law, np.broadcast_to(scale, shape), self._ledger.cells(shape))
        return noise if not private(loc) and not np.any(bare(loc)) else noise + loc

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *_: Any, **__: Any) -> Any:
        """Of a public diagonal covariance it is noise for each number."""
        variances = None if private(cov) or private(size) else np.diagonal(cov)
        if variances is None or np.any(bare(cov) != np.diag(bare(variances))):
            return self._known("multivariate_normal", mean, cov, size)
        return self.normal(mean, np.sqrt(variances), (*np.atleast_1d(() if size is None else size), len(variances)))

    def choice(self, a: Any, size: Any = None, replace: Any = True, p: Any = None, *rest: Any, **more: Any) -> Any:
        """Without replacement from all records: a secret batch. With private probabilities: a release."""
        n = self._ledger.n
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
        place = self._ledger.choose(p, min(rated), len(p))
        return place if np.ndim(a) == 0 else public(np.asarray(a), self._ledger)[place]

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
        """A coin for each record is a Poisson batch; other counts are public."""
        if private(p) and type(n) is int and n == 1 and size is None:
            return np.less(self.random(p.shape), p).astype(int)
        coins = not (private(n) or private(p) or private(size)) and np.ndim(p) == 0 and np.ndim(n) == 0 and n == 1
        if coins and size is not None and np.array_equal(np.atleast_1d(bare(size)), [self._ledger.n]) and 0 < p <= 1:
            return self.poisson_batch(float(p), "coins")
        return self._known("binomial", n, p, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """A half of two-sided noise."""
        if private(p) or ledger_of(p) is not None or np.ndim(p) or not 0 < float(p) < 1:
            return self._known("geometric", p, size)
        return OneSided(self._noise("geometric", 0.0, -1 / math.log1p(-float(p)), size))

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
        return coins_of(self._ledger, size, values, chances) if values.dtype.kind in "bif" else None

    def _of_records(self, size: Any) -> bool:
        """As many numbers as records, or several for each?"""
        if private(size) or size is None or ledger_of(size) is not None or np.ndim(size) > 1 or self.plain:
            return False
        return np.size(size) > 0 and int(np.ravel(size)[0]) == self._ledger.n

    def batch(self, size: int) -> Batch:
        """Some of the records."""
        ledger, number = self._ledger, len(self._ledger.batches)
        ledger.batches.append(Draw(number, here(), "without-replacement", ledger.n, size, size / ledger.n))
        return Batch(number, size, ledger.n, False)

    def poisson_batch(self, rate: float, kind: str = "mask") -> Batch:
        """Each record by itself."""
        ledger, number = self._ledger, len(self._ledger.batches)
        ledger.batches.append(Draw(number, here(), "poisson", ledger.n, None, float(rate)))
        found = Batch(number, ledger.n, ledger.n, True, kind)
        found.answers = coins_of(ledger, (ledger.n,), [False, True], [1 - rate, rate])
        return found

    def random(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        """Uniform numbers; one a record and compared with a rate, they are a Poisson batch."""
        if out is not None:
            self._into()
        return Uniforms(self, size) if self._of_records(size) else self._known("random", size)

    def _into(self, *_: Any) -> NoReturn:
        raise Open("numbers are drawn into an array; let them be a new one")

    def _known(self, name: str, *args: Any, **options: Any) -> Any:
        if any(private(one) for one in (*args, *options.values())):
            raise Open(f"a draw by {name} whose law depends on private data has no rule")
        found = getattr(self._real, name)(*bare(args), **{key: bare(one) for key, one in options.items()})
        if name == "integers" and np.ndim(found) == 0 and wide(*args, **options) and not self.plain:
            return Seed(self._ledger, found)
        found = public(found, self._ledger)
        given = [part for one in (*args, *options.values()) for part in (one if type(one) is tuple else (one,))]
        if any(np.ndim(one) == 0 and ledger_of(one) is not None for one in given) and np.ndim(bare(found)):
            found.sized = True  # so many as a released number says
        return found

    def sown(self, seed: Any) -> bool:
        """Was this seed drawn here? What it makes is as secret as these draws: once, and where nobody looks at it."""
        if type(seed) is not Seed:
            return False
        seed.serve("a generator of a seed that is known, or has made another one: the same noise again")
        return True


AS_A_SEED = 2**30  # of fewer numbers one is a place or a count, and all are soon tried


def wide(low: Any, high: Any = None, *_: Any, **__: Any) -> bool:
    """Are there enough whole numbers from one to the other to keep a seed?"""
    return bool((low if high is None else high - low) >= AS_A_SEED)


class Secret(int):
    """A whole number that nobody knows: a generator with this seed is as good as any."""


class Seed(Looked):
    """A wide whole number that was drawn: of it one generator may be made, or it is a number; both would tell noise."""

    def __init__(self, ledger: Ledger, number: Any):
        super().__init__(ledger, "uniform", 1.0, ledger.cells(()))
        self._number, self._told = number, False

    def serve(self, why: str) -> None:
        """Once, as a seed or as a number; else why not."""
        if self.ledger.used & {int(self.cells)}:
            raise Open(why)
        self.ledger.use(self.cells)

    def known(self) -> Any:
        """Told to everybody."""
        if not self._told:
            self.serve("a seed of noise is looked at or handed out, and who has it can draw the noise")
        self._told = True
        return public(self._number, self.ledger)


class Uniforms(Looked):
    """Uniform numbers of the records: compared with a public rate they are a secret Poisson batch, or other coins."""

    def __init__(self, draws: Draws, size: Any):
        ledger = draws._ledger
        super().__init__(ledger, "uniform", 1.0, ledger.cells(_shape(size)))
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


_COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal)


_PUBLIC = {"exponential", "gamma", "beta", "poisson"}
_PUBLIC |= {"standard_exponential", "logistic", "standard_cauchy"}


def _public_draw(name: str) -> Callable[..., Any]:
    def method(self: Draws, *args: Any, **options: Any) -> Any:
        if name not in _PUBLIC:
            raise Open(f"the draw {name} has no rule")
        return self._known(name, *args, **options)

    method.__name__, method.__doc__ = name, "A public draw, or none that is followed."
    return method


Draws.fill_in(_public_draw)


def _leave(output: Any, depth: int = 0) -> None:
    """What is handed out holds nothing private, and no seed of the noise."""
    if isinstance(output, Value | Batch):
        raise Open("private data is returned without noise", leaves=True)
    if isinstance(output, BaseException):
        raise Open("an error is returned, which is not looked through")
    if isinstance(output, Noise):
        output.known()
        return
    if depth > 6:
        raise Open("the output is too deep to be looked through")
    parts = list[Any]()
    if isinstance(output, Mapping):
        parts = [*output, *output.values()]
    elif isinstance(output, list | tuple | set | frozenset):
        parts = [*output]
    elif isinstance(output, np.ndarray):
        bare(output)  # no name of an array that holds private data
        parts = [*output.ravel()] if output.dtype == object else []
    elif (
        output is not None
        and not isinstance(output, bool | int | float | complex | str | bytes | np.generic)
        and (callable(output) or not hasattr(output, "__dict__"))
    ):
        raise Open(f"the output is a {type(output).__name__}, which is not looked through")
    for one in (*parts, *([] if isinstance(output, Public) else _attributes(output))):
        _leave(one, depth + 1)


def _attributes(output: Any) -> Iterator[Any]:
    """What an object holds beside what it is, and what its class does."""
    yield from getattr(output, "__dict__", {}).values()
    for kind in type(output).__mro__:
        yield from (getattr(output, str(one), None) for one in np.atleast_1d(vars(kind).get("__slots__", ())))
        yield from (one for name, one in vars(kind).items() if name[:2] != "__" and isinstance(one, _HOLDING))


_HOLDING = (Value, Batch, Noise, np.ndarray, list, tuple, dict, set)


def holds_private(thing: Any) -> bool:
    """Is something private in it?"""
    try:
        _leave(thing)
    except Open as error:
        forget(error)
        return True
    return False
