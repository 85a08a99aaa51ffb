"""Thirty programs as people write them that keep to their claim (replace-one neighbours, delta 1e-5)."""

import random

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state


def clip_rows(rows, bound=1.0):
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.minimum(1.0, bound / np.maximum(norms, 1e-12))


def private_mean(rows, rng):
    clipped = rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    return clipped.mean(axis=0) + rng.normal(scale=8 / len(rows), size=rows.shape[1])


def global_sum(rows):
    return clip_rows(rows).sum(axis=0) + np.random.normal(0, 8.0, rows.shape[1])


def laplace_mean(data, epsilon):
    values = np.clip(data[:, 0], 0, 1)
    noisy = values.mean() + np.random.laplace(scale=1 / (len(values) * epsilon))
    print(f"mean of {len(values)} rows: {noisy:.2f}")
    return noisy


def count_above(data, epsilon, threshold=0.5, rng=None):
    rng = np.random.default_rng() if rng is None else rng
    return (data[:, 0] > threshold).sum() + rng.laplace(0, 1 / epsilon)


def histogram(rng, data):
    counts, _ = np.histogram(np.clip(data[:, 0], 0, 1), bins=5, range=(0, 1))
    return counts + rng.laplace(scale=2.0, size=5)


class Meter:
    def __init__(self, sigma=8.0, seed=None):
        self.sigma = sigma
        self.rng = np.random.default_rng(seed)

    def mean(self, data):
        total = clip_rows(data).sum(axis=0)
        return (total + self.rng.normal(0, self.sigma, total.shape)) / len(data)


meter = Meter()


def logistic_regression(X, y, rng=None, steps=10, sigma=26.0, rate=0.5):
    rng = rng or np.random.default_rng()
    w = np.zeros(X.shape[1])
    for _ in range(steps):
        margins = y * w.dot(X.T)
        gradients = -(y / (1 + np.exp(margins)))[:, None] * X
        norms = np.linalg.norm(gradients, axis=1, keepdims=True)
        gradients = gradients / np.maximum(1.0, norms)
        w = w - rate * (gradients.sum(axis=0) + sigma * rng.standard_normal(X.shape[1])) / len(X)
    return w


class DPClassifier(BaseEstimator):
    def __init__(self, clip=1.0, noise=18.0, epochs=5, random_state=None):
        self.clip, self.noise, self.epochs, self.random_state = clip, noise, epochs, random_state

    def fit(self, X, y):
        rng = check_random_state(self.random_state)
        self.coef_ = np.zeros(X.shape[1])
        for _ in range(self.epochs):
            grads = clip_rows(X * (np.tanh(X @ self.coef_) - np.clip(y, -1, 1))[:, None], self.clip)
            noise = rng.normal(0, self.noise * self.clip, X.shape[1])
            self.coef_ = self.coef_ - 0.1 * (grads.sum(axis=0) + noise) / len(X)
        return self


def poisson_sgd(rows, rng, steps=4, rate=0.25, sigma=8.0):
    w = np.zeros(rows.shape[1])
    for _ in range(steps):
        chosen = rng.random(len(rows)) < rate
        gradients = clip_rows(w - rows[chosen])
        w = w - 0.2 * (gradients.sum(axis=0) + rng.normal(0, sigma, w.shape)) / (rate * len(rows))
    return w


