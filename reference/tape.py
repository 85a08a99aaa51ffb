"""The tape: all randomness and all releases of an algorithm go through it.

An algorithm is a function ``run(problem, schedule, tape) -> output``. It never owns a random generator. What it
releases it gets back from the tape (``value = tape.gaussian(...)``), so a run can be recorded, replayed on
neighbouring data, dictated, or tilted, without the algorithm knowing.

==================  ==========================================================================
``LiveTape``        draws from a seed, and records
``ReplayTape``      (replay.py) hands back what was recorded, on other data, and reports differences
``ScriptedTape``    a caller dictates the released values (the longest run, a worst case)
``Layer``           changes what an algorithm asks of another tape (a planted bug)
``lockstep.py``     several runs at once on neighbouring data: exact privacy loss, tilted sampling
==================  ==========================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.types import Array, Indices

from .equality import snapshot
from .errors import require
from .transcript import Batch, Draw, Note, Release, Transcript

Drawn = Callable[[np.random.Generator], Any]


class Tape(ABC):
    """What an algorithm sees. Sub-classes decide where the values come from."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self._used = 0  # records that fresh batches have used up
        self._pass: tuple[int, str] | None = None  # number of records and order of that pass

    # -- releases -----------------------------------------------------------------------------------------
    def gaussian(
        self,
        label: str,
        query: ArrayLike,
        *,
        std: float,
        sensitivity: float | None,
        batch: Batch | tuple[Batch, ...] | None = None,
    ) -> Any:
        """Release ``query + N(0, std^2 I)``; ``sensitivity`` is the claimed 2-norm sensitivity of ``query``."""
        return self.release(label, Gaussian(np.asarray(query, float), float(std)), sensitivity=sensitivity, batch=batch)

    def symmetric_gaussian(
        self,
        label: str,
        query: Array,
        *,
        std: float,
        sensitivity: float | None,
        batch: Batch | tuple[Batch, ...] | None = None,
    ) -> Array:
        """Release a symmetric matrix: i.i.d. noise on and above the diagonal, mirrored below.

        What is released is the upper triangle, so its 2-norm sensitivity is at most the Frobenius norm's.
        """
        rows, columns = np.triu_indices(len(query))
        upper = self.gaussian(label, query[rows, columns], std=std, sensitivity=sensitivity, batch=batch)
        released = np.zeros_like(query, dtype=float)
        released[rows, columns] = upper
        released[columns, rows] = upper
        return released

    def laplace(
        self,
        label: str,
        query: ArrayLike,
        *,
        scale: float,
        sensitivity: float | None,
        batch: Batch | tuple[Batch, ...] | None = None,
    ) -> Any:
        """Release ``query + Laplace(scale)``; ``sensitivity`` is the claimed 1-norm sensitivity of ``query``."""
        law = Laplace(np.asarray(query, float), float(scale))
        return self.release(label, law, sensitivity=sensitivity, batch=batch)

    def above_threshold(
        self,
        label: str,
        queries: Iterable[float],
        *,
        threshold: float,
        threshold_scale: float,
        query_scale: float,
        sensitivity: float | None,
        batch: Batch | tuple[Batch, ...] | None = None,
    ) -> int | None:
        """Release the index of the first noisy query at or above the noisy threshold, or None (Laplace noise)."""
        law = AboveThreshold(queries, float(threshold), float(threshold_scale), float(query_scale))
        index: int | None = self.release(label, law, sensitivity=sensitivity, batch=batch)
        return index

    def release(
        self,
        label: str,
        law: Law,
        *,
        sensitivity: float | None,
        batch: Batch | tuple[Batch, ...] | None = None,
    ) -> Any:
        """Release a value that follows ``law``."""
        require(sensitivity is None or 0 <= sensitivity < float("inf"), "sensitivity", sensitivity, "must be finite")
        batches = () if batch is None else (batch,) if isinstance(batch, Batch) else batch
        draws = tuple(sorted({one.draw for one in batches}))
        value = self._released(label, law, sensitivity, draws)
        self.transcript.events.append(Release(self.step, label, law, sensitivity, draws, value))
        return snapshot(value)  # whoever changes it in place changes neither the record nor another run's value

    # -- secret choices of records ------------------------------------------------------------------------
    def batch(self, label: str, n: int, size: int) -> Batch:
        """``size`` of ``n`` records without replacement; independent of every other draw."""
        require(1 <= size <= n, f"batch size ({label})", size, f"must lie in 1..n = {n}")
        return self._drawn(Draw(len(self.transcript.batches), label, "without-replacement", n, size, size / n))

    def poisson(self, label: str, n: int, rate: float) -> Batch:
        """Each of ``n`` records by itself with probability ``rate``.

        The accountant takes it that a record which appears moves a query by half of the claimed sensitivity (that of
        replacing one): true of a sum of clipped vectors, not of values in [0, C]. A lockstep run checks it.
        """
        require(0 < rate <= 1, f"sampling rate ({label})", rate, "must lie in (0, 1]")
        return self._drawn(Draw(len(self.transcript.batches), label, "poisson", n, None, rate))

    def fresh(self, label: str, n: int, size: int, *, order: str = "random") -> Batch:
        """``size`` records that no earlier fresh batch of this run used: one pass over the data.

        ``order="random"`` keeps secret who comes when; ``order="index"`` takes the next ones by index.
        """
        require(order in ("random", "index"), "order", order, "must be random or index")
        first = self._pass = self._pass or (n, order)
        require(
            (n, order) == first, f"fresh batch ({label})", (n, order), f"a run makes one pass over the data: {first}"
        )
        left = n - self._used
        require(1 <= size <= left, f"fresh batch size ({label})", size, f"must lie in 1..{left} (records unused)")
        draw = Draw(len(self.transcript.batches), label, "fresh", n, size, size / left, hidden=order == "random")
        self._used += size
        return self._drawn(draw)

    def unused(self, n: int) -> int:
        """How many of ``n`` records no fresh batch has used yet."""
        return n - self._used

    # -- values without a mechanism -----------------------------------------------------------------------
    def public(self, label: str, draw: Drawn) -> Any:
        """Randomness that does not depend on the data and may be published."""
        return self._noted("public", label, draw)

    def secret(self, label: str, draw: Drawn) -> Any:
        """Inner randomness that is never released (a solver's indices)."""
        return self._noted("secret", label, draw)

    def noise(self, label: str, std: float, shape: int | tuple[int, ...] = ()) -> Any:
        """Raw Gaussian noise. It protects nothing by itself: what is computed from it must still be released."""
        require(std >= 0, f"std ({label})", std, "must not be negative")
        return self._noted("noise", label, lambda rng: std * rng.standard_normal(shape))

    def reveal(self, label: str, value: Any) -> Any:
        """Publish a value without a mechanism: fine for a function of releases, a finding otherwise."""
        published = snapshot(value)
        self._revealed(label, published)
        self.transcript.events.append(Note(self.step, label, "reveal", published))
        return value

    # -- where the values come from -----------------------------------------------------------------------
    @property
    def step(self) -> int:
        """Position on the tape."""
        return len(self.transcript.events)

    def _drawn(self, draw: Draw) -> Batch:
        indices = np.asarray(self._indices(draw), dtype=np.int64)
        self.transcript.events.append(draw)
        self.transcript.batches.append(indices)
        return Batch(indices.copy(), draw.number)

    def _noted(self, kind: Any, label: str, draw: Drawn) -> Any:
        value = self._value(kind, label, draw)
        self.transcript.events.append(Note(self.step, label, kind, value))
        return snapshot(value)

    @abstractmethod
    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any: ...

    @abstractmethod
    def _indices(self, draw: Draw) -> Indices: ...

    @abstractmethod
    def _value(self, kind: str, label: str, draw: Drawn) -> Any: ...

    def _revealed(self, label: str, value: Any) -> None:
        """Nothing to do on a single run."""


