"""From the largest movement of a label that examples have shown, uphill: small changes of the rows and of the values.

Random examples rarely attain a sensitivity that needs two rows at an angle and a released value across them. A change
that moves the query further is kept, so that such a pair is reached in some steps. The label whose largest movement is
the smallest share of what it declares has the next turn; tries without success put it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dpassay.audit.lockstep.script import Script

from .camps import camps
from .ground import Data
from .moves import MOVES, Example, Move, Terrain
from .shapes import shapes

REACHED = 0.999  # a declared sensitivity that is used up to this share needs no climbing
_FRUITLESS = 0.1  # share by which a try without success puts a label back
_EVERY = 5  # of so many turns one is the separation's
SEPARATION = ""  # no label: how far all queries are moved in units of the noise, or the loss; it has no known top


@dataclass(frozen=True, eq=False)
class Peak:
    """The example that moved a label the furthest so far."""

    share: float
    data: Data
    script: Script
    seed: int


Tried = Callable[[Data, Script, int], Mapping[str, float]]  # runs an example: by label, what it moves


def climb(
    peaks: dict[str, Peak],
    terrain: Terrain,
    tried: Tried,
    runs: int,
    rng: np.random.Generator,
) -> None:
    """Spend ``runs`` on the labels below their sensitivity, the lowest first, and on the separation; ``peaks`` grow.

    A change that moves its label exactly as far as before is kept as well: on a plateau any way is good.
    """
    fruitless: Counter[str] = Counter()
    tries: Counter[str] = Counter()
    shaped: dict[str, Iterator[Example]] = {}
    lucky: dict[str, Move] = {}
    for turn in range(runs):
        label = _next(peaks, fruitless, turn)
        if label is None:
            return
        peak = peaks[label]
        before = Example(peak.data, peak.script)
        shaped.setdefault(label, (shapes if label != SEPARATION else camps)(before, terrain))
        tries[label] += 1
        by_shape = tries[label] % 2 == 1
        new, move = next(shaped[label], None) if by_shape else None, None
        if new is None:
            move = lucky.get(label) if rng.random() < 0.5 else None
            move = move or MOVES[int(rng.integers(len(MOVES)))]
            new = move(before, terrain, rng)
        fruitless[label] += 1
        lucky.pop(label, None)
        for moved, share in tried(new.data, new.script, peak.seed).items():
            known = peaks.get(moved)
            if known is None or share > known.share:
                fruitless[moved] = 0
                if move is not None and moved == label:
                    lucky[label] = move
            elif not (moved == label and share == known.share):
                continue
            peaks[moved] = Peak(share, new.data, new.script, peak.seed)


def _next(peaks: Mapping[str, Peak], fruitless: Mapping[str, int], turn: int) -> str | None:
    """Whose turn it is; None if all labels are at their sensitivity and nothing is separated."""
    below = [label for label, peak in peaks.items() if label != SEPARATION and peak.share < REACHED]
    if SEPARATION in peaks and peaks[SEPARATION].share > 0 and (turn % _EVERY == 0 or not below):
        return SEPARATION
    return min(below, key=lambda label: peaks[label].share + _FRUITLESS * fruitless.get(label, 0), default=None)
