"""Small algorithms, each with one bug of a kind that people make, and their correct twins; (3, 1e-5) is claimed of all.

Rows have 2-norm at most 1; ``run(rows, tape)``.
"""

import numpy as np

from dpassay.reference.space import Space

STD = 6.0  # noise over sensitivity: three such releases cost about epsilon 1.2 at delta 1e-5
EPSILON, DELTA = 3.0, 1e-5


def space():
    return Space.matrix(n=(1, 2, 3, 6), d=(1, 2))


def _noisy(tape, label, query, sensitivity, std=STD, **where):
    return tape.gaussian(label, query, std=std * sensitivity, sensitivity=sensitivity, **where)


# -- correct ----------------------------------------------------------------------------------------------
def mean(rows, tape):
    return _noisy(tape, "gradient", rows.mean(axis=0), 2 / len(rows))


def descent(rows, tape):
    """Gradient descent on the mean, stops early on a released norm, escapes on a large one."""
    x = np.zeros(rows.shape[1])
    for _ in range(2):
        v = _noisy(tape, "gradient", (rows - x).mean(axis=0), 2 / len(rows))
        if np.linalg.norm(v) < 1e-3:
            return x
        if np.linalg.norm(v) > 50:
            return x + _noisy(tape, "escape", rows.mean(axis=0), 2 / len(rows))
        x = x + v / 2
    return x


def two_phases(rows, tape):
    """Every record is in one of two phases at most."""
    x = np.zeros(rows.shape[1])
    size = max(1, len(rows) // 2)
    for name in ("first", "second"):
        if tape.unused(len(rows)) < size:
            break
        batch = tape.fresh(name, len(rows), size)
        x = x + _noisy(tape, name, rows[batch.indices].mean(axis=0), 2 / size, batch=batch)
    return x


def sampled(rows, tape):
    """A batch without replacement for every step."""
    size = max(1, len(rows) // 2)
    for _ in range(2):
        batch = tape.batch("batch", len(rows), size)
        v = _noisy(tape, "gradient", rows[batch.indices].mean(axis=0), 2 / size, batch=batch)
    return v


def search_line(rows, tape):
    """The first step size that is good enough, by AboveThreshold."""
    good = [float(np.linalg.norm(rows.mean(axis=0))) * factor for factor in (1.0, 0.5, 0.25)]
    index = tape.above_threshold(
        "line", good, threshold=0.3, threshold_scale=4 * 2 / len(rows), query_scale=8 * 2 / len(rows),
        sensitivity=2 / len(rows),
    )  # fmt: skip
    return _noisy(tape, "step", rows.mean(axis=0), 2 / len(rows), 2 * STD) * (0.5 if index is None else 1.0)


# -- broken -----------------------------------------------------------------------------------------------
def true_branch(rows, tape):
    """Decides on the gradient without its noise."""
    g = rows.mean(axis=0)
    v = _noisy(tape, "gradient", g, 2 / len(rows))
    return _noisy(tape, "escape", g, 2 / len(rows)) if np.linalg.norm(g) > 0.6 else v


def true_stop(rows, tape):
    """Stops when the true loss is small."""
    x = np.zeros(rows.shape[1])
    for _ in range(3):
        if np.mean((rows - x) ** 2) < 0.01:
            break
        x = x + _noisy(tape, "gradient", (rows - x).mean(axis=0), 2 / len(rows))
    return x


def true_output(rows, tape):
    """Hands out the better of two released points by the true loss."""
    points = [_noisy(tape, f"point {k}", rows.mean(axis=0), 2 / len(rows)) for k in range(2)]
    return min(points, key=lambda x: float(np.sum((rows - x) ** 2)))


def silent_last_phase(rows, tape):
    """The second phase is released as it is; a target in the first phase never shows it."""
    x = np.zeros(rows.shape[1])
    size = max(1, len(rows) // 2)
    for name, std in (("first", STD), ("second", 0.0)):
        if tape.unused(len(rows)) < size:
            break
        batch = tape.fresh(name, len(rows), size)
        x = x + _noisy(tape, name, rows[batch.indices].mean(axis=0), 2 / size, std, batch=batch)
    return x


def infinity_clip(rows, tape):
    """Clips every coordinate in place of the norm: rows of norm up to sqrt(d) get through."""
    clipped = np.clip(rows * 3, -1, 1)
    return _noisy(tape, "gradient", clipped.mean(axis=0), 2 / len(rows))


def batch_reused(rows, tape):
    """The second gradient is taken on the first batch, and declared on the second."""
    size = max(1, len(rows) // 2)
    one = tape.batch("one", len(rows), size)
    _noisy(tape, "first", rows[one.indices].mean(axis=0), 2 / size, batch=one)
    two = tape.batch("two", len(rows), size)
    return _noisy(tape, "second", rows[one.indices].mean(axis=0), 2 / size, batch=two)


def half_sensitivity(rows, tape):
    """Replacing a record moves a mean of the unit ball by 2 / n, not 1 / n."""
    return _noisy(tape, "gradient", rows.mean(axis=0), 1 / len(rows))


def bare_return(rows, tape):
    """After a small released gradient it hands out the point it came from, without noise."""
    v = mean(rows, tape)
    if np.linalg.norm(v) < 1e-3:
        return tape.gaussian("early", rows.mean(axis=0), std=0.0, sensitivity=2 / len(rows))
    return v


def too_little_noise(rows, tape):
    """Three releases at a third of the noise."""
    for _ in range(3):
        v = _noisy(tape, "gradient", rows.mean(axis=0), 2 / len(rows), STD / 3)
    return v


def raises(rows, tape):
    """Refuses some data, which everybody sees."""
    if np.linalg.norm(rows.mean(axis=0)) < 0.2:
        raise RuntimeError("no good start")
    return mean(rows, tape)


CORRECT = (descent, two_phases, sampled, search_line)
LEAKS = (true_branch, true_stop, true_output, silent_last_phase, batch_reused, bare_return, raises)
OVERSHOOTS = (infinity_clip, half_sensitivity)
OVER_BUDGET = (too_little_noise,)
