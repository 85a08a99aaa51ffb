"""Programs in forms that those of tests/audit/programs do not have: right ones, and wrong ones with a bug each."""

import random

import numpy as np

from tests.audit.programs import right, wrong


def clip(rows, c=1.0):
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True) / c)


def with_asarray(rows, rng):
    rows = np.asarray(rows, dtype=float)
    if not np.isfinite(rows).all():
        raise ValueError("finite rows only")
    return right.private_mean(rows, rng)


def legacy(rows, rng):
    return clip(rows).mean(axis=0) + np.random.normal(0, 8 / len(rows), rows.shape[1])  # noqa: NPY002


def python_noise(rows, rng):
    return np.clip(rows[:, 0], 0, 1).sum() + random.gauss(0, 4.0)


def scaled_noise(rows, rng):
    return clip(rows).sum(axis=0) + 8 * rng.standard_normal(rows.shape[1])


def sum_of_noise(rows, rng):
    d = rows.shape[1]
    return clip(rows).sum(axis=0) + (rng.normal(0, 6, d) + rng.normal(0, 6, d))


def noisy_ratio(rows, rng):
    total = np.clip(rows[:, 0], 0, 1).sum() + rng.laplace(0, 2.0)
    count = (rows[:, 0] > 0).sum() + rng.laplace(0, 2.0)
    return total / max(1.0, count)


def poisson_in_a_range(rows, rng):
    batch = rng.random(len(rows)) < 0.25
    return np.clip(np.clip(rows[batch][:, 0], 0, 1).sum(), 0, 1) + rng.normal(0, 4)


def one_pass(rows, rng):
    out = []
    order = rng.permutation(len(rows))
    for k in range(0, len(rows), 2):
        out.append(clip(rows[order[k : k + 2]]).sum(axis=0) + rng.normal(0, 8, rows.shape[1]))
    return out


def row_by_row(rows, rng):
    total = np.zeros(rows.shape[1])
    for row in rows:
        total += row / np.maximum(1, np.linalg.norm(row))
    return total + rng.normal(0, 8, rows.shape[1])


def python_numbers(rows, rng):
    total = float(np.clip(rows[:, 0], 0, 1).sum()) + rng.laplace(0, 2.0)
    return float(total) / max(1.0, float(len(rows)))


def one_row_after_another(rows, rng):
    clipped = [row * min(1.0, 1.0 / (np.linalg.norm(row) + 1e-12)) for row in np.asarray(rows, dtype=float)]
    return sum(clipped, np.zeros(rows.shape[1], dtype=float)) + rng.normal(0, 9, int(rows.shape[1]))


def twice_if_small(rows, rng):
    """A decision on a released value: the other way releases more."""
    first = np.clip(rows[:, 0], 0, 1).sum() + rng.laplace(0, 4.0)
    if first < 1e12:
        return first
    return np.clip(rows[:, 0], 0, 1).sum() + rng.laplace(0, 4.0)


RIGHT = [one for name, one in vars().items() if callable(one) and name != "clip"]
RIGHT += [right.private_mean, right.momentum, right.poisson_sgd]


# -- wrong: each has a bug that breaks epsilon 1 on rows of any length ---------------------------------------------
def noise_given_away(rows, rng):
    noise = rng.normal(scale=8 / len(rows), size=rows.shape[1])
    return clip(rows).mean(axis=0) + noise, noise


def position_counts(rows, rng):
    """Records that the batch may swap are far from each other, though each moves little."""
    far = np.clip(rows, 0, 1) + 1000.0 * np.arange(len(rows))[:, None]
    batch = rng.choice(len(rows), max(1, len(rows) // 4), replace=False)
    return far[batch].sum(axis=0) + rng.normal(0, 16, rows.shape[1])


def scale_of_the_data(rows, rng):
    return clip(rows).sum(axis=0) + rng.normal(scale=np.abs(rows).max() + 8, size=rows.shape[1])


def bare(rows, rng):
    return float(clip(rows).sum())


def leaks_by_alias(rows, rng):
    total = np.zeros(rows.shape[1])
    kept = total
    total += rows[0]
    return kept


def changed_in_place(rows, rng):
    c = clip(rows)
    view = c[:, :1]
    view *= 100
    return c.sum(axis=0) + rng.normal(0, 8, rows.shape[1])


def many_releases(rows, rng):
    return [clip(rows).sum(axis=0) + rng.normal(0, 8, rows.shape[1]) for _ in range(60)]


def more_if_large(rows, rng):
    first = np.clip(rows[:, 0], 0, 1).sum() + rng.laplace(0, 2.0)
    return first if first < 1e12 else rows.sum()


def as_many_as_noise_says(rows, rng):
    count = int(np.clip(rows[:, 0], 0, 1).sum() + rng.laplace(0, 2.0))
    return [np.clip(rows[:, 0], 0, 1).sum() + rng.laplace(0, 2.0) for _ in range(count)]


def again_if_large(rows, rng):
    first = float(np.clip(rows[:, 0], 0, 1).sum() + rng.laplace(0, 2.0))
    return first if float(first) < 1e300 else float(rows.sum())


def laplace_of_a_vector(rows, rng):
    return clip(rows).sum(axis=0) + rng.laplace(0, 2.0, rows.shape[1])


def escapes_to_a_global(rows, rng):
    order = rng.choice(len(rows), 1, replace=False)
    return clip(rows[order]).sum(axis=0) + rng.normal(0, 8, rows.shape[1]), order


WRONG = [one for name, one in vars().items() if callable(one) and name != "clip" and one not in RIGHT]
WRONG += [wrong.clip_missing, wrong.stops_on_the_exact_gradient, wrong.divided_by_the_actual_batch]
