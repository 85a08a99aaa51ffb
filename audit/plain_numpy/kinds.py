"""Kinds of noise by name (``geometric:0.6`` with its probability), their laws, and what law some numbers have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.laws.number import Geometric

from .places import WAY_OUT, not_understood

Terms = dict[int, float]  # of one number: noise variable -> its coefficient

_SCIPY = {"gaussian": "norm", "laplace": "laplace", "gumbel": "gumbel_r"}


@cache
def law_of(kind: str) -> Any:
    """The standard law of ``scipy.stats``, which takes longer to import than many an audit runs."""
    from scipy import stats

    return getattr(stats, _SCIPY[kind])


def standard(kind: str, rng: np.random.Generator) -> float:
    """One draw of the standard law."""
    name, _, number = kind.partition(":")
    draw = getattr(rng, "normal" if name == "gaussian" else name)
    return float(draw(float(number)) if number else draw())


def shared(rows: Sequence[Terms]) -> bool:
    """Is a noise variable in more than one number?"""
    used = [variable for row in rows for variable in row]
    return len(set(used)) < len(used)


def merged(flat: Array, rows: Sequence[Terms]) -> tuple[list[int], Indices]:
    """Numbers with the same query and the same noise are one: which stand for all, and which stands for each."""
    places: dict[tuple[float, frozenset[tuple[int, float]]], int] = {}
    source = [places.setdefault((float(flat[k]), frozenset(row.items())), k) for k, row in enumerate(rows)]
    return sorted(set(source)), np.array(source)


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


def law_of_noise(kinds: Sequence[str], rows: Sequence[Terms], one_each: bool = False) -> tuple[str, Array]:
    """Kind of the noise and its scale for each number.

    Args:
        one_each: for the place of the largest of them.
    """
    found = {kinds[variable] for row in rows for variable in row}
    kind, several = sorted(found)[0], any(len(row) > 1 for row in rows)
    if shared(rows):
        raise not_understood("several numbers share their noise", f"release them one after the other, or {WAY_OUT}")
    if found == {"gaussian"}:
        return kind, np.array([math.hypot(*row.values()) for row in rows])  # squares of tiny scales would be 0
    name, _, p = kind.partition(":")
    if p and float(p) < 1 and len(found) == 1 and all(sorted(row.values()) == [-1, 1] for row in rows):
        return kind, np.full(len(rows), -1 / math.log1p(-float(p)))
    if len(found) > 1 or several:
        what = f"no density is known for this sum of {' and '.join(sorted(found))} noise"
        raise not_understood(what, f"release each part by itself, or {WAY_OUT}")
    factors = np.array([next(iter(row.values())) for row in rows])
    if one_each and kind != "laplace" and not bool(np.all(factors > 0)):
        raise not_understood(f"the largest is sought under negative {kind} noise", WAY_OUT)
    if kind != "laplace" and not (one_each and kind in _SCIPY):
        raise not_understood(f"{name} noise is looked at: what that costs is not known", WAY_OUT)
    return kind, np.abs(factors)


def counted(query: float, scale: float) -> Geometric:
    """The law of a whole number plus the difference of two geometric variables."""
    if not query.is_integer():
        raise not_understood("geometric noise is added to a number that is not whole", f"round it before, or {WAY_OUT}")
    return Geometric(np.asarray(query), scale)
