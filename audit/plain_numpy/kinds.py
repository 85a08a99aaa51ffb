"""Kinds of noise by name (``geometric:0.6`` with its probability), their laws, and the law of a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dpassay.audit.inputs.foreign import ENDLESS
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.number import Geometric
from dpassay.reference.transcript import Batch

from .places import WAY_OUT, not_understood

if TYPE_CHECKING:
    from .desk import Desk

Terms = dict[int, float]  # of one number: noise variable -> its coefficient
TWO_SIDED = "two_sided_geometric"

_SCIPY = {"gaussian": "norm", "laplace": "laplace", "gumbel": "gumbel_r", "exponential": "expon"}


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


def tell(desk: Desk, label: str, kind: str, query: Array, scales: Array, batch: tuple[Batch, ...] | None) -> Any:
    """What comes back for these numbers; those with different noise are released in units of their noise."""
    endless = [one for one in (*query, *scales) if not math.isfinite(one)]
    if endless:
        raise BadInput("release", label, f"would be {endless[0]}, on data that the claim covers: {ENDLESS}")
    if kind == TWO_SIDED:
        pairs = zip(query.tolist(), scales.tolist(), strict=True)
        return [_counted(desk, label, one, scale, batch) for one, scale in pairs]
    alike = bool(np.all(scales == scales[0]))
    scale, size = (float(scales[0]), 1.0) if alike else (1.0, scales)
    sensitivity = desk.habits.sensitivity(label, scale)
    if kind == "gaussian":
        given = desk.tape.gaussian(label, query / size, std=scale, sensitivity=sensitivity, batch=batch)
    elif kind == "laplace":
        given = desk.tape.laplace(label, query / size, scale=scale, sensitivity=sensitivity, batch=batch)
    else:
        raise not_understood(f"{kind.partition(':')[0]} noise is looked at: what that costs is not known", WAY_OUT)
    return np.asarray(given) * size


def law_of_noise(
    every: Sequence[str], rows: Sequence[Terms], active: Sequence[int], one_each: bool = False
) -> tuple[str, Array]:
    """Kind of the noise and its scale for each element."""
    used = {variable for number in active for variable in rows[number]}
    if shared([rows[number] for number in active]):
        raise not_understood(
            "several released numbers share their noise", f"release them one after the other, or {WAY_OUT}"
        )
    kinds = {every[variable] for variable in used}
    single = all(len(rows[number]) == 1 for number in active)
    if kinds == {"gaussian"}:
        sizes = [math.hypot(*rows[number].values()) for number in active]  # squares of tiny scales would be 0
        return "gaussian", np.array(sizes)
    if len(kinds) == 1 and single:
        coefficients = np.array([next(iter(rows[number].values())) for number in active])
        (kind,) = kinds
        if one_each and kind != "laplace" and not bool(np.all(coefficients > 0)):
            raise not_understood(f"the largest is sought under negative {kind} noise", WAY_OUT)
        return kind, np.abs(coefficients)
    name, _, number = next(iter(kinds)).partition(":")
    two_sided = all(sorted(rows[one].values()) == [-1, 1] for one in active)
    if len(kinds) == 1 and name == "geometric" and two_sided and float(number) < 1:
        return TWO_SIDED, np.full(len(active), -1 / math.log1p(-float(number)))
    raise not_understood(
        f"no density is known for this sum of {' and '.join(sorted({every[v] for v in used}))} noise",
        f"release each part by itself, or {WAY_OUT}",
    )


def _counted(desk: Desk, label: str, query: float, scale: float, batch: tuple[Batch, ...] | None) -> float:
    """The difference of two geometric variables on a whole number."""
    if not query.is_integer():
        raise not_understood("geometric noise is added to a number that is not whole", f"round it before, or {WAY_OUT}")
    law = Geometric(np.asarray(query), scale)
    return float(desk.tape.release(label, law, sensitivity=desk.habits.sensitivity(label, scale), batch=batch))