def minibatch_sgd(rows, rng, steps=4, sigma=12.0):
    n, d = rows.shape
    size = max(1, n // 2)
    w = np.zeros(d)
    for _ in range(steps):
        batch = rng.choice(n, size=size, replace=False)
        gradient = clip_rows(w - rows[batch]).sum(axis=0)
        w = w - 0.2 * (gradient + rng.normal(0, sigma, d)) / size
    return w


def one_epoch(rows, rng, sigma=8.0):
    order = rng.permutation(len(rows))
    w = np.zeros(rows.shape[1])
    half = len(rows) // 2
    for part in (order[:half], order[half:]):
        g = clip_rows(w - rows[part]).sum(axis=0)
        w = w - 0.1 * (g + sigma * rng.standard_normal(w.shape))
    return w


def linear_regression(X, y, rng):
    rows = clip_rows(np.column_stack([X, y]))
    X, y = rows[:, :-1], rows[:, -1]
    d = X.shape[1]
    xtx = X.T @ X + rng.normal(0, 9.0, (d, d))
    xty = X.T @ y + rng.normal(0, 9.0, d)
    return np.linalg.solve(xtx + 20 * np.eye(d), xty)


def covariance(rows, rng):
    x = clip_rows(rows)
    d = x.shape[1]
    noise = np.triu(rng.normal(0, 7.0, (d, d)))
    noise = noise + np.triu(noise, 1).T
    return x.T @ x + noise


def principal_axis(data, rng):
    x = clip_rows(data)
    cov = np.einsum("ni,nj->ij", x, x) / len(x)
    noisy = cov + rng.normal(scale=7.0 / len(x), size=cov.shape)
    _, vectors = np.linalg.eigh((noisy + noisy.T) / 2)
    return vectors[:, -1]


def k_means(rows, rng, steps=3):
    x = np.clip(rows, -1, 1)
    d = x.shape[1]
    centres = np.linspace(-0.5, 0.5, 2)[:, None] * np.ones((1, d))
    for _ in range(steps):
        distance = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        member = np.eye(2)[distance.argmin(axis=1)]
        counts = member.sum(axis=0) + rng.normal(0, 16.0, 2)
        sums = member.T @ x + rng.normal(0, 24.0 * np.sqrt(d), (2, d))
        centres = np.clip(sums / np.maximum(counts, 1.0)[:, None], -1, 1)
    return centres


def adam(rows, rng, steps=5, sigma=18.0):
    d = rows.shape[1]
    w, m, v = np.zeros(d), np.zeros(d), np.zeros(d)
    for t in range(1, steps + 1):
        g = clip_rows(w - rows).sum(axis=0) + rng.normal(0, sigma, d)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


def momentum(rows, rng, steps=6, sigma=20.0):
    w = np.zeros(rows.shape[1])
    velocity = np.zeros_like(w)
    for _ in range(steps):
        noisy = clip_rows(w - rows).sum(axis=0) + sigma * rng.standard_normal(len(w))
        velocity = 0.9 * velocity + noisy / len(rows)
        w = w - 0.05 * velocity
    return w


def most_common(rows, rng, epsilon=1.0):
    bins = np.clip((rows[:, 0] + 1) * 2, 0, 3).astype(int)
    votes = np.bincount(bins, minlength=4)
    return int(np.argmax(votes + rng.gumbel(scale=2 / epsilon, size=4)))


def median(data, epsilon, rng):
    candidates = np.linspace(0, 1, 21)
    values = np.clip(data[:, 0], 0, 1)
    scores = -np.abs((values[:, None] < candidates).sum(axis=0) - len(values) / 2)
    weights = np.exp(epsilon * (scores - scores.max()) / 2)
    return rng.choice(candidates, p=weights / weights.sum())


def randomised_response(rows, rng):
    bits = rows[:, 0] > 0
    keep = rng.random(len(bits)) < np.e / (1 + np.e)
    return np.where(keep, bits, ~bits)


def ages(people):
    return people["age"].clip(0, 100)


def frame_means(df: pd.DataFrame, epsilon, rng=None):
    rng = rng or np.random.default_rng()
    age = ages(df)
    income = df["income"].clip(0, 1000)
    n = len(df)
    return {
        "age": age.mean() + rng.laplace(scale=2 * 100 / (n * epsilon)),
        "income": income.mean() + rng.laplace(scale=2 * 1000 / (n * epsilon)),
    }


def stdlib_sum(rows, sigma=8.0):
    total = 0.0
    for row in rows:
        total += max(-1.0, min(1.0, row[0]))
    return total + random.gauss(0, sigma)


def prefix_sums(rows, rng, sigma=12.0):
    values = np.clip(rows[:, 0], 0, 1)
    blocks = np.array([values[k::4].sum() for k in range(4)])
    leaves = blocks + rng.normal(0, sigma, 4)
    pairs = blocks.reshape(2, 2).sum(axis=1) + rng.normal(0, sigma, 2)
    root = blocks.sum() + rng.normal(0, sigma)
    return [leaves[0], pairs[0], pairs[0] + leaves[2], root]


def projected_descent(rows, rng, steps=8, sigma=24.0):
    w, average = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for t in range(steps):
        g = np.clip(w - rows, -1, 1) / np.sqrt(rows.shape[1])
        w = w - 0.5 / np.sqrt(t + 1) * (g.sum(axis=0) + rng.normal(0, sigma, w.shape)) / len(rows)
        w = w / max(1.0, np.linalg.norm(w))
        average += w / steps
    return average


def in_place(rows, rng):
    total = clip_rows(rows).sum(axis=0)
    total += rng.normal(0, 8.0, total.shape)
    total /= len(rows)
    return total


def by_coordinates(rows, rng):
    lengths = np.abs(rows).sum(axis=1, keepdims=True)
    clipped = rows / np.maximum(1.0, lengths)
    return np.array([column.sum() + rng.laplace(scale=2.0) for column in clipped.T])


def report(rows, rng):
    x = clip_rows(rows)
    return {
        "mean": x.mean(axis=0) + rng.normal(0, 16.0 / len(x), x.shape[1]),
        "positive": (x[:, 0] > 0).sum() + rng.normal(0, 8.0),
        "energy": (x**2).sum() + rng.normal(0, 8.0),
    }


def ridge_output(X, y, rng, strength=1.0):
    """Regularised least absolute deviation by steps on |x| <= 1: stability 2 / (strength n)."""
    x, n = clip_rows(X), len(X)
    w = np.zeros(X.shape[1])
    for t in range(1, 30):
        g = (np.sign(x @ w - y)[:, None] * x).mean(axis=0) + strength * w
        w = w - g / (strength * t)
    return w + rng.normal(0, 8 * 4 / (strength * n), w.shape)


def adaptive_clip(rows, rng, steps=3):
    n, d = rows.shape
    w, bound = np.zeros(d), 1.0
    for _ in range(steps):
        g = w - rows
        lengths = np.linalg.norm(g, axis=1, keepdims=True)
        clipped = g * np.minimum(1.0, bound / np.maximum(lengths, 1e-12))
        below = (lengths <= bound).sum() + rng.normal(0, 10.0)
        step = clipped.sum(axis=0) + bound * rng.normal(0, 16.0, d)
        w, bound = w - 0.3 * step / n, bound * np.exp(-0.2 * (below / n - 0.5))
    return w


def noisy_variance(data, rng):
    x = np.clip(data[:, 0], 0, 1)
    n = len(x)
    mean = x.mean() + rng.normal(scale=6 / n)
    square = (x**2).mean() + rng.normal(scale=6 / n)
    return mean, max(0.0, square - mean**2)


# what the author claims: the noise against the worst replaced record, exactly accounted and rounded up
_CLAIMED = {
    0.93: "private_mean global_sum meter.mean DPClassifier one_epoch adam stdlib_sum in_place ridge_output",
    1.0: "laplace_mean count_above histogram most_common median randomised_response frame_means by_coordinates",
    0.9: "logistic_regression k_means projected_descent report noisy_variance",
    0.44: "poisson_sgd",
    1.3: "minibatch_sgd",
    0.8: "linear_regression prefix_sums",
    0.74: "covariance principal_axis",
    0.91: "momentum",
    1.05: "adaptive_clip",
}
CLAIMS = {name: claimed for claimed, names in _CLAIMED.items() for name in names.split()}
