import math

import numpy as np

from outsider.tools import length, scale


class Waves:
    def __init__(self, p):
        if p["class"] != "adaptive_batch.worst_case.SignedWave":
            raise NotImplementedError(p["class"])
        self.signs, self.phases, self.d = np.array(p["signs"], float), np.array(p["phases"], float), p["d"]
        self.n = len(self.signs)

    def gradient(self, x, chosen):
        found = np.zeros(self.d)
        found[0] = np.mean(self.signs[chosen] * np.sin(x[0] + self.phases[chosen]))
        return found

    def hessian(self, x, chosen):
        found = np.zeros((self.d, self.d))
        found[0, 0] = np.mean(self.signs[chosen] * np.cos(x[0] + self.phases[chosen]))
        return found


class Tree:
    def __init__(self, tape, std, horizon=None):
        self.tape, self.std, self.horizon = tape, std, horizon
        self.terms, self.starts, self.known = [], [0], {}

    def restart(self, *term):
        self.starts.append(len(self.terms))
        self.terms.append(term)

    def extend(self, *term):
        self.starts.append(self.starts[-1])
        self.terms.append(term)

    def nodes(self, t):
        top = t.bit_length() if self.horizon is None else (self.horizon - 1).bit_length()
        found, k = [], 0
        for i in range(1, top + 1):
            after = k + 2 ** (top - i)
            if k < t and after <= t:
                found.append((k + 1, after))
                k = after
        return found

    def node(self, first, last, std):
        start = self.starts[last]
        added = self.terms[max(start, first - 1) : last]
        removed = self.terms[self.starts[first - 1] : min(start, first - 1)]
        query = sum(term[0] for term in added) - sum(term[0] for term in removed)
        return self.tape.gaussian(
            f"tree/({first},{last})",
            query,
            std=std,
            sensitivity=max(term[1] for term in removed + added),
            batch=tuple(term[2] for term in removed + added),
        )

    def noisy(self):
        t, total, covered = len(self.terms), 0.0, 0
        for first, last in self.nodes(t):
            if (first, last) not in self.known:
                self.known[first, last] = self.node(first, last, self.std)
            total, covered = total + self.known[first, last], last
        return total if covered == t else total + self.node(covered + 1, t, 0.0)


def run(case, tape):
    s, f = case["schedule"], Waves(case["problem"])
    eta, G, M = s["step_size"], s["lipschitz"], s["smoothness"]
    per_gradient = 2 * max(G / s["batch"], M * eta / s["batch_slope"])
    per_hessian = 2 * max(M / s["batch"], s["hessian_lipschitz"] * eta / s["batch_slope"])
    std_tree = scale(s, "tree", per_gradient)
    std_escape = scale(s, "escape", per_hessian * s["escape_radius"])
    horizon = None if s["refresh"] == "new tree" else s["steps"]
    tree = Tree(tape, std_tree, horizon)
    x = np.array(s["start"] or np.zeros(f.d), float)
    x_old, step = x, np.zeros(f.d)
    drift, count, frozen_old, frozen, escaping = s["drift_limit"], 0, 1, 0, False
    saddle, H, read, used = None, None, [], 0
    path, noisy_path, refreshes, escapes = [], [], 0, 0

    def fresh(label, size):
        nonlocal used
        used += size
        batch = tape.fresh(label, f.n, size, order=s["order"])
        return batch, np.array(batch.indices, int)

    for _ in range(s["steps"]):
        refresh = drift >= s["drift_limit"] or count >= s["escape_limit"]
        if s["epoch_length"] is not None and len(tree.terms) >= s["epoch_length"]:
            refresh = True
        size = s["batch"] if refresh else max(1, math.ceil(s["batch_slope"] * length(step) - 1e-12))
        left = f.n - used
        if left <= s["batch"] or left < 2 * size:
            break
        if refresh:
            batch, chosen = fresh("O1", size)
            gradient = f.gradient(x, chosen)
            other, chosen_h = fresh("O3", size)
            H, read = f.hessian(x, chosen_h), [other]
            drift, count, refreshes = 0.0, 0, refreshes + 1
            claim = 2 * G / size
            if s["refresh"] == "new tree":
                tree = Tree(tape, std_tree)
            tree.restart(gradient, claim, batch)
        else:
            batch, chosen = fresh("O2", size)
            change = f.gradient(x, chosen) - f.gradient(x_old, chosen)
            other, chosen_h = fresh("O4", size)
            H, read = H + f.hessian(x, chosen_h) - f.hessian(x_old, chosen_h), [*read, other]
            claim = 2 * M * length(x - x_old) / size
            tree.extend(change, claim, batch)
        if refresh and s["refresh"] == "bare":
            noisy = tape.gaussian("refresh/bare", gradient, std=0.0, sensitivity=claim, batch=batch)
        else:
            noisy = tree.noisy()
        if length(noisy) <= s["threshold"] and frozen_old <= 0:
            frozen, escaping, count, escapes = s["escape_steps"], True, count + 1, escapes + 1
            saddle = (x, noisy, H, tuple(read))
        if escaping:
            at, g, bend, batches = saddle
            move = x - at
            sensitivity = per_hessian * length(move)
            step = tape.gaussian(
                "escape/gradient", g + bend @ move, std=std_escape, sensitivity=sensitivity, batch=batches or None
            )
        else:
            step = noisy
        x_old, x = x, x - eta * step
        drift += length(step)
        frozen_old, frozen = frozen, frozen - 1
        origin = saddle[0] if saddle is not None else np.array(s["start"] or np.zeros(f.d), float)
        if length(x - origin) >= s["escape_radius"] or frozen <= 0:
            escaping = False
        path.append(x)
        noisy_path.append(noisy)
    return {
        "iterates": np.array(path),
        "refreshes": refreshes,
        "escapes": escapes,
        "functions_used": used,
        "noisy_gradients": np.array(noisy_path),
    }
