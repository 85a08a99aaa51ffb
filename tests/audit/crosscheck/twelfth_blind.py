"""24 bugs in programs of three folders, by somebody who had not seen the diagnosis; kinds written before the trial."""

from __future__ import annotations

from .sixth_blind import Planted

PLANTED = (
    Planted(
        "hessian-at-the-last",
        "newcomers/terse.py",
        "second_order_erm/dp_gd",
        ('S = gauss2(t, N, H(W[k]), D["hessian"])\n        n += 1'),
        ('S = gauss2(t, N, H(w), D["hessian"])\n        n += 1'),
        "The test takes the Hessian at the last iterate, not at the one that is tested.",
        "index shift",
    ),
    Planted(
        "no-own-concavity",
        "newcomers/both_halves.py",
        "output_perturbation/algorithms4and5",
        "(self.wy + self.bend) * np.eye(e)",
        "self.wy * np.eye(e)",
        "The closed form of the saddle point leaves the loss's own concavity in y out.",
        "missing term",
    ),
    Planted(
        "momentum-after-release",
        "newcomers/ftrl.js",
        "dro/single_sample",
        (
            "      query: momentum * g,\n"
            "      std: noise.scale(sensitivity),\n"
            "      sensitivity,\n"
            "      batches,\n"
            "    }).value;\n"
            "    s = (1 - momentum) * s + fresh;"
        ),
        (
            "      query: g,\n"
            "      std: noise.scale(sensitivity),\n"
            "      sensitivity,\n"
            "      batches,\n"
            "    }).value;\n"
            "    s = (1 - momentum) * s + momentum * fresh;"
        ),
        "The momentum multiplies the released value and no longer the query; the noise stays.",
        "factor",
    ),
    Planted(
        "incomplete-batch-dropped",
        "newcomers/ftrl.js",
        "dp_ftrl/dp_ftrl",
        "for (let seen = 0; seen < n; seen += batch) {",
        "for (let seen = 0; seen + batch <= n; seen += batch) {",
        "The last batch is left out where it is not full.",
        "calls",
        ("index shift",),
    ),
    Planted(
        "node-of-one-draw",
        "newcomers/leader.js",
        "dp_ftrl/dp_ftrl",
        "      draws = [...this.blocks[level].draws, ...draws];\n",
        "",
        "A block of the tree names the last draw alone, though it is the sum over all draws below it.",
        "wrong batch",
    ),
    Planted(
        "exact-blocks",
        "newcomers/leader.js",
        "dp_ftrl/dp_ftrl",
        "total = plus(total, block.noisy)",
        "total = plus(total, block.exact)",
        "The prefix adds up the exact sums of the blocks in place of the released ones.",
        "un-noised",
    ),
    Planted(
        "clip-then-subtract",
        "newcomers/kl_recursive.py",
        "dro/recursive_spider",
        (
            "            change = slope(i, w) - slope(i, old)\n"
            "            total = total + (shorten(change, bound) if bound > 0 else 0.0 * total)"
        ),
        '            total = total + shorten(slope(i, w), s["clip"]) - shorten(slope(i, old), s["clip"])',
        "Each of the two gradients is clipped, and their difference is not.",
        "clip order",
        (
            "clip bound",
            "clipping is missing",
        ),
    ),
    Planted(
        "answer-a-step-late",
        "newcomers/kl_recursive.py",
        "dro/recursive_spider",
        (
            "            if t == shown:\n"
            "                answer = (w, v, u, value)\n"
            "            safe = max(value, 1.0)\n"
            "            ratio = w[1] / safe\n"
            "            down_x = ratio * v\n"
            "            down_t = ratio * u + math.log(safe) + self.rho\n"
            '            temperature = min(max(w[1] - s["step"] * down_t, self.floor), cap)\n'
            '            old, w = w, (w[0] - s["step"] * down_x, temperature)\n'
        ),
        (
            "            safe = max(value, 1.0)\n"
            "            ratio = w[1] / safe\n"
            "            down_x = ratio * v\n"
            "            down_t = ratio * u + math.log(safe) + self.rho\n"
            '            temperature = min(max(w[1] - s["step"] * down_t, self.floor), cap)\n'
            '            old, w = w, (w[0] - s["step"] * down_x, temperature)\n'
            "            if t == shown:\n"
            "                answer = (w, v, u, value)\n"
        ),
        "The selected iterate is kept after the step, with the estimates from before it.",
        "output",
        ("index shift",),
    ),
    Planted(
        "true-length-decides",
        "newcomers/line_search_erm.py",
        "second_order_erm/opt_ls",
        "length = np.linalg.norm(g)",
        "length = np.linalg.norm(problem.gradient(w))",
        ("The branch and the reach of the search take the length of the true gradient, not of the released one."),
        "un-noised",
        ("decision",),
    ),
    Planted(
        "moves-add-up",
        "newcomers/loops.py",
        "dro/double_spider",
        "    bound = 2.0 * (by_x if by_x > by_eta else by_eta)",
        "    bound = 2.0 * (by_x + by_eta)",
        "The threshold of a difference is the sum of both moves' shares, not the larger one.",
        "clip bound",
    ),
    Planted(
        "stale-anchor",
        "newcomers/modules.py",
        "minimax_sosp/dp_spider",
        (
            '            self.estimate = self.engine.noisy_mean("refresh", grads, self.hyper["clip"], t'
            "icket)\n"
            "        else:\n"
            "            old_x, old_y = self.previous\n"
            "            ticket, index = self.sample_step()\n"
            "            grads = self.module.per_sample_grad_x(x, y, index) - self.module.per_sample_gr"
            "ad_x(old_x, old_y, index)\n"
            '            change = self.engine.noisy_mean("difference", grads, self.difference_bound(x -'
            " old_x), ticket)\n"
            "            self.estimate = self.estimate + change\n"
            "        self.previous = (x.copy(), y)\n"
        ),
        (
            '            self.estimate = self.engine.noisy_mean("refresh", grads, self.hyper["clip"], t'
            "icket)\n"
            "            self.previous = (x.copy(), y)\n"
            "        else:\n"
            "            old_x, old_y = self.previous\n"
            "            ticket, index = self.sample_step()\n"
            "            grads = self.module.per_sample_grad_x(x, y, index) - self.module.per_sample_gr"
            "ad_x(old_x, old_y, index)\n"
            '            change = self.engine.noisy_mean("difference", grads, self.difference_bound(x -'
            " old_x), ticket)\n"
            "            self.estimate = self.estimate + change\n"
        ),
        (
            "The point to compare with is kept at refreshes alone, so later differences reach back to t"
            "he last refresh and are added up."
        ),
        "index shift",
    ),
    Planted(
        "convex-in-y",
        "newcomers/modules.py",
        "minimax_sosp/private_diff",
        "self.coupling[index] * x[0] - self.concavity * y)",
        "self.coupling[index] * x[0] + self.concavity * y)",
        "The concave term's gradient in y has the wrong sign.",
        "sign",
    ),
    Planted(
        "changes-not-clipped",
        "newcomers/rgda.py",
        "minimax_sosp/dp_rgda",
        'mean = self.average(changes, s["clip_step"])',
        "mean = sum(changes) / len(changes)",
        "The differences are averaged without clipping, as smoothness is thought to bound them.",
        "clipping is missing",
    ),
    Planted(
        "energy-carried-over",
        "newcomers/rgda.py",
        "minimax_sosp/dp_rgda",
        "saddle, escaping, energy, waited = x, True, 0.0, 0\n",
        "saddle, escaping, waited = x, True, 0\n",
        "A second escape begins with the first one's sum of squares.",
        "decision",
        ("missing term",),
    ),
    Planted(
        "norm-of-the-batch",
        "newcomers/scans.py",
        "dro/composite_sgd",
        "lengths = np.linalg.norm(rows, axis=-1, keepdims=True)",
        "lengths = np.linalg.norm(rows, keepdims=True)",
        "Every record is scaled by the norm of the whole batch's matrix, not by its own.",
        "clip norm",
        ("clip order",),
    ),
    Planted(
        "largest-of-the-batch",
        "newcomers/scans.py",
        "dro/private_diff",
        "(n / size) * y.max()",
        "(n / size) * y[indices].max()",
        ("The sensitivity, and the noise with it, takes the largest weight in the batch, not the largest of all."),
        "noise scale",
        ("sensitivity",),
    ),
    Planted(
        "claim-without-eta",
        "outsider/stochastic_spider.py",
        "adaptive_batch/stochastic_spider",
        "claim = 2 * M * length(x - x_old) / size",
        "claim = 2 * M * length(step) / size",
        ("The sensitivity of a change is stated for the length of the step before it is multiplied by the step size."),
        "sensitivity",
        ("factor",),
    ),
    Planted(
        "single-records",
        "outsider/dp_sgd.py",
        "baselines/dp_sgd",
        "per_example = rows[chosen]",
        "per_example = rows[chosen].astype(np.float32)",
        "Gradients are clipped and summed in single precision.",
        "precision",
    ),
    Planted(
        "laplace-for-numbers",
        "outsider/recursive_spider.py",
        "dro/recursive_spider",
        'return float(self.tape.gaussian("value", query, std=std, sensitivity=sensitivity, batch=batch))',
        ('return float(self.tape.laplace("value", query, scale=std, sensitivity=sensitivity, batch=batch))'),
        "The inner value, a single number, gets Laplace noise.",
        "law",
    ),
    Planted(
        "whole-budget",
        "outsider/opt.py",
        "second_order_erm/opt",
        '(2 * (noise["rho"] - noise["rho_f"]))',
        '(2 * noise["rho"])',
        "The steps take the whole budget, though a part of it went to the initial value.",
        "noise scale",
    ),
    Planted(
        "first-is-none",
        "outsider/opt_ls.py",
        "second_order_erm/opt_ls",
        "return fallback if index is None else steps[int(index)]",
        "return steps[int(index)] if index else fallback",
        "Where the first trial passes, its index 0 counts as none, and the fallback is taken.",
        "decision",
    ),
    Planted(
        "own-batch-for-u",
        "outsider/dp_rgda.py",
        "minimax_sosp/dp_rgda",
        (
            '        du = self.mean(f.in_y(x, y, chosen) - f.in_y(x_old, y_old, chosen), s["clip_step"])\n'
            '        dv = self.tape.gaussian("step/v", dv, std=std, sensitivity=sensitivity, batch=batch)\n'
        ),
        (
            '        dv = self.tape.gaussian("step/v", dv, std=std, sensitivity=sensitivity, batch=batch)\n'
            '        batch, chosen = some_records(self.tape, "step/samples", f.n, s["step_batch"])\n'
            '        du = self.mean(f.in_y(x, y, chosen) - f.in_y(x_old, y_old, chosen), s["clip_step"])\n'
        ),
        "The change in y draws a batch of its own, where both changes share one.",
        "calls",
        ("wrong batch",),
    ),
    Planted(
        "losses-as-a-vector",
        "foreign/sgda.py",
        "dro/sgda",
        'else [min(loss, s["clip_y"]) for loss in losses]',
        'else clipped(losses, s["clip_y"])',
        "The losses are clipped as one vector by its 2-norm, not each by itself.",
        "clip norm",
        ("clip order",),
    ),
    Planted(
        "cap-on-the-gradient",
        "foreign/double_spider.py",
        "dro/double_spider",
        'rate = min(s["x_step"], s["move_cap"] / length if length > 0 else math.inf)',
        'rate = s["x_step"] * min(1.0, s["move_cap"] / length if length > 0 else 1.0)',
        "The cap cuts the estimate, and the step size comes on top, where it should cut the move.",
        "factor",
        ("decision",),
    ),
)

UNSEEN = (
    Planted(
        "shifted-entropy",
        "outsider/sgda.py",
        "dro/sgda",
        "pull = np.log(np.maximum(n * y, 1e-12))",
        "pull = np.log(np.maximum(y, 1e-12))",
        (
            "The slope of the divergence is that of the plain entropy: a shift that the projection onto"
            " the simplex takes away."
        ),
        "missing term",
    ),
    Planted(
        "mapping-not-divided",
        "outsider/dp_rgda.py",
        "minimax_sosp/dp_rgda",
        'mapping = length(y - y_new) / s["ascent_step"]',
        "mapping = length(y - y_new)",
        "The gradient mapping is not divided by the step: the smallest one is the same.",
        "factor",
    ),
)
