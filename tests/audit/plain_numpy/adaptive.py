"""Gradients clipped at a bound that follows released values (Andrew et al. 2021): right, and with a planted fault."""

from __future__ import annotations

import numpy as np


def clipped(rows, bound):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.minimum(1.0, bound / np.maximum(lengths, 1e-12)), float((lengths <= bound).sum())


def descent(rows, rng, steps=3, noise=12.0, count_noise=6.0):
    """The sum moves by twice the bound and the count by one: six Gaussian releases of mu 1/6 each, epsilon 1.591."""
    n, d = rows.shape
    w, bound = np.zeros(d), 1.0
    for _ in range(steps):
        gradient, below = clipped(w - rows, bound)
        step = (gradient.sum(axis=0) + rng.normal(0.0, noise * bound, size=d)) / n
        share = (below + rng.normal(0.0, count_noise)) / n
        w, bound = w - 0.3 * step, bound * np.exp(-0.2 * (share - 0.5))
    return w


def means(rows, rng, steps=3):
    """The bound is tuned first, and each mean has noise for the new one; all means are told, and the last bound."""
    n, d = rows.shape
    bound, found = 0.5, []
    for _ in range(steps):
        share = np.mean(np.linalg.norm(rows, axis=1) < bound) + rng.normal(scale=6.0 / n)
        bound *= np.exp(-0.3 * (share - 0.5))
        found.append(clipped(rows, bound)[0].mean(axis=0) + rng.normal(scale=12.0 * bound / n, size=d))
    return np.array(found), bound


# -- wrong ---------------------------------------------------------------------------------------------------------
def the_true_share(rows, rng):
    n, d = rows.shape
    w, bound = np.zeros(d), 1.0
    for _ in range(3):
        gradient, below = clipped(w - rows, bound)
        step = (gradient.sum(axis=0) + rng.normal(0.0, 12.0 * bound, size=d)) / n
        w, bound = w - 0.3 * step, bound * np.exp(-0.2 * (below / n - 0.5))
    return w


def noise_for_the_old_bound(rows, rng):
    n, d = rows.shape
    w, bound, before = np.zeros(d), 1.0, 1.0
    for _ in range(3):
        gradient, below = clipped(w - rows, bound)
        step = (gradient.sum(axis=0) + rng.normal(0.0, 12.0 * before, size=d)) / n
        share = (below + rng.normal(0.0, 6.0)) / n
        w, before, bound = w - 0.3 * step, bound, bound * np.exp(-0.2 * (share - 0.5))
    return w


def half_the_noise(rows, rng):
    return descent(rows, rng, noise=6.0)


def noise_of_a_share_for_a_count(rows, rng):
    return descent(rows, rng, count_noise=6.0 / len(rows))


RIGHT = (descent, means)
WRONG = (noise_for_the_old_bound, half_the_noise, noise_of_a_share_for_a_count)
