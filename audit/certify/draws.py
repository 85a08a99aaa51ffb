"""What code draws while it is certified, and what it releases: the ledger, noise, answers that coins hide, decisions.

A query plus noise is a release: its sensitivity is what the value knows. One draw serves one release. What comes back
is public; a decision on it is taken both ways (`Paths`), because the other way may release more.
"""

from __future__ import annotations

import gc
import math
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partialmethod
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.audit.search.coverage import nested
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.laws.categorical import exponential
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Cost, Law
from dpassay.reference.laws.number import Geometric, Number
from dpassay.reference.transcript import Draw

from .derivation import Open, here, of_a_library, raised, refuse
from .facts import SOMETHING, Records, reachable, times
from .public import PLACES, Public, placed, public
from .shapes import Hidden
from .table import Source, Table, by_entry, tabled
from .value import Value, alike, bare, is_real, join, ledger_of, private, seen_as

_ZEROS = np.zeros  # another name stands in NumPy while code is certified
ROUNDING = 1 + 1e-12  # bounds are sums of floats
_ASKED = 12_000  # releases and decisions in all runs of a certificate: trainings of some thousand steps
_SELDOM = 16  # asking for the time takes as long as following an operation
ONE_SIDED = "one-sided noise hides nothing; take away another number of the same law"


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
    used: Any = field(default_factory=lambda: _ZEROS(0, bool))  # by the number of the draw
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
        self.limits.ask()
        number = len(self.decisions)
        taken = self.wanted[number] if number < len(self.wanted) else int(found)
        self.decisions.append((here(), taken, ways))
        return taken

    def cells(self, shape: tuple[int, ...]) -> Any:
        """Numbers of fresh draws."""
        count = math.prod(shape)
        self.drawn += count
        return np.arange(self.drawn - count, self.drawn).reshape(shape)

    def use(self, cells: Any) -> None:
        """Each draw once."""
        flat, before = np.asarray(cells, dtype=int).ravel(), self.used
        if self.drawn > len(before):
            self.used = _ZEROS(2 * self.drawn, bool)
            self.used[: len(before)] = before
        refuse(self.used[flat].any(), "one draw of noise is used twice; draw it anew")
        self.used[flat] = True

    def tell(self, cells: Any) -> Any:
        """The numbers of draws that everybody knows from now on, and may use again."""
        flat = np.ravel(cells).tolist()
        new = [one for one in flat if one not in self.told]
        self.use(new)
        self.told |= zip(new, self.rng.normal(size=len(new)).tolist(), strict=True)
        return np.array([self.told[one] for one in flat]).reshape(np.shape(cells))

    def release(self, query: Value, law: Law, order: float, place: str = "", declared: float | None = None) -> Any:
        """Keeps the release, and gives a public value of its shape."""
        self.limits.ask()
        query = _as_query(query)
        moves = query.move.of_order(order) * ROUNDING * self._sides(query)
        part = None
        if query.origin is not None and declared is None:
            whole, places, factor = query.origin
            most = times(factor, whole.move.of_order(order)) * ROUNDING * self._sides(query)
            part = Part(whole, places, order, most)
        self.keep(query, law, moves, place, declared, part)
        noise = self.rng.normal(size=query._shape) * (law.scale or 1.0)
        found = noise + float(np.clip(0.0, query.low, query.high))
        return public(np.rint(found).astype(int) if isinstance(law, Geometric) else found, self)

    def choose(self, query: Value, moves: float, ways: int, place: str = "") -> Any:
        """One of so many, whose probabilities move by the factor exp(2 moves) at most."""
        self.limits.ask()
        query = _as_query(query)
        law = exponential([0.0] * ways, 1.0)
        self.keep(query, law, moves * ROUNDING * self._sides(query), place, None, None)
        return placed(public(self.rng.integers(ways), self), ways)

    def _sides(self, query: Value) -> int:
        """One record may appear where another one disappears: the accountant takes half of it for each."""
        if self.relation != "replace-one":
            return 1
        return 2 if any(number >= 0 and self.batches[number].kind == "poisson" for number in query.draws) else 1

    def left(self, output: Any) -> None:
        """The run is over: what it hands out holds nothing private, and it caught nothing that ends a certificate."""
        for one in raised.get() or ():
            raise one
        self.done = True
        _leave(output)  # which may release
        self.releases = as_few(self.releases)

    def keep(self, query: Value, law: Law, moves: float, place: str, declared: float | None, part: Part | None) -> None:
        """Notes a release."""
        draws = tuple(sorted(query.draws - {SOMETHING} if self.relation == "replace-one" else query.draws))
        if declared and self.relation != "replace-one":  # declared are sensitivities for replaced records
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
    dtype = property(lambda self: np.dtype(float))
    T = property(lambda self: self._part(self.scale.T, self.cells.T))

    def __getattr__(self, name: str) -> Any:
        refuse(hasattr(np.ndarray, name) and not name.startswith("__"), f"{name} of a draw of noise has no rule")
        raise AttributeError(name)

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, key: Any) -> Any:
        refuse(ledger_of(key) is not None, "which noise it is follows released values or public draws")
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
        refuse(self.viewed, "noise is changed in place where another name shares its memory; write a = a * b")
        if not self.shape:  # a number is another one then, and an array of none the same: other names hold one of both
            self.scale = min(self.scale, found.scale, key=abs)
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
            scale, cells = (function(one, *args[1:], **options) for one in (self.scale, self.cells))
            return self._of(scale, cells)
        parts = args[0] if type(args[0]) in (list, tuple) else ()
        if function in _JOINS and all(type(one) is Noise and one.law == self.law for one in parts):
            both = [one.scale for one in parts], [one.cells for one in parts]
            return self._of(*(function(one, *args[1:], **options) for one in both))
        return function(*map(_looked, args), **options)

    def _as_text(self, *_: Any) -> Any:
        raise Open("a draw becomes a text: who reads it knows the noise")

    __str__ = __repr__ = __format__ = __reduce_ex__ = _as_text

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
        refuse(out is not None, "noise is added in place; write a = a + noise")
        if method == "__call__" and len(inputs) == 2:
            a, b = inputs
            if ufunc in (np.add, np.subtract):
                return self._onto(a, b, ufunc)
            if ufunc in (np.multiply, np.true_divide) and not (isinstance(a, Noise) and isinstance(b, Noise)):
                noise, other = (a, b) if isinstance(a, Noise) else (b, a)
                if private(other):  # or a random weight, which is known to everybody from now on
                    return ufunc(*_looked(inputs))
                usual = (noise is a or ufunc is np.multiply) and ledger_of(other) is None
                if usual and np.asarray(bare(other)).dtype.kind in "biuf":
                    return noise._scaled(ufunc, np.asarray(other, dtype=float))
        if method == "__call__" and ufunc is np.negative and self.law != "gumbel":
            return self._of(-self.scale, self.cells)
        return getattr(ufunc, method)(*_looked(inputs), **options)

    def _scaled(self, ufunc: Any, other: Any) -> Any:
        scale = ufunc(self.scale, other)
        other_law = self.law == "two-sided" or (self.law == "gumbel" and (scale < 0).any())
        if other_law or scale.shape != self.shape or not np.isfinite(scale).all():
            return ufunc(self.known(), other)
        return self._of(scale, self.cells)

    def _onto(self, a: Any, b: Any, ufunc: Any) -> Any:
        if isinstance(a, Noise) and isinstance(b, Noise):
            found = a._and(b, -1 if ufunc is np.subtract else 1)
            return ufunc(a.known(), b.known()) if found is None else found
        query, noise = (a, b) if isinstance(b, Noise) else (b, a)
        if not private(query) or (query._shape != noise.shape and noise.size > 1):  # where to start, say
            return ufunc(*_looked((a, b)))
        if self.law == "gumbel" and ufunc is np.subtract:
            raise Open("Gumbel noise is taken away: its other tail hides nothing")
        return noise._released(query)

    def _and(self, other: Noise, sign: int) -> Noise | None:
        """``self + sign other``, of one draw at each place; None where it has no such law.

        The sum of two Gaussian draws is a new one, where they are in nothing else; mirrored sums are the same.
        """
        changed = not self.shape and self.cells == other.cells  # perhaps in place, as a number may be
        if self.law != other.law or self.shape != other.shape or changed:
            return None
        one, two = self.scale, sign * other.scale
        both = (one != 0) & (two != 0)
        if self.law not in _SCALED and (both.any() or sign < 0):
            return None
        both &= self.cells != other.cells
        cells, scale = np.array(np.where(one == 0, other.cells, self.cells)), np.array(one + two)
        if both.any():
            # which draw, and its share, as one number: in one order at mirrored places
            pairs = np.sort(np.stack([self.cells + 1j * one, other.cells + 1j * two], axis=-1)[both], axis=1)
            sums, which = np.unique(pairs, axis=0, return_inverse=True)
            drawn = np.unique(sums.real)
            shared = drawn.size < 2 * len(sums) or np.isin(drawn, cells[~both & (scale != 0)]).any()
            if self.law != "normal" or shared:
                return None
            self.ledger.use(drawn)
            cells[both] = self.ledger.cells((len(sums),))[which.ravel()]
            scale[both] = np.hypot(*pairs.imag.T)
        return Noise(self.ledger, self.law, scale, cells)

    def _released(self, query: Value) -> Any:
        refuse(self.law in ("geometric", "exponential", "uniform"), ONE_SIDED)
        if query._shape != self.shape:
            raise Open("noise of another shape than what it is added to: one draw for several numbers")
        if not self.cells.size:
            return _ZEROS(self.shape)
        cells, scale = np.unique(self.cells), self.scale
        d = len(self.cells) if self.ndim else 0  # mirrored: two entries have one draw just where they mirror each other
        mirrored = self.shape == (d, d) and cells.size == d * (d + 1) // 2
        mirrored = mirrored and all(np.array_equal(one, one.T) for one in (self.cells, self.scale))
        if cells.size < self.cells.size and not (query.symmetric and mirrored):
            raise Open("one draw of noise is used twice; draw it anew")
        if mirrored and self.law == "normal":  # |D|^2 is twice its squares above the diagonal, and those on it
            scale = scale * np.where(np.eye(d), 1.0, math.sqrt(2))
        self.ledger.use(cells)
        # coordinates of other noise scales cost at most what the least noise costs
        least = float(np.abs(scale).min())
        if self.law == "two-sided":
            refuse(not (query.integer or query.truth), "geometric noise is added to numbers that need not be whole")
            return self.ledger.release(query, Geometric(_ZEROS(()), least), 1)
        if self.law == "normal":
            return self.ledger.release(query, Gaussian(_ZEROS(self.shape), least), 2)
        refuse(least <= 0, "noise of scale zero")
        seen = Unseen(self, query, least)
        return seen if self.law == "gumbel" or (self.ndim == 1 and self.size > 1) else seen.known()


