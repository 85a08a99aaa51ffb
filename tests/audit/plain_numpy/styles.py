"""Mechanisms in the styles that people write them in: right ones first, then wrong ones."""

from dataclasses import dataclass, field

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


def exponential_mechanism(rows, rng, rate=0.5):
    values = np.linspace(0, 1, 11)
    score = -np.abs((np.clip(rows[:, 0], 0, 1)[:, None] < values).sum(axis=0) - len(rows) / 2)
    weights = np.exp(rate * score)
    return values[rng.choice(11, p=weights / weights.sum())]


def coin_of_the_data(rows, rng):
    return int(rng.random() < 1 / (1 + np.exp(-np.clip(rows[:, 0], 0, 1).mean())))


def prefix_sums(rows, rng):
    values = np.clip(rows[:, 0], 0, 1)
    factor = np.tril(np.ones((4, 4)))
    return factor @ np.array([values[k::4].sum() for k in range(4)]) + factor @ rng.normal(0, 8, 4)


def old_names(rows, rng):
    return clip(rows).sum(axis=0) + 8 * rng.randn(rows.shape[1])


def noisy_threshold(rows, rng):
    values = np.clip(rows[:, 0], 0, 1)
    threshold = 3 + rng.laplace(0, 2)
    for k in range(5):
        if np.sum(values > k / 5) + rng.laplace(0, 4) > threshold:
            return k
    return -1


def poisson_loop(rows, rng, steps=3, rate=0.25):
    w = np.zeros(rows.shape[1])
    for _ in range(steps):
        g = np.zeros_like(w)
        for x in rows[rng.random(len(rows)) < rate]:
            g += (w - x) / max(1.0, np.linalg.norm(w - x))
        w = w - 0.1 * (g + rng.normal(0, 8.0, len(w))) / (rate * len(rows))
    return w


def children(rows, rng):
    one, two = rng.spawn(2)
    x = clip(rows)
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
        for part in np.array_split(clip(rows), 3):
            yield part.sum(axis=0) + rng.normal(0, 8.0, rows.shape[1])

    return np.array(list(chunks()))


def into_an_array(rows, rng):
    out = np.empty(rows.shape[1])
    np.sum(clip(rows), axis=0, out=out)
    noise = rng.standard_normal(rows.shape[1])
    noise *= 8.0
    np.add(out, noise, out=out)
    return out


def from_a_random_start(rows, rng, scale=14.0):
    """Descent on the mean of |w - row|^2 / 2 from a random point: what is subtracted from the data is no noise."""
    n, d = rows.shape
    w = rng.normal(scale=0.1, size=d)
    for _ in range(3):
        w = w - 0.5 * (clip(w - rows).mean(0) + rng.normal(scale=scale / n, size=d))
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


def records_in_a_loop(rows, rng, steps=3):
    """What is looked at has the shape of the noisy iterate, and is of one record all the same."""
    w = np.zeros(rows.shape[1])
    for _ in range(steps):
        total = np.zeros_like(w)
        for x in rows:
            total += (w - x) / max(1.0, np.linalg.norm(w - x))
        w = w - 0.1 * (total + rng.normal(0, 14.0, len(w)))
    return w


def noise_first(rows, rng):
    values = np.clip(rows[:, 0], 0, 1)
    return rng.laplace(scale=3.0) + values.sum() + values.max()


def tree(rows, rng):
    """Five numbers with noise, of which four are told that agree with each other."""
    values = np.clip(rows[:, 0], 0, 1)
    leaves = np.array([values[k::4].sum() for k in range(4)]) + rng.laplace(0, 6.0, 4)
    root = values.sum() + rng.laplace(0, 6.0)
    return leaves - (leaves.sum() - root) / 5


RIGHT = (
    *(randomised_response, one_coin, flips, multivariate, correlated, two_sided_geometric, exponential_mechanism),
    *(coin_of_the_data, prefix_sums, old_names, poisson_loop, children, with_state, stream, into_an_array),
    from_a_random_start,
    *(k_means_from_random_centres, with_random_directions, records_in_a_loop, noise_first, tree),
)


# -- wrong -----------------------------------------------------------------------------------------------------


def coin_beside_the_truth(rows, rng):
    return bool(rng.random() < 0.5), float(np.round(rows[0, 0], 3))


def uncorrelated_enough(rows, rng):
    size = rows.shape[1]
    return clip(rows).sum(axis=0) + rng.multivariate_normal(np.zeros(size), 4 * np.eye(size))


def geometric_on_one_side(rows, rng):
    return int((rows[:, 0] > 0).sum()) + rng.geometric(1 - np.exp(-1))


def sharp_exponential_mechanism(rows, rng):
    return exponential_mechanism(rows, rng, 4.0)


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


def too_little_noise_from_a_random_start(rows, rng):
    return from_a_random_start(rows, rng, 7.0)


def the_start_is_the_noise(rows, rng):
    """Only the start is random, and it is not returned: the outcome is the mean of the data plus a little of it."""
    w = rng.normal(size=rows.shape[1])
    for _ in range(5):
        w = w - 0.5 * (w - rows).mean(0)
    return w + rng.normal(scale=1e-6, size=rows.shape[1])


WRONG = (
    *(coin_beside_the_truth, uncorrelated_enough),
    *(sharp_exponential_mechanism, best_step, random_start_then_bare),
    *(too_little_noise_from_a_random_start, the_start_is_the_noise),
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


def noise_first_and_rounded(rows, rng):
    return round(float(noise_first(rows, rng)))


def uniforms_for_two_batches(rows, rng):
    """Who is in the smaller batch is in the larger one, too."""
    u, x = rng.random(len(rows)), clip(rows)
    return [x[u < rate].sum(axis=0) + rng.normal(0, 12.0, rows.shape[1]) for rate in (0.5, 0.2)]


NOT_FOLLOWED = (
    *(inverse_cdf, with_replacement, three_parts, noisy_threshold, noise_first_and_rounded),
    *(uniforms_for_two_batches, geometric_on_one_side),
)
