"""Recursive-SPIDER for KL-regularised distributionally robust learning, on scalars and small vectors."""

import math

import numpy as np

HUGE = 1e100


def as_number(value):
    return {"infinity": math.inf, "-infinity": -math.inf}.get(value, value) if isinstance(value, str) else value


def shorten(vector, bound):
    """A vector, or a number, no longer than the bound."""
    size = float(np.linalg.norm(vector))
    return vector if size <= bound else vector * (bound / size)


class Learner:
    def __init__(self, case, tape):
        self.s, self.tape = case["schedule"], tape
        p = case["problem"]
        if not p["data"]["class"].endswith("Squares"):
            raise NotImplementedError(p["data"]["class"])
        table = p["data"]["rows"]
        if len({len(r) for r in table}) != 1:
            raise ValueError("ragged")
        table = np.array(table, dtype=float)
        if not np.isfinite(table).all():
            raise ValueError("not finite")
        self.A, self.b = table[:, :-1], table[:, -1]
        self.floor, self.rho = p["floor"], p["radius"]
        levels = self.s["noise"]["by_label"]
        for label in ("x/refresh", "x/difference", "temperature/refresh", "temperature/difference", "value"):
            if label not in levels or levels[label] < 0:
                raise ValueError("noise of " + label)

    def std(self, label, sensitivity):
        noise = self.s["noise"]
        scale = sensitivity if noise["class"].endswith("Multipliers") else 1.0
        return noise["by_label"][label] * scale

    def pick(self, label, size):
        n = self.s["n"]
        if not 1 <= size <= n:
            raise ValueError("batch")
        if size == n:
            return range(n), None
        batch = self.tape.batch(label, n, size)
        return batch.indices, batch

    # one record

    def loss(self, i, x):
        r = self.A[i] @ x - self.b[i]
        return 0.5 * r * r, r * self.A[i]

    def tilt(self, i, w):
        """exp(loss / temperature) of one record."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.loss(i, w[0])[0] / w[1]))

    def in_x(self, i, w):
        return min(self.tilt(i, w), HUGE) / w[1] * self.loss(i, w[0])[1]

    def in_temperature(self, i, w):
        value = self.loss(i, w[0])[0]
        return -min(self.tilt(i, w), HUGE) * value / w[1] ** 2

    # estimates

    def fresh_start(self, part, w):
        s = self.s
        who, batch = self.pick(part + "/refresh batch", s["refresh_batch"])
        bound, total = s["refresh_clip"], 0.0
        for i in who:
            g = self.in_x(i, w) if part == "x" else min(self.in_temperature(i, w), 0.0)
            total = total + shorten(g, bound)
        width = 2 * bound if part == "x" else bound  # the temperature's gradients have one sign
        moved = width / s["refresh_batch"]
        label = part + "/refresh"
        return self.tape.gaussian(
            label, total / s["refresh_batch"], std=self.std(label, moved), sensitivity=moved, batch=batch
        )

    def correction(self, part, w, old):
        s, lines = self.s, self.s["lines"]
        size = s["batch"]
        who, batch = self.pick(part + "/difference batch", size)
        dx = float(np.linalg.norm(w[0] - old[0]))
        dt = abs(w[1] - old[1])
        dw = math.hypot(dx, dt)
        most = min(s["clip"], s["smoothness"] * dw)
        bound = s["clip"] if lines["lines_13_14_clip"] == "C" else most
        slope = self.in_x if part == "x" else self.in_temperature
        total = np.zeros_like(w[0]) if part == "x" else 0.0
        for i in who:
            change = slope(i, w) - slope(i, old)
            total = total + (shorten(change, bound) if bound > 0 else 0.0 * total)
        if lines["lines_11_12"] == "own move":
            scale = dx if part == "x" else dt
        elif lines["lines_11_12"] == "move of w":
            scale = dw
        else:
            scale = 1.0
        scale = min(s["clip"], s["smoothness"] * scale)
        moved = 2 * (s["clip"] if lines["lines_11_12"] == "no move" else most) / size
        label = part + "/difference"
        std = self.std(label, 2 / size) * scale
        return self.tape.gaussian(label, total / size, std=std, sensitivity=moved, batch=batch)

    def new_value(self, w, old):
        s = self.s
        who, batch = self.pick("value batch", s["value_batch"])
        keep, total = 1 - s["momentum"], 0.0
        for i in who:
            here = min(max(self.tilt(i, w), 1.0), s["value_clip"])
            there = here
            if s["lines"]["line_16"] == "g(w_t) and g(w_{t-1})":
                there = min(max(self.tilt(i, old), 1.0), s["value_clip"])
            total += here - keep * there
        moved = s["value_sensitivity"]
        return self.tape.gaussian(
            "value", total / s["value_batch"], std=self.std("value", moved), sensitivity=moved, batch=batch
        )

    # the loop

    def fit(self):
        s = self.s
        lines = s["lines"]
        x = np.zeros(self.A.shape[1]) if s["start_x"] is None else np.array(s["start_x"], dtype=float)
        w = old = (x, max(s["start_temperature"], self.floor))
        v, u, value = np.zeros_like(x), 0.0, 1.0
        shown = self.tape.public("select")
        answer = None
        cap = as_number(s["largest_temperature"])
        offset = 0 if lines["line_4"] == "t mod q = 0" else 1
        for t in range(1, s["steps"] + 1):
            if (t - offset) % s["phase"] == 0:
                v = self.fresh_start("x", w)
                u = self.fresh_start("temperature", w)
            else:
                dv, du = self.correction("x", w, old), self.correction("temperature", w, old)
                if lines["lines_13_14_sum"] == "added":
                    v, u = v + dv, u + du
                else:
                    v, u = dv, du
            value = (1 - s["momentum"]) * value + self.new_value(w, old)
            if t == shown:
                answer = (w, v, u, value)
            safe = max(value, 1.0)
            ratio = w[1] / safe
            down_x = ratio * v
            down_t = ratio * u + math.log(safe) + self.rho
            temperature = min(max(w[1] - s["step"] * down_t, self.floor), cap)
            old, w = w, (w[0] - s["step"] * down_x, temperature)
        if s["last"] or answer is None:
            answer = (w, v, u, value)
        (x, temperature), v, u, value = answer
        return {"x": x, "temperature": temperature, "v": v, "u": u, "s": value}


def run(case, tape):
    return Learner(case, tape).fit()