for _of in (bool, float):
    setattr(Noise, f"__{_of.__name__}__", lambda self, of=_of: of(self.known()))


class OneSided(Noise):
    """A geometric or exponential number: less another one it is two-sided noise, with data in between or without."""

    def __init__(self, noise: Noise, query: Any = None, sign: int = 1):
        super().__init__(noise.ledger, noise.law, noise.scale, noise.cells)
        self._query, self._sign = query, sign

    def known(self) -> Any:
        """Told to everybody."""
        refuse(self._query is not None, ONE_SIDED)
        return abs(super().known())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.known(), name)

    def _of(self, scale: Any, cells: Any) -> Noise:
        refuse(self._query is not None, ONE_SIDED)
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
            if not apart or (a.law, a.shape) != (b.law, b.shape) or not np.array_equal(a.scale, b.scale):
                return None
            self.ledger.use(b.cells)
            noise = Noise(self.ledger, "two-sided" if a.law == "geometric" else "laplace", a.scale, a.cells)
            return noise if a._query is None else a._query + noise
        query, noise = (a, b) if isinstance(b, OneSided) else (b, a)
        if private(query) and noise._query is None and query._shape == noise.shape and (noise is b or turned == 1):
            return OneSided(noise, query.copy(), turned * noise._sign if noise is b else noise._sign)
        return None


