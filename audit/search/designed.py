"""Examples by design, where chance hardly brings things together (docs/search.md).

A decision on something private shows where a run comes to it and the released values leave it open: just beyond one
landmark and not the next, or as the true queries say. So the largest sizes run with such values for all labels at once.
Where batches come by index, a bug that shows for the records of one batch needs the target there: examples that went
far are run again with the target in each batch in turn, then beside silent records. Far data sets part easily where a
decision on the data turns, and then so do two neighbours on the way: halving finds them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import inf
from typing import Literal, NamedTuple, get_args

import numpy as np

from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.reference.arrays import Array
from dpassay.reference.findings import Kind
from dpassay.reference.space import Sizes, Space
from dpassay.reference.transcript import Draw, Release, Transcript

from .ground import AllOf, Data, Landmarks, Setting
from .runner import Runner
from .smaller import resized
from .strategies import absent_row, width_of
from .uphill import SHRINK, Example, Uphill

Way = Literal["silent", "opposite", "all as the neighbour", "all along the first axis", "all along the last axis"]
EVERY: tuple[Way, ...] = get_args(Way)
WAYS: tuple[Way, ...] = ("silent", *EVERY[:3])  # of an example; norms of queries change the most where all falls silent

#: what may not differ between any two data sets; a query may move far, and batches may hold other records
ANYWHERE = frozenset(
    (Kind.CALL, Kind.LAW, Kind.NOISE_SCALE, Kind.BATCH_SIZE, Kind.PUBLIC_VALUE, Kind.REVEALED_VALUE, Kind.OUTPUT,
     Kind.EARLY_END, Kind.BARE_RELEASE, Kind.CLAIMED_SENSITIVITY)
)  # fmt: skip


def far_rows(space: Space, data: Data, way: Way) -> Array | None:
    """Another data set of the same sizes, shape (n, columns); None where this way leads nowhere.

    Where a record may only go or come, the far data set is the one without any.
    """
    found, _, there = data.parts
    features = found[:, : width_of(space, there)]  # of the same memory
    if space.relation != "replace-one":  # where a record is left out, there is no data without any
        return None if space.removes else np.tile(absent_row(space, len(there)), (len(found), 1))
    if way == "all as the neighbour":
        found[:] = there
    elif way in EVERY[3:]:
        if space.rows.box is not None or features.size == 0:
            return None
        features[:] = 0.0
        features[:, 0 if way == EVERY[3] else -1] = space.rows.bound or 1.0
    elif space.rows.box is not None:
        features[:] = space.rows.box[way == "opposite"]
    else:
        features *= {"silent": 1e-6, "opposite": -1.0}[way]
    return None if np.array_equal(found, data.parts[0]) else found


def turning(ground: AllOf, data: Data, far: Array, parts: Callable[[Setting], bool]) -> Data:
    """Neighbours on the way from D to ``far``, between which the runs part, as they do between the two ends.

    ``parts``: do the runs of this setting differ in what may differ nowhere?
    """
    rows, _, _ = data.parts

    def way(count: int) -> Array:
        """D with so many records of ``far``."""
        return np.concatenate([far[:count], rows[count:]])

    low, high = 0, len(rows)
    while high - low > 1:
        middle = (low + high) // 2
        stretch = ground.between(data.sizes, way(low), way(middle), low)
        low, high = (low, middle) if parts(stretch) else (middle, high)
    return data.changed(rows=way(low), there=far[low].copy(), target=low)


_BEYOND = 1.005  # of a landmark
_FALLS = 0.2  # from one entry of a row to the next: none is zero, and the first does most
_RUNS = 90  # with the target in another batch
_BATCHES = 12  # of one example


def largest(space: Space, data: Data, combinations: Sequence[Sizes], count: int) -> Iterator[Data]:
    """The data at the sizes with the most records, evenly spread."""
    most = max(sizes["n"] for sizes in combinations)
    among = [sizes for sizes in combinations if sizes["n"] == most]
    for sizes in among[:: -max(1, len(among) // count)][:count]:
        with suppress(Exception):  # rows that make no problem
            yield resized(space, data, sizes, 0)


def at_landmarks(labels: Mapping[str, Release], marks: Landmarks) -> Iterator[Script]:
    """Half as far out as the first landmark, then just beyond the first, the second, ..., with all labels at once."""
    distances = {label: sorted({abs(mark) for mark in marks.get(label, ())} - {0.0, inf}) for label in labels}
    for level in range(-1, max(map(len, distances.values()), default=0) or -1):
        values = {}
        for label, found in distances.items():
            if found:
                size = found[0] / 2 if level < 0 else _BEYOND * found[min(level, len(found) - 1)]
                values[label] = Choice("norm", size=size, along="axis")
        yield Script(values)


def one_by_one(labels: Mapping[str, Release], marks: Landmarks) -> Iterator[Script]:
    """Every value equal to its query; then just beyond its first landmark, vectors to either side along the first axis.

    Of finitely many outcomes it is the last one of all, or the first. Values that do not depend on the data stay what
    they are on the way to a data set far away, so that what parts the two ends parts neighbours too.
    """
    near = {
        label: min((abs(mark) for mark in found if 0 < abs(mark) < inf), default=0) for label, found in marks.items()
    }
    finite = {label for label, one in labels.items() if one.law.is_finite}
    yield Script({label: Choice("index", index=-1) if label in finite else Choice("query") for label in labels})
    for index, side in product((-1, 0) if finite else (-1,), (1, -1)):
        values = {}
        for label, one in labels.items():  # by now there may be more
            if one.law.is_finite:
                values[label] = Choice("index", index=index)
                continue
            size = _BEYOND * near.get(label, 0) * (side if np.size(one.value) > 1 else 1)
            values[label] = Choice("norm", size=size, along="axis") if size else Choice("query")
        yield Script(values)


def turned(space: Space, data: Data) -> Data:
    """The target's row turned round, where that is allowed: a row with all entries, so that all it does differs."""
    _, here, there = data.parts
    width = width_of(space, there)
    if space.rows.box is not None or space.relation != "replace-one" or not width:
        return data
    row = _FALLS ** np.arange(width)
    row *= (space.rows.bound or 1.0) * SHRINK / np.linalg.norm(row)
    return data.changed(here=np.append(row, here[width:]), there=np.append(-row, there[width:]))


