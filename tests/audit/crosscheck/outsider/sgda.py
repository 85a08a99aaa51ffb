import numpy as np

from outsider.losses import data
from outsider.tools import clip_rows, scale, some_records


def onto_simplex(y):
    ordered = np.sort(y)[::-1]
    sums = np.cumsum(ordered) - 1
    k = np.arange(1, len(y) + 1)
    last = np.nonzero(ordered - sums / k > 0)[0][-1]
    return np.maximum(y - sums[last] / (last + 1), 0.0)


def run(case, tape):
    p, s = case["problem"], case["schedule"]
    if p["data"]["class"] != "dro.space.Squares":
        raise NotImplementedError(p["data"]["class"])
    f = data(p["data"])
    n = s["n"]
    if max(s["batch_x"], s["batch_y"]) > n or min(s["noise"]["by_label"].values()) < 0:
        raise ValueError("batch above n, or negative noise")
    everyone = np.arange(n)
    x, y = (np.array(one, dtype=float) for one in s["start"] or (np.zeros(f.d), np.full(n, 1 / n)))
    for t in range(s["steps"]):
        capped = np.minimum(f.losses(x, everyone), s["clip_y"])
        noisy = tape.gaussian("y", capped, std=scale(s, "y", s["clip_y"]), sensitivity=s["clip_y"])
        pull = np.log(np.maximum(n * y, 1e-12))
        y_new = onto_simplex(y + s["step_y"] * (noisy - p["weight"] * pull))
        weights = y_new if s["alternating"] else y
        batch, chosen = some_records(tape, "x/samples", n, s["batch_x"])
        rows = clip_rows(f.gradients(x, chosen), s["clip_x"])
        total = n / s["batch_x"] * (weights[chosen, None] * rows).sum(axis=0)
        sensitivity = 2 * s["clip_x"] * n / s["batch_x"] * float(weights.max())
        v = tape.gaussian("x", total, std=scale(s, "x", sensitivity), sensitivity=sensitivity, batch=batch)
        x = x - s["step_x"] * v
        y = y_new
    return x
