"""Plain code in forms that tests/audit/programs does not have: right ones first, then wrong ones, then what is refused.

Right is for epsilon 1 and delta 1e-5 under replace-one; each wrong one has one bug.
"""

from functools import partial

import numpy as np

from tests.audit.programs import right, wrong


def clip(rows):
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))


# -- right -------------------------------------------------------------------------------------------------------
def normal_around_the_query(rows, rng):
    return rng.normal(np.sum(np.clip(rows[:, 0], 0, 1)), 4.0)


def two_noises(rows, rng):
    return np.clip(rows[:, 0], 0, 1).sum() + rng.normal(scale=3.0) + 4.0 * rng.randn()


def noise_per_record(rows, rng):
    return np.sum(np.clip(rows[:, 0], 0, 1) + rng.normal(0, 4.0, size=len(rows)))


def noisy_max(rows, rng):
    votes = np.array([np.sum(rows[:, 0] > 0), np.sum(rows[:, 0] <= 0)], dtype=float)
    return int(np.argmax(votes + rng.laplace(0, 2.0, size=2)))


def correlated(rows, rng, variance=64):
    size = rows.shape[1]
    return rng.multivariate_normal(clip(rows).sum(axis=0), variance * (np.eye(size) + 0.5 * np.ones((size, size))))


def two_sided_geometric(rows, rng):
    p = 1 - np.exp(-1)
    return int((rows[:, 0] > 0).sum()) + rng.geometric(p) - rng.geometric(p)


def blocks(rows):
    values = np.clip(rows[:, 0], 0, 1)
    return np.array([values[k::4].sum() for k in range(4)])


FACTOR = np.tril(np.ones((4, 4)))


def noise_of_prefixes(rows, rng):
    return FACTOR @ blocks(rows) + FACTOR @ rng.normal(0, 8, 4)


def children(rows, rng):
    one, two = rng.spawn(2)
    x = clip(rows)
    return x.sum(0) + one.normal(0, 12, x.shape[1]), (x**2).sum() + two.normal(0, 12)


def stream(rows, rng):
    def chunks():
        for part in np.array_split(clip(rows), 3):
            yield part.sum(axis=0) + rng.normal(0, 8.0, rows.shape[1])

    return np.array(list(chunks()))


def into_an_array(rows, rng):
    out = np.sum(clip(rows), axis=0, out=np.empty(rows.shape[1]))
    noise = rng.standard_normal(rows.shape[1])
    other = noise.astype(float)
    other *= 0.0
    noise *= 8.0
    return np.add(out, noise, out=out)


def from_a_random_start(rows, rng, scale=14.0):
    """Descent on the mean of |w - row|^2 / 2 from a random point: what is subtracted from the data is no noise."""
    n, d = rows.shape
    w = rng.normal(scale=0.1, size=d)
    for _ in range(3):
        w = w - 0.5 * (clip(w - rows).mean(0) + rng.normal(scale=scale / n, size=d))
    return w


def with_random_directions(rows, rng):
    """The quadratic form of the data in three directions that everybody may know."""
    direction = rng.multivariate_normal(np.zeros(rows.shape[1]), np.eye(rows.shape[1]), size=3)
    direction = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    return ((rows @ direction.T) ** 2).sum(0) + rng.normal(scale=8.0, size=3)


def two_layers(rows, rng):
    """A batch without records looks at nothing of the start, which everybody may know; as many units as records."""
    w, v = rng.normal(size=(rows.shape[1], 4)), rng.normal(size=4)
    for _ in range(2):
        hidden = np.tanh(rows[rng.random(len(rows)) < 0.1] @ w) * (rng.random(4) < 0.5)
        v = v - clip(np.tanh(hidden @ v)[:, None] * hidden).sum(axis=0) - rng.normal(scale=8.0, size=4)
    return v


def regression(rows, rng):
    """The start meets the labels, as noise does."""
    w = rng.normal(size=rows.shape[1] - 1)
    for _ in range(2):
        chosen = rows[rng.random(len(rows)) < 0.1]
        slopes = (chosen[:, :-1] @ w - chosen[:, -1])[:, None] * chosen[:, :-1]
        w = w - clip(slopes).sum(axis=0) - rng.normal(scale=8.0, size=len(w))
    return w


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
    leaves = blocks(rows) + rng.laplace(0, 6.0, 4)
    root = blocks(rows).sum() + rng.laplace(0, 6.0)
    return leaves - (leaves.sum() - root) / 5