_A_SIZE = 20  # examples asked for, for each size at which values by design are tried
_NATURAL, _LEVELS = 2, 7  # sizes that are tried one by one, and at every landmark


class _Far(NamedTuple):
    """An example, where its batches begin, what it reached, and whether its values are by design."""

    example: Example
    begins: tuple[int, ...]
    reached: frozenset[tuple[str, str, bool]]
    calm: bool


class Further:
    """What goes on from the examples of a space: data sets far away, values by design, every open batch, uphill.

    ``before`` is asked before each example whether there may be another: it raises if not.
    """

    def __init__(self, runner: Runner, ground: AllOf, before: Callable[[], None]):
        self._runner, self._ground = runner, ground
        self._uphill = Uphill(runner, ground, before)
        self._open: list[_Far] = []  # examples that draw batches by index

    def note(self, run: ScriptedRun, one: Example, way: Way) -> None:
        """An example was run; ``way`` leads to the data set far away that it is compared with."""
        self._remember(run, one)
        self._uphill.note(run, one)
        self._far(one, way, run)

    def go(self, examples: int, climbs: int, seed: int) -> None:
        """Values by design, the target in every open batch; then uphill from the largest movements."""
        self._designed(examples // _A_SIZE)
        # the examples that together reach the most, with the target in each batch
        chosen = list(self._chosen(_RUNS // 2))
        every = [(one, place, silent) for silent in (False, True) for one in chosen for place in one.begins[-_BATCHES:]]
        for one, place, silent in every[:_RUNS]:
            moved = one.example._replace(data=self._with_target(one.example.data, place, silent))
            self._uphill.again(moved)
        self._uphill.climb(climbs, np.random.default_rng([seed, 23]))

    def _designed(self, count: int) -> None:
        """Values by design at some sizes, each run compared with every data set far away."""
        space, uphill, first = self._ground.space, self._uphill, next(iter(self._uphill.peaks.values()), None)
        if first is None:
            return
        for data in largest(space, first.data, self._ground.combinations, max(1, min(_NATURAL, count))):
            for script in one_by_one(uphill.labels, uphill.marks(data)):
                self._all_ways(Example(data, script))
        if not self._open or not count:
            return
        for data in largest(space, first.data, self._ground.combinations, min(_LEVELS, count)):
            data = turned(space, data)
            for script in at_landmarks(uphill.labels, uphill.marks(data)):
                run = self._all_ways(Example(data, script))
                if run is not None:
                    self._remember(run, Example(data, script), calm=True)

    def _all_ways(self, one: Example) -> ScriptedRun | None:
        """An example, beside every data set far away."""
        run, _ = self._uphill.again(one)
        if run is not None:
            for way in EVERY:
                self._far(one, way, run)
        return run

    def _far(self, one: Example, way: Way, run: ScriptedRun) -> None:
        """Does anything part D from a data set far away? Then there are neighbours that it parts."""
        data, script, seed = one
        far = far_rows(self._ground.space, data, way)
        if far is None or any(finding.kind in ANYWHERE for finding in run.findings):
            return

        def parts(setting: Setting) -> bool:
            beside = self._runner.scripted(setting, seed, script)
            return any(finding.kind in ANYWHERE for finding in beside.findings)

        with suppress(Exception):  # a data set that makes no problem leads nowhere
            if parts(self._ground.between(data.sizes, data.parts[0], far, data.target)):
                near = turning(self._ground, data, far, parts)
                self._runner.tried(self._ground.setting(near), near, seed, script)

    def _remember(self, run: ScriptedRun, one: Example, calm: bool = False) -> None:
        """An example was run; a ``calm`` one comes before others that reach as much."""
        begins = _begins(run.transcript)
        if len(begins) > 1:
            self._open.append(_Far(one, begins, _reached(run.transcript), calm))

    def _chosen(self, most: int) -> Iterator[_Far]:
        """Each adds the most to what those before it reached."""
        reached: set[tuple[str, str, bool]] = set()
        left = list(self._open)
        while left and most > 0:
            gains = [(one.calm and not one.reached <= reached, len(one.reached - reached)) for one in left]
            best = gains.index(max(gains))
            if not gains[best][1]:
                if not reached:
                    return
                reached = set()  # all there is has been reached: once more, by others
                continue
            one = left.pop(best)
            reached |= one.reached
            most -= min(len(one.begins), _BATCHES)
            yield one

    def _with_target(self, data: Data, place: int, silent: bool) -> Data:
        """The target changes places with the record there; the others perhaps fall silent (labels stay)."""
        (rows, here, _), box = data.parts, self._ground.space.rows.box
        if silent:
            rows[:, : width_of(self._ground.space, here)] = 0.0 if box is None else np.clip(0.0, *box)
        else:
            rows[data.target] = rows[place]
        return data.changed(rows, here, target=place)


def _begins(transcript: Transcript) -> tuple[int, ...]:
    """The first record of each batch by index; nothing if a batch is secret."""
    draws = transcript.draws
    if any(draw.hidden or draw.kind != "fresh" for draw in draws):
        return ()
    ends = np.cumsum([draw.size or 0 for draw in draws])
    return tuple(int(end) - (draw.size or 0) for end, draw in zip(ends, draws, strict=True) if draw.size)


def _reached(transcript: Transcript) -> frozenset[tuple[str, str, bool]]:
    """Each label that could be moved, the batch drawn last before it, and whether that held several records."""
    last, found = ("", False), set()
    for event in transcript.events:
        if isinstance(event, Draw):
            last = event.label, (event.size or 0) > 1
        elif isinstance(event, Release) and event.sensitivity:
            found.add((event.label, *last))
    return frozenset(found)
