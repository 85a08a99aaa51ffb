"""What one run of plain NumPy code knows of its noise, and how its noisy numbers get onto the tape."""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from contextvars import ContextVar
from functools import partial
from inspect import isroutine
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference.laws.law import as_released
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array, Indices

from . import answers
from .habits import Habits
from .kinds import Terms, coefficients_of, law_of_noise, merged, shared, square_root, standard, tell
from .noisy import Noisy
from .places import WAY_OUT, UsedAgain, here, not_understood
from .written import unwritten

ITSELF = "(itself)"  # where what holds others comes again inside itself
_ROUNDING = 1e-12  # of the largest of some numbers: what is left of their sum is rounding
_OPEN: ContextVar[frozenset[int]] = ContextVar("open", default=frozenset())  # the two worlds have one each


class Told(NamedTuple):
    """What is known of a noise variable: ``value = query + coefficient * noise``."""

    value: float
    query: float = 0.0
    coefficient: float = 1.0


class Desk:
    """Noise variables of one run: which kind, drawn at which line, known by now or not.

    Args:
        tape: of the run.
        records: how many there are; None where the data has no length.
        habits: what trial runs have shown.
        world: with one, what counts as public is drawn anew, to see what depends on it.
    """

    def __init__(self, tape: Tape, records: int | None, habits: Habits, world: int | None = None):
        self.tape, self.records, self.habits = tape, records, habits
        self._shaken = None if world is None else np.random.default_rng([world, 47])
        self.public_lines: dict[str, bool] = {}  # draws taken for public: do they choose among the records?
        self.batch: Batch | None = None
        self.of_nobody = False  # the last batch has no records
        self._open: list[weakref.ref[Noisy]] = []  # what has met data, and may not be released yet
        self.drawn_alone: list[str] = []  # lines whose noise was looked at before it met data
        self.shared_out = False  # one draw is handed out in several numbers, whose differences have no noise
        self.again: list[str] = []  # lines of noise that was added to data more than once
        self.kinds: list[str] = []
        self.lines: list[str] = []  # of each noise variable
        self._batches: list[Batch | None] = []  # the batch that was the last one when the noise was drawn
        self._known: dict[int, Told] = {}
        self._spent: set[int] = set()
        self._compared: set[int] = set()
        self._met: set[int] = set()

    # -- drawing ------------------------------------------------------------------------------------------
    def draw(self, kind: str, shape: tuple[int, ...], scale: Any, offset: Any, mixed: bool) -> Any:
        """``offset + scale * noise`` with fresh noise variables; plain numbers where the line's noise is known."""
        scale, offset = np.asarray(scale, dtype=float), np.asarray(offset, dtype=float)
        shape = np.broadcast_shapes(shape, scale.shape, offset.shape)
        first, size = len(self.kinds), int(np.prod(shape, dtype=int))
        line = here()
        if line in self.habits.known and not mixed:
            numbers = self.public(line, lambda rng: np.asarray([standard(kind, rng) for _ in range(size)]))
            found = np.asarray(numbers).reshape(shape) * scale
            return found if shape else float(found)
        self.kinds += [kind] * size
        self.lines += [line + (" (no records)" if self.of_nobody else "")] * size
        self._batches += [self.batch] * size
        ids = np.arange(first, first + size).reshape(1, *shape)
        coefficients = np.broadcast_to(scale, shape)[None].copy()
        return Noisy(self, np.broadcast_to(offset, shape).copy(), ids, coefficients, mixed)

    def has_met_data(self, noisy: Noisy) -> None:
        """Noise was added to data."""
        again = sorted(noisy.variables & self._met)
        self._met |= noisy.variables
        self.again += [self.lines[one] for one in again]
        if self.habits.renewed and again:
            noisy.ids = noisy.ids.copy()
            for one in again:
                noisy.ids[noisy.ids == one] = len(self.kinds)
                self.kinds.append(self.kinds[one])
                self.lines.append(self.lines[one])
                self._batches.append(self._batches[one])
        if not self.habits.late:
            self._open.append(weakref.ref(noisy))

    def drawn_batch(self, draw: Callable[[], Batch]) -> Indices:
        """Draw a secret batch. What is pending is released before: when it is must not depend on the batch."""
        self._release_pending()
        self.batch, self.of_nobody = draw(), False
        return self.batch.indices

    def _release_pending(self) -> None:
        pending, self._open = [one for ref in self._open if (one := ref()) is not None], []
        for noisy in pending:
            self.released(noisy)

    # -- releasing ----------------------------------------------------------------------------------------
    def released(self, noisy: Noisy, at_the_end: bool = False) -> Any:
        """The value of a lazy array: from the tape, or plain where its noise is known already."""
        if noisy.given is None:
            noisy.given = self._released(noisy, at_the_end)
        return np.array(noisy.given) if np.ndim(noisy.given) else noisy.given

    def _released(self, noisy: Noisy, at_the_end: bool) -> Any:
        if not self.habits.late:
            for root in _roots(noisy, of_two=not at_the_end):
                self.released(root)
        if _later(noisy) and noisy.variables <= self._known.keys():
            return self._computed(noisy)
        query, rows = self._resolved(noisy)
        alone = not (noisy.mixed or at_the_end)
        if shared(rows) and not alone and any(not parent.mixed for parent in noisy.parents):
            given = self._mixed(query, rows)  # the noise was mixed before it met the data
            if given is not None:
                return as_released(given)
        if shared(rows) and noisy.parents:  # the same noise in several numbers: it was released where it came from
            self.shared_out |= at_the_end and noisy.mixed
            for parent in noisy.parents:
                self.released(parent)
            query, rows = self._resolved(noisy)
        active = [number for number, row in enumerate(rows) if row]
        if not active:
            return self._computed(noisy)
        if alone:
            return self._alone(noisy, rows)
        return as_released(self._each(query, rows, active))

    def _computed(self, noisy: Noisy) -> Any:
        """What is known already: by the arithmetic that led to it, from what was released.

        The query with its noise put in is the same number up to rounding, which differs between neighbours.
        """
        waiting = [noisy]
        while waiting:
            one = waiting[-1]
            if one.given is not None:
                waiting.pop()
                continue
            found = None
            if not (one is noisy or one.variables <= self._known.keys()):
                found, rows = self._resolved(one)
                if any(rows):  # a part of it is not known: it has gone out of the sum
                    return as_released(self._resolved(noisy)[0])
            if one.again is not None and _later(one):
                further = [parent for parent in one.parents if parent.given is None]
                if further:
                    waiting.extend(further)
                    continue
                found = one.again(*(parent.given for parent in one.parents))
            elif found is None:
                found = self._resolved(one)[0]
            one.given = as_released(np.asarray(found))
            waiting.pop()
        return noisy.given

    def _each(self, query: Array, rows: list[Terms], active: list[int]) -> Array:
        """The query with the numbers ``active`` released, each with noise of its own."""
        flat = query.ravel().copy()
        kind, stds = law_of_noise(self.kinds, rows, active)
        label = self._label(rows, active)
        given = tell(self, label, kind, flat[active], stds, self._declared(label, rows))
        for number, value in zip(active, np.ravel(given), strict=True):
            row = rows[number]
            if len(row) == 1:
                ((variable, coefficient),) = row.items()
                self._known[variable] = Told(float(value), float(flat[number]), coefficient)
            else:
                self._spent.update(row)
            flat[number] = value
        return flat.reshape(query.shape)

    def _mixed(self, query: Array, rows: list[Terms]) -> Array | None:
        """The query with numbers released that share noise; None where the noise of some determines that of others."""
        flat = query.ravel().copy()
        firsts, source = merged(flat, rows)
        active = [number for number in firsts if rows[number]]
        if not shared([rows[number] for number in firsts]):
            flat = self._each(flat, rows, active)
        else:
            variables, factors = coefficients_of([rows[number] for number in active])
            kinds = {self.kinds[variable] for variable in variables}
            root = square_root(factors, kinds)
            if root is None:
                return None
            label, ones = self._label(rows, active), np.ones(len(active))
            white = np.asarray(np.linalg.solve(root, flat[active]), dtype=np.float64)
            given = tell(self, label, kinds.pop(), white, ones, self._declared(label, rows))
            values = root @ np.ravel(given)
            if len(variables) == len(active):
                noise = np.linalg.solve(factors, values - flat[active])
                self._known.update((one, Told(z)) for one, z in zip(variables, noise.tolist(), strict=True))
            else:
                self._spent.update(variables)
            flat[active] = values
        return flat[source].reshape(query.shape)

    def is_seen(self, noisy: Noisy) -> bool:
        """Is its value looked at, beside the answer of a comparison?"""
        return any(self.lines[one] in self.habits.seen for one in noisy.variables)

    def above(self, difference: Noisy) -> bool:
        """Is a single noisy number above zero? Only the answer is released."""
        resolved, rows = self._resolved(difference, compared=True)
        query, row = float(resolved.ravel()[0]), rows[0]
        if not row or math.isinf(query):  # no noise changes that: nothing is told
            return query > 0
        if len(row) == 1 and row.keys() <= self._compared:
            raise self._used_again(*row)
        if self._compared & row.keys() or (len(row) == 2 and {self.kinds[one] for one in row} != {"gaussian"}):
            raise not_understood("comparisons share their noise: `tape.above_threshold` is for that", WAY_OUT)
        kind, stds = law_of_noise(self.kinds, rows, [0])
        self._compared |= row.keys()
        return bool(self._answer(answers.above(kind, query, float(stds[0])), rows, [0]))

    def largest(self, noisy: Noisy) -> int:
        """The index of the largest noisy number; only the index is released."""
        query, rows = self._resolved(noisy)
        active = [number for number, row in enumerate(rows) if row]
        if not rows or len(active) < len(rows) or self.is_seen(noisy):
            return int(np.argmax(self.released(noisy)))
        kind, stds = law_of_noise(self.kinds, rows, active, one_each=True)
        return int(self._answer(answers.largest(kind, query.ravel(), stds), rows, active))

    def in_place(self, array: Any, noisy: Noisy) -> Any:
        """``array += noise``: lazy, with the array poisoned so that a look at it elsewhere does not go unseen."""
        if isinstance(array, np.ndarray):
            array[...] = self.released(noisy) if self.habits.eager else np.nan
            return array if self.habits.eager else noisy
        return noisy

    def finish(self, output: Any) -> Any:
        """The output with every lazy array released, in order; also inside lists, tuples, dicts and objects."""
        output = unwritten(output)
        if self.batch is not None:  # the last step is released as those before it are
            self._release_pending()
        return self.released(output, at_the_end=True) if isinstance(output, Noisy) else inside(output, self.finish)

    # -- how ----------------------------------------------------------------------------------------------
    def _resolved(self, noisy: Noisy, compared: bool = False) -> tuple[Array, list[Terms]]:
        """The query with known noise put in, and for each element its unknown noise variables.

        Noise that was in a released value has no density any more.
        """
        query = np.array(noisy.query, dtype=float)
        flat = query.reshape(-1)
        rows: list[Terms] = [{} for _ in range(flat.size)]
        seen: list[list[tuple[float, Told]]] = [[] for _ in rows]
        for ids, coefficients in zip(noisy.ids, noisy.coefficients, strict=True):
            terms = zip(ids.ravel().tolist(), coefficients.ravel().tolist(), strict=True)
            for number, (variable, coefficient) in enumerate(terms):
                if variable < 0 or coefficient == 0:
                    continue
                known = self._known.get(variable)
                if known is not None:
                    seen[number].append((coefficient, known))
                elif variable in self._spent and not (compared and variable in self._compared):
                    raise self._used_again(variable)
                else:
                    rows[number][variable] = rows[number].get(variable, 0.0) + coefficient
        for number, known_ones in enumerate(seen):
            if known_ones:
                flat[number] = _put_in(float(flat[number]), known_ones)
        rows = [{variable: c for variable, c in row.items() if c != 0} for row in rows]
        return flat.reshape(query.shape), rows

    def _used_again(self, variable: int) -> UsedAgain:
        why = "is used again after a released value or a comparison told a part of it; draw it anew,"
        error = UsedAgain("noise", self.lines[variable], f"{why} {WAY_OUT}")
        error.line = self.lines[variable]
        return error

    def _answer(self, law: answers.NoisyAnswer, rows: list[Terms], active: list[int]) -> Any:
        label = self._label(rows, active)
        sensitivity = self.habits.sensitivity(label, law.scale_of_noise)
        found = self.tape.release(label, law, sensitivity=sensitivity, batch=self._declared(label, rows))
        for number in active:
            self._spent.update(rows[number])
        return found

    def _alone(self, noisy: Noisy, rows: list[Terms]) -> Any:
        """Noise that is looked at before it met data: a random start, say. Drawn as a public value."""
        label = self._label(rows, [number for number, row in enumerate(rows) if row])
        self.drawn_alone.append(label)
        variables: Indices = np.array(sorted({v for row in rows for v in row}))
        kinds = [self.kinds[v] for v in variables]

        def make(rng: np.random.Generator) -> Array:
            return np.asarray([standard(kind, rng) for kind in kinds])

        values = self.public(label, make).tolist()
        self._known.update((one, Told(z)) for one, z in zip(variables.tolist(), values, strict=True))
        found, _ = self._resolved(noisy)
        return as_released(found)

    def public(self, label: str, make: Callable[[np.random.Generator], Any], of_records: bool = False) -> Any:
        """A draw that counts as known to the adversary; each world has its own where it is tried what depends on it."""
        self.public_lines[label] = self.public_lines.get(label, False) or of_records
        return self.tape.public(label, make) if self._shaken is None else make(self._shaken)

    def _declared(self, label: str, rows: list[Terms]) -> tuple[Batch, ...] | None:
        """The secret batches that the query may depend on: the last ones when its noise was drawn."""
        if label not in self.habits.sampled:
            return None
        found = {batch.draw: batch for row in rows for v in row if (batch := self._batches[v]) is not None}
        return tuple(found.values()) or None

    def _label(self, rows: list[Terms], active: list[int]) -> str:
        lines = {self.lines[variable]: None for number in active for variable in rows[number]}
        return " + ".join(lines)


