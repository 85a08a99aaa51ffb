"""Clipping that is done otherwise: by blocks, as groups of parameters are, before a difference, of a mean.

A block may also have the other sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.types import Array

BLOCKS: dict[str, Callable[[int], slice]] = {  # of the last axis
    "the first coordinate": lambda size: slice(0, 1),
    "the last coordinate": lambda size: slice(size - 1, size),
    "the first half": lambda size: slice(0, size // 2),
    "the second half": lambda size: slice(size // 2, size),
}


AGAIN: dict[str, Callable[[Array, float], Any]] = {  # of one value
    "": lambda value, bound: value * (bound / max(float(np.linalg.norm(value)), bound, 1e-300)),
    "each coordinate": lambda value, bound: np.clip(value, -bound, bound),
    "from above": np.minimum,
}


def _rows(value: Any) -> Array:
    found = np.array(value, dtype=float)
    if found.ndim == 0 or found.shape[-1] < 2:
        raise TypeError("no coordinates")
    return found


def turned_block(value: Any, how: str | int) -> Array:
    """With the other sign in one block of the last axis: so many entries at its beginning, or at its end."""
    found = _rows(value)
    if isinstance(how, int) and not 0 < abs(how) < found.shape[-1]:
        raise ValueError("no such block")
    block = BLOCKS[how](found.shape[-1]) if isinstance(how, str) else slice(how) if how > 0 else slice(how, None)
    found[..., block] *= -1.0
    return found


def by_blocks(rows: Any, bound: float, how: str) -> Array:
    """Each record's block, and the rest, clipped by itself."""
    found = _rows(rows)
    block = np.zeros(found.shape[-1], dtype=bool)
    block[BLOCKS[how](len(block))] = True
    for one in (block, ~block):
        found[:, one] = clip_rows(found[:, one], bound)
    return found


def but_for(rows: Any, bound: float, how: str) -> Array:
    """Each record's block as it is, the rest clipped."""
    found = _rows(rows)
    rest = np.ones(found.shape[-1], dtype=bool)
    rest[BLOCKS[how](len(rest))] = False
    found[:, rest] = clip_rows(found[:, rest], bound)
    return found


def clipped_before(rows: Any, bound: Any) -> Array:
    """Rows that are clipped before they are subtracted."""
    return clip_rows(rows, bound)


def running(rows: Any, bound: float) -> Array:
    """A sum that is clipped as each record is added."""
    total = np.zeros(np.shape(rows)[1:])
    for row in np.asarray(rows):
        total = clip_rows((total + row)[None], bound)[0]
    return total


def as_one(values: Any, bound: float) -> Array:
    """The numbers of all records clipped as if they were one record's."""
    found = _rows(values)
    if found.ndim != 1:
        raise TypeError("no numbers")
    return found * (bound / max(float(np.linalg.norm(found)), bound, 1e-300))


def mean_first(values: Any, clipped: Callable[[Any], Any]) -> Array:
    """Numbers whose mean is clipped."""
    found = np.array(values, dtype=float)
    mean = found.mean()
    return np.asarray(found * (clipped(mean) / mean))
