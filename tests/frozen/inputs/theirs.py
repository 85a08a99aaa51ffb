"""DP-SGD as another team writes it, right and with the variance for the standard deviation."""

import numpy as np


def right(case, tape, power=1):
    schedule = case["schedule"]
    rows = np.array(case["problem"]["rows"], dtype=float)
    multiplier = schedule["noise"]["by_label"].get("gradient", -1.0)
    if not np.isfinite(rows).all() or multiplier < 0:
        raise ValueError("rows or noise make no sense")
    n, clip = len(rows), schedule["clip"]
    size = schedule["batch_size"] or n
    w = np.array(schedule["start"] or np.zeros(rows.shape[1]), dtype=float)
    for _ in range(schedule["steps"]):
        batch = None
        if schedule["poisson"]:
            batch = tape.poisson("batch", n, size / n)
        elif size < n:
            batch = tape.batch("batch", n, size)
        gradients = rows if batch is None else rows[batch.indices]
        clipped = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / clip)
        sensitivity = 2 * clip / size
        mean = clipped.sum(axis=0) / size
        w = w - schedule["learning_rate"] * tape.gaussian(
            "gradient", mean, std=(multiplier * sensitivity) ** power, sensitivity=sensitivity, batch=batch
        )
    return w


def variance(case, tape):
    return right(case, tape, power=2)
