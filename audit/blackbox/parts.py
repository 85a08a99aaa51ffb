"""Outputs drawn in a few parts, each with a stream of its own: how many processes work on them changes no number."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from .kept import Kept, Part, stream_of
from .outputs import draw
from .programs import KeptAlive
from .sources import Named, Source

PARTS = 8  # a side
LEAST = 50  # outputs of a part: fewer are one part


def draw_both(
    source: Source,
    samples: int,
    seed: tuple[int, ...],
    jobs: int,
    each: Callable[[int], None],
    kept: Kept | None = None,
) -> tuple[Any, Any]:
    """`samples` outputs on both datasets.

    Args:
        seed: of all parts; a part adds its side and its place.
        jobs: processes; each of them loads the mechanism, or starts the program, anew.
        each: is told how many outputs were drawn since it was told last.
        kept: where outputs are kept as they come, and found again; it changes no number.
    """
    parts = PARTS if samples >= PARTS * LEAST else 1
    sizes = [samples * (i + 1) // parts - samples * i // parts for i in range(parts)]
    found: dict[tuple[int, int], list[Any]] = {}
    asked = []
    for side, i in product((0, 1), range(parts)):
        before = kept.part(side, i) if kept else Part((), 0, None)
        found[side, i] = list(before.pieces)
        if before.count:
            each(before.count)
        if before.count < sizes[i]:
            key = (*seed, side, i)
            asked.append((source.named, source.datasets[side], side, i, sizes[i] - before.count, key, before.stream))
    if jobs > 1:
        from dpassay.audit.running.workers import worked  # slow to import, and one process needs none of it

        for side, i, outputs in worked(_drawn, asked, jobs, ""):
            if kept is not None:
                kept.put((side, i), kept.part(side, i).count, outputs)
            found[side, i].append(outputs)
            each(len(outputs))
    else:
        for _, dataset, side, i, size, key, stream in asked:
            rng = stream_of(key, stream)
            if kept is None:
                found[side, i].append(draw(source.mechanism, dataset, size, rng, each))
            else:
                found[side, i].append(kept.draw(source.mechanism, dataset, size, (side, i), rng, each))
    p, q = (_joined([piece for i in range(parts) for piece in found[side, i]]) for side in (0, 1))
    return p, q


def _drawn(
    named: Named, dataset: Any, side: int, part: int, size: int, key: tuple[int, ...], stream: Any
) -> tuple[int, int, Any]:
    """One part, or what is left of it, in a process of its own."""
    mechanism = named.load()
    try:
        return side, part, draw(mechanism, dataset, size, stream_of(key, stream))
    finally:
        if isinstance(mechanism, KeptAlive):
            mechanism.close()


def _joined(parts: list[Any]) -> Any:
    """Parts of one sample, in order."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if all(
        isinstance(one, np.ndarray) and one.dtype == first.dtype and one.shape[1:] == first.shape[1:] for one in parts
    ):
        return np.concatenate(parts)
    return [output for one in parts for output in one]
