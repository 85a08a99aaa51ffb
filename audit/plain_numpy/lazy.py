"""What arrays with noise not drawn yet have in common with nothing else: they can be told from plain ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from dpassay.reference.types import Array, Indices


class Lazy(ABC):
    """A number or an array whose value is not known before somebody looks."""

    desk: Any
    query: Array
    ids: Indices
    coefficients: Array
    mixed: bool
    given: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.query.shape

    @property
    def variables(self) -> set[int]:
        """Numbers of the noise that is in it."""
        return set(self.ids[self.coefficients != 0].tolist())

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.query.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.query.size

    @property
    def dtype(self) -> Any:
        """Always float64."""
        return self.query.dtype

    @abstractmethod
    def value(self) -> Any:
        """The value: looking at it releases it."""

    @abstractmethod
    def scaled(self, factor: Any) -> Any:
        """Every element times a number, or an array of numbers."""
