"""Checks of a loss's records: the constants L and ell hold only if these do, so nothing private starts without them."""

from __future__ import annotations

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.axioms import settled
from dpassay.reference.errors import BadInput


def bounded_rows(name: str, rows: Array, bound: float) -> None:
    """Raise BadInput unless `rows` is a non-empty (n, d) matrix of finite rows of norm at most `bound`."""
    if rows.ndim != 2 or len(rows) == 0:
        raise BadInput(f"{name}.shape", rows.shape, "needs a non-empty matrix, one record per row")
    _refuse_first(name, np.linalg.norm(rows, axis=1), bound, "norm of the row")


def bounded_values(name: str, values: Array, size: int, bound: float) -> None:
    """Raise BadInput unless `values` holds `size` finite numbers of modulus at most `bound`."""
    if values.shape != (size,):
        raise BadInput(f"{name}.shape", values.shape, f"expected {(size,)}, one per record")
    _refuse_first(name, np.abs(values), bound, "modulus")


def plus_or_minus_one(name: str, labels: Array, size: int) -> None:
    """Raise BadInput unless `labels` holds `size` labels -1 or +1."""
    if labels.shape != (size,):
        raise BadInput(f"{name}.shape", labels.shape, f"expected {(size,)}, one per record")
    wrong = np.flatnonzero(~np.isin(labels, (-1.0, 1.0)))
    if len(wrong):
        raise BadInput(f"{name}[{wrong[0]}]", float(labels[wrong[0]]), "must be -1 or +1")


def _refuse_first(name: str, sizes: Array, bound: float, what: str) -> None:
    good = np.isfinite(sizes) & (sizes <= bound * (1 + 1e-12))  # one rounding of the norm
    if not settled(good.all()):
        wrong = np.flatnonzero(~good)
        raise BadInput(f"{name}[{wrong[0]}]", float(sizes[wrong[0]]), f"{what} must be finite and at most {bound!r}")
