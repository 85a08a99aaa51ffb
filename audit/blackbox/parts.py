"""Outputs drawn in a few parts, each with a stream of its own: how many processes work on them changes no number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .outputs import KeptAlive, draw
from .sources import Named, Source

PARTS = 8  # a side
LEAST = 50  # outputs of a part: fewer are one part


def draw_both(
    source: Source, samples: int, seed: tuple[int, ...], jobs: int, each: Callable[[int], None]
) -> tuple[Any, Any]:
    """`samples` outputs on both datasets.

    Args:
        seed: of all parts; a part adds its side and its place.
        jobs: processes; each of them loads the mechanism, or starts the program, anew.
        each: is told how many outputs were drawn since it was told last.
    """
    parts = PARTS if samples >= PARTS * LEAST else 1
    sizes = [samples * (i + 1) // parts - samples * i // parts for i in range(parts)]
    todo = [(side, i, sizes[i], (*seed, side, i)) for side in (0, 1) for i in range(parts)]
    found: dict[tuple[int, int], Any] = {}
    if jobs == 1:
        for side, i, size, key in todo:
            rng = np.random.default_rng(list(key))
            found[side, i] = draw(source.mechanism, source.datasets[side], size, rng, each)
    else:
        from dpassay.audit.workers import worked  # slow to import, and one process needs none of it

        named = source.named
        for side, i, outputs in worked(
            _drawn, [(named, source.datasets[s], s, i, n, k) for s, i, n, k in todo], jobs, ""
        ):
            found[side, i] = outputs
            each(len(outputs))
    p, q = (_joined([found[side, i] for i in range(parts)]) for side in (0, 1))
    return p, q


def _drawn(named: Named, dataset: Any, side: int, part: int, size: int, key: tuple[int, ...]) -> tuple[int, int, Any]:
    """One part, in a process of its own."""
    mechanism = named.load()
    try:
        return side, part, draw(mechanism, dataset, size, np.random.default_rng(list(key)))
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
