"""DP-RGDA: recursive gradients for a minimax problem, an inner ascent in y, escapes from saddles in x."""

from math import hypot, sqrt

import numpy as np


def pulls(problem):
    rows = np.array(problem["rows"], dtype=float)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError("rows")
    mu, reach = problem["concavity"], problem["radius"]

    def slope_x(i, x, y):
        a, b, _, c = rows[i]
        return np.array([a + c * (x[0] + y[0]), b + c * x[1]])

    def slope_y(i, x, y):
        return np.array([rows[i][2] + rows[i][3] * x[0] - mu * y[0]])

    def inside(y):
        return np.minimum(np.maximum(y, -reach), reach)

    return len(rows), 2, 1, slope_x, slope_y, inside


def tug(problem):
    z, d, reach = problem["signs"], problem["d"], float(problem["radius"])
    pull, couple, curve, mu = (problem[name] for name in ("slope", "coupling", "curvature", "concavity"))
    dual_pull, dual_curve = problem["dual_slope"], problem["dual_curvature"]

    def slope_x(i, x, y):
        out = curve * x
        out[0] += pull + couple * y[0]
        return z[i] * out

    def slope_y(i, x, y):
        tail = curve * x
        tail[0] += dual_pull - dual_curve * y[0]
        return np.concatenate([[z[i] * couple * x[0] - mu * y[0]], z[i] * tail])

    def inside(y):
        out = np.zeros_like(y)
        out[0] = min(max(y[0], -reach), reach)
        return out

    return len(z), d, 1 + d, slope_x, slope_y, inside


def clip(vector, bound):
    size = np.linalg.norm(vector)
    return vector * (bound / size) if size > bound else vector


class Solver:
    def __init__(self, case, tape):
        s = self.s = case["schedule"]
        self.tape = tape
        make = {"Pulls": pulls, "TugOfWar": tug}[case["problem"]["class"].split(".")[-1]]
        self.n, self.dim, self.dim_y, self.slope_x, self.slope_y, self.inside = make(case["problem"])
        if max(s["refresh_batch"], s["step_batch"]) > self.n:
            raise ValueError("batch")
        for label in ("refresh", "step"):
            if s["noise"]["by_label"].get(label, -1) < 0:
                raise ValueError("noise")

    def std(self, label, sensitivity):
        noise = self.s["noise"]
        level = noise["by_label"][label]
        return level * sensitivity if noise["class"] == "noise.Multipliers" else level

    def sample(self, label, size):
        if size == self.n:
            return list(range(self.n)), None
        batch = self.tape.batch(label, self.n, size)
        return batch.indices, batch

    def average(self, vectors, bound):
        if self.s["clip_mode"] == "each":
            return sum(clip(vector, bound) for vector in vectors) / len(vectors)
        return clip(sum(vectors) / len(vectors), bound)

    def restart(self, x, y):
        s = self.s
        who, batch = self.sample("refresh/samples", s["refresh_batch"])
        moved = 2 * s["clip_refresh"] / s["refresh_batch"]
        std = self.std("refresh", moved)
        out = []
        for name, slope in (("v", self.slope_x), ("u", self.slope_y)):
            mean = self.average([slope(i, x, y) for i in who], s["clip_refresh"])
            out.append(self.tape.gaussian("refresh/" + name, mean, std=std, sensitivity=moved, batch=batch))
        return out

    def increment(self, x, y, x_old, y_old):
        s = self.s
        who, batch = self.sample("step/samples", s["step_batch"])
        dx, dy = np.linalg.norm(x - x_old), np.linalg.norm(y - y_old)
        if s["smoothness"] is None:
            moved = 2 * s["clip_step"] / s["step_batch"]
            std = self.std("step", moved)
        else:
            moved = 2 * sqrt(2) * s["smoothness"] / s["step_batch"] * hypot(dx, dy)
            std = self.std("step", moved) * dy
        out = []
        for name, slope in (("v", self.slope_x), ("u", self.slope_y)):
            changes = [slope(i, x, y) - slope(i, x_old, y_old) for i in who]
            mean = self.average(changes, s["clip_step"])
            out.append(self.tape.gaussian("step/" + name, mean, std=std, sensitivity=moved, batch=batch))
        return out

    def ascend(self, t, x, x_old, y, v, u):
        """The inner loop: the y with the smallest gradient mapping, and the estimates that belong to it."""
        s = self.s
        y_old = y
        turn = t % s["period"] == 0
        if turn:
            v, u = self.restart(x, y)
        kept = []
        for k in range(s["inner_steps"]):
            skip = turn and k == 0 and s["restart_at_refresh"]
            if not skip:
                dv, du = self.increment(x, y, x_old, y_old)
                v, u = v + dv, u + du
            y_new = self.inside(y + s["ascent_step"] * u)
            kept.append((np.linalg.norm(y_new - y) / s["ascent_step"], k, y, v, u))
            x_old, y_old, y = x, y, y_new
        _, _, y, v, u = min(kept, key=lambda entry: entry[:2])
        return y, v, u

    def descend(self):
        s = self.s
        x, y = np.zeros(self.dim), np.zeros(self.dim_y)
        if s["start"] is not None:
            x, y = (np.array(part, dtype=float) for part in s["start"])
        x_old, v, u = x, np.zeros_like(x), np.zeros_like(y)
        saddle, budget, energy, waited = None, 0.0, 0.0, 0
        escaping = False
        path, words = [x], []
        for t in range(s["steps"]):
            y, v, u = self.ascend(t, x, x_old, y, v, u)
            size = np.linalg.norm(v)
            if escaping:
                energy += size**2
                waited += 1
                budget = waited * s["average_movement"]
                if s["escape_step"] ** 2 * energy > budget:
                    move, escaping, word = -sqrt(budget / energy) * v, False, "escaped"
                else:
                    move, word = -s["escape_step"] * v, "escape"
            elif size >= s["tolerance"]:
                move, word = -s["descent_step"] * v / size, "descent"
            else:
                saddle, escaping, energy, waited = x, True, 0.0, 0
                move, word = self.tape.public("perturb"), "perturb"
            x_old, x = x, x + move
            path.append(x)
            words.append(word)
            if escaping and waited == s["escape_threshold"]:
                break
        return {"x": x if saddle is None else saddle, "iterates": path, "phases": words}


def run(case, tape):
    return Solver(case, tape).descend()
