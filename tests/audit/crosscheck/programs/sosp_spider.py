"""Stochastic SPIDER that escapes saddles, from the paper "Adaptive Batch Size ..." (its Algorithms 1 to 4)."""

import math

import numpy as np


class Data:
    """Cosine losses with signs and phases."""

    def __init__(self, problem):
        if not problem["class"].endswith("SignedWave"):
            raise NotImplementedError(problem["class"])
        self.sign, self.phase = (np.asarray(problem[name], dtype=float) for name in ("signs", "phases"))
        self.first = np.eye(problem["d"])[0]

    def grad(self, point, who):
        who = list(who)
        return self.first * (self.sign[who] @ np.sin(point[0] + self.phase[who]) / len(who))

    def hess(self, point, who):
        who = list(who)
        return np.diag(self.first) * (self.sign[who] @ np.cos(point[0] + self.phase[who]) / len(who))


class Tree:
    """The noise tree. A leaf holds what was added, and when the running sum was last begun anew."""

    def __init__(self, tape, std, cover):
        self.tape, self.std, self.cover = tape, std, cover
        self.leaves = []  # (value, sensitivity, batch)
        self.since = [0]  # S_t = leaves[since[t]] + ... + leaves[t-1]
        self.done = {}

    def push(self, value, moved, batch, anew):
        self.since.append(len(self.leaves) if anew else self.since[-1])
        self.leaves.append((value, moved, batch))

    def ask(self, a, b, std):
        """The release of S_b - S_(a-1)."""
        begin = self.since[b]
        gone, came = range(self.since[a - 1], min(begin, a - 1)), range(max(begin, a - 1), b)
        total = sum(self.leaves[j][0] for j in came) - sum(self.leaves[j][0] for j in gone)
        touched = [self.leaves[j] for j in (*gone, *came)]
        label, batches = f"tree/({a},{b})", tuple(leaf[2] for leaf in touched)
        return self.tape.gaussian(label, total, std=std, sensitivity=max(leaf[1] for leaf in touched), batch=batches)

    def read(self):
        t, at, total = len(self.leaves), 0, 0.0
        for width in self.cover(t):
            if at + width > t:
                continue
            key = (at + 1, at + width)
            if key not in self.done:
                self.done[key] = self.ask(*key, self.std)
            total = total + self.done[key]
            at += width
        if at < t:  # the printed cover may stop one short: that one goes out bare
            total = total + self.ask(at + 1, t, 0.0)
        return total


def printed_widths(horizon):
    """Widths in the order in which the printed NODE(t) tries them."""
    depth = math.ceil(math.log2(horizon)) if horizon > 1 else 0
    return lambda t: [2 ** (depth - level) for level in range(1, depth + 1)]


def all_widths(t):
    return [2**level for level in reversed(range(t.bit_length()))]


class Walk:
    def __init__(self, case, tape):
        s = self.s = case["schedule"]
        self.tape, self.data = tape, Data(case["problem"])
        self.relative = s["noise"]["class"].endswith("Multipliers")
        for label in ("tree", "escape"):
            if not s["noise"]["by_label"].get(label, -1.0) >= 0:
                raise ValueError("noise of " + label)
        self.n, self.taken = s["n"], 0
        self.eta = s["step_size"]

    def std(self, label, sensitivity):
        level = self.s["noise"]["by_label"][label]
        return level * sensitivity if self.relative else level

    def draw(self, label, size):
        self.taken += size
        return self.tape.fresh(label, self.n, size, order=self.s["order"])

    def plant(self):
        s = self.s
        reach = 2 * max(s["lipschitz"] / s["batch"], s["smoothness"] * self.eta / s["batch_slope"])
        cover = all_widths if s["refresh"] == "new tree" else printed_widths(s["steps"])
        return Tree(self.tape, self.std("tree", reach), cover)

    def size_of(self, step):
        """The batch grows with the last step."""
        wanted = self.s["batch_slope"] * np.linalg.norm(step)
        return max(1, math.ceil(wanted - 1e-12))

    def escape_step(self, origin, grad, hess, drawn, x):
        """One noisy step of the quadratic model around the saddle."""
        s = self.s
        reach = 2 * max(s["smoothness"] / s["batch"], s["hessian_lipschitz"] * self.eta / s["batch_slope"])
        move = x - origin
        query, moved = grad + hess @ move, reach * np.linalg.norm(move)
        return self.tape.gaussian(
            "escape/gradient", query, std=self.std("escape", reach * s["escape_radius"]), sensitivity=moved, batch=drawn
        )

    def go(self):
        s, eta = self.s, self.eta
        x = np.zeros(s["d"]) if s["start"] is None else np.array(s["start"], dtype=float)
        last, anchor, step, tree = x, x, np.zeros_like(x), self.plant()
        drift, searches = s["drift_limit"], 0  # so that the first step refreshes
        wait, wait_before, inside, model = 0, 1, False, None
        path, seen, refreshes, escapes = [], [], 0, 0
        for _ in range(s["steps"]):
            over = s["epoch_length"] is not None and len(tree.leaves) >= s["epoch_length"]
            due = over or drift >= s["drift_limit"] or searches >= s["escape_limit"]
            size = s["batch"] if due else self.size_of(step)
            left = self.n - self.taken
            if left <= s["batch"] or left < 2 * size:
                break
            if due:
                one, two = self.draw("O1", size), self.draw("O3", size)
                value, moved = self.data.grad(x, one.indices), 2 * s["lipschitz"] / size
                hess, used = self.data.hess(x, two.indices), (two,)
                drift, searches = 0.0, 0
                refreshes += 1
                if s["refresh"] == "new tree":
                    tree = self.plant()
            else:
                one, two = self.draw("O2", size), self.draw("O4", size)
                value = self.data.grad(x, one.indices) - self.data.grad(last, one.indices)
                hess = hess + self.data.hess(x, two.indices) - self.data.hess(last, two.indices)
                used = (*used, two)
                moved = 2 * s["smoothness"] * np.linalg.norm(x - last) / size
            tree.push(value, moved, one, due)
            if due and s["refresh"] == "bare":
                noisy = self.tape.gaussian("refresh/bare", value, std=0.0, sensitivity=moved, batch=one)
            else:
                noisy = tree.read()
            if np.linalg.norm(noisy) <= s["threshold"] and wait_before <= 0:
                wait, inside = s["escape_steps"], True
                searches, escapes = searches + 1, escapes + 1
                anchor, model = x, (noisy, hess, used)
            step = self.escape_step(anchor, *model, x) if inside else noisy
            last, x = x, x - eta * step
            drift += np.linalg.norm(step)
            wait_before, wait = wait, wait - 1
            if wait <= 0 or np.linalg.norm(x - anchor) >= s["escape_radius"]:
                inside = False
            path.append(x)
            seen.append(noisy)
        counts = {"refreshes": refreshes, "escapes": escapes, "functions_used": self.taken}
        return {"iterates": path, "noisy_gradients": seen, **counts}


def run(case, tape):
    return Walk(case, tape).go()