RIGHT = (
    *(noisy_max, noise_first, tree, from_a_random_start, stream, into_an_array, noise_of_prefixes, children),
    *(right.minibatch_sgd, right.randomised_response, right.covariance, two_noises),
    *(normal_around_the_query, noise_per_record, correlated, two_sided_geometric),
    *(with_random_directions, records_in_a_loop, two_layers),
    *(partial(right.median, epsilon=1.0), right.most_common, right.adam, right.momentum, right.one_epoch),
)


# -- wrong: the search sees it on a pair of three records, or an audit does ----------------------------------------
def exact_beside_it(rows, rng):
    return {"mean": rows.mean(axis=0) + rng.normal(0, 1.0, size=2), "largest": float(rows.max())}


def last_step_bare(rows, rng):
    w = np.zeros(2)
    for step in range(3):
        noise = rng.normal(0, 1.0, size=2)
        w = np.clip(w + rows.mean(axis=0) + (noise if step < 2 else 0.0), -5, 5)
    return w


def batch_told(rows, rng):
    batch = rng.choice(len(rows), size=2, replace=False)
    return np.sort(rows[batch][:, 0])[0], rows[batch].sum() + rng.normal(0, 2.0)


SEEN = (*(exact_beside_it, last_step_bare, batch_told, wrong.noise_reused, wrong.stops_on_the_exact_gradient),)


def coin_beside_the_truth(rows, rng):
    return bool(rng.random() < 0.5), float(np.round(rows[0, 0], 3))


def random_start_then_bare(rows, rng):
    w = rng.uniform(-1, 1, rows.shape[1])
    w = w - 0.1 * (clip(w - rows).sum(axis=0) + rng.normal(0, 18, rows.shape[1]))
    return w, float(rows[0, 0])


def the_start_is_the_noise(rows, rng):
    """Only the start is random, and it is not returned: the outcome is the mean of the data plus a little of it."""
    w = rng.normal(size=rows.shape[1])
    for _ in range(5):
        w = w - 0.5 * (w - rows).mean(0)
    return w + rng.normal(scale=1e-6, size=rows.shape[1])


WRONG = (
    *(coin_beside_the_truth, random_start_then_bare, the_start_is_the_noise, wrong.answers_too_often_true),
    *(partial(correlated, variance=4), partial(from_a_random_start, scale=7.0), partial(right.median, epsilon=8.0)),
)


# -- gradients clipped at a bound that follows released values (Andrew et al. 2021) ---------------------------------
def descent(rows, rng, noise=12.0, count_noise=6.0, late=False):
    """The sum moves by twice the bound and the count by one: six Gaussian releases of mu 1/6 each, epsilon 1.591.

    ``late``: the noise is for the bound before this one. Without noise the true count decides.
    """
    n, d = rows.shape
    w, bound, before = np.zeros(d), 1.0, 1.0
    for _ in range(3):
        lengths = np.linalg.norm(w - rows, axis=1, keepdims=True)
        gradient = (w - rows) * np.minimum(1.0, bound / np.maximum(lengths, 1e-12))
        below = float((lengths <= bound).sum())
        step = (gradient.sum(axis=0) + rng.normal(0.0, noise * (before if late else bound), size=d)) / n
        share = (below + rng.normal(0.0, count_noise) if count_noise else below) / n
        w, before, bound = w - 0.3 * step, bound, bound * np.exp(-0.2 * (share - 0.5))
    return w


def noise_of_a_share_for_a_count(rows, rng):
    return descent(rows, rng, count_noise=6.0 / len(rows))


ADAPTIVE_WRONG = (partial(descent, late=True), partial(descent, noise=6.0), noise_of_a_share_for_a_count)


# -- not followed: neither accused nor acquitted -------------------------------------------------------------------
def inverse_cdf(rows, rng):
    u = rng.random() - 0.5
    return np.clip(rows[:, 0], 0, 1).sum() - 1.0 * np.sign(u) * np.log(1 - 2 * abs(u))


def geometric_on_one_side(rows, rng):
    return int((rows[:, 0] > 0).sum()) + rng.geometric(1 - np.exp(-1))


def uniforms_for_two_batches(rows, rng):
    """Who is in the smaller batch is in the larger one, too."""
    u, x = rng.random(len(rows)), clip(rows)
    return [x[u < rate].sum(axis=0) + rng.normal(0, 12.0, rows.shape[1]) for rate in (0.5, 0.2)]
