"""What one run of plain NumPy code knows of its noise, and how its noisy numbers get onto the tape."""

from __future__ import annotations

import math
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.laws.law import as_released
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

from . import answers
from .habits import Habits, Noticed
from .kinds import Terms, coefficients_of, law_of_noise, merged, shared, square_root, standard, tell
from .noisy import Drawn, Noisy, Number
from .outputs import inside
from .places import WAY_OUT, NotUnderstood, here, not_understood

_ROUNDING = 1e-12  # of the largest of some numbers: what is left of their sum is rounding


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
        noticed: what this run adds to.
        world: with one, what counts as public is drawn anew, to see what depends on it.
    """

    def __init__(self, tape: Tape, records: int | None, habits: Habits, noticed: Noticed, world: int | None = None):
        self.tape, self.records, self.habits, self.noticed = tape, records, habits, noticed
        self._shaken = None if world is None else np.random.default_rng([world, 47])
        self.batch: Batch | None = None
        self.of_nobody = False  # the last batch has no records
        self._open: list[weakref.ref[Noisy]] = []  # what has met data, and may not be released yet
        self.kinds: list[str] = []
        self.lines: list[str] = []  # of each noise variable
        self._batches: list[Batch | None] = []  # the batch that was the last one when the noise was drawn
        self._known: dict[int, Told] = {}
        self._spent: set[int] = set()
        self._met: set[int] = set()
        self.seeds: dict[int, str] = {}  # wide whole numbers that were drawn, with their lines
        self._sown: dict[int, str] = {}  # those of them of which a generator was made
        self._single: list[int] = []  # released each for itself

    # -- drawing ------------------------------------------------------------------------------------------
    def draw(self, kind: str, shape: tuple[int, ...], scale: Any, offset: Any, mixed: bool) -> Any:
        """``offset + scale * noise`` with fresh noise variables; plain numbers where the line's noise is known."""
        scale, offset = np.asarray(scale, dtype=float), np.asarray(offset, dtype=float)
        shape = np.broadcast_shapes(shape, scale.shape, offset.shape)
        line = here()
        if line in self.habits.known and not mixed:
            size = int(np.prod(shape, dtype=int))
            numbers = self.public(line, lambda rng: np.asarray([standard(kind, rng) for _ in range(size)]))
            found = np.asarray(numbers).reshape(shape) * scale
            return found if shape else float(found)
        numbers = np.empty(shape, dtype=object)
        queries, factors = (np.broadcast_to(one, shape).ravel().tolist() for one in (offset, scale))
        line += " (no records)" if self.of_nobody else ""
        first = self._variables(kind, line, self.batch, len(factors))

        def made() -> Any:
            for place, (query, factor) in enumerate(zip(queries, factors, strict=True)):
                numbers.flat[place] = Number(query, {first + place: factor})
            return numbers

        if line in self.habits.prompt and factors and not mixed:
            return Drawn(self, shape, made, lambda data: self._told_at_once(data, first, factors))
        return Noisy(self, made(), mixed)

    def _variables(self, kind: str, line: str, batch: Batch | None, count: int) -> int:
        """The first of so many new ones."""
        self.kinds += [kind] * count
        self.lines += [line] * count
        self._batches += [batch] * count
        self.noticed.drawn = len(self.kinds)
        return len(self.kinds) - count

    def _told_at_once(self, data: Any, first: int, factors: list[float]) -> Any:
        """What comes back for data plus fresh noise, which is known from then on."""
        query, label, batch = np.ravel(data), self.lines[first], self._batches[first]
        secret = (batch,) if batch is not None and label in self.habits.sampled else None
        given = np.ravel(tell(self, label, self.kinds[first], query, np.abs(factors), secret))
        known = zip(given.tolist(), query.tolist(), factors, strict=True)
        self._known.update((first + place, Told(*one)) for place, one in enumerate(known))
        self._met.update(range(first, first + len(factors)))
        return as_released(given.reshape(np.shape(data)))

    def has_met_data(self, noisy: Noisy) -> None:
        """Noise was added to data."""
        again = sorted(noisy.variables & self._met)
        self._met |= noisy.variables
        self.noticed.again.update(self.lines[one] for one in again)
        if self.habits.renewed and again:
            new = {one: self._variables(self.kinds[one], self.lines[one], self._batches[one], 1) for one in again}
            fresh = [Number(n.query, {new.get(one, one): c for one, c in n.terms.items()}) for n in noisy.numbers.flat]
            noisy.numbers = np.array([*fresh, None], dtype=object)[:-1].reshape(noisy.shape)
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
            flat = self._released(noisy, at_the_end)
            noisy.given = as_released(np.array(flat, dtype=float).reshape(noisy.shape))
        elif noisy.compared:
            self.noticed.used_again |= {self.lines[one] for one in noisy.variables}
        return np.array(noisy.given) if np.ndim(noisy.given) else noisy.given

    def _released(self, noisy: Noisy, at_the_end: bool) -> Array:
        if len(noisy.parents) > 1 and not at_the_end:  # two steps of descent; shares of one answer come at the end
            self._release_parents(noisy)
        flat, rows = self._resolved(noisy)
        if not any(rows):
            return flat
        if not (noisy.mixed or at_the_end):
            return self._alone(noisy, rows)
        firsts, source = merged(flat, rows)
        active = [number for number in firsts if rows[number]]
        if not shared([rows[number] for number in active]):
            return self._each(flat, rows, active)[source]
        given = self._joint(flat, rows, active)
        if given is not None:
            return given[source]
        if noisy.parents:  # several numbers made of fewer: it was released where it comes from
            self._release_parents(noisy)
            return self._resolved(noisy)[0]
        self.noticed.shared_out |= at_the_end
        return self._alone(noisy, rows)

    def _release_parents(self, noisy: Noisy) -> None:
        for parent in noisy.parents:
            self.released(parent)

    def _each(self, flat: Array, rows: list[Terms], active: list[int]) -> Array:
        """The query with the numbers ``active`` released, each with noise of its own."""
        kind, stds = law_of_noise(self.kinds, rows, active)
        label = self._label(rows, active)
        given = tell(self, label, kind, flat[active], stds, self._declared(label, rows))
        found = flat.copy()
        for number, value in zip(active, np.ravel(given).tolist(), strict=True):
            found[number] = value
            if len(rows[number]) == 1:
                ((variable, coefficient),) = rows[number].items()
                self._known[variable] = Told(value, float(flat[number]), coefficient)
                self._single.append(variable)
            else:
                self._spent.update(rows[number])
        return found

    def _joint(self, flat: Array, rows: list[Terms], active: list[int]) -> Array | None:
        """The query with numbers released that share noise; None where the noise of some determines that of others."""
        variables, factors = coefficients_of([rows[number] for number in active])
        kinds = {self.kinds[variable] for variable in variables}
        root = square_root(factors, kinds)
        if root is None:
            return None
        label, ones = self._label(rows, active), np.ones(len(active))
        white = np.asarray(np.linalg.solve(root, flat[active]), dtype=np.float64)
        values = root @ np.ravel(tell(self, label, kinds.pop(), white, ones, self._declared(label, rows)))
        if len(variables) == len(active):
            noise = np.linalg.solve(factors, values - flat[active])
            self._known.update((one, Told(z)) for one, z in zip(variables, noise.tolist(), strict=True))
        else:
            self._spent.update(variables)
        found = flat.copy()
        found[active] = values
        return found

    def compared(self, lazy: list[Noisy]) -> None:
        """Noisy numbers are about to be compared: their values are released."""
        if len(lazy) > 1 and all(one.mixed and one.size == 1 for one in lazy):
            why = "two noisy numbers are compared, and neither is released (sparse vector): `tape.above_threshold`"
            raise not_understood(why, f"release one of them before, or {WAY_OUT}")
        for one in lazy:
            one.value()
            one.compared = one.mixed and one.size == 1
            self.noticed.compared |= {self.lines[v] for v in one.variables if one.compared}

    def largest(self, noisy: Noisy) -> int:
        """The index of the largest noisy number; only the index is released."""
        flat, rows = self._resolved(noisy)
        active = list(range(len(rows)))
        if not rows or not all(rows):
            return int(np.argmax(self.released(noisy)))
        kind, stds = law_of_noise(self.kinds, rows, active, one_each=True)
        law, label = answers.largest(kind, flat, stds), self._label(rows, active)
        sensitivity = self.habits.sensitivity(label, law.scale_of_noise)
        self._spent.update(*rows)
        return int(self.tape.release(label, law, sensitivity=sensitivity, batch=self._declared(label, rows)))

    def sown(self, seed: Any) -> bool:
        """Was the seed drawn from the generator of the run? Then its noise is as secret as that, till it is told."""
        if not isinstance(seed, int | np.integer) or int(seed) not in self.seeds:
            return False
        if int(seed) in self._sown:
            raise NotUnderstood("seed", here(), "makes the same noise a second time: draw another seed")
        self._sown[int(seed)] = self.seeds[int(seed)]
        return True

    def finish(self, output: Any) -> Any:
        """The output with every lazy array released, in order; also inside lists, tuples, dicts and objects."""
        if isinstance(output, int | np.integer) and int(output) in self._sown:
            why = "hands out a seed, and who has it can draw the noise"
            raise NotUnderstood("output", self._sown[int(output)], why)
        if self.batch is not None:  # the last step is released as those before it are
            self._release_pending()
        return self.released(output, at_the_end=True) if isinstance(output, Noisy) else inside(output, self.finish)

    def prompt(self) -> frozenset[str]:
        """Lines of which all noise was released, each number of it by itself."""
        every, single = Counter(self.lines), Counter(self.lines[one] for one in self._single)
        return frozenset(line for line in every if single[line] == every[line])

    # -- how ----------------------------------------------------------------------------------------------
    def _resolved(self, noisy: Noisy) -> tuple[Array, list[Terms]]:
        """The queries with known noise put in, and for each its unknown noise variables.

        Noise that was in a released value has no density any more.
        """
        flat, rows = np.empty(noisy.size), []
        for place, number in enumerate(noisy.numbers.flat):
            left: Terms = {}
            known: list[tuple[float, Told]] = []
            query, terms = (number.query, number.terms) if isinstance(number, Number) else (number, {})
            for one, coefficient in terms.items():
                if coefficient == 0:
                    continue
                if one in self._known:
                    known.append((float(coefficient), self._known[one]))
                elif one in self._spent:
                    why = "is used again after a released value or a comparison told a part of it; draw it anew,"
                    raise NotUnderstood("noise", self.lines[one], f"{why} {WAY_OUT}")
                else:
                    left[one] = float(coefficient)
            flat[place] = _put_in(float(query), known) if known else query
            rows.append(left)
        return flat, rows

    def _alone(self, noisy: Noisy, rows: list[Terms]) -> Array:
        """Noise that is looked at before it met data: a random start, say. Drawn as a public value."""
        label = self._label(rows, range(len(rows)))
        self.noticed.alone.add(label)
        variables = sorted({v for row in rows for v in row})
        kinds = [self.kinds[v] for v in variables]

        def make(rng: np.random.Generator) -> Array:
            return np.asarray([standard(kind, rng) for kind in kinds])

        values = self.public(label, make).tolist()
        self._known.update((one, Told(z)) for one, z in zip(variables, values, strict=True))
        return self._resolved(noisy)[0]

    def public(self, label: str, make: Callable[[np.random.Generator], Any], of_records: bool = False) -> Any:
        """A draw that counts as known to the adversary; each world has its own where it is tried what depends on it."""
        self.noticed.public[label] = self.noticed.public.get(label, False) or of_records
        return self.tape.public(label, make) if self._shaken is None else make(self._shaken)

    def _declared(self, label: str, rows: list[Terms]) -> tuple[Batch, ...] | None:
        """The secret batches that the query may depend on: the last ones when its noise was drawn."""
        if label not in self.habits.sampled:
            return None
        found = {batch.draw: batch for row in rows for v in row if (batch := self._batches[v]) is not None}
        return tuple(found.values()) or None

    def _label(self, rows: list[Terms], active: Any) -> str:
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
