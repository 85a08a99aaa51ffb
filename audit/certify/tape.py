"""The project's tape while code is certified: declared sensitivities are compared, and not believed."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.gaussian import Gaussian, upper_triangle
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch as TapeBatch
from dpassay.reference.transcript import Draw, Note, Release

from .derivation import Open, refuse
from .draws import ROUNDING, Certified, Ledger, Noise, fresh_generator
from .facts import Norms, times
from .generators import Draws, Secret
from .public import placed, public
from .shapes import Batch
from .value import Value, bare, join, private

Answer = Callable[[str], Any]  # a label to the value that is released or drawn under it; None: draw one


class CertifyTape(Tape):
    """Its releases go to a ledger. Other laws than these hold their query in themselves, where nothing is followed."""

    def __init__(self, ledger: Ledger, answer: Answer = lambda label: None):
        super().__init__()
        self._ledger, self._draws, self._answer = ledger, Draws(ledger), answer

    def gaussian(self, label: str, query: Any, *, std: float, sensitivity: float | None, batch: Any = None) -> Any:
        """Its 2-norm counts."""
        return self._kept(label, query, std, sensitivity, 2, Gaussian)

    def symmetric_gaussian(
        self, label: str, query: Any, *, std: float, sensitivity: float | None, batch: Any = None
    ) -> Any:
        """The upper triangle is released: it moves by at most the Frobenius norm."""
        if not private(query):
            return super().symmetric_gaussian(label, query, std=std, sensitivity=sensitivity, batch=batch)
        refuse(query.ndim != 2 or query.at is not None, "records are released as they are")
        rows, columns = upper_triangle(query.shape[0])
        upper = self.gaussian(label, query.kept(shape=rows.shape), std=std, sensitivity=sensitivity)
        released = np.zeros(query.shape)
        released[rows, columns] = released[columns, rows] = bare(upper)
        return public(released, self._ledger)

    def laplace(self, label: str, query: Any, *, scale: float, sensitivity: float | None, batch: Any = None) -> Any:
        """Its 1-norm counts."""
        return self._kept(label, query, scale, sensitivity, 1, Laplace)

    def _kept(self, label: str, query: Any, scale: Any, declared: Any, order: float, law: Any) -> Any:
        refuse(private(scale) or private(declared), "a noise scale or a sensitivity that depends on private data")
        if isinstance(query, Noise):
            query = query.known()
        known = not private(query)  # a function of earlier releases: it costs nothing, whatever is declared
        shape = np.shape(query) if known else (query.whole() if query.at is not None else query)._shape
        made = law(np.zeros(shape), float(scale))
        if known:
            value = public(np.asarray(query, dtype=float) + made.sample(self._ledger.rng), self._ledger)
        else:
            declared = None if declared is None else float(declared)
            value = self._ledger.release(query, made, order, label, declared)
        return self._answered(label, value)

    def _answered(self, label: str, value: Any) -> Any:
        """What the caller dictates, or else the value."""
        dictated = self._answer(label)
        self.transcript.events.append(Note(self.step, label, "public", None))
        return value if dictated is None else dictated

    def above_threshold(self, label: str, queries: Iterable[Any], **options: Any) -> Any:
        """Query i counts with what it moves by over ``falls ** i``."""
        sensitivity, count = options["sensitivity"], options.get("count")
        falls, scales = options.get("falls", 1.0), (options["threshold_scale"], options["query_scale"])
        if any(private(one) for one in (options["threshold"], sensitivity, count, *scales)):
            raise Open("a threshold, a noise scale or a number of queries that depends on private data")
        asked = list(queries)
        given = [one.solid() for one in asked if private(one)]
        if any(one.at is not None or one._shape for one in given) or not given:
            raise Open("above_threshold needs queries of one number")
        threshold, known = float(options["threshold"]), [0.0] * len(asked)
        law = AboveThreshold(known, threshold, float(scales[0]), float(scales[1]), count or len(asked), falls)
        steps = [one.move.two / falls**k for k, one in enumerate(asked) if private(one)]
        whole = Value((), move=Norms(two=max(steps)), **join(*given))
        self._ledger.keep(whole, law, whole.move.two * ROUNDING, label, sensitivity, None)
        index = self._answered(label, None)
        if self._ledger.plain or not self._ledger.decide(0):  # none is above
            return index
        return placed(public(0, self._ledger), len(asked))

    def release(self, label: str, law: Law, *, sensitivity: float | None, batch: Any = None) -> Any:
        """Not followed."""
        raise Open(f"a release of the law {type(law).__name__} has no rule")

    def _drawn(self, draw: Draw) -> Any:
        """Fresh batches are taken by index: whoever orders the records anew bounds every order."""
        refuse(draw.n != self._ledger.n, "a batch of another number of records")
        kept = draw._replace(number=len(self._ledger.batches))
        self._ledger.batches.append(kept)
        self.transcript.events.append(kept)
        if draw.kind == "fresh":
            assert draw.size is not None
            return TapeBatch(np.arange(self._used - draw.size, self._used), kept.number)
        size = draw.n if draw.size is None else draw.size
        chosen: Any = Batch(kept.number, size, draw.n, draw.kind == "poisson")
        return TapeBatch(chosen, kept.number)

    def reveal(self, label: str, value: Any) -> Any:
        """Publishes a value."""
        refuse(private(value), "private data is published without noise")
        return value

    def public(self, label: str, draw: Any) -> Any:
        """Public randomness."""
        found = draw(fresh_generator([self._ledger.seed, self.step, 7]))
        refuse(private(found), "public randomness that depends on private data")
        found = self._answered(label, found)
        return public(found, self._ledger) if isinstance(found, np.ndarray | float | np.generic) else found

    def secret(self, label: str, draw: Any) -> Any:
        """Inner randomness; whatever it is, bounds hold for it."""
        found = self.public(label, draw)
        return Secret(found) if isinstance(found, int) else found

    def noise(self, label: str, std: float, shape: int | tuple[int, ...] = ()) -> Any:
        """Raw noise, to be met by data."""
        return self._draws.normal(0.0, std, shape)

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        raise Open("not followed")

    _indices = _value = _released  # type: ignore[assignment]


CertifyTape.__name__ = CertifyTape.__qualname__ = "Tape"  # what Python's own messages call it


def as_release(one: Certified, number: int, relation: str) -> Release:
    """For the accountant; half of it counts under add-remove neighbours, where here all of it does."""
    moves = times(one.counted, 1.0 if relation == "replace-one" else 2.0)
    draws = () if -1 in one.draws else one.draws
    return Release(number, one.place, one.law, moves, draws, None)
