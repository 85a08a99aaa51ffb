"""Private distributionally robust optimisation as pure functions: states are dicts of arrays, a loop is a scan.

Knows dro/composite_sgd, dro/composite_spider, dro/sgda, dro/private_diff.
"""

from functools import partial

import numpy as np


def scan(f, carry, length):
    history = [carry]
    for t in range(length):
        history.append(f(history[-1], t))
    return history[-1], history


def read(rows):
    table = np.array(rows, dtype=float)
    assert table.ndim == 2 and np.isfinite(table).all(), "finite records of one length"
    return {"a": table[:, :-1], "b": table[:, -1]}


def losses(data, x):
    return 0.5 * (data["a"] @ x - data["b"]) ** 2


def loss_gradients(data, x):
    return (data["a"] @ x - data["b"])[:, None] * data["a"]


def take(data, indices):
    return {name: leaf[indices] for name, leaf in data.items()}


def multiplier(noise, label):
    value = noise["by_label"][label]
    assert value >= 0, f"negative noise for {label}"
    return value


def release(tape, noise, label, query, sensitivity, batch=None):
    std = multiplier(noise, label) * sensitivity
    return np.asarray(tape.gaussian(label, query, std=std, sensitivity=sensitivity, batch=batch))


def subsample(tape, label, n, size):
    """Return (draw, indices): without replacement, or everybody."""
    assert 0 < size <= n, "a batch is a part of the data"
    if size == n:
        return None, np.arange(n)
    draw = tape.batch(f"{label}/samples", n, size)
    return draw, np.array(draw.indices)


def clip_rows(rows, bound):
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows * (bound / np.maximum(lengths, bound) if bound > 0 else 0.0)


def change_bound(schedule, moved):
    return min(schedule["difference_clip"], schedule["smoothness"] * np.linalg.norm(moved))


# the dual objective on z = (x, eta)


def dual_gradients(problem, data, z):
    """One row for each record: the gradient of weight psi*((loss - s eta) / weight) + s eta in (x, eta)."""
    s, weight = problem["dual_scale"], problem["weight"]
    u = (losses(data, z[:-1]) - s * z[-1]) / weight
    density = np.clip(u + 1.0, 0.0, 1e100)
    in_x = density[:, None] * loss_gradients(data, z[:-1])
    in_eta = s * (1.0 - density)
    return np.concatenate([in_x, in_eta[:, None]], axis=1)


def begin_dual(data, start):
    return np.zeros(data["a"].shape[1] + 1) if start is None else np.array(start, dtype=float)


def composite_sgd(problem, schedule, tape):
    data = read(problem["data"]["rows"])
    n = len(data["b"])
    size = schedule["batch_size"] or n
    multiplier(schedule["noise"], "gradient")
    sensitivity = 2 * schedule["clip"] / size

    def step(z, t):
        draw, chosen = None, data
        if schedule["poisson"] or size < n:
            draw = tape.poisson("batch", n, size / n) if schedule["poisson"] else tape.batch("batch", n, size)
            chosen = take(data, np.array(draw.indices, dtype=int))
        assert schedule["poisson"] or size <= n, "a batch is a part of the data"
        rows = clip_rows(dual_gradients(problem, chosen, z), schedule["clip"])
        noisy = release(tape, schedule["noise"], "gradient", rows.sum(axis=0) / size, sensitivity, draw)
        return z - schedule["learning_rate"] * noisy

    return scan(step, begin_dual(data, schedule["start"]), schedule["steps"])[0]


def composite_spider(problem, schedule, tape):
    data = read(problem["data"]["rows"])
    n = len(data["b"])
    noise = schedule["noise"]
    multiplier(noise, "refresh"), multiplier(noise, "difference")
    assert max(schedule["refresh_batch"], schedule["step_batch"]) <= n, "a batch is a part of the data"
    chosen = tape.public("select") if schedule["select"] == "random" else schedule["steps"]

    def refresh(state):
        size, bound = schedule["refresh_batch"], schedule["clip"]
        draw, indices = subsample(tape, "refresh", n, size)
        rows = clip_rows(dual_gradients(problem, take(data, indices), state["now"]), bound)
        return release(tape, noise, "refresh", rows.mean(axis=0), 2 * bound / size, draw)

    def correct(state):
        size = schedule["step_batch"]
        bound = change_bound(schedule, state["now"] - state["before"])
        draw, indices = subsample(tape, "difference", n, size)
        part = take(data, indices)
        change = dual_gradients(problem, part, state["now"]) - dual_gradients(problem, part, state["before"])
        rows = clip_rows(change, bound)
        return state["direction"] + release(tape, noise, "difference", rows.mean(axis=0), 2 * bound / size, draw)

    def step(state, t):
        direction = refresh(state) if t % schedule["period"] == 0 else correct(state)
        after = state["now"] - schedule["step_size"] * direction
        return {"now": after, "before": state["now"], "direction": direction}

    z = begin_dual(data, schedule["start"])
    _, history = scan(step, {"now": z, "before": z, "direction": np.zeros_like(z)}, schedule["steps"])
    return history[int(chosen)]["now"]


