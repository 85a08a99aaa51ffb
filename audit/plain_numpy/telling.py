"""One release of plain NumPy code on the tape: the law for its kind of noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpassay.reference.laws.geometric import Geometric
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array

from .kinds import AddedNoise, geometric_scale, is_whole
from .mixing import Terms, shared
from .places import not_understood

if TYPE_CHECKING:
    from .desk import Desk

TWO_SIDED = "two_sided_geometric"


def tell(desk: Desk, label: str, kind: str, query: Array, scales: Array, batch: tuple[Batch, ...] | None) -> Any:
    """What comes back for these numbers; those with different noise are released in units of their noise."""
    if kind == TWO_SIDED:
        pairs = zip(query.tolist(), scales.tolist(), strict=True)
        return [_counted(desk, label, one, scale, batch) for one, scale in pairs]
    alike = bool(np.all(scales == scales[0]))
    scale, size = (float(scales[0]), 1.0) if alike else (1.0, scales)
    if is_whole(kind) and not (alike and abs(scale) == 1):
        raise not_understood("whole noise is scaled", "use a tape")
    sensitivity = desk.habits.sensitivity(label, abs(scale))
    if kind == "gaussian":
        given = desk.tape.gaussian(label, query / size, std=abs(scale), sensitivity=sensitivity, batch=batch)
    elif kind == "laplace":
        given = desk.tape.laplace(label, query / size, scale=abs(scale), sensitivity=sensitivity, batch=batch)
    else:
        law = AddedNoise(query / size, scale, kind)
        given = desk.tape.release(label, law, sensitivity=sensitivity, batch=batch)
    return np.asarray(given) * size


def law_of_noise(
    every: Sequence[str], rows: Sequence[Terms], active: Sequence[int], one_each: bool = False
) -> tuple[str, Array]:
    """Kind of the noise and its scale for each element."""
    used = {variable for number in active for variable in rows[number]}
    if shared([rows[number] for number in active]):
        raise not_understood(
            "several released numbers share their noise", "release them one after the other, or use a tape"
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
            raise not_understood(f"the largest is sought under negative {kind} noise", "use a tape")
        return kind, np.abs(coefficients) if one_each or kind == "laplace" else coefficients
    (kind, *others) = kinds
    scale = geometric_scale(kind)
    if not others and scale is not None and all(sorted(rows[number].values()) == [-1, 1] for number in active):
        return TWO_SIDED, np.full(len(active), scale)
    raise not_understood(
        f"no density is known for this sum of {' and '.join(sorted({every[v] for v in used}))} noise",
        "release each part by itself, or use a tape",
    )


def _counted(desk: Desk, label: str, query: float, scale: float, batch: tuple[Batch, ...] | None) -> float:
    """The difference of two geometric variables on a whole number."""
    if not query.is_integer():
        raise not_understood("geometric noise is added to a number that is not whole", "round it before, or use a tape")
    law = Geometric(np.asarray(query), scale)
    return float(desk.tape.release(label, law, sensitivity=desk.habits.sensitivity(label, scale), batch=batch))
