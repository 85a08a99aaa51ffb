"""Forty more blind differences, by two authors, each run once on the diagnosis as it was and not mended for since."""

from __future__ import annotations

from .blind import Blind

THIRD = (
    Blind(
        "c01 poisson flag ignored",
        "baselines/dp_sgd",
        "wrong batch",
        ("Batches of a fixed size are drawn without replacement where every record should come by a coin of its own."),
        (("dp_sgd.py", 'if s["poisson"]:', 'if s["poisson"] and size == n:'),),
        ("calls",),
    ),
    Blind(
        "c02 node released again",
        "dp_ftrl/dp_ftrl",
        "calls",
        ("A node of the tree is released again, with fresh noise, whenever a prefix needs it: nothing is kept."),
        (("dp_ftrl.py", "        if (first, last) not in self.known:\n", "        if True:\n"),),
        ("noise scale",),
    ),
    Blind(
        "c03 clip by value",
        "dp_ftrl/dp_ftrl",
        "clip order or norm",
        ("Every coordinate is clipped to [-C, C] (clip by value), not the norm of the record's gradient."),
        (
            (
                "tools.py",
                "return (flat * factors[:, None]).reshape(rows.shape)",
                "return np.clip(flat, -bound, bound).reshape(rows.shape)",
            ),
        ),
        ("clip norm",),
    ),
    Blind(
        "c04 diagonal twice",
        "second_order_erm/opt",
        "factor",
        ("The released upper triangle is completed by adding its transpose, so the diagonal counts twice."),
        (("risks.py", "    found.T[upper] = noisy\n    return found", "    return found + found.T"),),
        ("missing term",),
    ),
    Blind(
        "c05 variances for deviations",
        "second_order_erm/opt",
        "noise scale",
        (
            "The noise of the gradient and of the Hessian is given as a variance where a "
            "standard deviation is asked for."
        ),
        (
            ("opt.py", 'std_g = sigma * sens["gradient"]', 'std_g = (sigma * sens["gradient"]) ** 2'),
            ("opt.py", 'std_H = sigma * sens["hessian"]', 'std_H = (sigma * sens["hessian"]) ** 2'),
        ),
        (),
    ),
    Blind(
        "c06 largest eigenpair",
        "second_order_erm/opt_ls",
        "index shift",
        "The last eigenpair is taken, as if the library gave eigenvalues in descending order.",
        (("risks.py", "return float(values[0]), vectors[:, 0]", "return float(values[-1]), vectors[:, -1]"),),
        ("decision", "calls"),
    ),
    Blind(
        "c07 scales exchanged",
        "second_order_erm/opt_ls",
        "noise scale",
        ("In the private line search the scales of the threshold's and the queries' noise are exchanged."),
        (
            (
                "opt_ls.py",
                "threshold_scale=2 * lam * sensitivity,\n        query_scale=4 * lam * sensitivity,",
                "threshold_scale=4 * lam * sensitivity,\n        query_scale=2 * lam * sensitivity,",
            ),
        ),
        (),
    ),
    Blind(
        "c08 y difference at the new x",
        "minimax_sosp/dp_rgda",
        "index shift",
        "The y-gradient's difference takes the old y at the new x: the move of x is forgotten.",
        (
            (
                "dp_rgda.py",
                "f.in_y(x, y, chosen) - f.in_y(x_old, y_old, chosen)",
                "f.in_y(x, y, chosen) - f.in_y(x, y_old, chosen)",
            ),
        ),
        ("missing term",),
    ),
    Blind(
        "c09 last inner point",
        "minimax_sosp/dp_rgda",
        "decision",
        ("The inner loop hands back its last point, not the one with the smallest gradient mapping."),
        (("dp_rgda.py", "if best is None or mapping < best[0]:", "if best is None or k > 0:"),),
        ("index shift", "missing term"),
    ),
    Blind(
        "c10 old point overwritten",
        "minimax_sosp/dp_spider",
        "index shift",
        ("The old point is kept after the update, so it is the new point and every difference is zero."),
        (
            (
                "dp_spider.py",
                '        x_old = x\n        x = x - s["step_size"] * v\n',
                '        x = x - s["step_size"] * v\n        x_old = x\n',
            ),
        ),
        ("missing term", "clip bound"),
    ),
    Blind(
        "c11 noise averaged over the batch",
        "minimax_sosp/dp_spider",
        "noise scale",
        (
            "The noise of a difference is divided by the root of the batch size, as if it had "
            "been added to each record and averaged."
        ),
        (
            (
                "dp_spider.py",
                'std = scale(s, "difference", sensitivity)',
                'std = scale(s, "difference", sensitivity) / np.sqrt(s["step_batch"])',
            ),
        ),
        (),
    ),
    Blind(
        "c12 outer derivative forgotten",
        "dro/recursive_spider",
        "missing term",
        "The chain rule's 1/s of the logarithm is forgotten in both parts of the gradient.",
        (
            ("recursive_spider.py", "z_x = now[1] / floored * v", "z_x = now[1] * v"),
            ("recursive_spider.py", "z_temp = now[1] / floored * u + ", "z_temp = now[1] * u + "),
        ),
        ("factor",),
    ),
    Blind(
        "c13 radius left out",
        "dro/recursive_spider",
        "missing term",
        "The derivative in lambda leaves out the radius of the uncertainty set.",
        (
            (
                "recursive_spider.py",
                'z_temp = now[1] / floored * u + math.log(floored) + problem["radius"]',
                "z_temp = now[1] / floored * u + math.log(floored)",
            ),
        ),
        (),
    ),
    Blind(
        "c14 refresh at the old dual",
        "dro/double_spider",
        "index shift",
        "At a refresh the x-gradient is taken at the dual variable before its step.",
        (("double_spider.py", 'v = est.refresh("x", (x, eta_new))', 'v = est.refresh("x", (x, eta))'),),
        (),
    ),
    Blind(
        "c15 chi square of another book",
        "dro/double_spider",
        "factor",
        "The conjugate is that of (t - 1)^2, not of half of it: u is halved in the slope.",
        (("double_spider.py", "found = np.maximum(u + 1, 0.0)", "found = np.maximum(u / 2 + 1, 0.0)"),),
        (),
    ),
    Blind(
        "c16 weights by place in the batch",
        "dro/sgda",
        "wrong batch",
        ("The drawn records' gradients get the weights of the first records, by their place in the batch."),
        (("sgda.py", "(weights[chosen, None] * rows)", "(weights[: len(chosen), None] * rows)"),),
        (),
    ),
    Blind(
        "c17 noise only reported",
        "dro/sgda",
        "un-noised",
        "The step in y uses the exact losses; the released ones are thrown away.",
        (("sgda.py", '(noisy - p["weight"] * pull)', '(capped - p["weight"] * pull)'),),
        (),
    ),
    Blind(
        "c18 regularised towards zero",
        "output_perturbation/algorithm2",
        "missing term",
        ("Every phase is regularised towards zero (plain ridge), not towards the last phase's release."),
        (
            (
                "phased.py",
                "point = into_ball(centre - slope / weight, radius)",
                "point = into_ball(-slope / weight, radius)",
            ),
        ),
        (),
    ),
    Blind(
        "c19 loss with the other sign",
        "output_perturbation/algorithm2",
        "sign",
        "The loss is taken with the other sign: the phase is maximised.",
        (("phased.py", 'slope = -loss["slope"] * rows', 'slope = loss["slope"] * rows'),),
        (),
    ),
    Blind(
        "c20 batch size rounded down",
        "adaptive_batch/stochastic_spider",
        "wrong batch",
        "The adaptive batch size is rounded down instead of up.",
        (
            (
                "stochastic_spider.py",
                'math.ceil(s["batch_slope"] * length(step) - 1e-12)',
                'int(s["batch_slope"] * length(step))',
            ),
        ),
        ("decision",),
    ),
)
FOURTH = (
    Blind(
        "d01 one batch for all steps",
        "baselines/dp_sgd",
        "wrong batch",
        "The batch is drawn once, before the first step, and used again in every step.",
        (
            (
                "dp_sgd.py",
                '        if s["poisson"]:\n',
                '        if step > 0:\n            pass\n        elif s["poisson"]:\n',
            ),
        ),
        ("calls",),
    ),
    Blind(
        "d02 norm without an axis",
        "baselines/dp_sgd",
        "clip order or norm",
        ("The norm is taken of the whole batch as one matrix (no axis given), not of each record's gradient."),
        (("tools.py", "norms = np.sqrt((flat**2).sum(axis=1))", "norms = np.full(len(flat), np.linalg.norm(flat))"),),
        ("clip norm",),
    ),
    Blind(
        "d03 last node only",
        "dp_ftrl/dp_ftrl",
        "missing term",
        "The nodes of a prefix are not added up: only the last one is kept.",
        (
            (
                "dp_ftrl.py",
                "total = total + self.node(start + 1, start + width)",
                "total = self.node(start + 1, start + width)",
            ),
        ),
        (),
    ),
    Blind(
        "d04 short batch dropped",
        "dp_ftrl/dp_ftrl",
        "calls",
        "The loop ends before the last, shorter batch: the records left over are never used.",
        (("dp_ftrl.py", "while seen < n:", 'while seen + s["batch"] <= n:'),),
        ("missing term", "index shift"),
    ),
    Blind(
        "d05 triangle not mirrored",
        "second_order_erm/opt",
        "missing term",
        (
            "The released upper triangle is not mirrored; the eigenvalue routine reads the "
            "lower one, which is zero off the diagonal."
        ),
        (("risks.py", "    found.T[upper] = noisy\n", ""),),
        (),
    ),
    Blind(
        "d06 hessian released in every step",
        "second_order_erm/opt",
        "calls",
        (
            "Gradient and Hessian are released together at the top of every step, before it is "
            "known that the Hessian is needed."
        ),
        (
            (
                "opt.py",
                "        if length(g) > eps_g:\n",
                (
                    '        H = release_matrix(tape, "hessian", f.hessian(w), std_H, '
                    'sens["hessian"])\n        if length(g) > eps_g:\n'
                ),
            ),
            (
                "opt.py",
                (
                    '        H = release_matrix(tape, "hessian", f.hessian(w), std_H, '
                    'sens["hessian"])\n        smallest, p'
                ),
                "        smallest, p",
            ),
        ),
        (),
    ),
    Blind(
        "d07 squared length compared",
        "second_order_erm/opt",
        "decision",
        "The squared length of the gradient is compared with the accuracy, not its length.",
        (("opt.py", "if length(g) > eps_g:", "if g @ g > eps_g:"),),
        (),
    ),
    Blind(
        "d08 decrease from the start",
        "second_order_erm/opt_ls",
        "index shift",
        ("The value that the searches compare with is computed once at the start point, not at each iterate."),
        (
            ("opt_ls.py", "        here = f.value(w)\n", ""),
            ("opt_ls.py", "    for k in range(T):\n", "    here = f.value(w)\n    for k in range(T):\n"),
        ),
        (),
    ),
    Blind(
        "d09 one release a step",
        "second_order_erm/opt_ls",
        "noise scale",
        ("The budget is split as if every step made one release; how many it makes at most is left out of sigma."),
        (("opt_ls.py", 'math.sqrt(noise["releases_per_step"] * T / (2', "math.sqrt(T / (2"),),
        (),
    ),
    Blind(
        "d10 sigmoid of the other side",
        "second_order_erm/opt_ls",
        "sign",
        ("In the gradient of the logistic loss the sigmoid is taken of the margin where it should be of minus it."),
        (("risks.py", "np.exp(np.minimum(self.margins(w), 700))", "np.exp(np.minimum(-self.margins(w), 700))"),),
        (),
    ),
    Blind(
        "d11 point after the step kept",
        "minimax_sosp/dp_rgda",
        "index shift",
        ("The inner loop keeps the point after the step of the smallest mapping, not the one that it starts from."),
        (("dp_rgda.py", "best = (mapping, y, v, u)", "best = (mapping, y_new, v, u)"),),
        (),
    ),
    Blind(
        "d12 ascent not projected",
        "minimax_sosp/dp_rgda",
        "missing term",
        "The ascent steps are not projected onto the domain of y.",
        (("dp_rgda.py", 'self.f.project(y + s["ascent_step"] * u)', '(y + s["ascent_step"] * u)'),),
        (),
    ),
    Blind(
        "d13 step not normalised",
        "minimax_sosp/dp_rgda",
        "factor",
        "The descent step goes along v itself, not along v divided by its length.",
        (("dp_rgda.py", 'x = x - s["descent_step"] * v / size', 'x = x - s["descent_step"] * v'),),
        ("missing term",),
    ),
    Blind(
        "d14 move without smoothness",
        "minimax_sosp/dp_spider",
        "clip bound",
        "A difference is clipped to the length of the move, not to the smoothness times it.",
        (
            (
                "dp_spider.py",
                'bound = min(s["difference_clip"], s["smoothness"] * length(x - x_old))',
                'bound = min(s["difference_clip"], length(x - x_old))',
            ),
        ),
        ("noise scale",),
    ),
    Blind(
        "d15 estimate carried without noise",
        "minimax_sosp/dp_spider",
        "un-noised",
        ("A step uses the newest release, but the estimate that the next difference is added to is the exact one."),
        (
            (
                "dp_spider.py",
                ('v = tape.gaussian("refresh", rows_v.mean(axis=0), std=std, sensitivity=sensitivity, batch=batch)\n'),
                (
                    'noisy = tape.gaussian("refresh", rows_v.mean(axis=0), std=std, '
                    "sensitivity=sensitivity, batch=batch)\n            v = rows_v.mean(axis=0)\n"
                ),
            ),
            (
                "dp_spider.py",
                (
                    'v = v + tape.gaussian("difference", rows_v.mean(axis=0), std=std, '
                    "sensitivity=sensitivity, batch=batch)\n"
                ),
                (
                    'noisy = v + tape.gaussian("difference", rows_v.mean(axis=0), std=std, '
                    "sensitivity=sensitivity, batch=batch)\n            v = v + rows_v.mean(axis=0)\n"
                ),
            ),
            ("dp_spider.py", 'x = x - s["step_size"] * v', 'x = x - s["step_size"] * noisy'),
        ),
        (),
    ),
    Blind(
        "d16 weighted before clipping",
        "dro/sgda",
        "clip order or norm",
        ("A record's gradient is weighted first and clipped then, instead of clipped and then weighted."),
        (
            (
                "sgda.py",
                'rows = clip_rows(f.gradients(x, chosen), s["clip_x"])',
                'rows = clip_rows(n * weights[chosen, None] * f.gradients(x, chosen), s["clip_x"])',
            ),
            (
                "sgda.py",
                'total = n / s["batch_x"] * (weights[chosen, None] * rows).sum(axis=0)',
                'total = rows.sum(axis=0) / s["batch_x"]',
            ),
        ),
        ("clip order",),
    ),
    Blind(
        "d17 temperature not squared",
        "dro/recursive_spider",
        "factor",
        ("The derivative of exp(loss / lambda) in lambda is divided by lambda, not by its square."),
        (("recursive_spider.py", "return -grown * losses / temp**2", "return -grown * losses / temp"),),
        (),
    ),
    Blind(
        "d18 batch of eta used again",
        "dro/double_spider",
        "wrong batch",
        ("The x-difference is taken on the batch that was drawn for eta; none of its own is drawn."),
        (
            (
                "double_spider.py",
                ('        batch, chosen = some_records(self.tape, f"{block}/difference batch", s["n"], size)\n'),
                (
                    '        if block == "eta":\n            self.kept = some_records(self.tape, '
                    '"eta/difference batch", s["n"], size)\n        batch, chosen = self.kept\n'
                ),
            ),
        ),
        ("calls",),
    ),
    Blind(
        "d19 noise of the first phase",
        "output_perturbation/algorithm2",
        "noise scale",
        ("Every phase gets the noise of the first: its sensitivity is not lowered as the regulariser grows."),
        (("phased.py", 'sensitivity = s["sensitivities"][k]', 'sensitivity = s["sensitivities"][0]'),),
        (),
    ),
    Blind(
        "d20 drift not set back",
        "adaptive_batch/stochastic_spider",
        "decision",
        "The drift is not set back to zero at a refresh, so every later step is a refresh too.",
        (
            (
                "stochastic_spider.py",
                "drift, count, refreshes = 0.0, 0, refreshes + 1",
                "count, refreshes = 0, refreshes + 1",
            ),
        ),
        ("calls", "missing term"),
    ),
)

LATE_MISNAMED = (  # by the one kind that the author holds to be right
    "c02 node released again",
    "c04 diagonal twice",
    "c06 largest eigenpair",
    "c08 y difference at the new x",
    "c12 outer derivative forgotten",
    "c16 weights by place in the batch",
    "d02 norm without an axis",
    "d04 short batch dropped",
    "d05 triangle not mirrored",
    "d06 hessian released in every step",
    "d07 squared length compared",
    "d14 move without smoothness",
    "d18 batch of eta used again",
    "d19 noise of the first phase",
    "d20 drift not set back",
)
IN_SUBSTANCE = (
    "c08 y difference at the new x",
    "c12 outer derivative forgotten",
    "d04 short batch dropped",
    "d18 batch of eta used again",
)
