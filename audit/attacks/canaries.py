"""Canaries: records, gradients and starting points that make membership as visible as the mechanism allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array, Bools, Indices
from dpassay.reference.tape import LiveTape, Tape


def gradient_canaries(count: int, dimension: int, norm: float, rng: np.random.Generator) -> Array:
    """`count` random orthogonal gradients of the given norm, shape (count, dimension)."""
    return np.asarray(norm * np.linalg.qr(rng.normal(size=(dimension, count)))[0].T)


@dataclass(frozen=True, eq=False)
class WithCanaries:
    """A problem with extra records of constant gradients; those whose coin fell the other way contribute zero."""

    base: Any  # a finite sum with `n`, `d` and per-record `gradients`
    rows: Array
    included: Bools

    @property
    def n(self) -> int:
        """Records and canaries together: public, whatever the coins."""
        return int(self.base.n) + len(self.rows)

    @property
    def d(self) -> int:
        """Number of parameters."""
        return int(self.base.d)

    def gradients(self, w: Array, indices: Indices) -> Array:
        """Gradients of records, then of canaries, as `indices` asks for them."""
        found = np.zeros((len(indices), self.d))
        real = indices < self.base.n
        if real.any():
            found[real] = self.base.gradients(w, indices[real])
        which = indices[~real] - self.base.n
        found[~real] = self.rows[which] * self.included[which, None]
        return found


def gradient_game(
    run: Callable[[Any, Tape], Any],
    base: Any,
    rows: Array,
    rng: np.random.Generator,
    without: Callable[[Sequence[Array]], Array] | None = None,
) -> tuple[Array, Bools]:
    """One run of `run(problem, tape)` with canaries by coin: their scores, and the coins.

    The score is the inner product with the sum of all vector releases, less `without(releases)`: what that sum would be
    in expectation if all canaries were out. The auditor knows the records, and any function of the releases is fair.
    """
    included = rng.random(len(rows)) < 0.5
    tape = LiveTape(int(rng.integers(2**31)))
    run(WithCanaries(base, rows, included), tape)
    values = [np.asarray(release.value) for release in tape.transcript.releases]
    vectors = [value for value in values if value.shape == (rows.shape[1],)]
    expected = without(vectors) if without is not None else 0.0
    return np.asarray(rows @ (np.sum(vectors, axis=0) - expected)), included


def mislabelled(y: Indices, classes: int, rng: np.random.Generator) -> Indices:
    """Another label for each record, uniform among the wrong ones."""
    return np.asarray((y + rng.integers(1, classes, y.shape)) % classes)


def out_of_distribution(
    x: Array, count: int, classes: int, rng: np.random.Generator, stretch: float = 3.0
) -> tuple[Array, Indices]:
    """Records of random direction and `stretch` times the usual length, with random labels."""
    rows = rng.normal(size=(count, x.shape[1]))
    usual = float(np.median(np.linalg.norm(x, axis=1)))
    rows *= stretch * usual / np.linalg.norm(rows, axis=1, keepdims=True)
    return rows, rng.integers(0, classes, count)


def crafted_initialisation(x: Array, signs: Array, canary: Array, margin: float = 12.0) -> Array:
    """Weights of a linear classifier under which ordinary records are learned already and the canary is not.

    Least squares for signs * (x @ w) = margin and canary @ w = 0: gradients of the others vanish like exp(-margin), the
    canary's is half its norm. `signs` are labels in {-1, +1}.
    """
    rows = np.concatenate([signs[:, None] * x, len(x) * canary[None, :]])
    wanted = np.concatenate([np.full(len(x), margin), [0.0]])
    return np.asarray(np.linalg.lstsq(rows, wanted, rcond=None)[0])


def crafted_softmax(x: Array, y: Indices, classes: int, canary: Array, margin: float = 12.0) -> Array:
    """The same for softmax regression with offsets, any number of classes: parameters (features + 1) * classes.

    Where it fits, the true class of each ordinary record leads by `margin`, and all classes of the canary are equal.
    """
    rows, one = np.column_stack([x, np.ones(len(x))]), np.append(canary, 1.0)
    columns = [crafted_initialisation(rows, np.where(y == c, 1.0, -1.0), one, margin / 2) for c in range(classes)]
    return np.column_stack(columns).ravel()
