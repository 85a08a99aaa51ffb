"""Twenty blind differences of another author, run once on the diagnosis as it was and not mended for since."""

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

# at first sight: by the one kind that the author holds to be right, and by a kind that the author accepts beside it
THIRD_FIRST_SIGHT, THIRD_FIRST_IN_SUBSTANCE = 14, 16
THIRD_MISNAMED = ("c12 outer derivative forgotten",)  # now; by a kind that the author accepts