_TRIANGLES = {np.triu, np.tril, np.diag}
_JOINS = {np.stack, np.concatenate}
_SCALED = ("normal", "laplace")  # times a number they are of the same law


class Looked(Noise):
    """Noise of which a part is public numbers: to whoever looks at one."""

    T = property(lambda self: self.known().T)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return super().__array_ufunc__(ufunc, method, *_looked(inputs), **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.known(), name)

    def _of_known(self, name: str, *given: Any, **options: Any) -> Any:
        return getattr(self.known(), name)(*given, **options)

    copy, astype = partialmethod(_of_known, "copy"), partialmethod(_of_known, "astype")
    reshape, __getitem__ = partialmethod(_of_known, "reshape"), partialmethod(_of_known, "__getitem__")
    __setitem__ = partialmethod(_of_known, "__setitem__")


FEW = 16  # values of a coin
EVERYBODY = "everybody"  # what a coin serves for that was looked at


class Coin(Source):
    """A draw of finitely many values for each entry: it hides one answer, chooses records, or everybody knows it."""

    def __init__(self, ledger: Ledger, shape: tuple[int, ...], values: Any, chances: Any):
        super().__init__(values)
        self.chances, self._shape, self._rng = chances, shape, ledger.rng
        self.purpose: object = None

    @cached_property
    def places(self) -> Any:
        """Of the values that it has."""
        return self._rng.choice(len(self.chances), size=self._shape, p=self.chances)

    def serve(self, purpose: object) -> None:
        """For this, and nothing else."""
        if self.purpose is not None and self.purpose is not purpose:
            raise Open("one coin serves for several things (an answer, a choice of records, a number for everybody)")
        self.purpose = purpose


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
        if any(isinstance(one, Hidden) for one in inputs):
            return NotImplemented
        found = _joined(ufunc, inputs) if method == "__call__" and by_entry(ufunc) and not options else None
        return getattr(ufunc, method)(*map(_looked, inputs), **options) if found is None else found

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if any(isinstance(one, Hidden) for one in args):
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
    told = any(one.told is not None or any(coin.purpose is EVERYBODY for coin in one.coins) for one in answers)
    if not answers or len(shapes) > 1 or told:
        return None
    table = tabled(function, [one.table if isinstance(one, Answers) else one for one in args])
    return None if table is None else Answers(answers[0].ledger, answers[0].shape, table)


