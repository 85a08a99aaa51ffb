"""Labelled scores in blocks of neighbouring ranks, equally wide in normal quantiles: fine at both ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from dpassay.audit.evidence.label_bets import tops
from dpassay.reference.arrays import Array, Indices

STEP, LAST = 0.1, 4.0  # width of a block in normal quantiles of the rank; labels in the outermost one, about


@dataclass(frozen=True)
class Blocks:
    """Labels in blocks of neighbouring ranks, the largest scores first: how many, and how many of D'.

    Blocks of one tied score have one point of the curve in common: `point` of each block, 0, 1, ... in their order, and
    `places`, the normal quantile of each point's middle rank: -3 is far among the large scores.
    """

    size: Array
    of_q: Array
    point: Indices
    places: Array


def blocks_of(low: Array, high: Array, rng: np.random.Generator) -> Blocks:
    """The labelled scores of D and of D', each sorted upwards, in blocks; `rng` draws the order inside ties."""
    pooled = np.sort(np.concatenate([low, high]))
    depth = edges(pooled.size)
    above, below = _ties(depth, pooled)
    tied = below > above + 1
    depth = np.unique(np.concatenate([depth, above[tied], below[tied]]))
    above, below = _ties(depth, pooled)
    middle = np.where(below > above + 1, above + below, depth[:-1] + depth[1:]) / (2 * pooled.size)
    ranks, point = np.unique(middle, return_inverse=True)
    of_q = np.diff(np.append(0, tops(high, low, depth[1:], rng))).astype(float)
    return Blocks(np.diff(depth).astype(float), of_q, point, np.asarray(ndtri(ranks)))


def _ties(depth: Indices, pooled: Array) -> tuple[Indices, Indices]:
    """Between which depths the score in the middle of each block stands."""
    value = pooled[pooled.size - 1 - (depth[:-1] + depth[1:]) // 2]
    return pooled.size - np.searchsorted(pooled, value, "right"), pooled.size - np.searchsorted(pooled, value)


def edges(labels: int) -> Indices:
    """Depths at which blocks end, from 0 to `labels`: equal widths in normal quantiles."""
    reach = int(-ndtri(min(0.4, LAST / labels)) / STEP)
    inner = np.round(labels * ndtr(np.arange(-reach, reach + 1) * STEP)).astype(np.int64)
    return np.unique(np.concatenate([[0], inner, [labels]]))
