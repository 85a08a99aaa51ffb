"""The two mechanisms of ``dpassay demo``: noisy gradient descent with a planted bug, and without it."""

import numpy as np

from dpassay.reference import PrivacyClaim, Space, Tape
from dpassay.reference.arrays import Array

STEPS = 3
SPACE = Space.matrix(
    n=(2, 5, 20), d=(1, 2), radius=10.0
)  # the data that the claim covers: any rows of length 10 at most
CLAIM = PrivacyClaim(epsilon=1.0, delta=1e-5)


def shorten(vectors: Array) -> Array:
    """Rows, or one vector, of length 1 at most."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(1.0, lengths))


def clips_the_mean(rows: Array, tape: Tape) -> Array:
    """Noisy gradient descent on the mean of |w - row|^2 / 2, with gradients of length 1 at most."""
    n, w = len(rows), np.zeros(rows.shape[1])
    for _ in range(STEPS):
        gradients = w - rows  # one for each record
        gradient = shorten(gradients.mean(axis=0))
        w = w - 0.5 * tape.gaussian("gradient", gradient, std=14.0 / n, sensitivity=2.0 / n)
    return w


def clips_each_record(rows: Array, tape: Tape) -> Array:
    """Noisy gradient descent on the mean of |w - row|^2 / 2, with gradients of length 1 at most."""
    n, w = len(rows), np.zeros(rows.shape[1])
    for _ in range(STEPS):
        gradients = w - rows  # one for each record
        gradient = shorten(gradients).mean(axis=0)
        w = w - 0.5 * tape.gaussian("gradient", gradient, std=14.0 / n, sensitivity=2.0 / n)
    return w
