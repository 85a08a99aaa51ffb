"""Noise that the adversary knows: a random start from which data is subtracted, a random direction.

``rng.normal(size=d)`` may be noise or the start of a descent. Whoever knows a draw sees more than the code hands out,
so what the rest adds up to bounds what the code gives away: a claim that stands in such a reading stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpassay.reference.neighbours import Pair

from .kinds import standard
from .places import here

if TYPE_CHECKING:
    from .desk import Desk
    from .mechanism import PlainMechanism

_MOST = 8  # sets of lines that are tried
_EARLY = ((True, False), (False, False), (False, True))  # early, prompt: where the rest is released


def known_noise(desk: Desk, kind: str, shape: tuple[int, ...], scale: Any) -> Any:
    """``scale * noise`` that the adversary knows: plain numbers."""
    shape = np.broadcast_shapes(shape, np.shape(scale))
    size = int(np.prod(shape, dtype=int))
    numbers = desk.public(here(), lambda rng: np.asarray([standard(kind, rng) for _ in range(size)]))
    found = np.asarray(numbers).reshape(shape) * scale
    return found if shape else float(found)


def readings_with_known(plain: PlainMechanism, pairs: Sequence[Pair[Any]], seed: int) -> Iterator[PlainMechanism]:
    """Readings in which some lines of noise are known and nothing leaks on these pairs.

    Starts are drawn first: so the first line is known, the first two, and so on; then each other line by itself.

    Args:
        plain: the mechanism, which has been run.
        pairs: neighbours to try it on.
        seed: of the trial runs.
    """
    lines = list(plain.noise_lines)
    known = [frozenset(lines[:count]) for count in range(1, len(lines))]
    known += [frozenset([line]) for line in lines[1:] if len(lines) > 1]
    for some in list(dict.fromkeys(known))[:_MOST]:
        released: set[str] = set()
        for early, prompt in _EARLY:
            habits = replace(plain.habits, known=some, early=early, prompt=prompt, lazy=False)
            reading = plain.read_as(habits, pairs, seed)
            releases = "" if reading is None else reading.releases(pairs, seed)
            if reading is not None and releases not in released:
                released.add(releases)
                yield reading
