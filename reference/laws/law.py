"""Laws that a released value follows, given the data: what can be sampled, and the exact log density.

A law is what the tape records for a release. Two runs on neighbouring data make the *same call* when their laws
differ in the query alone; ``public_difference`` names the first thing other than the query that differs.

Whatever is asked about a law (what the data move, how far, at what cost, how to sample its revealing values) is a
method here, with a default that claims nothing. So a new law is one file: a sub-class of :class:`Law`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from dpassay.reference.arrays import Array

if TYPE_CHECKING:
    from .categorical import Categorical

SMALLEST, LARGEST = 1e-150, 1e150  # of sizes: their squares and quotients are floats, too
_EXACT = 1e-9  # queries that agree to this fraction of the noise are the same (one part in 1e9 of a standard deviation)


class Cost(NamedTuple):
    """What one release costs: ``gaussian`` (size mu), ``laplace`` (sensitivity over scale), ``pure`` (epsilon).

    ``above-threshold`` has a pure epsilon as its size, and the share of it that is sensitivity over query noise; of so
    many queries (0: of any number), each of which moves by ``falls`` times what the one before it may.
    """

    kind: Literal["gaussian", "laplace", "pure", "above-threshold"]
    size: float
    share: float = 0.0
    queries: int = 0
    falls: float = 1.0


@dataclass(frozen=True)
class Difference:
    """What differs between two laws beside the query, which must be public.

    Args:
        name: of the part that differs.
        comparable: the two laws still give values of the same form, so that one value can answer both.
    """

    name: str
    here: object
    there: object
    comparable: bool

    def __str__(self) -> str:
        return f"{self.name}: {_shown(self.here)} against {_shown(self.there)}"


Form = tuple[tuple[str, Callable[[Any], object]], ...]  # name of a part, and what it is, of a law


class Law(ABC):
    """A distribution on released values.

    ``query`` is what the data move, of the released value's shape (None: the law has no such array); ``scale`` is the
    noise on each of its coordinates, a standard deviation or a scale (0: none); ``is_normal`` says that the noise is
    Gaussian and not zero; ``is_finite`` that the value is one of finitely many, which :meth:`nth` counts. ``form`` is
    what values of one law must have to be values of the other, and ``public`` names the numbers beside the query.
    """

    form: ClassVar[Form] = (("shape", lambda law: law.query.shape),)
    public: ClassVar[tuple[str, ...]] = ()

    query: Array | None = None
    scale: float = 0.0
    is_normal: bool = False
    is_finite: bool = False

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""

    @abstractmethod
    def log_density(self, value: Any) -> float:
        """Natural log of the density (or probability) at ``value``; ``-inf`` off the support."""

    def public_difference(self, other: Law) -> Difference | None:
        """The first difference from ``other`` that is not the query, or None: of type, `form` or `public` numbers."""
        if not isinstance(other, type(self)):
            return other_law(self, other)
        parts = [(name, read(self), read(other), False) for name, read in self.form]
        parts += [(name, getattr(self, name), getattr(other, name), True) for name in self.public]
        return next((Difference(*part) for part in parts if part[1] != part[2]), None)

    @property
    def is_bare(self) -> bool:
        """The query is released as it is, without noise."""
        return False

    def moved(self) -> Array | None:
        """All numbers that the data move: the query, or the queries of a law that has several."""
        return self.query

    def nth(self, index: int) -> Any:
        """The value with this number, of a law that ``is_finite``; numbers beyond the last one begin again."""
        raise NotImplementedError(f"{type(self).__name__} has no numbered values")

    def changed(self, noise: float, query: float) -> Law:
        """The law with noise and query multiplied by these, where such a change means something; else itself."""
        return self

    def distance(self, other: Law) -> float:
        """How far the data move this law to ``other``, in the norm that its noise answers for (0: nothing to move)."""
        return 0.0

    def apart(self, other: Law, moved: float) -> float:
        """How well drawn values tell the two apart, whose distance is ``moved``: a rank, no bound."""
        return moved / self.scale if self.scale > 0 else 0.0

    def agrees(self, other: Law) -> bool:
        """The queries are equal up to a negligible part of the noise, or of their size."""
        if self.query is None or other.query is None:
            return True
        if self.query.shape == other.query.shape and self.query.tobytes() == other.query.tobytes():
            return True  # the usual case needs no tolerance
        tolerance = _EXACT * self.scale + 1e-12 * float(np.max(np.abs(self.query), initial=0.0))
        return bool(np.all(np.abs(self.query - other.query) <= tolerance))

    def cost(self, sensitivity: float) -> Cost | None:
        """Of one release whose query one record moves by at most ``sensitivity``; None where none is known."""
        return None

    def cost_of(self, value: Any, sensitivity: float) -> Cost | None:
        """Likewise, once ``value`` is known, which may cost less than others."""
        return self.cost(sensitivity)

    def possible(self, value: Any) -> Any:
        """A value that can come out, near ``value``: for laws whose values are whole, bounded or on a grid."""
        return value

    def happens(self, value: Any) -> bool:
        """The value has a density, or a probability, above zero."""
        return self.log_density(value) > -np.inf

    def outcomes(self) -> Categorical | None:
        """All values with their exact probabilities, where they are finitely many."""
        return None

    def tilted(self, other: Law, shift: float) -> Law | None:
        """The law with density ``p (p / q)^shift`` up to a constant, q that of ``other``; None where none is known."""
        return None


def query_of(law: Law) -> Array:
    """The query of a law that has one."""
    assert law.query is not None
    return law.query


def as_released(value: Array) -> Any:
    """A scalar query is released as a float, anything else as an array of its shape."""
    return float(value) if value.ndim == 0 else value


def other_law(one: Law, other: Law) -> Difference:
    """Two laws of different types."""
    return Difference("law", type(one).__name__, type(other).__name__, comparable=False)


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
