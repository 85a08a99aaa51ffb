"""24 bugs in programs of three folders, by somebody who had not seen the diagnosis; kinds written before the trial."""

from __future__ import annotations

from .sixth_blind import Planted

PLANTED = (
    Planted(
        "first-phase-reach",
        "newcomers/both_halves.py",
        "output_perturbation/algorithms4and5",
        'reach = mine["sensitivities"][k - 1]',
        'reach = mine["sensitivities"][0]',
        "Every phase takes the sensitivity of the first one, for its noise and for what it declares.",
        "noise scale",
        ("index shift",),
    ),
    Planted(
        "momentum-after-release",
        "newcomers/ftrl.js",
        "dro/single_sample",
        """      query: momentum * g,
      std: noise.scale(sensitivity),
      sensitivity,
      batches,
    }).value;
    s = (1 - momentum) * s + fresh;""",
        """      query: g,
      std: noise.scale(sensitivity),
      sensitivity,
      batches,
    }).value;
    s = (1 - momentum) * s + momentum * fresh;""",
        "The momentum multiplies what was released, not the query, and sensitivity and noise stay as they were.",
        "factor",
    ),
    Planted(
        "newer-half-only",
        "newcomers/ftrl.js",
        "dp_ftrl/dp_ftrl",
        "draws: left.draws.concat(node.draws),",
        "draws: node.draws,",
        "A merged node says only the draws of its right half, though its sum is made of both.",
        "wrong batch",
    ),
    Planted(
        "exact-prefix",
        "newcomers/leader.js",
        "dp_ftrl/dp_ftrl",
        "if (block) total = plus(total, block.noisy);",
        "if (block) total = plus(total, block.exact);",
        "The prefix sums up the exact sums of the blocks in place of the released ones.",
        "un-noised",
    ),
    Planted(
        "two-signs",
        "newcomers/kl_recursive.py",
        "dro/recursive_spider",
        'width = 2 * bound if part == "x" else bound  # the temperature\'s gradients have one sign',
        "width = 2 * bound",
        "The refreshes of the temperature get the noise of gradients of both signs.",
        "noise scale",
        ("factor",),
    ),
    Planted(
        "either-eigenvector",
        "newcomers/line_search_erm.py",
        "second_order_erm/opt_ls",
        """        if p_low @ g > 0:
            p_low = -p_low
""",
        "",
        "The direction of negative curvature is taken with whatever sign the eigensolver gives it.",
        "sign",
        ("decision",),
    ),
    Planted(
        "saved-too-late",
        "newcomers/loops.py",
        "dro/double_spider",
        """        x_old, eta_old = x, eta
        x = [x[j] - rate * v[j] for j in range(d)]
""",
        """        x = [x[j] - rate * v[j] for j in range(d)]
        x_old, eta_old = x, eta
""",
        "The old x is saved after the step, so that it is the new one.",
        "index shift",
    ),
    Planted(
        "against-the-snapshot",
        "newcomers/modules.py",
        "minimax_sosp/dp_spider",
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
        "Differences are taken to the point of the last refresh, as in SVRG, and added up nevertheless.",
        "index shift",
    ),
    Planted(
        "one-batch-for-both",
        "newcomers/modules.py",
        "minimax_sosp/dp_sgda",
        "        ticket, index = self.sample_x()\n",
        "",
        "The batch of the step in y is used for the step in x as well.",
        "calls",
        ("wrong batch",),
    ),
    Planted(
        "step-not-squared",
        "newcomers/rgda.py",
        "minimax_sosp/dp_rgda",
        'if s["escape_step"] ** 2 * energy > budget:',
        'if s["escape_step"] * energy > budget:',
        "The test whether an escape has moved far enough takes the step size, not its square.",
        "decision",
        ("factor",),
    ),
    Planted(
        "block-by-block",
        "newcomers/scans.py",
        "dro/composite_sgd",
        'rows = clip_rows(dual_gradients(problem, chosen, z), schedule["clip"])',
        """rows = dual_gradients(problem, chosen, z)
        rows = np.hstack([clip_rows(part, schedule["clip"]) for part in (rows[:, :-1], rows[:, -1:])])""",
        "The gradients in x and in eta are clipped one by one, each at the whole bound.",
        "clip norm",
        ("clip bound",),
    ),
    Planted(
        "first-weights",
        "newcomers/scans.py",
        "dro/private_diff",
        "query = (n / size) * (y[indices] @ rows)",
        "query = (n / size) * (y[:size] @ rows)",
        "The drawn records get the weights of the first ones.",
        "wrong batch",
        ("index shift",),
    ),
    Planted(
        "move-of-x",
        "newcomers/scans.py",
        "dro/composite_spider",
        'bound = change_bound(schedule, flatten(state["now"]) - flatten(state["before"]))',
        'bound = change_bound(schedule, state["now"]["x"] - state["before"]["x"])',
        "The bound of a change follows the move of x alone, though eta moves too.",
        "clip bound",
        ("missing term",),
    ),
    Planted(
        "old-hessian-stays",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        "hess = hess + self.data.hess(x, two.indices) - self.data.hess(last, two.indices)",
        "hess = hess + self.data.hess(x, two.indices)",
        "The Hessian at the last point is not taken off when the estimate is corrected.",
        "missing term",
    ),
    Planted(
        "leaves-add-up",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        "sensitivity=max(leaf[1] for leaf in touched),",
        "sensitivity=sum(leaf[1] for leaf in touched),",
        "A node declares the sum of its leaves' sensitivities, though a record is in one leaf.",
        "sensitivity",
    ),
    Planted(
        "lower-triangle",
        "newcomers/terse.py",
        "second_order_erm/dp_tr",
        "i, j = np.triu_indices(len(H))",
        "i, j = np.tril_indices(len(H))",
        "The Hessian is released by its lower triangle, row by row, so that its entries come in another order.",
        "index shift",
    ),
    Planted(
        "true-norms",
        "newcomers/terse.py",
        "second_order_erm/dp_gd",
        "G.append(norm(v))",
        "G.append(norm(g(w)))",
        "The points are sorted and tested by the norms of the true gradients.",
        "un-noised",
        ("decision",),
    ),
    Planted(
        "y-unclipped",
        "outsider/dp_rgda.py",
        "minimax_sosp/dp_rgda",
        'du = self.mean(f.in_y(x, y, chosen) - f.in_y(x_old, y_old, chosen), s["clip_step"])',
        "du = (f.in_y(x, y, chosen) - f.in_y(x_old, y_old, chosen)).mean(axis=0)",
        "The changes of the gradient in y are averaged without being clipped.",
        "clipping is missing",
    ),
    Planted(
        "mean-of-those-drawn",
        "outsider/dp_sgd.py",
        "baselines/dp_sgd",
        "mean = clipped.sum(axis=0) / size",
        "mean = clipped.sum(axis=0) / max(1, len(clipped))",
        "The sum over a Poisson batch is divided by how many records came.",
        "factor",
        ("wrong batch",),
    ),
    Planted(
        "clipped-leaf",
        "outsider/dp_ftrl.py",
        "dp_ftrl/dp_ftrl",
        "leaf = clip_rows(gradients, clip).sum(axis=0)",
        "leaf = clip_rows(gradients.sum(axis=0, keepdims=True), clip)[0]",
        "The sum over a batch is clipped, not each gradient.",
        "clip order",
    ),
    Planted(
        "lower-quantile",
        "outsider/opt.py",
        "second_order_erm/opt",
        'top += std_f * -float(ndtri(s["failure"]))',
        'top += std_f * float(ndtri(s["failure"]))',
        "The margin on the noisy first value is taken off, not added, so that fewer steps are planned for.",
        "sign",
        ("noise scale",),
    ),
    Planted(
        "laplace-losses",
        "foreign/sgda.py",
        "dro/sgda",
        'released = numbers(tape.gaussian("y", query, std=std, sensitivity=s["clip_y"]), kind)',
        'released = numbers(tape.laplace("y", query, scale=std, sensitivity=s["clip_y"]), kind)',
        "The losses are released with Laplace noise of the scale that the Gaussian noise should have.",
        "law",
    ),
    Planted(
        "safe-division",
        "foreign/arithmetic.py",
        "baselines/dp_sgd",
        "return times(bound / length, row)",
        "return times(bound / (length + 1e-6), row)",
        "A millionth is added to the length before the bound is divided by it, as some libraries do.",
        "precision",
        ("clip bound",),
    ),
    Planted(
        "start-left-out",
        "foreign/dp_spider.py",
        "minimax_sosp/dp_spider",
        'return {"iterates": path,',
        'return {"iterates": path[1:],',
        "The iterates are returned without the start.",
        "output",
    ),
)

# No committed vector sees these: every line search of theirs has beta 1/2.
UNSEEN = (
    Planted(
        "smallest-trial",
        "newcomers/line_search_erm.py",
        "second_order_erm/opt_ls",
        "return last if hit is None else candidates[hit]",
        "return candidates[-1 if hit is None else hit]",
        "A search that finds no step takes its smallest trial in place of the fallback.",
        "decision",
    ),
    Planted(
        "trials-forwards",
        "outsider/cost.py",
        "second_order_erm/opt_ls",
        "for i in reversed(range(trials)):",
        "for i in range(trials):",
        "What a line search costs is computed from the first trial to the last, not backwards.",
        "noise scale",
    ),
)
