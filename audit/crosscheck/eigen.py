"""Eigenvalues and vectors as other libraries give them, or as they are misread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.reference.types import Array


def _by_size(values: Array, vectors: Array) -> tuple[Array, Array]:
    order = np.argsort(-np.abs(values))
    return values[order], vectors[:, order]


def _least_by_size(values: Array, vectors: Array) -> tuple[Array, Array]:
    order = np.argsort(np.abs(values))
    return values[order], vectors[:, order]


ORDERS: dict[str, Callable[[Array, Array], tuple[Array, Array]]] = {  # eigenvalues and vectors in another order
    "largest": lambda values, vectors: (values[::-1], vectors[:, ::-1]),
    "rows": lambda values, vectors: (values, vectors.T),
    "by size": _by_size,
    "rows of NumPy's": lambda values, vectors: (values, vectors.T),
    "least by size": _least_by_size,
}


def eigen(function: Callable[..., Any], how: str, *arguments: Any, subset_by_index: Any = None) -> Any:
    """Eigenvalues (and vectors) in the other order, or with the rows for the vectors."""
    solver = np.linalg.eigh if how == "rows of NumPy's" and len(arguments) == 1 else function  # with other signs
    values, vectors = ORDERS[how](*solver(*arguments))
    if subset_by_index is None:
        return values, vectors
    kept = slice(subset_by_index[0], subset_by_index[1] + 1)
    return values[kept], vectors[:, kept]
