"""Thirty programs as people write them, each with one bug, at its line; the claim is what its author believes."""

import numpy as np
import pandas as pd


def clip_rows(rows, bound=1.0):
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.minimum(1.0, bound / np.maximum(norms, 1e-12))


def noise_halved(rows, rng):
    return clip_rows(rows).mean(axis=0) + rng.normal(scale=4 / len(rows), size=rows.shape[1])  # bug


def clip_missing(rows, rng):
    return rows.mean(axis=0) + rng.normal(scale=8 / len(rows), size=rows.shape[1])  # bug


def clip_after_the_mean(rows, rng):
    mean = rows.mean(axis=0)  # bug
    mean = mean / max(1.0, np.linalg.norm(mean))
    return mean + rng.normal(scale=8 / len(rows), size=rows.shape[1])


def clip_by_coordinates(rows, rng):
    """The noise is for rows of length 1; these may be sqrt(d) long."""
    return np.clip(rows, -1, 1).sum(axis=0) + rng.normal(0, 8.0, rows.shape[1])  # bug


def norm_over_the_wrong_axis(rows, rng):
    norms = np.linalg.norm(rows, axis=0, keepdims=True)  # bug
    return (rows / np.maximum(1.0, norms)).sum(axis=0) + rng.normal(0, 8.0, rows.shape[1])


def divided_by_the_actual_batch(rows, rng, rate=0.5):
    chosen = rng.random(len(rows)) < rate
    total = clip_rows(rows)[chosen].sum(axis=0) / max(1, chosen.sum())  # bug
    return total + rng.normal(0, 4.0 / (rate * len(rows)), rows.shape[1])


def noise_reused(rows, rng):
    noise = rng.normal(0, 12.0)
    values = np.clip(rows[:, 0], -1, 1)
    return values.sum() + noise, (values > 0).sum() + noise  # bug


def stops_on_the_exact_gradient(rows, rng, steps=5):
    w = np.zeros(rows.shape[1])
    for _ in range(steps):
        gradient = clip_rows(w - rows).sum(axis=0)
        if np.linalg.norm(gradient) < 0.1 * len(rows):  # bug
            break
        w = w - 0.2 * (gradient + rng.normal(0, 18.0, w.shape)) / len(rows)
    return w


def best_iterate_by_exact_loss(X, y, rng, steps=4):
    w = np.zeros(X.shape[1])
    best, least = w, np.inf
    for _ in range(steps):
        gradients = clip_rows((X @ w - np.clip(y, -1, 1))[:, None] * X)
        w = w - 0.1 * (gradients.sum(axis=0) + rng.normal(0, 16.0, w.shape)) / len(X)
        loss = np.mean((X @ w - y) ** 2)
        if loss < least:  # bug
            best, least = w.copy(), loss
    return best


def step_size_from_exact_data(rows, rng, steps=3):
    w = np.zeros(rows.shape[1])
    for _ in range(steps):
        gradient = clip_rows(w - rows).sum(axis=0)
        rate = 0.5 / (1.0 + np.linalg.norm(gradient))  # bug
        w = w - rate * (gradient + rng.normal(0, 14.0, w.shape))
    return w


def labels_unclipped(X, y, rng):
    x = clip_rows(X)
    return x.T @ y + rng.normal(0, 8.0, X.shape[1])  # bug


def counts_without_bound(rows, rng):
    """Each row holds numbers of items; the author takes a record for one item."""
    items = np.floor(np.abs(rows))  # bug
    return items.sum(axis=0) + rng.laplace(scale=2.0, size=rows.shape[1])


def standardised_by_the_exact_mean(rows, rng):
    z = (rows - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-6)  # bug
    return clip_rows(z).sum(axis=0) + rng.normal(0, 8.0, rows.shape[1])


def epsilon_for_the_scale(data, epsilon=0.5):
    values = np.clip(data[:, 0], 0, 1)
    return values.sum() + np.random.laplace(scale=epsilon)  # bug


def variance_for_the_deviation(rows, rng, sigma=0.5):
    """The author means sigma = 0.5 times 16 for a mean of n rows, and squares it."""
    return clip_rows(rows).sum(axis=0) + 16 * sigma**2 * rng.standard_normal(rows.shape[1])  # bug


def fixed_seed(rows):
    rng = np.random.default_rng(42)  # bug
    return clip_rows(rows).sum(axis=0) + rng.normal(0, 8.0, rows.shape[1])


def one_noise_for_all_steps(rows, rng, steps=4):
    noise = rng.normal(0, 16.0, rows.shape[1])  # bug
    w, path = np.zeros(rows.shape[1]), []
    for _ in range(steps):
        w = w - 0.2 * (clip_rows(w - rows).sum(axis=0) + noise) / len(rows)
        path.append(w)
    return np.array(path)


