"""Noise that several numbers share: which of them are released, and in which coordinates their noise is independent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpassay.reference.types import Array, Indices

Terms = dict[int, float]  # of one number: noise variable -> its coefficient


def shared(rows: Sequence[Terms]) -> bool:
    """Is a noise variable in more than one number?"""
    used = [variable for row in rows for variable in row]
    return len(set(used)) < len(used)


def merged(flat: Array, rows: Sequence[Terms]) -> tuple[list[int], Indices]:
    """Numbers with the same query and the same noise are one: which stand for all, and which stands for each."""
    places: dict[tuple[float, frozenset[tuple[int, float]]], int] = {}
    source = [places.setdefault((float(flat[k]), frozenset(row.items())), k) for k, row in enumerate(rows)]
    return sorted(set(source)), np.array(source)


def coefficients_of(rows: Sequence[Terms]) -> tuple[list[int], Array]:
    """The noise variables, and the matrix of their coefficients, a row for each number."""
    variables = sorted({variable for row in rows for variable in row})
    return variables, np.array([[row.get(variable, 0.0) for variable in variables] for row in rows])


def square_root(factors: Array, kinds: set[str]) -> Array | None:
    """``R`` such that ``factors @ noise`` has the law of ``R @ independent noise``; None where there is none.

    Gaussian noise of covariance ``A A'`` is that of its Cholesky factor; other noise must be as many variables as
    numbers. Where the noise of some numbers determines that of others, no release has a density.
    """
    if len(kinds) != 1 or np.linalg.matrix_rank(factors) < len(factors):
        return None
    if kinds == {"gaussian"}:
        return np.asarray(np.linalg.cholesky(factors @ factors.T), dtype=np.float64)
    return factors if factors.shape[0] == factors.shape[1] else None
