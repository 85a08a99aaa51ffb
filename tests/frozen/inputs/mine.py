"""Functions as a user writes them: a private mean, and what goes wrong with it."""

import numpy as np


def private_mean(rows, rng):
    clipped = rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    return clipped.mean(axis=0) + rng.normal(scale=8 / len(rows), size=rows.shape[1])


def unclipped_mean(rows, rng):
    return rows.mean(axis=0) + rng.normal(scale=8 / len(rows), size=rows.shape[1])


def half_noise(rows, rng):
    clipped = rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    return clipped.mean(axis=0) + rng.normal(scale=2 / len(rows), size=rows.shape[1])


def raises(rows, rng):
    raise RuntimeError("this function is broken")
