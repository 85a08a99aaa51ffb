"""24 bugs in programs of three folders, by somebody who had not seen the diagnosis; kinds written before the trial."""

from __future__ import annotations

from .sixth_blind import Planted

PLANTED = (
    Planted(
        "x-with-new-temperature",
        "outsider/recursive_spider.py",
        "dro/recursive_spider",
        'before, now = now, (now[0] - s["step"] * z_x, temp)',
        'before, now = now, (now[0] - s["step"] * temp / floored * v, temp)',
        "The step in x is scaled by the temperature of the next iterate, which has just been computed.",
        "index shift",
        ("factor",),
    ),
    Planted(
        "clip-then-subtract",
        "outsider/recursive_spider.py",
        "dro/recursive_spider",
        """        rows = self.inner_gradients(block, *now, chosen) - self.inner_gradients(block, *before, chosen)
        moved_x, moved_temp = length(now[0] - before[0]), abs(now[1] - before[1])
        moved = math.hypot(moved_x, moved_temp)
        bound = min(cap, s["smoothness"] * moved)
        query = clip_rows(rows, cap if lines["lines_13_14_clip"] == "C" else bound).sum(axis=0) / size
""",
        """        moved_x, moved_temp = length(now[0] - before[0]), abs(now[1] - before[1])
        moved = math.hypot(moved_x, moved_temp)
        bound = min(cap, s["smoothness"] * moved)
        limit = cap if lines["lines_13_14_clip"] == "C" else bound
        rows = clip_rows(self.inner_gradients(block, *now, chosen), limit)
        rows = rows - clip_rows(self.inner_gradients(block, *before, chosen), limit)
        query = rows.sum(axis=0) / size
""",
        "The two gradients of a record are clipped and then subtracted: their difference is not clipped.",
        "clip order",
    ),
    Planted(
        "chi-square-without-half",
        "outsider/double_spider.py",
        "dro/double_spider",
        "found = np.maximum(u + 1, 0.0)",
        "found = np.maximum(u / 2 + 1, 0.0)",
        "The conjugate of (t - 1)^2, the other convention of chi-square, in place of that of (t - 1)^2 / 2.",
        "factor",
    ),
    Planted(
        "old-x-at-every-inner-step",
        "outsider/dp_rgda.py",
        "minimax_sosp/dp_rgda",
        "x_old, y_old, y = x, y, y_new",
        "y_old, y = y, y_new",
        "The move of x is not over after the first inner step: every inner difference takes it in again.",
        "index shift",
    ),
    Planted(
        "anchor-after-perturbation",
        "outsider/dp_rgda.py",
        "minimax_sosp/dp_rgda",
        """            escaping, anchor, squares, since = True, x, 0.0, 0
            x = x + tape.public("perturb")
""",
        """            x = x + tape.public("perturb")
            escaping, anchor, squares, since = True, x, 0.0, 0
""",
        "The point that is returned as the candidate is kept after the perturbation in place of before it.",
        "output",
        ("index shift",),
    ),
    Planted(
        "batch-from-the-move",
        "outsider/stochastic_spider.py",
        "adaptive_batch/stochastic_spider",
        'math.ceil(s["batch_slope"] * length(step) - 1e-12)',
        'math.ceil(s["batch_slope"] * length(x - x_old) - 1e-12)',
        "The batch grows with the distance that x moved, not with the length of the gradient: the step size is in it.",
        "wrong batch",
        ("factor",),
    ),
    Planted(
        "one-draw-for-both",
        "outsider/stochastic_spider.py",
        "adaptive_batch/stochastic_spider",
        'other, chosen_h = fresh("O4", size)',
        "other, chosen_h = batch, chosen",
        "The change of the Hessian is taken on the records of the change of the gradient: its own are not drawn.",
        "calls",
        ("wrong batch",),
    ),
    Planted(
        "threshold-and-query-noise-swapped",
        "outsider/opt_ls.py",
        "second_order_erm/opt_ls",
        """        threshold_scale=2 * lam * sensitivity,
        query_scale=4 * lam * sensitivity,
""",
        """        threshold_scale=4 * lam * sensitivity,
        query_scale=2 * lam * sensitivity,
""",
        "The noise of the threshold and that of the queries have changed places.",
        "noise scale",
    ),
    Planted(
        "curvature-keeps-its-sign",
        "outsider/opt.py",
        "second_order_erm/opt",
        "w = w + 2 * abs(smallest) / M * p",
        "w = w + 2 * smallest / M * p",
        "The smallest eigenvalue is negative and taken as it is: the step along the eigenvector goes the other way.",
        "sign",
    ),
    Planted(
        "small-bits-first",
        "foreign/dp_ftrl.py",
        "dp_ftrl/dp_ftrl",
        "for bit in reversed(range(t.bit_length())):",
        "for bit in range(t.bit_length()):",
        "The intervals of a prefix are cut the shortest first, so that they are no nodes of the tree.",
        "calls",
        ("index shift",),
    ),
    Planted(
        "laplace-for-the-losses",
        "foreign/sgda.py",
        "dro/sgda",
        'released = numbers(tape.gaussian("y", query, std=std, sensitivity=s["clip_y"]), kind)',
        'released = numbers(tape.laplace("y", query, scale=std, sensitivity=s["clip_y"]), kind)',
        "A record moves one loss only, so the losses are released with Laplace noise of the same scale.",
        "law",
    ),
    Planted(
        "clipped-by-value",
        "newcomers/leader.js",
        "dp_ftrl/dp_ftrl",
        """  const size = length(gradient);
  return size > bound ? times(bound / size, gradient) : gradient;
""",
        """  return gradient.map((x) => Math.min(bound, Math.max(-bound, x)));
""",
        "Every coordinate is cut at the bound, as clipping by value does, in place of the gradient's length.",
        "clip norm",
    ),
    Planted(
        "differences-not-clipped",
        "outsider/dp_spider.py",
        "minimax_sosp/dp_spider",
        "rows_v = clip_rows(gradients(rows, x, chosen) - gradients(rows, x_old, chosen), bound)",
        "rows_v = gradients(rows, x, chosen) - gradients(rows, x_old, chosen)",
        "Differences are taken to be short because the loss is smooth, and are not clipped.",
        "clipping is missing",
    ),
    Planted(
        "last-x-with-the-eta-before",
        "foreign/double_spider.py",
        "dro/double_spider",
        'found = self.estimate("x", refresh, at, (before[0], eta))',
        'found = self.estimate("x", refresh, at, before)',
        "The difference in x starts from the eta of the step before, not from that of the last estimate in x.",
        "index shift",
    ),
    Planted(
        "largest-weight-of-the-batch",
        "outsider/sgda.py",
        "dro/sgda",
        "float(weights.max())",
        "float(weights[chosen].max())",
        "The sensitivity goes by the largest weight among the drawn records, not among all.",
        "noise scale",
        ("sensitivity",),
    ),
    Planted(
        "leaf-is-a-mean",
        "newcomers/ftrl.js",
        "dp_ftrl/dp_ftrl",
        "tree.push(leaf, draw.batch);",
        "tree.push(times(1 / size, leaf), draw.batch);",
        "The tree is fed with the mean gradient of a batch in place of the sum.",
        "factor",
    ),
    Planted(
        "sensitivities-of-a-node-add-up",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        "sensitivity=max(leaf[1] for leaf in touched),",
        "sensitivity=sum(leaf[1] for leaf in touched),",
        "The declared sensitivity of a node is the sum over its batches, though they share no record.",
        "sensitivity",
    ),
    Planted(
        "half-a-matrix",
        "newcomers/line_search_erm.py",
        "second_order_erm/opt_ls",
        "out[i, j] = out[j, i] = entries[k]",
        "out[i, j] = entries[k]",
        "The released upper triangle is not mirrored, and the eigenvalues are read off the lower one.",
        "missing term",
    ),
    Planted(
        "true-norms-for-the-order",
        "newcomers/terse.py",
        "second_order_erm/dp_gd",
        "G.append(norm(v))",
        "G.append(norm(g(w)))",
        "Which iterates are tested, and in which order, is decided by the norms of the exact gradients.",
        "un-noised",
        ("decision",),
    ),
    Planted(
        "eta-does-not-move",
        "newcomers/scans.py",
        "dro/composite_spider",
        'bound = change_bound(schedule, flatten(state["now"]) - flatten(state["before"]))',
        'bound = change_bound(schedule, state["now"]["x"] - state["before"]["x"])',
        "The bound of the differences goes by the move of x alone, without that of eta.",
        "clip bound",
    ),
    Planted(
        "saddle-without-concavity",
        "newcomers/both_halves.py",
        "output_perturbation/algorithms4and5",
        "system[d:, d:] = (self.wy + self.bend) * np.eye(e)",
        "system[d:, d:] = self.wy * np.eye(e)",
        "The closed form of the saddle point forgets the concavity that the loss has by itself.",
        "missing term",
    ),
    Planted(
        "old-gradient-from-the-old-batch",
        "newcomers/modules.py",
        "minimax_sosp/private_diff",
        """            self.estimate = self.engine.noisy_mean("refresh", grads, self.hyper["clip"], ticket)
        else:
            old_x, old_y = self.previous
            ticket, index = self.sample_step()
            grads = self.module.per_sample_grad_x(x, y, index) - self.module.per_sample_grad_x(old_x, old_y, index)
""",
        """            self.estimate = self.engine.noisy_mean("refresh", grads, self.hyper["clip"], ticket)
            self.seen = index
        else:
            old_x, old_y = self.previous
            ticket, index = self.sample_step()
            last = self.module.per_sample_grad_x(old_x, old_y, self.seen).mean(axis=0)
            grads = self.module.per_sample_grad_x(x, y, index) - last
            self.seen = index
""",
        "The gradient at the last point is kept from the last batch, not taken on the records of this one.",
        "wrong batch",
    ),
    Planted(
        "epsilon-in-the-clip-factor",
        "outsider/tools.py",
        "dro/double_spider",
        "bound / np.maximum(norms, 1e-300)",
        "bound / (norms + 1e-6)",
        "A millionth is added to the norm before the bound is divided by it, as the libraries do.",
        "precision",
        ("factor",),
    ),
    Planted(
        "frozen-now",
        "outsider/stochastic_spider.py",
        "adaptive_batch/stochastic_spider",
        'length(noisy) <= s["threshold"] and frozen_old <= 0',
        'length(noisy) <= s["threshold"] and frozen <= 0',
        "Whether an escape may begin is decided by the present count of frozen, not by the last one.",
        "decision",
        ("index shift",),
    ),
)

