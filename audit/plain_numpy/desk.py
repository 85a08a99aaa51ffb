"""What one run of plain NumPy code knows of its noise, and how its noisy numbers get onto the tape."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.reference.laws.law import as_released
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array, Indices

from . import answers
from .compared import Comparison, compared
from .habits import Habits
from .inside import inside
from .kinds import standard
from .known import Told, later, put_in, roots
from .met import Met
from .mixing import coefficients_of, merged, shared, square_root
from .noisy import Noisy
from .places import WAY_OUT, NotUnderstood, here, not_understood
from .telling import law_of_noise, tell
from .written import unwritten


class Desk:
    """Noise variables of one run: which kind, drawn at which line, known by now or not."""

    def __init__(self, tape: Tape, records: int | None, habits: Habits, world: int | None = None):
        self.tape, self.records, self.habits = tape, records, habits
        self._shaken = None if world is None else np.random.default_rng([world, 47])
        self.public_lines: dict[str, bool] = {}  # other draws, taken for public: do they choose among the records?
        self.batch: Batch | None = None
        self.of_nobody = False  # the last batch has no records
        self._open: list[weakref.ref[Noisy]] = []  # what has met data, and may not be released yet
        self.drawn_alone: list[str] = []  # lines whose noise was looked at before it met data
        self.kinds: list[str] = []
        self.lines: list[str] = []  # of each noise variable
        self._batches: list[Batch | None] = []  # the batch that was the last one when the noise was drawn
        self._known: dict[int, Told] = {}
        self._spent: set[int] = set()
        self._compared: list[Comparison] = []
        self.met = Met()

    # -- drawing ------------------------------------------------------------------------------------------
    def draw(self, kind: str, shape: tuple[int, ...], scale: Any, offset: Any, mixed: bool) -> Noisy:
        """``offset + scale * noise`` with fresh noise variables."""
        scale, offset = np.asarray(scale, dtype=float), np.asarray(offset, dtype=float)
        shape = np.broadcast_shapes(shape, scale.shape, offset.shape)
        first, size = len(self.kinds), int(np.prod(shape, dtype=int))
        self.kinds += [kind] * size
        self.lines += [here() + (" (no records)" if self.of_nobody else "")] * size
        self._batches += [self.batch] * size
        ids = np.arange(first, first + size).reshape(1, *shape)
        coefficients = np.broadcast_to(scale, shape)[None].copy()
        return Noisy(self, np.broadcast_to(offset, shape).copy(), ids, coefficients, mixed)

    def has_met_data(self, noisy: Noisy) -> None:
        """Noise was added to data."""
        self.met.note(self, noisy)
        if self.habits.prompt:
            self.released(noisy)
        elif self.habits.early:
            self._open.append(weakref.ref(noisy))

    def like(self, one: int) -> int:
        """A further noise variable of the same kind, line and batch."""
        self.kinds.append(self.kinds[one])
        self.lines.append(self.lines[one])
        self._batches.append(self._batches[one])
        return len(self.kinds) - 1

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
        if self.habits.early:
            for root in roots(noisy, of_two=not at_the_end):
                self.released(root)
        if later(noisy) and noisy.variables <= self._known.keys():
            return self._computed(noisy)
        query, rows = self._resolved(noisy)
        alone = not (noisy.mixed or at_the_end)
        if shared(rows) and not alone and any(not parent.mixed for parent in noisy.parents):
            given = self._mixed(query, rows)  # the noise was mixed before it met the data
            if given is not None:
                return as_released(given)
        if shared(rows) and noisy.parents:  # the same noise in several numbers: it was released where it came from
            for parent in noisy.parents:
                self.released(parent)
            query, rows = self._resolved(noisy)
        active = [number for number, row in enumerate(rows) if row]
        if not active:
            return self._computed(noisy)
        if alone:
            return self._alone(noisy, query, rows)
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
                found, rows = self._resolved(one, compared=True)
                if any(rows):  # a part of it is not known: it has gone out of the sum
                    return as_released(self._resolved(noisy)[0])
            if one.again is not None and later(one):
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

    def _each(self, query: Array, rows: list[dict[int, float]], active: list[int]) -> Array:
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

    def _mixed(self, query: Array, rows: list[dict[int, float]]) -> Array | None:
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

    def above(self, difference: Noisy) -> bool:
        """Is a single noisy number above zero? Only the answer is released."""
        resolved, rows = self._resolved(difference, compared=True)
        query, row = float(resolved.ravel()[0]), rows[0]
        if not row or math.isinf(query):  # no noise changes that: nothing is told
            return query > 0
        kinds = {self.kinds[variable] for variable in row}
        past = [one for one in self._compared if set(one.noise) & set(row)]
        if past or (len(row) == 2 and kinds != {"gaussian"}):
            law = compared(past, Comparison(query, row, True), self.kinds)
            if law is None:
                why = "comparisons share their noise in another way than with one noisy threshold"
                raise not_understood(why, WAY_OUT)
        else:
            kind, stds = law_of_noise(self.kinds, rows, [0])
            law = answers.above(kind, query, float(stds[0]))
        found = bool(self._answer(law, rows, [0]))
        self._compared.append(Comparison(query, row, found))
        return found

    def largest(self, noisy: Noisy) -> int:
        """The index of the largest noisy number; only the index is released."""
        query, rows = self._resolved(noisy)
        active = [number for number, row in enumerate(rows) if row]
        if not rows or len(active) < len(rows):
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
    def _resolved(self, noisy: Noisy, compared: bool = False) -> tuple[Array, list[dict[int, float]]]:
        """The query with known noise put in, and for each element its unknown noise variables.

        Noise that was in a released value has no density any more, unless only comparisons told something of it.
        """
        told = {variable for one in self._compared for variable in one.noise} if compared else set()
        query = np.array(noisy.query, dtype=float)
        flat = query.reshape(-1)
        rows: list[dict[int, float]] = [{} for _ in range(flat.size)]
        seen: list[list[tuple[float, Told]]] = [[] for _ in rows]
        for ids, coefficients in zip(noisy.ids, noisy.coefficients, strict=True):
            terms = zip(ids.ravel().tolist(), coefficients.ravel().tolist(), strict=True)
            for number, (variable, coefficient) in enumerate(terms):
                if variable < 0 or coefficient == 0:
                    continue
                known = self._known.get(variable)
                if known is not None:
                    seen[number].append((coefficient, known))
                elif variable in self._spent and variable not in told:
                    why = "is used again after a released value or a comparison told a part of it; draw it anew,"
                    raise NotUnderstood("noise", self.lines[variable], f"{why} {WAY_OUT}")
                else:
                    rows[number][variable] = rows[number].get(variable, 0.0) + coefficient
        for number, known_ones in enumerate(seen):
            if known_ones:
                flat[number] = put_in(float(flat[number]), known_ones)
        rows = [{variable: c for variable, c in row.items() if c != 0} for row in rows]
        return flat.reshape(query.shape), rows

    def _answer(self, law: answers.NoisyAnswer, rows: list[dict[int, float]], active: list[int]) -> Any:
        label = self._label(rows, active)
        sensitivity = self.habits.sensitivity(label, law.scale_of_noise)
        found = self.tape.release(label, law, sensitivity=sensitivity, batch=self._declared(label, rows))
        for number in active:
            self._spent.update(rows[number])
        return found

    def _alone(self, noisy: Noisy, query: Array, rows: list[dict[int, float]]) -> Any:
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

    def _declared(self, label: str, rows: list[dict[int, float]]) -> tuple[Batch, ...] | None:
        """The secret batches that the query may depend on: the last ones when its noise was drawn."""
        if label not in self.habits.sampled:
            return None
        found = {batch.draw: batch for row in rows for v in row if (batch := self._batches[v]) is not None}
        return tuple(found.values()) or None

    def _label(self, rows: list[dict[int, float]], active: list[int]) -> str:
        lines = {self.lines[variable]: None for number in active for variable in rows[number]}
        return " + ".join(lines)