# the minimax form: weights y on the simplex


def onto_simplex(v):
    """Project on the simplex: one shift for all entries, cut off at zero."""
    descending = np.sort(v)[::-1]
    shifts = (np.cumsum(descending) - 1.0) / np.arange(1, len(v) + 1)
    active = np.flatnonzero(descending - shifts > 0)[-1]
    return np.maximum(v - shifts[active], 0.0)


def ascend(problem, y, gradient, step):
    pull = problem["weight"] * np.log(np.maximum(len(y) * y, 1e-12))
    return onto_simplex(y + step * (gradient - pull))


def ask_losses(tape, schedule, data, x):
    capped = np.minimum(losses(data, x), schedule["clip_y"])
    return release(tape, schedule["noise"], "y", capped, schedule["clip_y"])


def ask_weighted(tape, schedule, label, size, bound, data, y, gradients):
    """(n / size) times the sum of y_i clip(gradient_i) over a batch."""
    n = len(y)
    draw, indices = subsample(tape, label, n, size)
    rows = clip_rows(gradients(take(data, indices)), bound)
    query = (n / size) * (y[indices] @ rows)
    sensitivity = 2 * bound * (n / size) * y.max()
    return release(tape, schedule["noise"], label, query, sensitivity, draw)


def begin_minimax(problem, schedule, labels, batches):
    data = read(problem["data"]["rows"])
    n, d = data["a"].shape
    for label in labels:
        multiplier(schedule["noise"], label)
    assert all(1 <= schedule[batch] <= n for batch in batches), "a batch is a part of the data"
    x, y = schedule["start"] or (np.zeros(d), np.full(n, 1.0 / n))
    return data, np.array(x, dtype=float), np.array(y, dtype=float)


def sgda(problem, schedule, tape):
    data, x, y = begin_minimax(problem, schedule, ("x", "y"), ("batch_x", "batch_y"))

    def step(state, t):
        x, y = state["x"], state["y"]
        after = ascend(problem, y, ask_losses(tape, schedule, data, x), schedule["step_y"])
        weights = after if schedule["alternating"] else y
        gradients = partial(loss_gradients, x=x)
        noisy = ask_weighted(tape, schedule, "x", schedule["batch_x"], schedule["clip_x"], data, weights, gradients)
        return {"x": x - schedule["step_x"] * noisy, "y": after}

    return scan(step, {"x": x, "y": y}, schedule["steps"])[0]["x"]


def private_diff(problem, schedule, tape):
    labels, batches = ("y", "refresh", "difference"), ("batch_y", "refresh_batch", "step_batch")
    data, x, y = begin_minimax(problem, schedule, labels, batches)

    def climb(x, y, k):
        return ascend(problem, y, ask_losses(tape, schedule, data, x), schedule["step_y"])

    def changes(x, before, part):
        return loss_gradients(part, x) - loss_gradients(part, before)

    def step(state, t):
        x, before = state["x"], state["before"]
        y, _ = scan(partial(climb, x), state["y"], schedule["ascents"])
        if t % schedule["period"] == 0:
            how = "refresh", schedule["refresh_batch"], schedule["clip"]
            direction = ask_weighted(tape, schedule, *how, data, y, partial(loss_gradients, x=x))
        else:
            how = "difference", schedule["step_batch"], change_bound(schedule, x - before)
            direction = state["direction"] + ask_weighted(tape, schedule, *how, data, y, partial(changes, x, before))
        return {"x": x - schedule["step_x"] * direction, "y": y, "before": x, "direction": direction}

    state = {"x": x, "y": y, "before": x, "direction": np.zeros_like(x)}
    return scan(step, state, schedule["steps"])[0]["x"]


PROGRAMS = {
    "dro/composite_sgd": composite_sgd,
    "dro/composite_spider": composite_spider,
    "dro/sgda": sgda,
    "dro/private_diff": private_diff,
}


def run(case, tape):
    return PROGRAMS[case["algorithm"]](case["problem"], case["schedule"], tape)
