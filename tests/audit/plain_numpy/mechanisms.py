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
