"""The tape: all randomness and all releases of an algorithm go through it.

An algorithm is a function ``run(problem, schedule, tape) -> output``. It never owns a random generator. What it
releases it gets back from the tape (``value = tape.gaussian(...)``), so a run can be recorded, replayed on
neighbouring data, dictated, or tilted, without the algorithm knowing.

Other tapes: `ScriptedTape` (values that somebody dictates), lockstep (neighbours at once).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.gaussian import Gaussian, upper_triangle
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law

from .equality import snapshot
from .errors import require
from .transcript import Batch, Draw, Note, RecordDrawer, Release, Transcript, require_label

Drawn = Callable[[np.random.Generator], Any]
Batches = Batch | tuple[Batch, ...] | None  # those that a query depends on; None: all records
LONGEST_RUN = 1_000_000  # calls of the tape that one run may make by itself


class Tape(ABC):
    """What an algorithm sees: the only source of randomness, and the only way out for a released value.

    An algorithm is a function ``run(problem, tape)`` (in the catalogue ``run(problem, schedule, tape)``) whose output
    is computed from what the tape handed back. Sub-classes decide where the values come from.

    Releases: ``gaussian``, ``symmetric_gaussian``, ``laplace``, ``above_threshold``, ``release`` (any law). Queries may
    have any shape; noise scales and sensitivities are in the query's unit, sensitivities are for replace-one
    neighbours. Secret choices of records, as indices of shape (size,): ``batch``, ``poisson``, ``fresh``.
    Without a mechanism: ``public``, ``secret``, ``noise``, ``reveal``.

    Raises:
        BadInput: by each call, for a noise scale, sensitivity or batch size that makes no sense.

    Example:
        >>> from dpassay.reference import LiveTape, Tape
        >>> def noisy_mean(data: list[float], tape: Tape) -> float:
        ...     return tape.gaussian("mean", sum(data) / len(data), std=0.5, sensitivity=1 / len(data))
        >>> tape = LiveTape(0)
        >>> value = noisy_mean([0.0, 1.0, 1.0], tape)
        >>> [(release.label, release.sensitivity) for release in tape.transcript.releases]
        [('mean', 0.3333333333333333)]

    Source: ``docs/glossary.md``; what releases add up to is adaptive composition (Dwork and Roth 2014, Section 3.5).
    """

    def __init__(self) -> None:
        self.transcript = Transcript()
        self._used = 0  # records that fresh batches have used up
        self._pass: tuple[int, str] | None = None  # number of records and order of that pass

    # -- releases -----------------------------------------------------------------------------------------
    def gaussian(
        self, label: str, query: ArrayLike, *, std: float, sensitivity: float | None, batch: Batches = None
    ) -> Any:
        """Release ``query + N(0, std^2 I)``; ``sensitivity`` is the claimed 2-norm sensitivity of ``query``."""
        # the law makes an array of the query, a copy
        return self.release(label, Gaussian(query, float(std)), sensitivity=sensitivity, batch=batch)

    def symmetric_gaussian(
        self, label: str, query: Array, *, std: float, sensitivity: float | None, batch: Batches = None
    ) -> Array:
        """Release a symmetric matrix: i.i.d. noise on and above the diagonal, mirrored below.

        What is released is the upper triangle, so its 2-norm sensitivity is at most the Frobenius norm's.
        """
        rows, columns = upper_triangle(len(query))
        upper = self.gaussian(label, query[rows, columns], std=std, sensitivity=sensitivity, batch=batch)
        released = np.zeros_like(query, dtype=float)
        released[rows, columns] = upper
        released[columns, rows] = upper
        return released

    def laplace(
        self, label: str, query: ArrayLike, *, scale: float, sensitivity: float | None, batch: Batches = None
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
        count: int | None = None,
        falls: float = 1.0,
        batch: Batches = None,
    ) -> int | None:
        """Release the index of the first noisy query at or above the noisy threshold, or None: see `AboveThreshold`."""
        law = AboveThreshold(queries, float(threshold), float(threshold_scale), float(query_scale), count, falls)
        return cast("int | None", self.release(label, law, sensitivity=sensitivity, batch=batch))

    def release(self, label: str, law: Law, *, sensitivity: float | None, batch: Batches = None) -> Any:
        """Release a value that follows ``law``."""
        require_label(label)
        require(sensitivity is None or 0 <= sensitivity < np.inf, "sensitivity", sensitivity, "must be finite")
        draws = (batch.draw,) if isinstance(batch, Batch) else tuple(sorted({one.draw for one in batch or ()}))
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
        require((n, order) == first, f"fresh batch ({label})", (n, order), f"a run makes one pass: {first}")
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
        require_label(label)
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
        require_label(draw.label)
        indices = np.asarray(self._indices(draw), dtype=np.int64)
        self.transcript.events.append(draw)
        self.transcript.batches.append(indices)
        return Batch(indices.copy(), draw.number)

    def _noted(self, kind: Any, label: str, draw: Drawn) -> Any:
        require_label(label)
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
    """Draws everything from one seed; noise, batches, public and secret randomness have streams of their own.

    Args:
        seed: any seed of :class:`numpy.random.SeedSequence`. The same seed gives the same run on the same data.

    Raises:
        BadInput: as :class:`Tape`, and at release ``LONGEST_RUN``.

    Example:
        >>> from dpassay.reference import LiveTape
        >>> tape = LiveTape(seed=1)
        >>> noisy = tape.gaussian("sum", [1.0, 2.0], std=3.0, sensitivity=1.0)
        >>> noisy.shape, len(tape.transcript.releases)
        ((2,), 1)

    Source: the protocol is the project's own (``docs/glossary.md``, "tape").
    """

    def __init__(self, seed: int | np.random.SeedSequence):
        super().__init__()
        sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        self._release_rng, records, public, secret = map(np.random.default_rng, sequence.spawn(4))
        self._records = RecordDrawer(records)
        self._notes = {"public": public, "secret": secret, "noise": self._release_rng}

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        why = "calls of the tape in one run, and no end in sight (are its steps counted from a noisy value?)"
        require(self.step < LONGEST_RUN, f"run, at {label!r}", self.step, why)
        return law.sample(self._release_rng)

    def _indices(self, draw: Draw) -> Indices:
        return self._records.indices(draw)

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        return draw(self._notes[kind])


class ScriptedTape(LiveTape):
    """A live tape whose released values a caller dictates: ``answer(label, law, step)``, or None to draw."""

    def __init__(self, answer: Callable[[str, Law, int], Any], seed: int = 0):
        super().__init__(seed)
        self._answer = answer

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        dictated = self._answer(label, law, self.step)
        return super()._released(label, law, sensitivity, draws) if dictated is None else dictated


def record(run: Callable[[Tape], Any], seed: int | np.random.SeedSequence) -> Transcript:
    """Run an algorithm once and return its transcript, output included.

    Args:
        run: ``run(tape) -> output``; bind the problem (and the schedule) first.
        seed: as for :class:`LiveTape`.

    Returns:
        The transcript: ``releases`` with label, law, claimed sensitivity and value, ``draws`` of records, ``output``.

    Raises:
        BadInput: by the algorithm's own calls to the tape.

    Example:
        >>> from dpassay.reference import record
        >>> transcript = record(lambda tape: tape.laplace("count", 3.0, scale=2.0, sensitivity=1.0), seed=0)
        >>> transcript.releases[0].label, transcript.output == transcript.releases[0].value
        ('count', True)

    Source: the protocol is the project's own (``docs/glossary.md``, "transcript").
    """
    tape = LiveTape(seed)
    tape.transcript.output = run(tape)
    return tape.transcript
