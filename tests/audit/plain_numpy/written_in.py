"""Noise that is written into arrays, and lists of it; the wrong ones say what is wrong in their name."""

import numpy as np
from numpy import zeros

SIGMA = 9.7  # for a sum of rows of the unit ball that moves by 2
QUARTER = SIGMA / 4


def ball(rows):
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))


def _entry_by_entry(d, rng, sigma):
    noise = np.zeros(d)
    for j in range(d):
        noise[j] = rng.normal(0, sigma)
    return noise


def entry_by_entry(rows, rng):
    return ball(rows).sum(axis=0) + _entry_by_entry(rows.shape[1], rng, SIGMA)


def entry_by_entry_with_a_quarter(rows, rng):
    return ball(rows).sum(axis=0) + _entry_by_entry(rows.shape[1], rng, QUARTER)


def listed(rows, rng):
    return ball(rows).sum(axis=0) + np.array([rng.normal(0, SIGMA) for _ in range(rows.shape[1])])


def listed_with_a_quarter(rows, rng):
    return ball(rows).sum(axis=0) + np.array([rng.normal(0, QUARTER) for _ in range(rows.shape[1])])


def from_a_name(rows, rng):
    noise = zeros(rows.shape[1])
    noise[0:] = rng.normal(0, SIGMA, size=rows.shape[1])
    return ball(rows).sum(axis=0) + noise


def into_an_empty_one(rows, rng):
    noise = np.empty(rows.shape[1])
    noise[:] = rng.normal(0, SIGMA, size=rows.shape[1])
    return ball(rows).sum(axis=0) + noise


def but_one_entry(rows, rng):
    noise = np.zeros(rows.shape[1])
    noise[1:] = rng.normal(0, SIGMA, size=rows.shape[1] - 1)
    return ball(rows).sum(axis=0) + noise


def _both_halves(d, rng, sigma):
    noise = np.zeros((d, d))
    for i in range(d):
        for j in range(i, d):
            noise[i, j] = noise[j, i] = rng.normal(0, sigma)
    return noise


def symmetric(rows, rng):
    x = ball(rows)
    return x.T @ x + _both_halves(x.shape[1], rng, SIGMA)


def symmetric_with_a_quarter(rows, rng):
    x = ball(rows)
    return x.T @ x + _both_halves(x.shape[1], rng, QUARTER)


def row_of_a_row(rows, rng):
    x = ball(rows)
    noise = np.zeros((x.shape[1], x.shape[1]))
    for i in range(len(noise)):
        for j in range(i + 1):
            noise[i][j] = rng.normal(0, SIGMA)
    return x.T @ x + noise + np.tril(noise, -1).T


def _triangle(d, rng, k):
    noise, above = np.zeros((d, d)), np.triu_indices(d, k)
    noise[above] = rng.normal(0, SIGMA, size=len(above[0]))
    return noise


def triangle(rows, rng):
    x = ball(rows)
    noise = _triangle(x.shape[1], rng, 0)
    noise = noise + noise.T - np.diag(np.diag(noise))
    return x.T @ x + noise


def triangle_without_its_diagonal(rows, rng):
    x = ball(rows)
    noise = _triangle(x.shape[1], rng, 1)
    return x.T @ x + noise + noise.T


def diagonal_last(rows, rng):
    x = ball(rows)
    noise = _triangle(x.shape[1], rng, 1)
    noise += noise.T
    np.fill_diagonal(noise, rng.normal(0, SIGMA, size=len(noise)))
    return x.T @ x + noise


def halved_in_place(rows, rng):
    noise = np.zeros(rows.shape[1])
    noise[:] = rng.normal(0, 2 * SIGMA, size=rows.shape[1])
    noise *= 0.5
    return ball(rows).sum(axis=0) + noise


def eighth_in_place(rows, rng):
    noise = np.zeros(rows.shape[1])
    noise[:] = rng.normal(0, SIGMA, size=rows.shape[1])
    noise *= 0.125
    return ball(rows).sum(axis=0) + noise


def _bins(rows):
    return [float((np.minimum((rows[:, 0] + 1) * 1.5, 2).astype(int) == k).sum()) for k in range(3)]


def bin_by_bin(rows, rng):
    out = np.zeros(3)
    for k, count in enumerate(_bins(rows)):
        out[k] = rng.laplace(0, 2.0)
        out[k] += count
    return out


def bin_by_bin_but_the_last(rows, rng):
    out = np.zeros(3)
    for k, count in enumerate(_bins(rows)):
        out[k] = rng.laplace(0, 2.0) if k < 2 else 0.0
        out[k] += count
    return out


def path(rows, rng, steps=3):
    w = np.zeros(rows.shape[1])
    kept = np.zeros((steps, w.size))
    for t in range(steps):
        w = w - 0.1 * (ball(rows).sum(axis=0) + rng.normal(0, SIGMA * steps**0.5, size=w.size))
        kept[t] = w
    return kept.mean(axis=0)


def path_with_one_step_bare(rows, rng, steps=3):
    w = np.zeros(rows.shape[1])
    kept = np.zeros((steps, w.size))
    for t in range(steps):
        noise = rng.normal(0, SIGMA * steps**0.5, size=w.size) if t else 0.0
        w = w - 0.1 * (ball(rows).sum(axis=0) + noise)
        kept[t] = w
    return kept.mean(axis=0)


def noise_of_all_steps_first(rows, rng, steps=3):
    noise = np.empty((steps, rows.shape[1]))
    for t in range(steps):
        noise[t] = rng.normal(0, SIGMA * steps**0.5, size=rows.shape[1])
    w = np.zeros(rows.shape[1])
    for t in range(steps):
        w = w - 0.1 * (ball(rows).sum(axis=0) + noise[t])
    return w


def noise_of_the_first_step_for_all(rows, rng, steps=3):
    noise = np.empty((steps, rows.shape[1]))
    for t in range(steps):
        noise[t] = rng.normal(0, SIGMA * steps**0.5, size=rows.shape[1])
    shown = np.zeros((steps, rows.shape[1]))
    for t in range(steps):
        shown[t] = (t + 1) * ball(rows).sum(axis=0) + noise[0]
    return shown


def random_start(rows, rng, steps=3):
    w = np.zeros(rows.shape[1])
    w[:] = rng.normal(size=w.size)
    for _ in range(steps):
        w = w - 0.1 * (ball(rows).sum(axis=0) + rng.normal(0, SIGMA * steps**0.5, size=w.size))
    return w


RIGHT = [
    *(
        entry_by_entry,
        listed,
        from_a_name,
        into_an_empty_one,
        symmetric,
        row_of_a_row,
        triangle,
        diagonal_last,
        halved_in_place,
    ),
    *(bin_by_bin, path, noise_of_all_steps_first, random_start),
]
WRONG = [
    *(entry_by_entry_with_a_quarter, listed_with_a_quarter, but_one_entry, symmetric_with_a_quarter, eighth_in_place),
    *(triangle_without_its_diagonal, bin_by_bin_but_the_last, path_with_one_step_bare),
    noise_of_the_first_step_for_all,
]
