"""What is searched: a space of data sets and sizes, or one pair of neighbours under many released values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.arrays import Array
from dpassay.reference.case import bind
from dpassay.reference.errors import require
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.space import Sizes, Space

from .strategies import is_absent, neighbours, width_of

_MOST = 20_000  # combinations of sizes that are listed
_EVEN = 2_000  # of which values are brought to an even share: beyond, the list would be long
Landmarks = Mapping[str, Sequence[float]]


@dataclass(frozen=True, eq=False)
class Data:
    """The data of one example: sizes, the rows of D, and what stands on D' at the target's place.

    Without rows it is the given pair, perhaps in the other direction.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    rows: Array | None = None
    there: Array | None = None
    target: int = 0
    swapped: bool = False

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """Of data with rows: a copy of them, and of both rows of the target."""
        assert self.rows is not None and self.there is not None
        return self.rows.copy(), self.rows[self.target].copy(), self.there.copy()

    def changed(
        self,
        rows: Array | None = None,
        here: Array | None = None,
        there: Array | None = None,
        target: int | None = None,
    ) -> "Data":
        """Other rows, other rows of the target, the target elsewhere; ``rows`` is written into."""
        place, new = self.target if target is None else target, self.parts[0] if rows is None else rows
        if here is not None:
            new[place] = here
        return replace(self, rows=new, there=self.there if there is None else there, target=place)


@dataclass(frozen=True, eq=False)
class Setting:
    """What an example runs: ``mechanism(problem, tape)`` with its schedule bound in, on a pair."""

    mechanism: Run[Any]
    pair: Pair[Any]
    landmarks: Landmarks = field(default_factory=dict)
    data: Data | None = None  # that it was made of, if it was made of rows
    alike: bool = False  # were its other records made alike, so that its losses are exact?
    lonely: bool = False  # would they be without other records, which the space does not have?


class OnePair:
    """One pair of neighbours, both directions; only the released values are searched."""

    strategy = st.builds(Data, swapped=st.booleans())
    space: Space | None = None
    combinations: Sequence[Sizes] = ()

    def __init__(self, mechanism: Run[Any], pair: Pair[Any], relation: Relation = "replace-one"):
        self.relation: Relation = relation
        self._mechanism, self._pair = mechanism, pair

    def setting(self, data: Data, anew: bool = False) -> Setting:
        """The pair, of which nothing is kept."""
        return Setting(self._mechanism, self._pair.swapped() if data.swapped else self._pair)


class AllOf:
    """A space: every data set, neighbour and size that it names; BadInput where no combination of sizes fits.

    Args:
        run: ``run(problem, schedule, tape)`` where the space makes schedules, ``run(problem, tape)`` where it does not.
        strategy: of sizes, rows, the neighbouring row, the target's position.
    """

    def __init__(self, run: Callable[..., Any], space: Space):
        self.relation: Relation = space.relation
        self._run, self.space = run, space
        self._schedules: dict[tuple[tuple[str, int], ...], tuple[Any, Landmarks]] = {}
        self.combinations = _combinations(space)
        self._of_sizes: dict[tuple[tuple[str, int], ...], st.SearchStrategy[Data]] = {}
        self.strategy = st.sampled_from(_in_turn(self.combinations)).flatmap(self._data)

    def _data(self, sizes: Sizes) -> st.SearchStrategy[Data]:
        """Made once for each combination of sizes."""
        key = tuple(sizes.items())
        if key not in self._of_sizes:
            self._of_sizes[key] = neighbours(self.space, sizes).map(lambda found: Data(sizes, *found))
        return self._of_sizes[key]

    def setting(self, data: Data, anew: bool = False) -> Setting:
        """The problems of the two data sets, under the schedule of their sizes; ``anew``: one that is made anew.

        Raises:
            BadInput: data that the claim does not cover: changes of an example may lead out of the space.
        """
        if anew:
            self._schedules.clear()
        rows, _, there = data.parts
        _within(self.space, rows, there, data.target)
        others = data.changed(here=there).parts[0]
        return replace(self.between(data.sizes, rows, others, data.target), data=data)

    def between(self, sizes: Sizes, here: Array, there: Array, target: int) -> Setting:
        """Two data sets of one size, neighbours or not; shape (n, columns) each."""
        sizes = dict(sizes)
        problems = [self.space.data(rows.copy(), sizes) for rows in (here, there)]
        pair = Pair(problems[0], problems[1], target, "found by search", self.space.removes)
        if self.space.schedule is None:
            return Setting(self._run, pair)
        key = tuple(sorted(sizes.items()))
        if key not in self._schedules:
            schedule = self.space.schedule(sizes)
            self._schedules[key] = schedule, self.space.landmarks(schedule) if self.space.landmarks else {}
        schedule, marks = self._schedules[key]
        return Setting(bind(self._run, schedule), pair, marks)


