"""24 bugs in programs of three folders, by somebody who had not seen the diagnosis; kinds written before the trial."""

from __future__ import annotations

from .sixth_blind import Planted

PLANTED = (
    Planted(
        "x-sens-for-y",
        "newcomers/both_halves.py",
        "output_perturbation/algorithms4and5",
        'reach = mine["sensitivities"][k - 1]',
        'reach = schedule["x_half"]["sensitivities"][k - 1]',
        "The half for y takes its sensitivity, and with it its noise, from the half for x.",
        "noise scale",
        ("sensitivity",),
    ),
    Planted(
        "sum-of-moves",
        "newcomers/kl_recursive.py",
        "dro/recursive_spider",
        "dw = math.hypot(dx, dt)",
        "dw = dx + dt",
        "The length of the move of w = (x, temperature) is the sum of both lengths: the changes' bound is too large.",
        "clip bound",
        ("sensitivity", "noise scale"),
    ),
    Planted(
        "value-uncapped",
        "newcomers/kl_recursive.py",
        "dro/recursive_spider",
        'here = min(max(self.tilt(i, w), 1.0), s["value_clip"])',
        "here = max(self.tilt(i, w), 1.0)",
        "The new value of a record is no longer cut off at the clip, only raised to one.",
        "clipping is missing",
        ("clip bound",),
    ),
    Planted(
        "rho-left-out",
        "newcomers/kl_recursive.py",
        "dro/recursive_spider",
        "down_t = ratio * u + math.log(safe) + self.rho",
        "down_t = ratio * u + math.log(safe)",
        "The radius of the divergence ball is not in the direction of the temperature.",
        "missing term",
    ),
    Planted(
        "eigen-of-true-hessian",
        "newcomers/line_search_erm.py",
        "second_order_erm/opt_ls",
        "np.linalg.eigh(whole(noisy, len(w)))",
        "np.linalg.eigh(problem.hessian(w))",
        "The noisy Hessian is released, but the eigenvalues and directions are those of the exact one.",
        "un-noised",
        ("decision",),
    ),
    Planted(
        "eta-before-last",
        "newcomers/loops.py",
        "dro/double_spider",
        'change = difference(problem, schedule, tape, "x", x, eta_new, x_old, eta)',
        'change = difference(problem, schedule, tape, "x", x, eta_new, x_old, eta_old)',
        "The difference in x is taken from the eta of one step earlier, as the difference in eta is.",
        "index shift",
    ),
    Planted(
        "own-sample-for-each-block",
        "newcomers/rgda.py",
        "minimax_sosp/dp_rgda",
        """            mean = self.average([slope(i, x, y) for i in who], s["clip_refresh"])
""",
        """            if name == "u":
                who, batch = self.sample("refresh/samples", s["refresh_batch"])
            mean = self.average([slope(i, x, y) for i in who], s["clip_refresh"])
""",
        "At a refresh the gradient in y gets a batch of its own instead of that of the gradient in x.",
        "calls",
        ("wrong batch",),
    ),
    Planted(
        "descent-on-ascent-batch",
        "newcomers/modules.py",
        "minimax_sosp/dp_sgda",
        """        ticket, index = self.sample_x()
        descent""",
        """        descent""",
        "The descent step reuses the batch of the ascent step and draws none of its own.",
        "wrong batch",
        ("calls",),
    ),
    Planted(
        "svrg-anchor",
        "newcomers/modules.py",
        "minimax_sosp/private_diff",
        """            self.estimate = self.engine.noisy_mean("refresh", grads, self.hyper["clip"], ticket)
        else:
            old_x, old_y = self.previous
            ticket, index = self.sample_step()
            grads = self.module.per_sample_grad_x(x, y, index) - self.module.per_sample_grad_x(old_x, old_y, index)
            change = self.engine.noisy_mean("difference", grads, self.difference_bound(x - old_x), ticket)
            self.estimate = self.estimate + change
        self.previous = (x.copy(), y)
""",
        """            self.estimate = self.engine.noisy_mean("refresh", grads, self.hyper["clip"], ticket)
            self.previous = (x.copy(), y)
        else:
            old_x, old_y = self.previous
            ticket, index = self.sample_step()
            grads = self.module.per_sample_grad_x(x, y, index) - self.module.per_sample_grad_x(old_x, old_y, index)
            change = self.engine.noisy_mean("difference", grads, self.difference_bound(x - old_x), ticket)
            self.estimate = self.estimate + change
""",
        "Differences are taken from the point of the last refresh, not from the step before.",
        "index shift",
    ),
    Planted(
        "mean-then-clip",
        "newcomers/modules.py",
        "minimax_sosp/dp_sgda",
        "mean = self.clip_(grad_sample, max_norm).sum(axis=0) / count",
        "mean = self.clip_(grad_sample.mean(axis=0, keepdims=True), max_norm)[0]",
        "The mean gradient is clipped, not the gradient of each sample.",
        "clip order",
    ),
    Planted(
        "blocks-clipped-apart",
        "newcomers/scans.py",
        "dro/composite_sgd",
        'rows = clip_rows(dual_gradients(problem, chosen, z), schedule["clip"])',
        """rows = dual_gradients(problem, chosen, z)
        rows = np.hstack([clip_rows(part, schedule["clip"]) for part in (rows[:, :-1], rows[:, -1:])])""",
        "The parts of a gradient in x and in eta are clipped each by itself, with the bound of the whole.",
        "clip norm",
        ("clip bound",),
    ),
    Planted(
        "largest-weight-of-batch",
        "newcomers/scans.py",
        "dro/sgda",
        "sensitivity = 2 * bound * (n / size) * y.max()",
        "sensitivity = 2 * bound * (n / size) * y[indices].max()",
        "The sensitivity, which the noise follows, has the largest weight of the drawn records, not of all.",
        "noise scale",
        ("sensitivity",),
    ),
    Planted(
        "single-precision-table",
        "newcomers/scans.py",
        "dro/private_diff",
        "table = np.array(rows, dtype=float)",
        "table = np.array(rows, dtype=np.float32)",
        "The records are kept in single precision.",
        "precision",
    ),
    Planted(
        "hessian-on-gradient-batch",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        "hess = hess + self.data.hess(x, two.indices) - self.data.hess(last, two.indices)",
        "hess = hess + self.data.hess(x, one.indices) - self.data.hess(last, one.indices)",
        "The change of the Hessian is taken over the records drawn for the gradient.",
        "wrong batch",
    ),
    Planted(
        "claim-by-full-batch",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        'moved = 2 * s["smoothness"] * np.linalg.norm(x - last) / size',
        'moved = 2 * s["smoothness"] * np.linalg.norm(x - last) / s["batch"]',
        "A difference declares its sensitivity with the size of a refresh's batch, not with its own.",
        "sensitivity",
    ),
    Planted(
        "last-if-uncertified",
        "newcomers/terse.py",
        "second_order_erm/dp_gd",
        "return out(W[o[0]], False, T, n)",
        "return out(w, False, T, n)",
        "Where no point is certified the last iterate is returned, not the one with the smallest gradient.",
        "output",
    ),
    Planted(
        "leaf-is-mean",
        "newcomers/leader.js",
        "dp_ftrl/dp_ftrl",
        "tree.push(sum, drawn.batch);",
        "tree.push(times(1 / size, sum), drawn.batch);",
        "A leaf of the tree is the mean of the clipped gradients, not their sum.",
        "factor",
    ),
    Planted(
        "increment-form",
        "newcomers/ftrl.js",
        "dro/single_sample",
        """      query: momentum * g,
      std: noise.scale(sensitivity),
      sensitivity,
      batches,
    }).value;
    s = (1 - momentum) * s + fresh;""",
        """      query: momentum * (g - s),
      std: noise.scale(sensitivity),
      sensitivity,
      batches,
    }).value;
    s = s + fresh;""",
        "The moving average is written in increments: the query asks for the momentum times the distance to s.",
        "missing term",
        ("shape",),
    ),
    Planted(
        "drawn-size",
        "outsider/dp_sgd.py",
        "baselines/dp_sgd",
        "mean = clipped.sum(axis=0) / size",
        "mean = clipped.sum(axis=0) / max(1, len(chosen))",
        "The mean divides by the number of records that came, not by the nominal size of a Poisson batch.",
        "factor",
        ("wrong batch",),
    ),
    Planted(
        "margin-forgotten",
        "outsider/opt.py",
        "second_order_erm/opt",
        "if smallest >= -eps_H:",
        'if smallest >= -accuracy["curvature"]:',
        "The test of the smallest eigenvalue leaves out the margin for the eigenvalue's own error.",
        "decision",
    ),
    Planted(
        "laplace-same-variance",
        "outsider/phased.py",
        "output_perturbation/algorithm2",
        'centre = tape.gaussian(f"x/{k + 1}", point, std=std, sensitivity=sensitivity, batch=parts[k])',
        'centre = tape.laplace(f"x/{k + 1}", point, scale=std / np.sqrt(2), sensitivity=sensitivity, batch=parts[k])',
        "The noise is Laplace noise of the same variance.",
        "law",
    ),
    Planted(
        "part-batch-dropped",
        "foreign/dp_ftrl.py",
        "dp_ftrl/dp_ftrl",
        "while used < n:",
        'while used + schedule["batch"] <= n:',
        "The last batch is dropped where it is not full.",
        "calls",
    ),
    Planted(
        "divergence-sign",
        "foreign/sgda.py",
        "dro/sgda",
        'plus(at, penalty, -problem["weight"])',
        'plus(at, penalty, problem["weight"])',
        "The ascent adds the divergence's gradient instead of taking it off.",
        "sign",
    ),
    Planted(
        "lower-triangle-by-rows",
        "newcomers/terse.py",
        "second_order_erm/dp_tr",
        "i, j = np.triu_indices(len(H))",
        "i, j = np.tril_indices(len(H))",
        "The Hessian is released by its lower triangle, row by row: other places, same numbers.",
        "shape",
        ("index shift",),
    ),
)
UNSEEN = (
    Planted(
        "dual-scale-misplaced",
        "newcomers/loops.py",
        "dro/double_spider",
        "return [scale * (1.0 - weight)]",
        "return [1.0 - scale * weight]",
        "The gradient in eta has the scale on the conjugate's slope only, not on the one.",
        "factor",
        ("missing term",),
    ),
    Planted(
        "log-of-weights",
        "newcomers/scans.py",
        "dro/sgda",
        "np.log(np.maximum(len(y) * y, 1e-12))",
        "np.log(np.maximum(y, 1e-12))",
        "The divergence's gradient lacks the n in log(n y), a shift that the projection takes off again.",
        "missing term",
    ),
    Planted(
        "density-not-cut",
        "newcomers/scans.py",
        "dro/composite_spider",
        "density = np.clip(u + 1.0, 0.0, 1e100)",
        "density = u + 1.0",
        "The conjugate's slope is not cut off at zero, so a record with a small loss gets a negative weight.",
        "missing term",
        ("clipping is missing", "decision"),
    ),
)
