"""Short right programs, one for each part of the apparatus that no row of the catalogue uses: `programs:NAME`."""

from dpassay.reference import Space
from dpassay.reference.laws.categorical import exponential
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


def sampled_laplace(rows, tape):
    batch = tape.batch("batch", len(rows), 2)
    return tape.laplace("sum", _sum(rows, batch.indices), scale=8.0, sensitivity=4.0, batch=batch)


def fixed_batches(rows, tape):
    for _ in range(5):
        batch = tape.batch("batch", len(rows), 2)
        tape.gaussian("sum", _sum(rows, batch.indices), std=8.0, sensitivity=2.0, batch=batch)


def poisson(rows, tape):
    for _ in range(5):
        batch = tape.poisson("batch", len(rows), 0.3)
        tape.gaussian("sum", _sum(rows, batch.indices), std=8.0, sensitivity=2.0, batch=batch)


def one_pass(rows, tape):
    for _ in range(3):
        batch = tape.fresh("batch", len(rows), 2)
        tape.gaussian("sum", _sum(rows, batch.indices), std=8.0, sensitivity=2.0, batch=batch)


def uneven_pass(rows, tape):
    """The last batch has half of the noise, so that it alone decides what a record costs."""
    for std in (16.0, 16.0, 8.0):
        batch = tape.fresh("batch", len(rows), 2)
        tape.gaussian("sum", _sum(rows, batch.indices), std=std, sensitivity=2.0, batch=batch)


def streams(rows, tape):
    direction = tape.public("direction", lambda rng: rng.standard_normal(3))
    tape.secret("start", lambda rng: rng.standard_normal(3))
    tape.noise("start", 0.5, 3)
    return tape.gaussian("sum", _sum(rows) @ direction, std=80.0, sensitivity=20.0)
