"""Further mechanisms as people write them; the wrong ones say what is wrong in their name."""

from dataclasses import dataclass, field

import numpy as np


def ball(rows):
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))


def least_squares(rows, rng, sigma=5.8):
    """X'X and X'y of records (x, y) in the unit ball: no record moves both the most."""
    rows = ball(rows)
    x, y = rows[:, :-1], rows[:, -1]
    noise = rng.normal(0, sigma, (x.shape[1], x.shape[1]))
    covariance = x.T @ x + np.triu(noise) + np.triu(noise, 1).T
    return np.linalg.lstsq(covariance, x.T @ y + rng.normal(0, sigma, x.shape[1]), rcond=None)[0]


def histogram(rows, rng, scale=2.0):
    counts = np.zeros(4)
    np.add.at(counts, np.clip(((rows[:, 0] + 1) * 2).astype(int), 0, 3), 1.0)
    return counts + rng.laplace(0, scale, 4)


def second_moment(rows, rng):
    x = ball(rows)
    return np.einsum("ni,nj->ij", x, x) + rng.normal(0, 7.5, (x.shape[1], x.shape[1]))


def _noise(rng, d, scale):
    return scale * rng.standard_normal(d)


def row_by_row(rows, rng):
    clipped = [row * min(1.0, 1.0 / (np.linalg.norm(row) + 1e-12)) for row in rows]
    return sum(clipped, np.zeros(rows.shape[1])) + _noise(rng, rows.shape[1], 9.0)


def children(rows, rng):
    one, two = rng.spawn(2)
    x = ball(rows)
    return x.sum(0) + one.normal(0, 12, x.shape[1]), (x**2).sum() + two.normal(0, 12)


@dataclass
class Meter:
    rng: object
    scale: float
    answers: list = field(default_factory=list)

    def ask(self, query):
        self.answers.append(query + self.rng.laplace(scale=self.scale))
        return self.answers[-1]


def with_state(rows, rng, scale=4.0):
    meter = Meter(rng, scale)
    return [meter.ask(float(np.sum(rows[:, 0] > at))) for at in (-0.5, 0.0, 0.5)]


def stream(rows, rng):
    def chunks():
        for part in np.array_split(ball(rows), 3):
            yield part.sum(axis=0) + rng.normal(0, 8.0, rows.shape[1])

    return np.array(list(chunks()))


def noisy_count_below(rows, rng):
    x = ball(rows)
    keep = x[:, 0] > 0
    total = (x * keep[:, None]).sum(0) + rng.normal(0, 12.0, x.shape[1])
    return total / max(1.0, keep.sum() + rng.normal(0, 12.0))


def into_an_array(rows, rng):
    out = np.empty(rows.shape[1])
    np.sum(ball(rows), axis=0, out=out)
    noise = rng.standard_normal(rows.shape[1])
    noise *= 8.0
    np.add(out, noise, out=out)
    return out


def from_a_random_start(rows, rng, scale=14.0):
    """Descent on the mean of |w - row|^2 / 2 from a random point: what is subtracted from the data is no noise."""
    n, d = rows.shape
    w = rng.normal(scale=0.1, size=d)
    for _ in range(3):
        w = w - 0.5 * (ball(w - rows).mean(0) + rng.normal(scale=scale / n, size=d))
    return w


def k_means_from_random_centres(rows, rng, k=2):
    d = rows.shape[1]
    centres = rng.normal(size=(k, d)) * 0.3
    for _ in range(2):
        nearest = np.argmin(((rows[:, None, :] - centres[None]) ** 2).sum(-1), axis=1)
        members = np.eye(k)[nearest]
        counts = members.sum(0) + rng.normal(scale=12.0, size=k)
        centres = (members.T @ rows + rng.normal(scale=17.0, size=(k, d))) / np.maximum(counts, 1.0)[:, None]
    return centres


def with_random_directions(rows, rng):
    """The quadratic form of the data in three directions that everybody may know."""
    direction = rng.multivariate_normal(np.zeros(rows.shape[1]), np.eye(rows.shape[1]), size=3)
    direction = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    return ((rows @ direction.T) ** 2).sum(0) + rng.normal(scale=8.0, size=3)


RIGHT = (
    *(least_squares, histogram, second_moment, row_by_row, children, with_state, stream),
    *(noisy_count_below, into_an_array),
    *(from_a_random_start, k_means_from_random_centres, with_random_directions),
)


# -- wrong ---------------------------------------------------------------------------------------------------------
def least_squares_of_too_little_noise(rows, rng):
    return least_squares(rows, rng, 3.8)


def noise_for_one_cell(rows, rng):
    return histogram(rows, rng, 1.0)


def clipped_by_coordinates(rows, rng):
    clipped = [np.clip(2 * row, -1.0, 1.0) for row in rows]
    return sum(clipped, np.zeros(rows.shape[1])) + _noise(rng, rows.shape[1], 7.6)


def half_the_scale(rows, rng):
    return with_state(rows, rng, 2.0)


def stops_on_the_true_gradient(rows, rng):
    w = np.zeros(rows.shape[1])
    for _ in range(3):
        gradient = np.clip(rows @ w - 1, -1, 1) @ ball(rows)
        if np.linalg.norm(gradient) < 0.1:
            break
        w = w - 0.1 * (gradient + rng.normal(0, 14.0, rows.shape[1]))
    return w


def divides_by_the_true_count(rows, rng):
    keep = rows[:, 0] > 0
    return rows[keep].sum(0) / max(1, keep.sum()) + rng.normal(0, 4.0, rows.shape[1])


def clips_at_the_true_quantile(rows, rng):
    lengths = np.linalg.norm(rows, axis=1)
    at = np.quantile(lengths, 0.9)
    x = rows * np.minimum(1, at / np.maximum(lengths[:, None], 1e-9))
    return x.sum(0) + rng.normal(0, 3.0, rows.shape[1])


def seeded_inside(rows, rng):
    own = np.random.default_rng(7)
    return ball(rows).sum(0) + own.normal(0, 8.0, rows.shape[1])


def too_little_noise_from_a_random_start(rows, rng):
    return from_a_random_start(rows, rng, 7.0)


def the_start_is_the_noise(rows, rng):
    """Only the start is random, and it is not returned: the outcome is the mean of the data plus a little of it."""
    w = rng.normal(size=rows.shape[1])
    for _ in range(5):
        w = w - 0.5 * (w - rows).mean(0)
    return w + rng.normal(scale=1e-6, size=rows.shape[1])


WRONG = (
    *(least_squares_of_too_little_noise, noise_for_one_cell, clipped_by_coordinates, half_the_scale),
    *(stops_on_the_true_gradient, divides_by_the_true_count, clips_at_the_true_quantile, seeded_inside),
    *(too_little_noise_from_a_random_start, the_start_is_the_noise),
)
