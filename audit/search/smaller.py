"""Making a witness small: fewer records, fewer steps, simpler rows, simpler released values, as long as it still shows.

Greedy, from the example that was found: what is tried first saves a reader the most. The number of runs is limited, and
nothing depends on the clock, so that the same seed gives the same witness.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from dpassay.audit.lockstep.script import Choice, Script
from dpassay.reference.arrays import Array
from dpassay.reference.space import Space

from .ground import Data, Ground
from .strategies import absent_row, is_absent, width_of
from .witness import Witness, weight

_FIRST = 8  # of the smallest combinations of sizes, tried at once
_ONE_BY_ONE = 20  # of the other records, which fall silent alone
_PLAIN = (Choice("query"), Choice("zero"))


def smaller(witness: Witness, again: Callable[[Data, Script], Witness | None], ground: Ground, most: int) -> Witness:
    """The smallest example that ``most`` runs lead to.

    ``again`` runs an example: its witness if it shows the same finding, else None.
    """
    best, left, tried = witness, most, set[bytes]()
    progress = True
    while progress and left > 0:
        progress = False
        for data, script in _simpler(best.data, best.script, ground):
            rows = [] if data.rows is None else [data.parts[0].tobytes(), data.parts[2].tobytes()]
            mark = b"".join([repr((data.sizes, data.target, data.swapped, script)).encode(), *rows])
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


def _simpler(data: Data, script: Script, ground: Ground) -> Iterator[tuple[Data, Script]]:
    space = ground.space if data.rows is not None else None
    if space is not None:
        below = [one for one in ground.combinations if sum(one.values()) < sum(data.sizes.values())]
        by_one = [one for one in below if sum(one[name] != value for name, value in data.sizes.items()) == 1]
        for sizes in (*below[:_FIRST], *by_one):  # the smallest of all, then those that make one size smaller
            for kept in (data.target, 0):
                yield resized(space, data, sizes, kept), script
    yield from ((data, one) for one in _plainer(script))
    if space is not None:
        yield from ((one, script) for one in _plain_rows(space, data))
    if data.swapped:
        yield replace(data, swapped=False), script


def resized(space: Space, data: Data, sizes: Mapping[str, int], target: int) -> Data:
    """The same data with other sizes; the target stays among the records, at ``target`` or at the end."""
    rows, here, there = data.parts
    n, columns = sizes["n"], space.rows.columns(sizes)
    others, place = np.delete(rows, data.target, axis=0), min(target, n - 1)
    while len(others) < n - 1:  # more records: a size may only grow together with another that shrinks
        others = np.vstack([others, others[-1:] if len(others) else rows[:1]])
    rows = np.insert(others[: n - 1], place, here, axis=0)
    narrow = [_narrow(space, row, columns) for row in (*rows, there)]
    return Data(dict(sizes), np.array(narrow[:-1]), narrow[-1], place)


def _narrow(space: Space, row: Array, columns: int) -> Array:
    """The first features, and zeros beyond them; all of the length on the first axis where these are zero."""
    if is_absent(space, row):
        return absent_row(space, columns)
    features, label = np.split(row, [width_of(space, row)])
    kept = np.zeros(columns - len(label))
    kept[: len(features)] = features[: len(kept)]
    if not kept.any() and features.any() and kept.size:
        kept[0] = _signed_length(features)
    return np.concatenate([kept, label])


def _signed_length(features: Array) -> float:
    """The length of a row, with the sign of its largest entry."""
    return float(np.copysign(np.linalg.norm(features), features[int(np.argmax(np.abs(features)))]))


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
    every, here, there = data.parts
    width, silent = width_of(space, here), 0.0 if space.rows.box is None else space.rows.box[0]

    def emptied(row: Array, first: float = silent) -> Array:
        return np.concatenate([[first][:width], np.full(max(width - 1, 0), silent), row[width:]])

    yield data.changed(np.array([emptied(row) for row in every]), here)
    yield data.changed(there=emptied(there))
    yield data.changed(here=emptied(here))
    if space.rows.box is None:
        turned, turned_there = (emptied(row, _signed_length(row[:width])) if width else row for row in (here, there))
        yield data.changed(here=turned, there=turned_there)
        yield data.changed(here=turned)
    yield data.changed(np.tile(here, (len(every), 1)))
    for number in np.delete(np.arange(len(every)), data.target)[:_ONE_BY_ONE]:
        rows = every.copy()
        rows[number] = emptied(rows[number])
        yield data.changed(rows)
