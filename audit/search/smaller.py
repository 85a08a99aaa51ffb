"""Making a witness small: fewer records, fewer steps, simpler rows, simpler released values, as long as it still shows.

Greedy, from the example that was found: what is tried first saves a reader the most. The number of runs is limited, and
nothing depends on the clock, so that the same seed gives the same witness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dpassay.audit.lockstep.script import Choice, Script
from dpassay.reference.arrays import Array
from dpassay.reference.space import Sizes, Space

from .ground import Data
from .witness import Witness, weight

_FIRST = 8  # of the smallest combinations of sizes, tried at once
_PLAIN = (Choice("query"), Choice("zero"))


def smaller(
    witness: Witness,
    again: Callable[[Data, Script], Witness | None],
    space: Space | None,
    combinations: Sequence[Mapping[str, int]],
    most: int,
) -> Witness:
    """The smallest example that ``most`` runs lead to.

    Args:
        again: run an example; its witness if it shows the same finding, else None.
        combinations: of sizes, the smallest first; empty for a given pair.
    """
    best, left, tried = witness, most, set[bytes]()
    progress = True
    while progress and left > 0:
        progress = False
        for data, script in _simpler(best.data, best.script, space, combinations):
            mark = repr((data.sizes, data.target, data.swapped, script)).encode() + _bytes(data)
            if mark in tried or weight(data, script) >= weight(best.data, best.script):
                continue
            tried.add(mark)
            left -= 1
            found = again(data, script)
            if found is not None:
                best, progress = found, True
                break
            if left <= 0:
                break
    return best


def _bytes(data: Data) -> bytes:
    return b"" if data.rows is None or data.there is None else data.rows.tobytes() + data.there.tobytes()


def _simpler(
    data: Data, script: Script, space: Space | None, combinations: Sequence[Mapping[str, int]]
) -> Iterator[tuple[Data, Script]]:
    if space is not None and data.rows is not None:
        for sizes in _fewer(data.sizes, combinations):
            for kept in (data.target, 0):
                yield resized(space, data, sizes, kept), script
    yield from ((data, one) for one in _plainer(script))
    if space is not None and data.rows is not None:
        yield from ((one, script) for one in _plain_rows(space, data))
    if data.swapped:
        yield replace(data, swapped=False), script


def _fewer(sizes: Sizes, combinations: Sequence[Mapping[str, int]]) -> Iterator[Mapping[str, int]]:
    """The smallest sizes of all, then those that make one size smaller, by much first."""
    total = sum(sizes.values())
    below = [one for one in combinations if sum(one.values()) < total]
    yield from below[:_FIRST]
    for one in below:
        if sum(one[name] != value for name, value in sizes.items()) == 1:
            yield one


def resized(space: Space, data: Data, sizes: Mapping[str, int], target: int) -> Data:
    """The same data with other sizes; the target stays among the records, at ``target`` or at the end."""
    assert data.rows is not None and data.there is not None
    n, columns = sizes["n"], space.rows.columns(sizes)
    others = np.delete(data.rows, data.target, axis=0)
    place = min(target, n - 1)
    while len(others) < n - 1:  # more records: a size may only grow together with another that shrinks
        others = np.vstack([others, others[-1:] if len(others) else data.rows[:1]])
    rows = np.insert(others[: n - 1], place, data.rows[data.target], axis=0)
    return Data(
        dict(sizes),
        np.array([_narrow(space, row, columns) for row in rows]),
        _narrow(space, data.there, columns),
        place,
    )


def _narrow(space: Space, row: Array, columns: int) -> Array:
    """The first features, and zeros beyond them; all of the length on the first axis where these are zero.

    A record that is not there is not there in any width.
    """
    if space.absent is not None and np.array_equal(row, np.broadcast_to(space.absent, row.shape)):
        return np.array(np.broadcast_to(space.absent, columns), dtype=float)
    labels = bool(space.rows.labels)
    features, label = (row[:-1], row[-1:]) if labels else (row, row[:0])
    width = columns - labels
    kept = np.zeros(width)
    kept[: min(width, len(features))] = features[:width]
    if not kept.any() and features.any() and width:
        largest = float(features[int(np.argmax(np.abs(features)))])
        kept[0] = np.copysign(np.linalg.norm(features), largest)
    return np.concatenate([kept, label])


def _plainer(script: Script) -> Iterator[Script]:
    """All values alike, then one label after the other; no exceptions; the target in every batch."""
    for choice in _PLAIN:
        yield Script(dict.fromkeys(script.values, choice), {}, script.participation, script.beyond)
    if script.exceptions:
        yield replace(script, exceptions={})
        for label in script.exceptions:
            yield replace(script, exceptions={name: one for name, one in script.exceptions.items() if name != label})
    if script.participation or not script.beyond:
        yield replace(script, participation=(), beyond=True)
    for label, known in script.values.items():
        for choice in _PLAIN:
            if known != choice:
                yield replace(script, values={**script.values, label: choice})


def _plain_rows(space: Space, data: Data) -> Iterator[Data]:
    """Silent others, others like the target, the target along the first axis, nothing on D'."""
    assert data.rows is not None and data.there is not None
    features = slice(None, -1 if space.rows.labels else None)
    here, silent = data.rows[data.target], 0.0 if space.rows.box is None else space.rows.box[0]
    others = np.arange(len(data.rows)) != data.target
    rows = data.rows.copy()
    rows[others, features] = silent
    yield replace(data, rows=rows)
    for name in ("there", "here"):
        emptied = (data.there if name == "there" else here).copy()
        emptied[features] = silent
        yield _with(data, emptied, name)
    if space.rows.box is None:
        yield _with(_with(data, _on_axis(here, features), "here"), _on_axis(data.there, features), "there")
        yield _with(data, _on_axis(here, features), "here")
    rows = data.rows.copy()
    rows[others] = here
    yield replace(data, rows=rows)
    for number in np.flatnonzero(others):
        rows = data.rows.copy()
        rows[number, features] = silent
        yield replace(data, rows=rows)


def _with(data: Data, row: Array, where: str) -> Data:
    if where == "there":
        return replace(data, there=row)
    assert data.rows is not None
    rows = data.rows.copy()
    rows[data.target] = row
    return replace(data, rows=rows)


def _on_axis(row: Array, features: slice) -> Array:
    found, kept = row.copy(), row[features]
    if kept.size:
        turned = np.zeros_like(kept)
        turned[0] = np.copysign(np.linalg.norm(kept), kept[int(np.argmax(np.abs(kept)))])
        found[features] = turned
    return found
