"""Short right programs, one for each part of the apparatus that no row of the catalogue uses: `programs:NAME`."""

import numpy as np

from dpassay.reference import Space
from dpassay.reference.laws.categorical import exponential, permute_and_flip
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.number import DiscreteGaussian, Geometric

space = Space.matrix(radius=1.0, n=(6,), d=(3,))


def _sum(rows, indices=slice(None)):
    return rows[indices].sum(axis=0)


def laplace(rows, tape):
    return tape.laplace("sum", _sum(rows), scale=8.0, sensitivity=4.0)


def count(rows, tape):
    return tape.release("count", Geometric(float((rows[:, 0] > 0).sum()), 1.5), sensitivity=1.0)


def whole_gaussian(rows, tape):
    law = DiscreteGaussian(float((rows[:, 0] > 0).sum()), 3.0)
    return tape.release("count", law, sensitivity=1.0)


def selection(rows, tape):
    votes = [float((rows[:, column] > 0).sum()) for column in range(3)]
    return tape.release("most", exponential(votes, 0.5), sensitivity=1.0)


def flips(rows, tape):
    votes = [float((rows[:, k % 3] > 0.1 * k).sum()) for k in range(12)]
    return tape.release("most", permute_and_flip(votes, 0.5), sensitivity=1.0)


def median(rows, tape):
    edges = np.array([-1.0, *np.sort(np.clip(rows[:, 0], -1, 1)), 1.0])
    return tape.release("median", Intervals(edges, -abs(np.arange(-3.0, 4.0)), 0.5), sensitivity=1.0)


def sparse(rows, tape):
    noise = {"threshold": 1.0, "threshold_scale": 2.0, "query_scale": 4.0}
    return tape.above_threshold("search", _sum(rows)[np.arange(12) % 3], sensitivity=2.0, **noise)


def sampled_laplace(rows, tape):
    batch = tape.batch("batch", len(rows), 2)
    return tape.laplace("sum", _sum(rows, batch.indices), scale=8.0, sensitivity=4.0, batch=batch)


def batches(draw, *stds):
    """One noisy sum of a batch after the other."""

    def run(rows, tape):
        for std in stds:
            batch = draw(tape, len(rows))
            tape.gaussian("sum", _sum(rows, batch.indices), std=std, sensitivity=2.0, batch=batch)

    return run


fixed_batches = batches(lambda tape, n: tape.batch("batch", n, 2), *[8.0] * 5)
poisson = batches(lambda tape, n: tape.poisson("batch", n, 0.3), *[8.0] * 5)
one_pass = batches(lambda tape, n: tape.fresh("batch", n, 2), *[8.0] * 3)
uneven_pass = batches(lambda tape, n: tape.fresh("batch", n, 2), 16.0, 16.0, 8.0)  # the last batch alone decides


def streams(rows, tape):
    direction = tape.public("direction", lambda rng: rng.standard_normal(3))
    tape.secret("start", lambda rng: rng.standard_normal(3))
    tape.noise("start", 0.5, 3)
    return tape.gaussian("sum", _sum(rows) @ direction, std=80.0, sensitivity=20.0)
