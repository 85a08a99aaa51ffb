"""A mean on the tape."""

import numpy as np

from dpassay.reference import Space

SPACE = Space.matrix(radius=10.0)  # the data that the claim covers: any rows of length 10 at most


def run(rows, tape):
    """The mean of rows that are clipped to length 1; replacing one moves it by at most 2/n."""
    n = len(rows)
    clipped = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    return tape.gaussian("mean", clipped.mean(axis=0), std=8.0 / n, sensitivity=2.0 / n)