def shape_of(size: Any) -> tuple[int, ...]:
    """What `size` says."""
    return tuple(map(int, np.atleast_1d(size)))


def coins_of(ledger: Ledger, size: Any, values: Any, chances: Any) -> Answers:
    """A coin with these values for each entry."""
    shape = shape_of(size)
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
        self._out: list[Any] = []  # places of numbers that are out of the running

    def known(self) -> Any:
        """The noisy numbers, released."""
        refuse(self.law == "gumbel", "Gumbel noise has a rule for the place of the largest number alone")
        if self._numbers is None:
            kept = [one for _, one in self._winners.values()]
            self.ledger.releases = [one for one in self.ledger.releases if not any(one is other for other in kept)]
            law = Laplace(_ZEROS(self.shape), self._least)
            self._numbers = self.ledger.release(self._query, law, 1, self._place)
            for key in self._out:
                self._numbers[key] = -np.inf
        return self._numbers

    def __setitem__(self, key: Any, value: Any) -> None:
        """Some are out of the running: the place of the largest of the others costs no more."""
        if self._winners or private(key) or private(value) or np.any(bare(value) != -np.inf):
            self.known()[key] = value
        else:
            self._out.append(key)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function in PLACES and len(args) == 1 and args[0] is self and not options:
            return getattr(self, function.__name__)()
        return super().__array_function__(function, types, args, options)

    def _won(self, name: str, *args: Any, **options: Any) -> Any:
        """The place; Laplace noise hides the smallest as well as the largest."""
        smallest = name == "argmin" and (self._out or self.law == "gumbel")
        if args or options or self._numbers is not None or smallest:
            return getattr(self.known(), name)(*args, **options)
        if name not in self._winners:
            ledger, query = self.ledger, self._query
            sup = min(query.move.sup, query.move.one / 2)
            found = ledger.choose(query, sup / self._least, self.size, self._place)
            self._winners[name] = found, ledger.releases[-1]
        return self._winners[name][0]

    argmax, argmin = partialmethod(_won, "argmax"), partialmethod(_won, "argmin")


_ATOMS = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype, CodeType)
_NOT_LOOKED_THROUGH = (BaseException, ModuleType, np.random.Generator, np.random.BitGenerator, weakref.ref)
_HAS_PARTS = 1 << 14  # of the flags of a type: Python can say what its objects hold


def _leave(output: Any) -> None:
    """What is handed out holds nothing private, and no seed of the noise, wherever it keeps it."""
    for one in reachable([output], held_by):
        kind = type(one)
        if isinstance(one, Value | Hidden):
            raise Open("private data is returned without noise", leaves=True)
        if isinstance(one, Noise):
            one.known()
        elif isinstance(one, np.ndarray):
            bare(one)  # no name of an array that holds private data
        elif (
            isinstance(one, _NOT_LOOKED_THROUGH)
            or kind.__module__.startswith("dpassay.audit.")
            or not (kind.__flags__ & _HAS_PARTS or issubclass(kind, _ATOMS))
        ):
            raise Open(f"the output holds a {kind.__name__}, which is not looked through")


def held_by(one: Any) -> Iterable[Any]:
    """What an object holds, and what its class does; of functions also what they look up, but for generators."""
    if issubclass(type(one), Noise | ModuleType | FrameType | np.random.Generator):
        return ()
    if isinstance(one, np.ndarray):
        own = () if isinstance(one, Public) else getattr(one, "__dict__", {}).values()
        return [*own, *(one.ravel() if one.dtype == object else ())]
    if isinstance(one, type):
        return () if of_a_library(one.__module__) else [*vars(one).values(), *one.__mro__, type(one)]
    if isinstance(one, BuiltinFunctionType):
        return () if isinstance(one.__self__, ModuleType) else (one.__self__,)
    if not isinstance(one, FunctionType):
        return gc.get_referents(one)
    names = {} if of_a_library(str(one.__module__)) else one.__globals__
    found = [names.get(name) for code in nested(one.__code__) for name in code.co_names]
    kept = [each for each in found if not isinstance(each, np.random.Generator | ModuleType)]
    return [one.__closure__, one.__defaults__, one.__kwdefaults__, vars(one), *kept]