Ground = OnePair | AllOf  # where examples come from


def _combinations(space: Space) -> list[dict[str, int]]:
    found: list[dict[str, int]] = []
    for values in product(*space.sizes.values()):
        sizes = dict(zip(space.sizes, values, strict=True))
        if space.fits(sizes):
            found.append(sizes)
        require(len(found) <= _MOST, "space.sizes", len(found), f"more than {_MOST} combinations: give fewer values")
    require(bool(found), "space.fits", dict(space.sizes), "accepts no combination of sizes")
    return sorted(found, key=lambda sizes: (sum(sizes.values()), list(sizes.values())))


def _in_turn(combinations: list[dict[str, int]]) -> list[dict[str, int]]:
    """The combinations, repeated so that each value of each size is tried about as often as any other.

    A size that fits few others (many records, with many steps only) would else hardly have its turn.
    """
    if len(combinations) > _EVEN:
        return combinations
    groups: dict[tuple[str, int], list[int]] = {}
    for number, sizes in enumerate(combinations):
        for name, value in sizes.items():
            groups.setdefault((name, value), []).append(number)
    longest = max(map(len, groups.values()))
    numbers = [group[turn % len(group)] for group in groups.values() for turn in range(longest)]
    return [combinations[number] for number in sorted(numbers)]


_FURTHER = 100  # times the largest size that a space tries: data from outside do not decide how long a run takes


def data_of(space: Space, sizes: Sizes, rows: Array, there: Array, target: int) -> Data:
    """Data from outside (a witness); BadInput for sizes that the space lacks, or rows of wrong shape or not finite."""
    require(set(sizes) == set(space.sizes), "sizes", dict(sizes), f"must be {', '.join(space.sizes)}")
    for name, tried in space.sizes.items():
        most = _FURTHER * max(tried)
        why = f"must be at most {most}: the space has {max(tried)}"
        require(sizes[name] <= most, f"sizes.{name}", sizes[name], why)
    shape = (sizes["n"], space.rows.columns(sizes))
    require(rows.shape == shape, "rows", rows.shape, f"must have the shape {shape}")
    require(there.shape == shape[1:], "there", there.shape, f"must have the shape {shape[1:]}")
    require(0 <= target < shape[0], "target", target, f"must lie in 0..{shape[0] - 1}")
    _within(space, rows, there, target)
    return Data(dict(sizes), rows, there, target)


def _within(space: Space, rows: Array, there: Array, target: int) -> None:
    """Every row is one that the space has; but under replace-one, one of the target's is absent."""
    for number, row in enumerate((*rows, there)):
        gone = is_absent(space, row) and (not space.removes or number in (target, len(rows)))  # n would be another one
        why = "" if gone else _outside(space, row)
        require(not why, "rows", row.tolist(), why)
    if space.relation != "replace-one":
        why = f"under {space.relation} the record must be absent on one side"
        require(any(is_absent(space, row) for row in (rows[target], there)), "there", there.tolist(), why)


def _outside(space: Space, row: Array) -> str:
    if not np.isfinite(row).all():
        return "is not finite"
    features = row[: width_of(space, row)]
    if space.rows.labels and row[-1] not in space.rows.labels:
        return f"has a label that is none of {space.rows.labels}"
    if space.rows.box is not None:
        low, high = space.rows.box
        return "" if np.all((low <= features) & (features <= high)) else f"is not within {space.rows.box}"
    if space.rows.bound is not None and np.linalg.norm(features) > space.rows.bound * (1 + 1e-9):
        return f"is longer than {space.rows.bound:g}"
    return ""
