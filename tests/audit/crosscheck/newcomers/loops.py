"""DP Double-SPIDER (dro/double_spider) as it would be written in C: flat lists, counters, no library but math."""

import math

CAP = 1e100


def dot(a, b):
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


def conjugate_slope(divergence, u):
    """psi*'(u)."""
    name = divergence["name"]
    if name == "chi_square":
        slope = u + 1.0 if u > -1.0 else 0.0
    elif name == "kl":
        slope = math.exp(u) if u < 230.0 else CAP
    elif name.startswith("kl_cvar"):
        limit = -math.log(divergence["constants"]["alpha"])
        slope = math.exp(u if u < limit else limit)
    elif name.startswith("cressie_read"):
        k = divergence["constants"]["k"]
        base = (k - 1.0) * u + 1.0
        if k < 1.0:
            raise NotImplementedError(name)
        slope = base ** (1.0 / (k - 1.0)) if base > 0.0 else 0.0
    else:
        raise NotImplementedError(name)
    return slope if slope < CAP else CAP


def loss_and_gradient(family, row, x):
    d = len(x)
    if family == "dro.space.Squares":
        error = dot(row[:d], x) - row[d]
        return 0.5 * error * error, [error * row[j] for j in range(d)]
    if family == "dro.space.Waves":
        a, b = row[0], row[1]
        s, c = math.sin(2.0 * x[0]), math.cos(2.0 * x[0])
        gradient = [0.0] * d
        gradient[0] = a * c - b * s
        return 0.5 * (1.0 + a * s + b * c), gradient
    raise NotImplementedError(family)


def record_gradient(problem, block, i, x, eta):
    """Of L(x, eta; i), in eta (a list of one number) or in x."""
    data, scale = problem["data"], problem["dual_scale"]
    loss, gradient = loss_and_gradient(data["class"], data["rows"][i], x)
    weight = conjugate_slope(problem["divergence"], (loss - scale * eta) / problem["weight"])
    if block == "eta":
        return [scale * (1.0 - weight)]
    return [weight * gradient[j] for j in range(len(gradient))]


def clip(vector, bound):
    length = math.sqrt(dot(vector, vector))
    if length <= bound:
        return vector
    return [vector[j] * (bound / length) for j in range(len(vector))]


def clipped_mean(vectors, bound, mode):
    size = len(vectors)
    total = [0.0] * len(vectors[0])
    for i in range(size):
        vector = clip(vectors[i], bound) if mode == "each" else vectors[i]
        for j in range(len(total)):
            total[j] += vector[j]
    mean = [t / size for t in total]
    return mean if mode == "each" else clip(mean, bound)


def noise_scale(noise, label, bound, size):
    level = noise["by_label"][label]
    if not level >= 0.0:
        raise ValueError("negative noise for " + label)
    if noise["class"] == "noise.Printed":
        return level * bound
    return level * 2.0 * bound / size


def release(tape, noise, label, mean, bound, size, batch):
    std = noise_scale(noise, label, bound, size)
    query = mean[0] if label.startswith("eta") else mean
    value = tape.gaussian(label, query, std=std, sensitivity=2.0 * bound / size, batch=batch)
    return [float(value)] if label.startswith("eta") else [float(v) for v in value]


def draw(tape, label, n, size):
    if size > n:
        raise ValueError("more records than there are")
    if size == n:
        return None, list(range(n))
    batch = tape.batch(label + " batch", n, size)
    return batch, [int(i) for i in batch.indices]


def refresh(problem, schedule, tape, block, x, eta):
    label, size, n = block + "/refresh", schedule["refresh_batch"], schedule["n"]
    batch, chosen = draw(tape, label, n, size)
    vectors = []
    for i in chosen:
        vectors.append(record_gradient(problem, block, i, x, eta))
    bound = schedule[block + "_clip"]
    mean = clipped_mean(vectors, bound, schedule["clip_mode"])
    return release(tape, schedule["noise"], label, mean, bound, size, batch)


def difference_bound(threshold, dx, deta):
    by_x, by_eta = threshold["per_x"] * dx, threshold["per_eta"] * deta
    bound = 2.0 * (by_x if by_x > by_eta else by_eta)
    cap = float(threshold["cap"])
    return bound if bound < cap else cap


def difference(problem, schedule, tape, block, x, eta, x_old, eta_old):
    label, size, n = block + "/difference", schedule["batch"], schedule["n"]
    batch, chosen = draw(tape, label, n, size)
    vectors = []
    for i in chosen:
        new = record_gradient(problem, block, i, x, eta)
        old = record_gradient(problem, block, i, x_old, eta_old)
        vectors.append([new[j] - old[j] for j in range(len(new))])
    step = [x[j] - x_old[j] for j in range(len(x))]
    bound = difference_bound(schedule[block + "_threshold"], math.sqrt(dot(step, step)), abs(eta - eta_old))
    mean = clipped_mean(vectors, bound, schedule["clip_mode"])
    return release(tape, schedule["noise"], label, mean, bound, size, batch)


def check(problem, schedule):
    rows = problem["data"]["rows"]
    for row in rows:
        if len(row) != len(rows[0]):
            raise ValueError("records of different lengths")
    if len(rows) != schedule["n"]:
        raise ValueError("made for another n")
    for label in ("eta/refresh", "eta/difference", "x/refresh", "x/difference"):
        noise_scale(schedule["noise"], label, 1.0, 1)


def double_spider(problem, schedule, tape):
    check(problem, schedule)
    d = problem["derived"]["d"]
    x = [0.0] * d if schedule["start_x"] is None else list(schedule["start_x"])
    eta = schedule["start_eta"]
    x_old, eta_old = x, eta
    g, v = [0.0], [0.0] * d
    target = int(tape.public("select"))
    kept = None
    for t in range(schedule["steps"]):
        first = t % schedule["phase"] == 0
        if first:
            g = refresh(problem, schedule, tape, "eta", x, eta)
        else:
            change = difference(problem, schedule, tape, "eta", x, eta, x_old, eta_old)
            g = [g[0] + change[0]]
        eta_new = eta - schedule["eta_step"] * g[0]
        if first:
            v = refresh(problem, schedule, tape, "x", x, eta_new)
        else:
            change = difference(problem, schedule, tape, "x", x, eta_new, x_old, eta)
            v = [v[j] + change[j] for j in range(d)]
        rate = schedule["x_step"]
        length = math.sqrt(dot(v, v))
        if rate * length > schedule["move_cap"]:
            rate = schedule["move_cap"] / length
        x_old, eta_old = x, eta
        x = [x[j] - rate * v[j] for j in range(d)]
        eta = eta_new
        if t + 1 == target:
            kept = {"x": x, "eta": eta}
    return {"x": x, "eta": eta} if schedule["last"] or kept is None else kept


def run(case, tape):
    if case["algorithm"] != "dro/double_spider":
        raise NotImplementedError(case["algorithm"])
    return double_spider(case["problem"], case["schedule"], tape)