def _put_in(query: float, terms: list[tuple[float, Told]]) -> float:
    """``query + sum of coefficient * noise``; what follows from released values alone is computed from them alone.

    Else the rounding of private numbers would stay in it, and differ between neighbours.
    """
    shares = [coefficient / told.coefficient for coefficient, told in terms]
    private = [query, *(-share * told.query for share, (_, told) in zip(shares, terms, strict=True))]
    left = math.fsum(private)
    if abs(left) <= _ROUNDING * max(map(abs, private)):
        left = 0.0
    return math.fsum([left, *(share * told.value for share, (_, told) in zip(shares, terms, strict=True))])


def _later(noisy: Noisy) -> bool:
    """Was it computed after the data met the noise, by arithmetic that can be done again?"""
    return noisy.again is not None and all(parent.mixed for parent in noisy.parents)


def _roots(noisy: Noisy, of_two: bool) -> list[Noisy]:
    """The lazy arrays that had met data before something else was added, nearest first; those not released yet.

    A sum of two that had met data each is looked at in the course of a run (a second step of descent), or returned
    (shares of one answer): only the first counts as an addition.
    """
    found: list[Noisy] = []
    waiting, seen = [noisy], {id(noisy)}
    while waiting:
        one = waiting.pop(0)
        further = [parent for parent in one.parents if id(parent) not in seen and parent.given is None]
        seen.update(map(id, further))
        (found if one.met_again or (of_two and one.of_two) else waiting).extend(further)
    return found


def inside(output: Any, change: Callable[[Any], Any]) -> Any:
    """The same with every part changed, in order; what holds nothing stays as it is.

    Only parts count: an object of a class of one's own becomes a plain list, tuple or dict.
    """
    if id(output) in _OPEN.get():
        return ITSELF
    token = _OPEN.set(_OPEN.get() | {id(output)})
    try:
        return _inside(output, change)
    finally:
        _OPEN.reset(token)


def _inside(output: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output)(*(change(one) for one in output))
    if isinstance(output, tuple):
        return tuple(change(one) for one in output)
    if isinstance(output, list | deque | Iterator | ItemsView | ValuesView):
        return [change(one) for one in output]
    if isinstance(output, Mapping):
        return {key: change(one) for key, one in output.items()}
    if isinstance(output, type | partial) or isroutine(output):
        return output  # what such code holds is not looked at
    names = {*getattr(output, "__dict__", ()), *_slots(type(output))}
    if not names:
        return {} if hasattr(output, "__dict__") and not callable(output) else output
    return {name: change(getattr(output, name)) for name in sorted(names) if hasattr(output, name)}


def _slots(kind: type) -> Iterator[str]:
    for one in kind.__mro__:
        slots = vars(one).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots
