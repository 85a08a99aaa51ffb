"""Arrays by what they hold (shapes stand in the docstrings), their 2-norms and means, and what is taken for granted.

Norms and means are NumPy's bit for bit, in a third of the time of its general functions for small arrays.

Of what a problem or an algorithm takes for granted of numbers nothing happens to numbers. Values of which only bounds
are known (``dpassay.audit.certify``) take the bound over, and the certificate names the axiom. A problem says in
``RECORDS`` which of its fields hold its records, one along the first axis, and what one record may be: a bound on its
2-norm (a number, or the name of the field that holds it), the smallest and largest number in it, or None for any finite
numbers.
"""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]  # record numbers, counts, class labels
Bools = NDArray[np.bool_]
T = TypeVar("T")
Records = Mapping[str, float | str | tuple[float, float] | None]


def norm(array: Array) -> float:
    """2-norm of all numbers of an array of any shape."""
    flat = array.ravel()
    return math.sqrt(flat.dot(flat)) if flat.dtype == np.float64 else float(np.linalg.norm(flat))


def row_norms(rows: Array) -> Array:
    """2-norm of each row of a matrix, shape (m,)."""
    if rows.dtype != np.float64:
        return np.asarray(np.linalg.norm(rows, axis=1))
    return np.asarray(np.sqrt(np.add.reduce(rows * rows, axis=1)))


def mean_of(rows: Array) -> Array:
    """Mean over the first axis of an array of any shape."""
    if rows.dtype != np.float64 or len(rows) == 0:
        return np.asarray(np.mean(rows, axis=0))
    return np.asarray(np.add.reduce(rows, axis=0) / len(rows))


def within(values: T, low: float, high: float, axiom: str) -> T:
    """The values, of which ``axiom`` says that they lie in [low, high]."""
    assumed: Any = getattr(values, "assumed", None)
    found: T = values if assumed is None else assumed(axiom, low=low, high=high)
    return found


def moves_by(value: T, distance: float, axiom: str) -> T:
    """The value, of which ``axiom`` says that replacing one record moves it by at most ``distance`` (2-norm)."""
    assumed: Any = getattr(value, "assumed", None)
    found: T = value if assumed is None else assumed(axiom, moves=distance)
    return found


def rows_within(rows: T, norm: float, axiom: str) -> T:
    """Rows, one a record, of which ``axiom`` says that they are at most ``norm`` long (2-norm)."""
    assumed: Any = getattr(rows, "assumed", None)
    found: T = rows if assumed is None else assumed(axiom, norm=norm)
    return found


def settled(truth: Any) -> bool:
    """The truth; of values of which only bounds are known, what the bounds of their domain decide."""
    decided: Any = getattr(truth, "settled", None)
    return bool(truth) if decided is None else bool(decided())