class LiveTape(Tape):
    """Draws everything from one seed; noise, batches, public and secret randomness have streams of their own."""

    def __init__(self, seed: int | np.random.SeedSequence):
        super().__init__()
        sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        release, records, public, secret = (np.random.default_rng(child) for child in sequence.spawn(4))
        self._release_rng, self._records = release, RecordDrawer(records)
        self._notes = {"public": public, "secret": secret, "noise": release}

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        return law.sample(self._release_rng)

    def _indices(self, draw: Draw) -> Indices:
        return self._records.indices(draw)

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        return draw(self._notes[kind])


class RecordDrawer:
    """Chooses records for draws; remembers the order in which fresh batches use the data up."""

    def __init__(self, rng: np.random.Generator):
        self._rng = rng
        self._order: Indices | None = None
        self._next = 0

    def indices(self, draw: Draw) -> Indices:
        """The records of one draw."""
        if draw.kind == "without-replacement":
            return self._rng.choice(draw.n, size=draw.size, replace=False)
        if draw.kind == "poisson":
            return np.flatnonzero(self._rng.random(draw.n) < draw.rate)
        assert draw.size is not None
        if self._order is None:
            self._order = self._rng.permutation(draw.n) if draw.hidden else np.arange(draw.n)
        chosen = self._order[self._next : self._next + draw.size]
        self._next += draw.size
        return chosen


class ScriptedTape(LiveTape):
    """A live tape whose released values a caller dictates: ``answer(label, law, step)``, or None to draw."""

    def __init__(self, answer: Callable[[str, Law, int], Any], seed: int = 0):
        super().__init__(seed)
        self._answer = answer

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        dictated = self._answer(label, law, self.step)
        return super()._released(label, law, sensitivity, draws) if dictated is None else dictated


class Layer(Tape):
    """Lies between an algorithm and another tape, which gives the values and keeps the transcript.

    Changes nothing by itself; a sub-class overrides the calls that it changes.
    """

    def __init__(self, inner: Tape):
        super().__init__()
        self._inner, self.transcript = inner, inner.transcript

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        return self._inner._released(label, law, sensitivity, draws)

    def _indices(self, draw: Draw) -> Indices:
        return self._inner._indices(draw)

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        return self._inner._value(kind, label, draw)

    def _revealed(self, label: str, value: Any) -> None:
        self._inner._revealed(label, value)


def record(run: Callable[[Tape], Any], seed: int | np.random.SeedSequence) -> Transcript:
    """Run once on a live tape and return the transcript, output included."""
    tape = LiveTape(seed)
    tape.transcript.output = run(tape)
    return tape.transcript