UNSEEN = (
    Planted(
        "margin-not-in-the-test",
        "outsider/opt.py",
        "second_order_erm/opt",
        "if smallest >= -eps_H:",
        'if smallest >= -accuracy["curvature"]:',
        "The test of the smallest eigenvalue leaves out the margin of an inexact one.",
        "decision",
        ("factor",),
    ),
    Planted(
        "start-below-the-floor",
        "outsider/recursive_spider.py",
        "dro/recursive_spider",
        'max(s["start_temperature"], problem["floor"])',
        's["start_temperature"]',
        "The first temperature is not lifted to the floor.",
        "missing term",
    ),
    Planted(
        "one-batch-left-is-enough",
        "outsider/stochastic_spider.py",
        "adaptive_batch/stochastic_spider",
        "left < 2 * size",
        "left < size",
        "The run goes on while records for one of the two batches are left.",
        "calls",
        ("decision",),
    ),
    Planted(
        "trials-of-the-other-search",
        "outsider/opt_ls.py",
        "second_order_erm/opt_ls",
        'lam(search["b_H"], search["beta_H"])',
        'lam(search["b_g"], search["beta_H"])',
        "The noise of the search along curvature is computed for the number of trials of the other search.",
        "noise scale",
    ),
    Planted(
        "failure-not-squared",
        "outsider/risks.py",
        "second_order_erm/opt",
        'math.log(2.75 * d / eigen["failure"] ** 2)',
        'math.log(2.75 * d / eigen["failure"])',
        "The number of Lanczos steps is for a failure probability that is not squared.",
        "factor",
        ("index shift",),
    ),
    Planted(
        "batch-of-none",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        "return max(1, math.ceil(wanted - 1e-12))",
        "return math.ceil(wanted - 1e-12)",
        "After a step of length zero the next batch has no record.",
        "wrong batch",
    ),
    Planted(
        "temperature-without-limit",
        "newcomers/kl_recursive.py",
        "dro/recursive_spider",
        'cap = as_number(s["largest_temperature"])',
        "cap = math.inf",
        "The largest temperature is forgotten.",
        "missing term",
        ("clip bound",),
    ),
    Planted(
        "saddle-only-while-escaping",
        "newcomers/rgda.py",
        "minimax_sosp/dp_rgda",
        '"x": x if saddle is None else saddle',
        '"x": saddle if escaping else x',
        "Where an escape has ended and the steps run out, the last iterate is returned in place of the last candidate.",
        "output",
    ),
    Planted(
        "bracket-without-the-radius",
        "newcomers/terse.py",
        "second_order_erm/dp_tr",
        "b = a + norm(q) / r + 1e-300",
        "b = a + norm(q) + 1e-300",
        "The upper end of the bisection does not know the radius: below a radius of one the step comes out too long.",
        "factor",
        ("clip bound",),
    ),
)
