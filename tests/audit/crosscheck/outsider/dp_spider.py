import numpy as np

from outsider.tools import clip_rows, length, scale, some_records, table


def gradients(rows, x, chosen):
    """Of the value function: y is zero."""
    return rows[chosen, :2] + rows[chosen, 3:] * x


def run(case, tape):
    inner, s = case["problem"]["problem"], case["schedule"]
    if inner["class"] != "problems.pulls.Pulls" or s["select"] != "last":
        raise NotImplementedError(inner["class"])
    rows = table(inner["rows"])
    if rows.shape[1] != 4 or min(s["noise"]["by_label"].values()) < 0:
        raise ValueError("records of four numbers, noise of at least zero")
    n = len(rows)
    if max(s["refresh_batch"], s["step_batch"]) > n:
        raise ValueError("batch above n")
    x = np.array(s["start"] or [0.0, 0.0], dtype=float)
    x_old, v, path = x, np.zeros(2), [x]
    for t in range(s["steps"]):
        if t % s["period"] == 0:
            batch, chosen = some_records(tape, "refresh/samples", n, s["refresh_batch"])
            sensitivity = 2 * s["clip"] / s["refresh_batch"]
            rows_v = clip_rows(gradients(rows, x, chosen), s["clip"])
            std = scale(s, "refresh", sensitivity)
            v = tape.gaussian("refresh", rows_v.mean(axis=0), std=std, sensitivity=sensitivity, batch=batch)
        else:
            batch, chosen = some_records(tape, "difference/samples", n, s["step_batch"])
            bound = min(s["difference_clip"], s["smoothness"] * length(x - x_old))
            sensitivity = 2 * bound / s["step_batch"]
            rows_v = clip_rows(gradients(rows, x, chosen) - gradients(rows, x_old, chosen), bound)
            std = scale(s, "difference", sensitivity)
            v = v + tape.gaussian("difference", rows_v.mean(axis=0), std=std, sensitivity=sensitivity, batch=batch)
        x_old = x
        x = x - s["step_size"] * v
        path.append(x)
    return {"iterates": np.array(path), "x": x}
