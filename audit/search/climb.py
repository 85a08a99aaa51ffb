"""From the largest movement of a label that examples have shown, uphill: small changes of the rows and of the values.

Random examples rarely attain a sensitivity that needs two rows at an angle and a released value across them. A change
that moves the query further is kept, so that such a pair is reached in some steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpassay.audit.lockstep.script import ALONG, Script
from dpassay.reference.space import Space
from dpassay.reference.types import Array

from .ground import Data

_REACHED = 0.999  # a declared sensitivity that is used up to this share needs no climbing
_LEAST = 1e-3  # and one that is hardly touched has no hill in sight
SEPARATION = ""  # no label: how far all queries are moved in units of the noise, or the loss; it has no known top


@dataclass(frozen=True, eq=False)
class Peak:
    """The example that moved a label the furthest so far."""

    share: float
    data: Data
    script: Script
    seed: int


Tried = Callable[[Data, Script, int], Mapping[str, float]]  # runs an example: by label, what it moves


def climb(peaks: Mapping[str, Peak], space: Space, tried: Tried, runs: int, rng: np.random.Generator) -> None:
    """Spend ``runs`` on the labels that are neither still nor at their sensitivity, and on the separation, in turn."""
    best = {label: peak for label, peak in peaks.items() if _open(label, peak.share)}
    for turn in range(runs if best else 0):
        label = list(best)[turn % len(best)]
        peak = best[label]
        data, script = _changed(peak, space, rng)
        shares = tried(data, script, peak.seed)
        for moved, share in shares.items():
            if moved in best and share > best[moved].share:
                best[moved] = Peak(share, data, script, peak.seed)
        best = {name: one for name, one in best.items() if _open(name, one.share)}
        if not best:
            return


def _open(label: str, share: float) -> bool:
    return _LEAST < share < (np.inf if label == SEPARATION else _REACHED)


def _changed(peak: Peak, space: Space, rng: np.random.Generator) -> tuple[Data, Script]:
    """One change: of the target's row, of the row on D', of both, of all others, or of a value."""
    data, script = peak.data, peak.script
    assert data.rows is not None and data.there is not None
    what = rng.integers(6)
    here, there, rows = data.rows[data.target], data.there, data.rows.copy()
    if what == 0 or space.relation == "add-remove":  # the other side is "not there" and stays so
        here, there = _one_moved(space, here, there, rng)
    elif what == 1:
        there = _moved(space, there, rng)
    elif what == 2:
        here, there = _moved(space, here, rng), _moved(space, there, rng)
    elif what == 3:
        there = _mirrored(space, here, rng)
    elif what == 4:
        others = np.arange(len(rows)) != data.target
        rows[others] = _moved(space, rows[int(rng.integers(len(rows)))], rng)
    else:
        script = _other_value(script, rng)
    rows[data.target] = here
    return Data(data.sizes, rows, there, data.target), script


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


def _mirrored(space: Space, row: Array, rng: np.random.Generator) -> Array:
    found, width = row.copy(), len(row) - bool(space.rows.labels)
    if width and space.rows.box is None:
        found[int(rng.integers(width))] *= -1
    return found


def _other_value(script: Script, rng: np.random.Generator) -> Script:
    """A norm half or twice as large, or in another direction."""
    sized = [label for label, choice in script.values.items() if choice.how in ("norm", "huge")]
    if not sized:
        return script
    label = sized[int(rng.integers(len(sized)))]
    choice = script.values[label]
    along = tuple(ALONG)[int(rng.integers(len(ALONG)))]
    size = choice.size * float(rng.choice((0.5, 0.9, 1.1, 2.0)))
    other = replace(choice, along=along) if rng.random() < 0.5 else replace(choice, size=size)
    return replace(script, values={**script.values, label: other})
