"""What one run of plain NumPy code knows of its noise, and how its noisy numbers get onto the tape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.reference.laws.law import as_released
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array, Indices

from . import answers
from .noisy import Noisy
from .places import here, not_understood


@dataclass(frozen=True)
class Habits:
    """What trial runs have shown about a mechanism (by source line of its noise).

    Args:
        sampled: releases whose query depends on the secret batch that was drawn last.
        early: what has met its noise is released before a number is added to it: ``query + noise + other`` is one
            release where ``other`` is private too, and a release and a step where it is not. Both are tried.
        eager: arrays changed in place by noise are looked at elsewhere, so they are released at once.
        sensitivities: declared largest movements of queries, by source line.
        shares: for lines without one, the largest movement found as a share of the noise scale: data of other sizes
            move a query, and need noise, in proportion.
        assumed: that share for every other release; None: nothing is claimed, so it cannot be accounted.
    """

    sampled: frozenset[str] = frozenset()
    eager: bool = False
    early: bool = False
    sensitivities: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    assumed: float | None = None

    def sensitivity(self, label: str, scale: float) -> float | None:
        """What is claimed of a release of this source line with this noise scale."""
        if label in self.sensitivities:
            return self.sensitivities[label]
        share = self.shares.get(label, self.assumed)
        return None if share is None else share * scale


class Desk:
    """Noise variables of one run: which kind, drawn at which line, known by now or not."""

    def __init__(self, tape: Tape, records: int | None, habits: Habits):
        self.tape, self.records, self.habits = tape, records, habits
        self.batch: Batch | None = None
        self.drawn_alone: list[str] = []  # lines whose noise was looked at before it met data
        self._kinds: list[str] = []
        self._lines: list[str] = []
        self._batches: list[Batch | None] = []  # the batch that was the last one when the noise was drawn
        self._known: dict[int, float] = {}
        self._spent: set[int] = set()

    # -- drawing ------------------------------------------------------------------------------------------
    def draw(self, kind: str, shape: tuple[int, ...], scale: Any, offset: Any, mixed: bool) -> Noisy:
        """``offset + scale * noise`` with fresh noise variables."""
        scale, offset = np.asarray(scale, dtype=float), np.asarray(offset, dtype=float)
        shape = np.broadcast_shapes(shape, scale.shape, offset.shape)
        first, size = len(self._kinds), int(np.prod(shape, dtype=int))
        self._kinds += [kind] * size
        self._lines += [here()] * size
        self._batches += [self.batch] * size
        ids = np.arange(first, first + size).reshape(1, *shape)
        coefficients = np.broadcast_to(scale, shape)[None].copy()
        return Noisy(self, np.broadcast_to(offset, shape).copy(), ids, coefficients, mixed)

    # -- releasing ----------------------------------------------------------------------------------------
    def released(self, noisy: Noisy, at_the_end: bool = False) -> Any:
        """The value of a lazy array: from the tape, or plain where its noise is known already."""
        if self.habits.early:
            for root in _roots(noisy):
                self.released(root)
        query, rows = self._resolved(noisy)
        if _shared(rows) and noisy.parents:  # the same noise in several numbers: it was released where it came from
            for parent in noisy.parents:
                self.released(parent)
            query, rows = self._resolved(noisy)
        active = [number for number, row in enumerate(rows) if row]
        if not active:
            return as_released(query)
        if not (noisy.mixed or at_the_end):
            return self._alone(noisy, query, rows)
        flat = query.ravel().copy()
        kind, stds = self._law(rows, active)
        label = self._label(rows, active)
        given = self._ask(label, kind, flat[active], stds, self._declared(label, rows))
        for number, value in zip(active, np.ravel(given), strict=True):
            row = rows[number]
            if len(row) == 1:
                ((variable, coefficient),) = row.items()
                self._known[variable] = (value - flat[number]) / coefficient
            else:
                self._spent.update(row)
            flat[number] = value
        return as_released(flat.reshape(query.shape))

    def above(self, difference: Noisy) -> bool:
        """Is a single noisy number above zero? Only the answer is released."""
        query, rows = self._resolved(difference)
        if not rows[0]:
            return bool(query.ravel()[0] > 0)
        kind, stds = self._law(rows, [0])
        law = answers.above(kind, float(query.ravel()[0]), float(stds[0]))
        return bool(self._answer(law, rows, [0]))

    def largest(self, noisy: Noisy) -> int:
        """The index of the largest noisy number; only the index is released."""
        query, rows = self._resolved(noisy)
        active = [number for number, row in enumerate(rows) if row]
        if len(active) < len(rows):
            return int(np.argmax(self.released(noisy)))
        kind, stds = self._law(rows, active, one_each=True)
        return int(self._answer(answers.largest(kind, query.ravel(), stds), rows, active))

    def in_place(self, array: Any, noisy: Noisy) -> Any:
        """``array += noise``: lazy, with the array poisoned so that a look at it elsewhere does not go unseen."""
        if isinstance(array, np.ndarray):
            array[...] = self.released(noisy) if self.habits.eager else np.nan
            return array if self.habits.eager else noisy
        return noisy

    def finish(self, output: Any) -> Any:
        """The output with every lazy array released, in order; also inside lists, tuples, dicts and objects."""
        if isinstance(output, Noisy):
            return self.released(output, at_the_end=True)
        if type(output) in (list, tuple):
            return type(output)(self.finish(one) for one in output)
        if isinstance(output, tuple) and hasattr(output, "_fields"):
            return type(output)(*(self.finish(one) for one in output))
        if isinstance(output, dict):
            return {key: self.finish(one) for key, one in output.items()}
        if hasattr(output, "__dict__") and not isinstance(output, type) and not callable(output):
            return {name: self.finish(one) for name, one in sorted(vars(output).items())}
        return output

    # -- how ----------------------------------------------------------------------------------------------
    def _resolved(self, noisy: Noisy) -> tuple[Array, list[dict[int, float]]]:
        """The query with known noise put in, and for each element its unknown noise variables."""
        query = np.array(noisy.query, dtype=float)
        flat = query.reshape(-1)
        rows: list[dict[int, float]] = [{} for _ in range(flat.size)]
        for ids, coefficients in zip(noisy.ids, noisy.coefficients, strict=True):
            for number, (variable, coefficient) in enumerate(zip(ids.flat, coefficients.flat, strict=True)):
                if variable < 0 or coefficient == 0:
                    continue
                known = self._known.get(int(variable))
                if known is not None:
                    flat[number] += coefficient * known
                elif int(variable) in self._spent:
                    raise not_understood(
                        f"the noise of {self._lines[variable]} was in another released value before",
                        "draw it anew, or write the mechanism on a tape (tape.above_threshold for a noisy threshold)",
                    )
                else:
                    rows[number][int(variable)] = rows[number].get(int(variable), 0.0) + float(coefficient)
        rows = [{variable: c for variable, c in row.items() if c != 0} for row in rows]
        return flat.reshape(query.shape), rows

    def _law(self, rows: list[dict[int, float]], active: list[int], one_each: bool = False) -> tuple[str, Array]:
        """Kind of the noise and its scale for each element."""
        used = {variable for number in active for variable in rows[number]}
        if _shared(rows):
            raise not_understood(
                "several released numbers share their noise", "release them one after the other, or use a tape"
            )
        kinds = {self._kinds[variable] for variable in used}
        single = all(len(rows[number]) == 1 for number in active)
        if kinds == {"gaussian"}:
            sizes = [np.sqrt(sum(c * c for c in rows[number].values())) for number in active]
            return "gaussian", np.array(sizes)
        if len(kinds) == 1 and single:
            coefficients = np.array([next(iter(rows[number].values())) for number in active])
            kind = kinds.pop()
            if kind == "laplace" or (one_each and bool(np.all(coefficients > 0))):
                return kind, np.abs(coefficients)
        raise not_understood(
            f"no density is known for this sum of {' and '.join(sorted({self._kinds[v] for v in used}))} noise",
            "release each part by itself, or use a tape",
        )

    def _ask(self, label: str, kind: str, query: Array, stds: Array, batch: tuple[Batch, ...] | None) -> Any:
        """One release on the tape; elements with different noise are released in units of their noise."""
        alike = bool(np.all(stds == stds[0]))
        scale, size = (float(stds[0]), 1.0) if alike else (1.0, stds)
        sensitivity = self.habits.sensitivity(label, scale)
        if kind == "gaussian":
            given = self.tape.gaussian(label, query / size, std=scale, sensitivity=sensitivity, batch=batch)
        else:
            given = self.tape.laplace(label, query / size, scale=scale, sensitivity=sensitivity, batch=batch)
        return np.asarray(given) * size

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
        kinds = [self._kinds[v] for v in variables]

        def make(rng: np.random.Generator) -> Array:
            standard: dict[str, Callable[[], float]] = {
                "gaussian": rng.standard_normal,
                "laplace": rng.laplace,
                "exponential": rng.exponential,
                "gumbel": rng.gumbel,
            }
            return np.asarray([standard[kind]() for kind in kinds])

        self._known.update(zip(variables.tolist(), self.tape.public(label, make).tolist(), strict=True))
        found, _ = self._resolved(noisy)
        return as_released(found)

    def _declared(self, label: str, rows: list[dict[int, float]]) -> tuple[Batch, ...] | None:
        """The secret batches that the query may depend on: the last ones when its noise was drawn."""
        if label not in self.habits.sampled:
            return None
        found = {batch.draw: batch for row in rows for v in row if (batch := self._batches[v]) is not None}
        return tuple(found.values()) or None

    def _label(self, rows: list[dict[int, float]], active: list[int]) -> str:
        lines = {self._lines[variable]: None for number in active for variable in rows[number]}
        return " + ".join(lines)


def _shared(rows: list[dict[int, float]]) -> bool:
    """Is a noise variable in more than one element?"""
    used = [variable for row in rows for variable in row]
    return len(set(used)) < len(used)


def _roots(noisy: Noisy) -> list[Noisy]:
    """The lazy arrays that had met data before something else was added, nearest first."""
    if noisy.met_again:
        return list(noisy.parents)
    return [root for parent in noisy.parents for root in _roots(parent)]
