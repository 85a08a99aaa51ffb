"""Spaces for models: rows in the unit box that stand for data within bounds; an absent row is really left out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.space import Rows, Sizes, Space

ABSENT = -9.0  # in every coordinate: outside of the unit box and of all labels
FAR = 1e6  # a target beside which no output counts


class Bounds(NamedTuple):
    """Bounds of every coordinate, as a user tells them to a model."""

    lower: float
    upper: float


BOUNDS = (  # sizes["bounds"] counts them from 1
    Bounds(0.0, 1.0),
    Bounds(-1.0, 1.0),
    Bounds(-1.0, 0.0),
    Bounds(4.0, 5.0),
    Bounds(0.0, 1000.0),
)


class Rowset(NamedTuple):
    """Data of one side: features, labels (or a last column that is one), and what is public."""

    X: Array
    y: Array
    bounds: Bounds


def left_in(rows: Array, sizes: Sizes) -> Array:
    """Rows without those that are absent."""
    return np.asarray(rows[~np.all(rows == ABSENT, axis=1)])


def rowset(rows: Array, sizes: Sizes) -> Rowset:
    """Rows without those that are absent, moved from the unit box into the bounds; the last column is ``y``."""
    bounds = BOUNDS[sizes["bounds"] - 1]
    present = left_in(rows, sizes)
    require(len(present) >= 1, "rows", len(present), "a library may refuse data without a record")
    features = bounds.lower + (bounds.upper - bounds.lower) * present[:, :-1]
    return Rowset(features, present[:, -1].copy(), bounds)


def two_or_more(rows: Array, sizes: Sizes) -> Rowset:
    """As :func:`rowset`, of two records or more on either side: models refuse fewer."""
    found = rowset(rows, sizes)
    require(len(found.X) >= 2, "rows", len(found.X), "must be at least two")
    return found


def anchored(rows: Array, sizes: Sizes) -> Rowset:
    """As :func:`rowset`, and for each of the labels 0 and 1 two records more that never change."""
    found = rowset(rows, sizes)
    ends = np.repeat([found.bounds.lower, found.bounds.upper], found.X.shape[1]).reshape(2, -1)
    return found._replace(X=np.vstack([found.X, ends, ends]), y=np.append(found.y, [0.0, 0.0, 1.0, 1.0]))


def anchored_at_zero(rows: Array, sizes: Sizes) -> Rowset:
    """As :func:`rowset`, and for each of the labels 0 and 1 a record more whose features are zero."""
    found = rowset(rows, sizes)
    return found._replace(X=np.vstack([found.X, np.zeros((2, found.X.shape[1]))]), y=np.append(found.y, [0.0, 1.0]))


def with_gaps(rows: Array, sizes: Sizes) -> Rowset:
    """As :func:`rowset`; a coordinate in the middle of the box is missing (NaN)."""
    found = rowset(rows, sizes)
    middle = (found.bounds.lower + found.bounds.upper) / 2
    return found._replace(X=np.where(middle == found.X, np.nan, found.X))


def spaces(
    n: Sequence[int],
    d: Sequence[int],
    *,
    bounds: Sequence[int] = (1, 2, 3, 4),
    labels: tuple[float, ...] = (),
    problem: Callable[[Array, Sizes], Any] = rowset,
) -> Mapping[Relation, Space]:
    """A space for each relation: rows with ``d`` features in the unit box and one more column, a label if given."""
    rows = Rows("d", None, (0.0, 1.0), labels)
    sizes = {"n": tuple(n), "d": d if labels else tuple(one + 1 for one in d), "bounds": tuple(bounds)}
    one_more = sizes | {"n": tuple(one + 1 for one in n)}
    return {
        "replace-one": space_of("replace-one", rows, sizes, problem),
        "add-remove": space_of("add-remove", rows, one_more, problem),
    }


def space_of(
    relation: Relation,
    rows: Rows,
    sizes: Mapping[str, Sequence[int]],
    problem: Callable[..., Any],
    schedule: Any = None,
) -> Space:
    """For neighbours of this relation, of which one may lack a record."""
    absent = np.array([ABSENT]) if relation == "add-remove" else None
    return Space(rows, sizes, problem, schedule, relation=relation, absent=absent)


def opposite(n: int, relation: Relation) -> Mapping[str, Any]:
    """Neighbours, for a model that is trained by clipped gradients: they differ in one record of ``n``.

    Its target is far above what any of these models says, and far below, or it is not there. Its gradient then has the
    clipping norm and keeps its direction, so each sum moves by all that is declared. The others have none: a batch
    matters by this record alone, and the likelihood is exact.
    """
    rows = np.zeros((n, 2))
    rows[0] = 1.0, FAR
    there = [ABSENT, ABSENT] if relation == "add-remove" else [1.0, -FAR]
    return {"sizes": {"n": n, "d": 2}, "rows": rows.tolist(), "there": there, "target": 0}
