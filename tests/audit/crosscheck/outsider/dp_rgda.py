import math

import numpy as np

from outsider.games import game
from outsider.tools import clip_one, clip_rows, length, scale, some_records


class Inner:
    """Algorithm 3: estimates of the gradient in x and in y, and steps in y."""

    def __init__(self, f, s, tape):
        self.f, self.s, self.tape = f, s, tape

    def mean(self, rows, bound):
        if self.s["clip_mode"] == "mean":
            return clip_one(rows.mean(axis=0), bound)
        return clip_rows(rows, bound).mean(axis=0)

    def refresh(self, x, y):
        s, f = self.s, self.f
        batch, chosen = some_records(self.tape, "refresh/samples", f.n, s["refresh_batch"])
        sensitivity = 2 * s["clip_refresh"] / s["refresh_batch"]
        std = scale(s, "refresh", sensitivity)
        v = self.mean(f.in_x(x, y, chosen), s["clip_refresh"])
        u = self.mean(f.in_y(x, y, chosen), s["clip_refresh"])
        v = self.tape.gaussian("refresh/v", v, std=std, sensitivity=sensitivity, batch=batch)
        u = self.tape.gaussian("refresh/u", u, std=std, sensitivity=sensitivity, batch=batch)
        return v, u

    def change(self, x, y, x_old, y_old):
        s, f = self.s, self.f
        batch, chosen = some_records(self.tape, "step/samples", f.n, s["step_batch"])
        moved = math.hypot(length(x - x_old), length(y - y_old))
        if s["smoothness"] is None:
            sensitivity = 2 * s["clip_step"] / s["step_batch"]
            std = scale(s, "step", sensitivity)
        else:
            sensitivity = 2 * math.sqrt(2) * s["smoothness"] / s["step_batch"] * moved
            std = scale(s, "step", sensitivity) * length(y - y_old)
        dv = self.mean(f.in_x(x, y, chosen) - f.in_x(x_old, y_old, chosen), s["clip_step"])
        du = self.mean(f.in_y(x, y, chosen) - f.in_y(x_old, y_old, chosen), s["clip_step"])
        dv = self.tape.gaussian("step/v", dv, std=std, sensitivity=sensitivity, batch=batch)
        du = self.tape.gaussian("step/u", du, std=std, sensitivity=sensitivity, batch=batch)
        return dv, du

    def update(self, t, x, x_old, y, v, u):
        s = self.s
        y_old = y
        refreshed = t % s["period"] == 0
        if refreshed:
            v, u = self.refresh(x, y)
        best = None
        for k in range(s["inner_steps"]):
            if not (refreshed and k == 0 and s["restart_at_refresh"]):
                dv, du = self.change(x, y, x_old, y_old)
                v = v + dv
                u = u + du
            y_new = self.f.project(y + s["ascent_step"] * u)
            mapping = length(y - y_new) / s["ascent_step"]
            if best is None or mapping < best[0]:
                best = (mapping, y, v, u)
            x_old, y_old, y = x, y, y_new
        return best[1:]


def run(case, tape):
    s, f = case["schedule"], game(case["problem"])
    if max(s["refresh_batch"], s["step_batch"]) > f.n or f.n != s["n"]:
        raise ValueError("batch above n")
    if min(s["noise"]["by_label"].values()) < 0 or not {"refresh", "step"} <= set(s["noise"]["by_label"]):
        raise ValueError("noise")
    start = s["start"] or [np.zeros(f.d), np.zeros(f.d_y)]
    x, y = np.array(start[0], dtype=float), np.array(start[1], dtype=float)
    x_old, v, u = x, np.zeros(f.d), np.zeros(f.d_y)
    inner = Inner(f, s, tape)
    escaping, anchor, squares, since = False, None, 0.0, 0
    path, phases = [x], []
    for t in range(s["steps"]):
        y, v, u = inner.update(t, x, x_old, y, v, u)
        size = length(v)
        x_old = x
        if not escaping and size >= s["tolerance"]:
            x = x - s["descent_step"] * v / size
            phases.append("descent")
        elif not escaping:
            escaping, anchor, squares, since = True, x, 0.0, 0
            x = x + tape.public("perturb")
            phases.append("perturb")
        else:
            squares += size**2
            since += 1
            allowed = since * s["average_movement"]
            if s["escape_step"] ** 2 * squares > allowed:
                x = x - math.sqrt(allowed / squares) * v
                escaping = False
                phases.append("escaped")
            else:
                x = x - s["escape_step"] * v
                phases.append("escape")
        path.append(x)
        if escaping and since == s["escape_threshold"]:
            break
    return {"x": x if anchor is None else anchor, "iterates": np.array(path), "phases": phases}
