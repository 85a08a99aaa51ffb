import math

import numpy as np

from outsider.losses import data
from outsider.tools import clip_rows, length, scale, some_records


class Estimates:
    def __init__(self, problem, s, tape):
        self.data, self.s, self.tape = data(problem["data"]), s, tape

    def inner_gradients(self, block, x, temp, chosen):
        losses = self.data.losses(x, chosen)
        with np.errstate(over="ignore"):
            grown = np.minimum(np.exp(losses / temp), 1e100)
        if block == "x":
            return (grown / temp)[:, None] * self.data.gradients(x, chosen)
        return -grown * losses / temp**2

    def inner_values(self, x, temp, chosen):
        with np.errstate(over="ignore"):
            values = np.exp(self.data.losses(x, chosen) / temp)
        return np.clip(values, 1.0, self.s["value_clip"])

    def refresh(self, block, now):
        s = self.s
        size, bound = s["refresh_batch"], s["refresh_clip"]
        batch, chosen = some_records(self.tape, f"{block}/refresh batch", s["n"], size)
        rows = self.inner_gradients(block, *now, chosen)
        spread = 2 * bound
        if block == "temperature":
            rows, spread = np.minimum(rows, 0.0), bound
        query = clip_rows(rows, bound).sum(axis=0) / size
        sensitivity = spread / size
        std = scale(s, f"{block}/refresh", sensitivity)
        return self.tape.gaussian(f"{block}/refresh", query, std=std, sensitivity=sensitivity, batch=batch)

    def difference(self, block, now, before):
        s, lines = self.s, self.s["lines"]
        size, cap = s["batch"], s["clip"]
        batch, chosen = some_records(self.tape, f"{block}/difference batch", s["n"], size)
        rows = self.inner_gradients(block, *now, chosen) - self.inner_gradients(block, *before, chosen)
        moved_x, moved_temp = length(now[0] - before[0]), abs(now[1] - before[1])
        moved = math.hypot(moved_x, moved_temp)
        bound = min(cap, s["smoothness"] * moved)
        query = clip_rows(rows, cap if lines["lines_13_14_clip"] == "C" else bound).sum(axis=0) / size
        if lines["lines_11_12"] == "no move":
            follows, claimed = 1.0, cap
        elif lines["lines_11_12"] == "move of w":
            follows, claimed = moved, bound
        else:
            follows, claimed = (moved_x if block == "x" else moved_temp), bound
        std = scale(s, f"{block}/difference", 2 / size) * min(cap, s["smoothness"] * follows)
        return self.tape.gaussian(f"{block}/difference", query, std=std, sensitivity=2 * claimed / size, batch=batch)

    def value(self, now, before):
        s = self.s
        batch, chosen = some_records(self.tape, "value batch", s["n"], s["value_batch"])
        new = self.inner_values(*now, chosen)
        old = new if s["lines"]["line_16"] == "g(w_t) twice" else self.inner_values(*before, chosen)
        query = float(np.mean(new - (1 - s["momentum"]) * old))
        sensitivity = s["value_sensitivity"]
        std = scale(s, "value", sensitivity)
        return float(self.tape.gaussian("value", query, std=std, sensitivity=sensitivity, batch=batch))


def run(case, tape):
    problem, s = case["problem"], case["schedule"]
    est = Estimates(problem, s, tape)
    if min(s["noise"]["by_label"].values()) < 0:
        raise ValueError("negative noise")
    x = np.array(s["start_x"] or np.zeros(est.data.d), dtype=float)
    now = before = (x, max(s["start_temperature"], problem["floor"]))
    v, u, value = np.zeros(est.data.d), 0.0, 1.0
    first = 0 if s["lines"]["line_4"] == "t mod q = 0" else 1
    chosen = int(tape.public("select"))
    picked = None
    for t in range(1, s["steps"] + 1):
        if (t - first) % s["phase"] == 0:
            v = est.refresh("x", now)
            u = float(est.refresh("temperature", now))
        else:
            keep = 1.0 if s["lines"]["lines_13_14_sum"] == "added" else 0.0
            v = keep * v + est.difference("x", now, before)
            u = keep * u + float(est.difference("temperature", now, before))
        value = (1 - s["momentum"]) * value + est.value(now, before)
        if t == chosen:
            picked = (now, v, u, value)
        floored = max(value, 1.0)
        z_x = now[1] / floored * v
        z_temp = now[1] / floored * u + math.log(floored) + problem["radius"]
        temp = max(now[1] - s["step"] * z_temp, problem["floor"])
        temp = min(temp, s["largest_temperature"])
        before, now = now, (now[0] - s["step"] * z_x, temp)
    if s["last"] or picked is None:
        picked = (now, v, u, value)
    (x, temp), v, u, value = picked
    return {"x": x, "temperature": temp, "v": v, "u": u, "s": value}
