"""Mechanisms as people write them: plain NumPy, none of them knows a tape. The wrong ones have one bug each.

Records are rows of two numbers in the unit ball (clipped where the code says so).
"""

import numpy as np


# -- right ------------------------------------------------------------------------------------------------
def noisy_mean(data, rng):
    return data.mean(axis=0) + rng.normal(0, 0.8, size=data.shape[1])


def normal_around_the_query(data, rng):
    return rng.normal(np.sum(data[:, 0]), 4.0)


def two_noises(data, rng):
    return data[:, 0].sum() + rng.normal(scale=3.0) + rng.normal(scale=4.0)


def noise_per_record(data, rng):
    return np.sum(data[:, 0] + rng.normal(0, 1.0, size=len(data)))


def noisy_max(data, rng):
    votes = np.array([np.sum(data[:, 0] > 0), np.sum(data[:, 0] <= 0)], dtype=float)
    return int(np.argmax(votes + rng.laplace(0, 2.0, size=2)))


def test_and_answer(data, rng):
    if len(data) + rng.laplace(0, 2.0) > 2.5:
        return data[:, 0].sum() + rng.normal(0, 3.0)
    return None


# -- wrong ------------------------------------------------------------------------------------------------


def exact_beside_it(data, rng):
    return {"mean": data.mean(axis=0) + rng.normal(0, 1.0, size=2), "largest": float(data.max())}


def branch_on_the_truth(data, rng):
    total = data[:, 0].sum()
    if total > 0:
        return total + rng.normal(0, 3.0)
    return 0.0


def last_step_bare(data, rng):
    w = np.zeros(2)
    for step in range(3):
        noise = rng.normal(0, 1.0, size=2)
        w = np.clip(w + data.mean(axis=0) + (noise if step < 2 else 0.0), -5, 5)
    return w


def batch_told(data, rng):
    batch = rng.choice(len(data), size=2, replace=False)
    return np.sort(data[batch][:, 0])[0], data[batch].sum() + rng.normal(0, 2.0)


# -- found by a search, not on a pair chosen by hand ----------------------------------------------------------
def sgd_of_one(data, rng):
    w = np.zeros(data.shape[1])
    for _ in range(3):
        batch = rng.choice(len(data), size=1, replace=False)
        gradients = w - data[batch]
        clipped = gradients / np.maximum(1.0, np.linalg.norm(gradients, axis=1, keepdims=True))
        w = w - 0.1 * (clipped.sum(axis=0) + 8.0 * rng.standard_normal(w.shape))
    return w


def on_the_sphere(data, rng):
    noise = rng.normal(size=data.shape[1])
    return data.sum(axis=0) + noise / np.linalg.norm(noise)


# Gradients clipped at a bound that follows released values (Andrew et al. 2021): right, and with a planted fault.
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
