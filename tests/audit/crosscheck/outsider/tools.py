import math

import numpy as np

WORDS = {"infinity": math.inf, "-infinity": -math.inf, "nan": math.nan}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, str):
        return WORDS.get(value, value)
    return value


def table(rows):
    """Records as a matrix; anything ragged or infinite is refused."""
    found = np.array(rows, dtype=float)
    if found.ndim != 2 or not np.isfinite(found).all():
        raise ValueError("records must be finite and of one length")
    return found


def length(vector):
    return float(np.sqrt(np.sum(np.asarray(vector) ** 2)))


def clip_rows(rows, bound):
    """Every row cut down to the bound."""
    if bound == 0:
        return np.zeros_like(rows)
    if math.isinf(bound):
        return rows
    flat = rows.reshape(len(rows), int(np.prod(rows.shape[1:])))
    norms = np.sqrt((flat**2).sum(axis=1))
    factors = np.minimum(1.0, bound / np.maximum(norms, 1e-300))
    return (flat * factors[:, None]).reshape(rows.shape)


def clip_one(vector, bound):
    return clip_rows(np.asarray(vector, dtype=float)[None], bound)[0]


def scale(schedule, label, sensitivity):
    noise = schedule["noise"]
    number = noise["by_label"][label]
    if number < 0:
        raise ValueError("negative noise")
    return number if noise["class"].endswith("Printed") else number * sensitivity


def into_ball(point, radius):
    size = length(point)
    return point if radius is None or size <= radius else point * (radius / size)


def some_records(tape, label, n, size):
    """A batch without replacement, or everything."""
    if not 1 <= size <= n:
        raise ValueError("batch")
    if size == n:
        return None, np.arange(n)
    batch = tape.batch(label, n, size)
    return batch, np.array(batch.indices, dtype=int)
