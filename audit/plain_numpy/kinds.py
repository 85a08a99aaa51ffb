"""Kinds of noise by name (``name:number`` where it has a number of its own), their laws, and the law of a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dpassay.reference.laws.geometric import Geometric
from dpassay.reference.laws.law import Difference, Law, noise_difference
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array, Indices

from .places import WAY_OUT, not_understood

if TYPE_CHECKING:
    from .desk import Desk

Terms = dict[int, float]  # of one number: noise variable -> its coefficient
TWO_SIDED = "two_sided_geometric"

_PLAIN = {  # names in scipy.stats, which takes longer to import than many an audit runs
    "gaussian": "norm",
    "laplace": "laplace",
    "gumbel": "gumbel_r",
    "exponential": "expon",
    "logistic": "logistic",
    "cauchy": "cauchy",
    "uniform": "uniform",
}
_WITH_NUMBER = {"student_t": "t", "geometric": "geom", "poisson": "poisson"}
_WHOLE = ("geometric", "poisson")


def with_number(name: str, number: float) -> str:
    """The name of a kind that has a number: degrees of freedom, a probability, a rate."""
    return f"{name}:{float(number)!r}"


@cache
def law_of(kind: str) -> Any:
    """The standard law, frozen, of ``scipy.stats``."""
    from scipy import stats

    name, _, number = kind.partition(":")
    return getattr(stats, _WITH_NUMBER[name])(float(number)) if number else getattr(stats, _PLAIN[name])


def is_whole(kind: str) -> bool:
    """Are its values whole numbers?"""
    return kind.partition(":")[0] in _WHOLE


def geometric_scale(kind: str) -> float | None:
    """Scale of the two-sided law that the difference of two such variables has; None for other kinds."""
    name, _, number = kind.partition(":")
    return -1 / math.log1p(-float(number)) if name == "geometric" and float(number) < 1 else None


def standard(kind: str, rng: np.random.Generator) -> float:
    """One draw of the standard law."""
    if kind == "gaussian":
        return float(rng.standard_normal())
    if kind in ("laplace", "exponential", "gumbel", "logistic"):
        return float(getattr(rng, kind)())
    return float(law_of(kind).rvs(random_state=rng))


@dataclass(frozen=True, eq=False)
class AddedNoise(Law):
    """``query + scale * noise`` of a kind that the tape has no law for. What it costs is not known: its density is.

    Args:
        query: what the noise is added to, any shape.
        scale: of the noise; 1 or -1 for whole numbers.
        kind: of the noise.
    """

    query: Array = field()
    scale: float = field()
    kind: str = field()

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        return self.query + self.scale * law_of(self.kind).rvs(size=self.query.shape, random_state=rng)

    def log_density(self, value: Any) -> float:
        """Log density, or log probability of whole numbers; they are met up to rounding."""
        noise = (np.asarray(value, dtype=float) - self.query) / self.scale
        law = law_of(self.kind)
        if not is_whole(self.kind):
            return float(np.sum(law.logpdf(noise))) - noise.size * math.log(abs(self.scale))
        nearest = np.round(noise)
        return float(np.sum(law.logpmf(nearest))) if np.allclose(noise, nearest, atol=1e-9) else -math.inf

    def distance(self, other: Law) -> float:
        """The largest movement of a coordinate."""
        return float(np.max(np.abs(self.query - other.query), initial=0.0)) if isinstance(other, AddedNoise) else 0.0

    def possible(self, value: Any) -> Any:
        """Whole numbers for whole noise."""
        if not is_whole(self.kind):
            return value
        return self.query + np.round(np.asarray(value, dtype=float) - self.query)

    def public_difference(self, other: Law) -> Difference | None:
        """Kind, shape and scale are public."""
        if isinstance(other, AddedNoise) and other.kind != self.kind:
            return Difference("noise", self.kind, other.kind, comparable=True)
        return noise_difference(self, other, "scale")


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
    if kind == TWO_SIDED:
        pairs = zip(query.tolist(), scales.tolist(), strict=True)
        return [_counted(desk, label, one, scale, batch) for one, scale in pairs]
    alike = bool(np.all(scales == scales[0]))
    scale, size = (float(scales[0]), 1.0) if alike else (1.0, scales)
    if is_whole(kind) and not (alike and abs(scale) == 1):
        raise not_understood("whole noise is scaled", WAY_OUT)
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
        return kind, np.abs(coefficients) if one_each or kind == "laplace" else coefficients
    (kind, *others) = kinds
    scale = geometric_scale(kind)
    if not others and scale is not None and all(sorted(rows[number].values()) == [-1, 1] for number in active):
        return TWO_SIDED, np.full(len(active), scale)
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
