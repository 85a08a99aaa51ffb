import math

import numpy as np

from outsider.losses import data
from outsider.tools import clip_one, clip_rows, length, scale, some_records


def conjugate_slope(divergence, u):
    """psi*'(u)"""
    name, c = divergence["name"], divergence.get("constants") or {}
    with np.errstate(over="ignore"):
        if name == "chi_square":
            found = np.maximum(u + 1, 0.0)
        elif name == "kl":
            found = np.exp(u)
        elif name.startswith("kl_cvar"):
            found = np.exp(np.minimum(u, -math.log(c["alpha"])))
        elif name.startswith("cressie_read"):
            found = np.maximum((c["k"] - 1) * u + 1, 0.0) ** (1 / (c["k"] - 1))
        else:
            raise NotImplementedError(name)
    return np.minimum(found, 1e100)


class Estimator:
    def __init__(self, problem, s, tape):
        self.p, self.s, self.tape = problem, s, tape
        self.data = data(problem["data"])

    def gradients(self, block, point, chosen):
        x, eta = point
        G, weight = self.p["dual_scale"], self.p["weight"]
        u = (self.data.losses(x, chosen) - G * eta) / weight
        slope = conjugate_slope(self.p["divergence"], u)
        if block == "eta":
            return G * (1 - slope)
        return slope[:, None] * self.data.gradients(x, chosen)

    def release(self, label, rows, size, bound, batch):
        if self.s["clip_mode"] == "mean":
            mean = clip_one(rows.sum(axis=0) / size, bound)
        else:
            mean = clip_rows(rows, bound).sum(axis=0) / size
        sensitivity = 2 * bound / size
        std = scale(self.s, label, 2 / size) * bound
        return self.tape.gaussian(label, mean, std=std, sensitivity=sensitivity, batch=batch)

    def refresh(self, block, point):
        s, size = self.s, self.s["refresh_batch"]
        batch, chosen = some_records(self.tape, f"{block}/refresh batch", s["n"], size)
        rows = self.gradients(block, point, chosen)
        return self.release(f"{block}/refresh", rows, size, s[f"{block}_clip"], batch)

    def difference(self, block, now, before):
        s, size = self.s, self.s["batch"]
        batch, chosen = some_records(self.tape, f"{block}/difference batch", s["n"], size)
        rows = self.gradients(block, now, chosen) - self.gradients(block, before, chosen)
        rule = s[f"{block}_threshold"]
        moved_x = length(now[0] - before[0])
        moved_eta = abs(now[1] - before[1])
        bound = min(rule["cap"], 2 * max(rule["per_x"] * moved_x, rule["per_eta"] * moved_eta))
        return self.release(f"{block}/difference", rows, size, bound, batch)


def run(case, tape):
    s = case["schedule"]
    est = Estimator(case["problem"], s, tape)
    if min(s["noise"]["by_label"].values()) < 0:
        raise ValueError("negative noise")
    x = np.array(s["start_x"] or np.zeros(est.data.d), dtype=float)
    eta = float(s["start_eta"])
    x_old, eta_old = x, eta
    g, v = 0.0, np.zeros(est.data.d)
    chosen = int(tape.public("select"))
    picked = (x, eta)
    for t in range(s["steps"]):
        refresh = t % s["phase"] == 0
        if refresh:
            g = float(est.refresh("eta", (x, eta)))
        else:
            g = g + float(est.difference("eta", (x, eta), (x_old, eta_old)))
        eta_new = eta - s["eta_step"] * g
        if refresh:
            v = est.refresh("x", (x, eta_new))
        else:
            v = v + est.difference("x", (x, eta_new), (x_old, eta))
        size = length(v)
        rate = min(s["x_step"], s["move_cap"] / size if size > 0 else math.inf)
        x_old, eta_old = x, eta
        x, eta = x - rate * v, eta_new
        if t + 1 == chosen:
            picked = (x, eta)
    if s["last"]:
        picked = (x, eta)
    return {"x": picked[0], "eta": picked[1]}
