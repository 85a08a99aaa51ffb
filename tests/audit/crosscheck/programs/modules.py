"""Private minimax optimisation in the manner of a deep learning library: modules, an engine, optimizers.

Knows minimax_sosp/dp_sgda, minimax_sosp/dp_spider, minimax_sosp/private_diff.
"""

import numpy as np


class PullModule:
    """F(x, y; i) = <a_i, x> + b_i y + c_i (|x|^2 / 2 + x_1 y) - concavity y^2 / 2, with gradients per sample."""

    def __init__(self, spec):
        table = np.asarray(spec["rows"], dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != 4 or not np.all(np.isfinite(table)):
            raise ValueError("a record is four finite numbers")
        self.linear, self.offset, self.coupling = table[:, 0:2], table[:, 2], table[:, 3]
        self.concavity, self.radius = float(spec["concavity"]), float(spec["radius"])

    def per_sample_grad_x(self, x, y, index):
        moved = np.array([x[0] + y, x[1]])
        return self.linear[index] + np.outer(self.coupling[index], moved)

    def per_sample_grad_y(self, x, y, index):
        return (self.offset[index] + self.coupling[index] * x[0] - self.concavity * y)[:, None]

    def project_(self, y):
        return min(max(y, -self.radius), self.radius)


class PrivacyEngine:
    """Clips per-sample gradients, averages them and asks the tape for the noisy average."""

    def __init__(self, tape, multipliers, needed):
        if not set(needed) <= set(multipliers) or min(multipliers.values()) < 0:
            raise ValueError("a noise multiplier is missing or negative")
        self.tape, self.multipliers = tape, multipliers

    @staticmethod
    def clip_(grad_sample, max_norm):
        norms = np.sqrt((grad_sample**2).sum(axis=1))
        scale = np.ones_like(norms)
        long = norms > max_norm
        scale[long] = max_norm / norms[long]
        return grad_sample * scale[:, None]

    def noisy_mean(self, name, grad_sample, max_norm, ticket):
        count = len(grad_sample)
        mean = self.clip_(grad_sample, max_norm).sum(axis=0) / count
        sensitivity = 2.0 * max_norm / count
        std = self.multipliers[name] * sensitivity
        return np.asarray(self.tape.gaussian(name, mean, std=std, sensitivity=sensitivity, batch=ticket))


class Optimizer:
    """What the optimizers share: hyperparameters, batches of a fixed size, a trace of the weights."""

    def __init__(self, module, hyper, tape):
        self.module, self.hyper, self.tape = module, hyper, tape
        self.engine = PrivacyEngine(tape, hyper["noise"]["by_label"], self.needed)
        if not all(1 <= hyper[key] <= len(module.coupling) for key in self.batches):
            raise ValueError("a batch is a part of the data")
        self.x, self.y = self.begin_(hyper.get("start"))
        self.trace, self.previous, self.estimate = [self.x.copy()], None, None

    @staticmethod
    def begin_(start):
        return (np.zeros(2), 0.0) if start is None else (np.asarray(start[0], dtype=np.float64), float(start[1][0]))

    def draw(self, key, name):
        size, population = self.hyper[key], len(self.module.coupling)
        if size == population:  # everybody is not drawn
            return None, np.arange(population)
        ticket = self.tape.batch(name + "/samples", population, size)
        return ticket, np.asarray(ticket.indices)

    def descend_(self, step, direction):
        self.x = self.x - step * direction
        self.trace.append(self.x.copy())

    def state_dict(self):
        return {"x": self.x, "iterates": np.stack(self.trace)}


class DescentAscent(Optimizer):
    """DP-SGDA: one ascent step in y and one descent step in x, each on a batch of its own."""

    needed, batches = ("x", "y"), ("batch_x", "batch_y")

    def step(self, t):
        hyper, module = self.hyper, self.module
        ticket, index = self.draw("batch_y", "y")
        ascent = self.engine.noisy_mean("y", module.per_sample_grad_y(self.x, self.y, index), hyper["clip_y"], ticket)
        proposed = module.project_(self.y + hyper["step_y"] * float(ascent[0]))
        anchor = proposed if hyper["alternating"] else self.y
        ticket, index = self.draw("batch_x", "x")
        descent = self.engine.noisy_mean("x", module.per_sample_grad_x(self.x, anchor, index), hyper["clip_x"], ticket)
        self.y = proposed
        self.descend_(hyper["step_x"], descent)


class VarianceReduced(Optimizer):
    """A recursive estimate of the gradient in x: refreshed every `period` steps, corrected by differences between."""

    needed, batches = ("refresh", "difference"), ("refresh_batch", "step_batch")

    def difference_bound(self, moved):
        bound, smoothness = float(self.hyper["difference_clip"]), float(self.hyper["smoothness"])
        return bound if np.isinf(smoothness) else min(bound, smoothness * float(np.linalg.norm(moved)))

    def estimate_(self, t):
        x, y = self.x, self.y
        if t % self.hyper["period"] == 0:
            ticket, index = self.draw("refresh_batch", "refresh")
            grads = self.module.per_sample_grad_x(x, y, index)
            self.estimate = self.engine.noisy_mean("refresh", grads, self.hyper["clip"], ticket)
        else:
            old_x, old_y = self.previous
            ticket, index = self.draw("step_batch", "difference")
            grads = self.module.per_sample_grad_x(x, y, index) - self.module.per_sample_grad_x(old_x, old_y, index)
            change = self.engine.noisy_mean("difference", grads, self.difference_bound(x - old_x), ticket)
            self.estimate = self.estimate + change
        self.previous = (x.copy(), y)
        return self.estimate


class Spider(VarianceReduced):
    """DP-SPIDER on the primal function, whose value gradient is that at y = 0."""

    def __init__(self, module, hyper, tape):
        super().__init__(module, hyper, tape)
        self.chosen = tape.public("select") if hyper["select"] == "random" else hyper["steps"]

    @staticmethod
    def begin_(start):
        return np.zeros(2) if start is None else np.asarray(start, dtype=np.float64), 0.0

    def state_dict(self):
        return {"x": self.trace[self.chosen], "iterates": np.stack(self.trace)}

    def step(self, t):
        self.descend_(self.hyper["step_size"], self.estimate_(t))


class PrivateDiff(VarianceReduced):
    """PrivateDiff: `ascents` noisy steps in y, then one descent step along the recursive estimate."""

    needed, batches = ("refresh", "difference", "y"), ("refresh_batch", "step_batch", "batch_y")

    def ascend_(self):
        ticket, index = self.draw("batch_y", "y")
        grads = self.module.per_sample_grad_y(self.x, self.y, index)
        ascent = self.engine.noisy_mean("y", grads, self.hyper["clip_y"], ticket)
        self.y = self.module.project_(self.y + self.hyper["step_y"] * float(ascent[0]))

    def step(self, t):
        for _ in range(self.hyper["ascents"]):
            self.ascend_()
        self.descend_(self.hyper["step_x"], self.estimate_(t))


OPTIMIZERS = {
    "minimax_sosp/dp_sgda": DescentAscent,
    "minimax_sosp/dp_spider": Spider,
    "minimax_sosp/private_diff": PrivateDiff,
}


def run(case, tape):
    module = PullModule(case["problem"]["problem"])
    optimizer = OPTIMIZERS[case["algorithm"]](module, case["schedule"], tape)
    for t in range(case["schedule"]["steps"]):
        optimizer.step(t)
    return optimizer.state_dict()
