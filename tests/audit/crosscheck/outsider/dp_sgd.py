import numpy as np

from outsider.tools import clip_rows, scale, table


def run(case, tape):
    s = case["schedule"]
    rows = table(case["problem"]["rows"])
    n, d = rows.shape
    clip, lr = s["clip"], s["learning_rate"]
    size = s["batch_size"] or n
    w = np.array(s["start"] or np.zeros(d), dtype=float)
    sensitivity = 2 * clip / size
    std = scale(s, "gradient", 2 * clip) / size
    for step in range(s["steps"]):
        if s["poisson"]:
            batch = tape.poisson("batch", n, size / n)
            chosen = np.array(batch.indices, dtype=int)
        elif size < n:
            batch = tape.batch("batch", n, size)
            chosen = np.array(batch.indices, dtype=int)
        else:
            batch, chosen = None, np.arange(n)
        per_example = rows[chosen]
        clipped = clip_rows(per_example, clip)
        mean = clipped.sum(axis=0) / size
        noisy = tape.gaussian("gradient", mean, std=std, sensitivity=sensitivity, batch=batch)
        w = w - lr * noisy
    return w