def sensitivity_of_a_removed_record(rows, rng, steps=5):
    """Noise for records that go, claimed for records that are replaced: half of what is needed."""
    w = np.zeros(rows.shape[1])
    for _ in range(steps):
        w = w - 0.1 * (clip_rows(w - rows).sum(axis=0) + rng.normal(0, 9.0, w.shape)) / len(rows)  # bug
    return w


def clipped_at_the_exact_largest(rows, rng):
    bound = np.linalg.norm(rows, axis=1).max()  # bug
    return clip_rows(rows, bound).sum(axis=0) / max(bound, 1e-9) + rng.normal(0, 8.0, rows.shape[1])


def clipped_at_an_exact_quantile(rows, rng):
    bound = np.quantile(np.linalg.norm(rows, axis=1), 0.9)  # bug
    return clip_rows(rows, bound).sum(axis=0) + rng.normal(0, 8.0, rows.shape[1])


def one_draw_for_all_coordinates(rows, rng):
    return clip_rows(rows).sum(axis=0) + rng.normal(0, 8.0)  # bug


def budget_not_split(df: pd.DataFrame, epsilon, rng=None):
    rng = rng or np.random.default_rng()
    found = {}
    for column, high in (("age", 100), ("income", 1000), ("debt", 1000)):
        found[column] = df[column].clip(0, high).mean() + rng.laplace(scale=high / (len(df) * epsilon))  # bug
    return found


class ExactCount:
    def __init__(self, noise=8.0, random_state=None):
        self.noise = noise
        self.rng = np.random.default_rng(random_state)

    def fit(self, X, y):
        positive = y > 0
        self.n_positive_ = int(positive.sum())  # bug
        total = clip_rows(X * positive[:, None]).sum(axis=0)
        self.mean_ = total + self.rng.normal(0, self.noise, X.shape[1])
        return self


def exact_winner(rows, rng, epsilon=1.0):
    votes = np.bincount(np.clip((rows[:, 0] + 1) * 2, 0, 3).astype(int), minlength=4)
    winner = int(np.argmax(votes))
    return winner, votes[winner] + rng.laplace(scale=1 / epsilon)  # bug


def told_only_if_many(data, epsilon, rng=None):
    rng = np.random.default_rng() if rng is None else rng
    count = int((data[:, 0] > 0.5).sum())
    if count < 2:  # bug
        return 0.0
    return count + rng.laplace(scale=1 / epsilon)


def noise_divided_twice(rows, rng, steps=3):
    n = len(rows)
    w = np.zeros(rows.shape[1])
    for _ in range(steps):
        gradient = clip_rows(w - rows).mean(axis=0) + rng.normal(0, 14.0 / n**2, w.shape)  # bug
        w = w - 0.5 * gradient
    return w


def clips_the_mean_gradient(X, y, rng, steps=3):
    w = np.zeros(X.shape[1])
    for _ in range(steps):
        gradient = ((X @ w - y)[:, None] * X).mean(axis=0)  # bug
        gradient = gradient / max(1.0, np.linalg.norm(gradient))
        w = w - 0.1 * (gradient + rng.normal(0, 14.0 / len(X), w.shape))
    return w


def exact_covariance(X, y, rng):
    rows = clip_rows(np.column_stack([X, y]))
    x, y = rows[:, :-1], rows[:, -1]
    xty = x.T @ y + rng.normal(0, 6.0, x.shape[1])
    return np.linalg.solve(x.T @ x + np.eye(x.shape[1]), xty)  # bug


def exact_cluster_sizes(rows, rng, steps=2):
    x = clip_rows(rows)
    centres = np.array([[-0.5], [0.5]]) * np.ones((2, x.shape[1]))
    for _ in range(steps):
        nearest = ((x[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
        for k in range(2):
            member = nearest == k
            total = x[member].sum(axis=0) + rng.normal(0, 16.0, x.shape[1])
            centres[k] = total / max(1, member.sum())  # bug
    return centres


def answers_too_often_true(rows, rng):
    bits = rows[:, 0] > 0
    keep = rng.random(len(bits)) < 0.85  # bug
    return np.where(keep, bits, ~bits)


_CLAIMED = {
    0.93: "noise_halved clip_missing clip_after_the_mean clip_by_coordinates norm_over_the_wrong_axis"
    " stops_on_the_exact_gradient best_iterate_by_exact_loss step_size_from_exact_data labels_unclipped"
    " standardised_by_the_exact_mean variance_for_the_deviation fixed_seed one_noise_for_all_steps"
    " sensitivity_of_a_removed_record clipped_at_the_exact_largest clipped_at_an_exact_quantile"
    " one_draw_for_all_coordinates ExactCount noise_divided_twice clips_the_mean_gradient exact_covariance"
    " exact_cluster_sizes",
    1.2: "divided_by_the_actual_batch",
    1.0: "noise_reused counts_without_bound budget_not_split exact_winner told_only_if_many answers_too_often_true",
    0.5: "epsilon_for_the_scale",
}
CLAIMS = {name: claimed for claimed, names in _CLAIMED.items() for name in names.split()}
