"""From the largest movement of a label that examples have shown, uphill: small changes of the rows and of the values.

Random examples rarely attain a sensitivity that needs two rows at an angle and a released value across them. A change
that moves the query further is kept, so that such a pair is reached in some steps. The label whose largest movement is
the smallest share of what it declares has the next turn; tries without success put it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpassay.audit.lockstep.script import ALONG, Choice, Script
from dpassay.reference.space import Space
from dpassay.reference.types import Array

from .ground import Data

REACHED = 0.999  # a declared sensitivity that is used up to this share needs no climbing
_FRUITLESS = 0.1  # share by which a try without success puts a label back
_EVERY = 4  # of so many turns one is the separation's
_WAYS = 7  # of changing an example
SEPARATION = ""  # no label: how far all queries are moved in units of the noise, or the loss; it has no known top


@dataclass(frozen=True, eq=False)
class Peak:
    """The example that moved a label the furthest so far."""

    share: float
    data: Data
    script: Script
    seed: int


Tried = Callable[[Data, Script, int], Mapping[str, float]]  # runs an example: by label, what it moves


def climb(peaks: dict[str, Peak], space: Space, tried: Tried, runs: int, rng: np.random.Generator) -> None:
    """Spend ``runs`` on the labels below their sensitivity, the lowest first, and on the separation; ``peaks`` grow."""
    fruitless: Counter[str] = Counter()
    for turn in range(runs):
        label = _next(peaks, fruitless, turn)
        if label is None:
            return
        peak = peaks[label]
        data, script = _changed(peak, space, rng)
        fruitless[label] += 1
        for moved, share in tried(data, script, peak.seed).items():
            before = peaks.get(moved)
            if before is None or share > before.share:
                fruitless[moved] = 0
            elif not (moved == label and share == before.share == 0):  # where nothing moves yet, any way is good
                continue
            peaks[moved] = Peak(share, data, script, peak.seed)


def _next(peaks: Mapping[str, Peak], fruitless: Mapping[str, int], turn: int) -> str | None:
    """Whose turn it is; None if all labels are at their sensitivity and nothing is separated."""
    below = [label for label, peak in peaks.items() if label != SEPARATION and peak.share < REACHED]
    if SEPARATION in peaks and peaks[SEPARATION].share > 0 and (turn % _EVERY == 0 or not below):
        return SEPARATION
    return min(below, key=lambda label: peaks[label].share + _FRUITLESS * fruitless.get(label, 0), default=None)


def _changed(peak: Peak, space: Space, rng: np.random.Generator) -> tuple[Data, Script]:
    """One change: of one row or both, of all others, of the place of the target, or of a value."""
    data, script = peak.data, peak.script
    assert data.rows is not None and data.there is not None
    what = rng.integers(_WAYS)
    here, there, rows, target = data.rows[data.target], data.there, data.rows.copy(), data.target
    if what == 5 and len(rows) > 1:
        target = int(rng.integers(len(rows) - 1))
        target += target >= data.target
        rows[data.target] = rows[target]
    elif what >= 5:
        script = _other_value(script, rng)
    elif what == 0 or space.relation == "add-remove":  # the other side is "not there" and stays so
        here, there = _one_moved(space, here, there, rng)
    elif what == 1:
        there = _moved(space, there, rng)
    elif what == 2:
        here = _moved(space, here, rng)
        there = _opposite(space, here, there) if rng.random() < 0.5 else _moved(space, there, rng)
    elif what == 3:
        there = _mirrored(space, here, rng)
    else:
        others = np.arange(len(rows)) != data.target
        rows[others] = _moved(space, rows[int(rng.integers(len(rows)))], rng)
    rows[target] = here
    return Data(data.sizes, rows, there, target), script


def _one_moved(space: Space, here: Array, there: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    gone = space.absent is not None and np.array_equal(here, np.broadcast_to(space.absent, here.shape))
    if gone:
        return here, _moved(space, there, rng)
    return _moved(space, here, rng), there


def _moved(space: Space, row: Array, rng: np.random.Generator) -> Array:
    """A row nearby, at the bound or as long as before; in a box, one coordinate at an end of it."""
    found, allowed = row.copy(), space.rows
    width = len(row) - bool(allowed.labels)
    if width == 0:
        return found
    if allowed.box is not None:
        found[int(rng.integers(width))] = allowed.box[int(rng.integers(2))]
        return found
    features = found[:width] + rng.choice((0.05, 0.3, 1.0)) * (allowed.bound or 1.0) * rng.standard_normal(width)
    length, before = float(np.linalg.norm(features)), float(np.linalg.norm(row[:width]))
    size = allowed.bound if allowed.bound is not None else before * rng.choice((0.5, 1.0, 2.0)) or 1.0
    found[:width] = features * (size / max(length, 1e-300) * (1 - 2.0**-50))
    return found


def _opposite(space: Space, here: Array, there: Array) -> Array:
    """The features of ``here`` turned round, with the label of ``there``; in a box, ``there`` as it is."""
    width = len(here) - bool(space.rows.labels)
    return there if space.rows.box is not None else np.append(-here[:width], there[width:])


def _mirrored(space: Space, row: Array, rng: np.random.Generator) -> Array:
    """One coordinate turned round."""
    found, width = row.copy(), len(row) - bool(space.rows.labels)
    if width and space.rows.box is None:
        found[int(rng.integers(width))] *= -1
    return found


def _other_value(script: Script, rng: np.random.Generator) -> Script:
    """A norm half or twice as large, or in another direction; of another label a value of another kind."""
    chosen = [label for label, choice in script.values.items() if choice.how != "index"]
    if not chosen:
        return script
    label = chosen[int(rng.integers(len(chosen)))]
    choice = script.values[label]
    along = tuple(ALONG)[int(rng.integers(len(ALONG)))]
    size = choice.size * float(rng.choice((0.5, 0.9, 1.1, 2.0)))
    if choice.how not in ("norm", "huge"):
        kinds = (Choice("query"), Choice("zero"), Choice("drawn"), Choice("huge", along=along))
        other = kinds[int(rng.integers(len(kinds)))]
    else:
        other = replace(choice, along=along) if rng.random() < 0.5 else replace(choice, size=size)
    return replace(script, values={**script.values, label: other})
