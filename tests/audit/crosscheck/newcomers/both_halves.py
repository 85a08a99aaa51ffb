"""Output perturbation for convex-concave games: one private x and one private y from the same split of the records."""

from math import floor, log2

import numpy as np


def check(problem, schedule):
    loss = problem["loss"]
    if not loss["class"].endswith("BilinearLoss"):
        raise NotImplementedError(loss["class"])
    shapes = {np.shape(m) for m in loss["matrices"]}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2:
        raise ValueError("matrices of several shapes")
    pull = np.array(loss["matrices"], dtype=float)
    push = np.array(loss["linear"], dtype=float)
    if not (np.isfinite(pull).all() and np.isfinite(push).all()):
        raise ValueError("not finite")
    if loss["shared_coupling"] and np.abs(pull - pull[0]).max() > 0:
        raise ValueError("the matrices are not the same")
    top = loss["linear_bound"]
    if top is not None and (np.linalg.norm(push, axis=1) > top * (1 + 1e-9)).any():
        raise ValueError("a record is too long")
    for side in ("x", "y"):
        for k in range(1, schedule[side + "_half"]["plan"]["count"] + 1):
            if schedule["noise"]["by_label"].get(f"{side}/{k}", -1.0) < 0:
                raise ValueError("noise")
    return pull, push


def to_set(point, domain):
    if "radius" not in domain:
        return point
    size = np.linalg.norm(point)
    return point if size <= domain["radius"] else point * (domain["radius"] / size)


class Game:
    """The regularised game on some records: (1/m) sum f + wx/2 |x - cx|^2 - wy/2 |y - cy|^2."""

    def __init__(self, case, pull, push, who, wx, cx, wy, cy):
        p = case["problem"]
        d = len(cx)
        self.dx, self.dy = p["domain_x"], p["domain_y"]
        self.B = pull[who].mean(axis=0)
        mean = push[who].mean(axis=0)
        self.p, self.q = mean[:d], mean[d:]
        self.bend = p["loss"]["concavity"]
        self.wx, self.cx, self.wy, self.cy = wx, cx, wy, cy

    def slopes(self, x, y):
        in_x = self.B @ y + self.p + self.wx * (x - self.cx)
        in_y = self.B.T @ x - self.q - self.bend * y - self.wy * (y - self.cy)
        return in_x, in_y

    def free(self):
        """The saddle point, if no domain is in its way."""
        d, e = len(self.cx), len(self.cy)
        system = np.zeros((d + e, d + e))
        system[:d, :d] = self.wx * np.eye(d)
        system[:d, d:] = self.B
        system[d:, :d] = -self.B.T
        system[d:, d:] = (self.wy + self.bend) * np.eye(e)
        right = np.concatenate([self.wx * self.cx - self.p, self.wy * self.cy - self.q])
        z = np.linalg.solve(system, right)
        return z[:d], z[d:]

    def solve(self):
        x, y = self.free()
        a, b = to_set(x, self.dx), to_set(y, self.dy)
        if np.allclose(a, x, rtol=1e-12, atol=1e-15) and np.allclose(b, y, rtol=1e-12, atol=1e-15):
            return x, y
        x, y = a, b
        pace = 0.5 / (np.linalg.norm(self.B) + self.bend + max(self.wx, self.wy))
        for _ in range(20_000):
            gx, gy = self.slopes(x, y)
            half_x, half_y = to_set(x - pace * gx, self.dx), to_set(y + pace * gy, self.dy)
            gx, gy = self.slopes(half_x, half_y)
            new_x, new_y = to_set(x - pace * gx, self.dx), to_set(y + pace * gy, self.dy)
            still = max(np.abs(new_x - x).max(initial=0), np.abs(new_y - y).max(initial=0))
            x, y = new_x, new_y
            if still <= 1e-15 * (1 + np.abs(x).max(initial=0)):
                break
        return x, y


def half(case, tape, side, groups, pull, push):
    schedule = case["schedule"]
    mine = schedule[side + "_half"]
    relative = schedule["noise"]["class"].endswith("Multipliers")
    d, e = mine["d"], mine["d_y"]
    home = np.zeros(d if side == "x" else e)
    weight = mine["plan"]["regularisers"][0]
    for k, group in enumerate(groups, start=1):
        tape.secret(f"solver/{side}/{k}/seed")
        who, other = group.indices, mine["other_regulariser"]
        if side == "x":
            game = Game(case, pull, push, who, weight, home, other, np.zeros(e))
        else:
            game = Game(case, pull, push, who, other, np.zeros(d), weight, home)
        found = game.solve()[0 if side == "x" else 1]
        reach = mine["sensitivities"][k - 1]
        level = schedule["noise"]["by_label"][f"{side}/{k}"]
        std = level * reach if relative else level
        home = tape.gaussian(f"{side}/{k}", found, std=std, sensitivity=reach, batch=group)
        if mine["project"]:
            home = to_set(home, case["problem"]["domain_" + side])
        weight *= 2
    return home


def run(case, tape):
    schedule = case["schedule"]
    pull, push = check(case["problem"], schedule)
    n = len(push)
    if n != schedule["x_half"]["n"]:
        raise ValueError("n")
    phases = floor(log2(n))
    share = n // phases
    groups = [tape.fresh(f"phase/{k + 1}", n, share, order="index") for k in range(phases)]
    sides = [half(case, tape, side, groups, pull, push) for side in ("x", "y")]
    return np.concatenate(sides)
