"""Mechanisms in the styles that people write them in: right ones first, then wrong ones."""

import numpy as np


def clip(rows):
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))


# -- right, for epsilon 1 and delta 1e-5 under replace-one -------------------------------------------------------
def randomised_response(rows, rng, truth=0.73):
    bits = rows[:, 0] > 0
    keep = rng.random(len(bits)) < truth
    return np.where(keep, bits, ~bits)


def one_coin(rows, rng):
    bit = rows[0, 0] > 0
    return bit if rng.random() < 0.73 else not bit


def flips(rows, rng):
    bits = (rows[:, 0] > 0).astype(int)
    return bits ^ rng.binomial(1, 0.27, size=len(bits))


def multivariate(rows, rng):
    return clip(rows).sum(axis=0) + rng.multivariate_normal(np.zeros(rows.shape[1]), 64 * np.eye(rows.shape[1]))


def correlated(rows, rng):
    size = rows.shape[1]
    return rng.multivariate_normal(clip(rows).sum(axis=0), 64 * (np.eye(size) + 0.5 * np.ones((size, size))))


def two_sided_geometric(rows, rng):
    p = 1 - np.exp(-1)
    return int((rows[:, 0] > 0).sum()) + rng.geometric(p) - rng.geometric(p)


def exponential_mechanism(rows, rng):
    values = np.linspace(0, 1, 11)
    score = -np.abs((np.clip(rows[:, 0], 0, 1)[:, None] < values).sum(axis=0) - len(rows) / 2)
    weights = np.exp(score / 2)
    return values[rng.choice(11, p=weights / weights.sum())]


def gumbel_max(rows, rng):
    values = np.linspace(0, 1, 11)
    score = -np.abs((np.clip(rows[:, 0], 0, 1)[:, None] < values).sum(axis=0) - len(rows) / 2)
    return values[np.argmax(score / 2 + rng.gumbel(size=11))]


def coin_of_the_data(rows, rng):
    return int(rng.random() < 1 / (1 + np.exp(-np.clip(rows[:, 0], 0, 1).mean())))


def prefix_sums(rows, rng):
    values = np.clip(rows[:, 0], 0, 1)
    factor = np.tril(np.ones((4, 4)))
    return factor @ np.array([values[k::4].sum() for k in range(4)]) + factor @ rng.normal(0, 8, 4)


def symmetric_noise(rows, rng):
    size = rows.shape[1]
    noise = rng.normal(0, 12, (size, size))
    noise = np.triu(noise) + np.triu(noise, 1).T
    return np.linalg.eigvalsh(clip(rows).T @ clip(rows) + noise + 10 * np.eye(size))


def old_names(rows, rng):
    return clip(rows).sum(axis=0) + 8 * rng.randn(rows.shape[1])


def noisy_threshold(rows, rng):
    values = np.clip(rows[:, 0], 0, 1)
    threshold = 3 + rng.laplace(0, 2)
    for k in range(5):
        if np.sum(values > k / 5) + rng.laplace(0, 4) > threshold:
            return k
    return -1


def adam(rows, rng, steps=3):
    w = m = v = np.zeros(rows.shape[1])
    for t in range(1, steps + 1):
        g = clip(w - rows).sum(axis=0) + 18 * rng.normal(size=rows.shape[1])
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


def momentum(rows, rng, steps=4):
    w = u = np.zeros(rows.shape[1])
    for _ in range(steps):
        u = 0.9 * u + clip(w - rows).sum(axis=0) + rng.normal(0, 18, rows.shape[1])
        w = w - 0.1 * u
    return w


def split_order(rows, rng):
    w = np.zeros(rows.shape[1])
    for batch in np.array_split(rng.permutation(len(rows)), 2):
        w = w - 0.1 * (clip(w - rows[batch]).sum(axis=0) + 9 * rng.standard_normal(w.shape))
    return w


def poisson_loop(rows, rng, steps=3, rate=0.25):
    w = np.zeros(rows.shape[1])
    for _ in range(steps):
        g = np.zeros_like(w)
        for x in rows[rng.random(len(rows)) < rate]:
            g += (w - x) / max(1.0, np.linalg.norm(w - x))
        w = w - 0.1 * (g + rng.normal(0, 8.0, len(w))) / (rate * len(rows))
    return w


RIGHT = (
    *(randomised_response, one_coin, flips, multivariate, correlated, two_sided_geometric, exponential_mechanism),
    *(gumbel_max, coin_of_the_data, prefix_sums, symmetric_noise, old_names, adam, momentum),
    *(split_order, poisson_loop),
)


# -- wrong -----------------------------------------------------------------------------------------------------
def truth_too_often(rows, rng):
    return randomised_response(rows, rng, truth=0.9)


def coin_beside_the_truth(rows, rng):
    return bool(rng.random() < 0.5), float(np.round(rows[0, 0], 3))


def uncorrelated_enough(rows, rng):
    size = rows.shape[1]
    return clip(rows).sum(axis=0) + rng.multivariate_normal(np.zeros(size), 4 * np.eye(size))


def geometric_on_one_side(rows, rng):
    return int((rows[:, 0] > 0).sum()) + rng.geometric(1 - np.exp(-1))


def sharp_exponential_mechanism(rows, rng):
    values = np.linspace(0, 1, 11)
    score = -np.abs((np.clip(rows[:, 0], 0, 1)[:, None] < values).sum(axis=0) - len(rows) / 2)
    weights = np.exp(4 * score)
    return values[rng.choice(11, p=weights / weights.sum())]


def best_step(rows, rng):
    w, best, least = np.zeros(rows.shape[1]), None, np.inf
    for _ in range(4):
        w = w - 0.1 * (clip(w - rows).sum(axis=0) + rng.normal(0, 18, rows.shape[1]))
        loss = ((rows - w) ** 2).mean()
        if loss < least:
            best, least = w, loss
    return best


def random_start_then_bare(rows, rng):
    w = rng.uniform(-1, 1, rows.shape[1])
    w = w - 0.1 * (clip(w - rows).sum(axis=0) + rng.normal(0, 18, rows.shape[1]))
    return w, float(rows[0, 0])


WRONG = (
    *(truth_too_often, coin_beside_the_truth, uncorrelated_enough, geometric_on_one_side),
    *(sharp_exponential_mechanism, best_step, random_start_then_bare),
)


# -- not followed: neither accused nor acquitted -----------------------------------------------------------------
def inverse_cdf(rows, rng):
    u = rng.random() - 0.5
    return np.clip(rows[:, 0], 0, 1).sum() - 1.0 * np.sign(u) * np.log(1 - 2 * abs(u))


def with_replacement(rows, rng):
    w = np.zeros(rows.shape[1])
    for _ in range(3):
        batch = rng.choice(len(rows), size=2)
        w = w - 0.1 * (clip(w - rows[batch]).sum(axis=0) + 2 * rng.standard_normal(w.shape))
    return w


def three_parts(rows, rng):
    return np.clip(rows[:, 0], 0, 1).sum() + rng.standard_t(3, size=2).prod()


NOT_FOLLOWED = (inverse_cdf, with_replacement, three_parts, noisy_threshold)
