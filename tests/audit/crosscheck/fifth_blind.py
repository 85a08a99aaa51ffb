"""Twenty of another author, in eight kinds alone, run once when the diagnosis had been mended with the other sets."""

from __future__ import annotations

from .blind import Blind

FIFTH = (
    Blind(
        "e01 dp sgd sequential batches",
        "baselines/dp_sgd",
        "wrong batch",
        (
            "The batch is drawn, but the gradients are those of the next records in file order, "
            "as an unshuffled data loader hands them out."
        ),
        (
            (
                "dp_sgd.py",
                "per_example = rows[chosen]",
                "per_example = rows[(step * len(chosen) + np.arange(len(chosen))) % n]",
            ),
        ),
    ),
    Blind(
        "e02 dp ftrl coordinatewise",
        "dp_ftrl/dp_ftrl",
        "clip order or norm",
        ("Every coordinate is clipped to [-C, C] (numpy's clip) not the whole gradient to 2-norm C."),
        (
            (
                "dp_ftrl.py",
                "leaf = clip_rows(gradients, clip).sum(axis=0)",
                "leaf = np.clip(gradients, -clip, clip).sum(axis=0)",
            ),
        ),
    ),
    Blind(
        "e03 opt newton like step",
        "second_order_erm/opt",
        "factor",
        ("The negative-curvature step is |lambda|/M long; the factor 2 of the paper's 2|lambda|/M is forgotten."),
        (("opt.py", "w = w + 2 * abs(smallest) / M * p", "w = w + abs(smallest) / M * p"),),
    ),
    Blind(
        "e04 opt whole budget",
        "second_order_erm/opt",
        "noise scale",
        ("sigma is computed from the whole rho; what the first release of the value has spent is not taken off."),
        (("opt.py", 'T / (2 * (noise["rho"] - noise["rho_f"])))', 'T / (2 * noise["rho"]))'),),
    ),
    Blind(
        "e05 opt exact test",
        "second_order_erm/opt",
        "un-noised",
        ("The test of the gradient's length reads the exact gradient; the noisy one is used for the step alone."),
        (("opt.py", "if length(g) > eps_g:", "if length(f.gradient(w)) > eps_g:"),),
    ),
    Blind(
        "e06 opt ls one scale",
        "second_order_erm/opt_ls",
        "noise scale",
        ("Above-threshold adds noise of the threshold's scale (2) to the queries too, in place of twice that (4)."),
        (("opt_ls.py", "query_scale=4 * lam * sensitivity,", "query_scale=2 * lam * sensitivity,"),),
    ),
    Blind(
        "e07 opt ls simple decrease",
        "second_order_erm/opt_ls",
        "missing term",
        ("The line search along the gradient asks for any decrease: the Armijo term c_g gamma |g|^2 is missing."),
        (("opt_ls.py", "here - f.value(w - step * g) - c_g * step * (g @ g),", "here - f.value(w - step * g),"),),
    ),
    Blind(
        "e08 dp rgda descends in y",
        "minimax_sosp/dp_rgda",
        "sign",
        ("The step in y goes down, as in x, where the maximising player goes up."),
        (("dp_rgda.py", 'self.f.project(y + s["ascent_step"] * u)', 'self.f.project(y - s["ascent_step"] * u)'),),
    ),
    Blind(
        "e09 dp rgda next point",
        "minimax_sosp/dp_rgda",
        "index shift",
        (
            "With the smallest gradient mapping the point after the step (k + 1) is kept, "
            "not the one that the mapping belongs to (k)."
        ),
        (("dp_rgda.py", "best = (mapping, y, v, u)", "best = (mapping, y_new, v, u)"),),
    ),
    Blind(
        "e10 dp spider point overwritten",
        "minimax_sosp/dp_spider",
        "index shift",
        ("x_old is assigned after the step, so it is the present point and every difference is zero."),
        (
            (
                "dp_spider.py",
                '        x_old = x\n        x = x - s["step_size"] * v\n',
                '        x = x - s["step_size"] * v\n        x_old = x\n',
            ),
        ),
    ),
    Blind(
        "e11 dp spider clipped apart",
        "minimax_sosp/dp_spider",
        "clip order or norm",
        ("The two gradients of a difference are clipped before they are subtracted, not their difference."),
        (
            (
                "dp_spider.py",
                "rows_v = clip_rows(gradients(rows, x, chosen) - gradients(rows, x_old, chosen), bound)",
                "rows_v = clip_rows(gradients(rows, x, chosen), bound) - "
                "clip_rows(gradients(rows, x_old, chosen), bound)",
            ),
        ),
    ),
    Blind(
        "e12 recursive no log",
        "dro/recursive_spider",
        "missing term",
        ("The temperature's derivative lacks the term log(s)."),
        (
            (
                "recursive_spider.py",
                'z_temp = now[1] / floored * u + math.log(floored) + problem["radius"]',
                'z_temp = now[1] / floored * u + problem["radius"]',
            ),
        ),
    ),
    Blind(
        "e13 recursive exact value",
        "dro/recursive_spider",
        "un-noised",
        ("The value estimate is released with noise, but the program goes on with the exact one."),
        (
            (
                "recursive_spider.py",
                'return float(self.tape.gaussian("value", query, std=std, sensitivity=sensitivity, batch=batch))',
                'self.tape.gaussian("value", query, std=std, sensitivity=sensitivity, batch=batch)\n'
                "        return query",
            ),
        ),
    ),
    Blind(
        "e14 double eta gradient",
        "dro/double_spider",
        "sign",
        ("The gradient in eta has the wrong sign: slope - 1 in place of 1 - slope."),
        (("double_spider.py", "return G * (1 - slope)", "return G * (slope - 1)"),),
    ),
    Blind(
        "e15 double eta of before",
        "dro/double_spider",
        "index shift",
        ("The x block is differenced at the eta of before this step's update (eta_t, eta_{t-1} for eta_{t+1}, eta_t)."),
        (
            (
                "double_spider.py",
                'est.difference("x", (x, eta_new), (x_old, eta))',
                'est.difference("x", (x, eta), (x_old, eta_old))',
            ),
        ),
    ),
    Blind(
        "e16 sgda plain sum",
        "dro/sgda",
        "factor",
        ("The importance factor n / b of a subsampled sum is left out of the query."),
        (
            (
                "sgda.py",
                'total = n / s["batch_x"] * (weights[chosen, None] * rows).sum(axis=0)',
                "total = (weights[chosen, None] * rows).sum(axis=0)",
            ),
        ),
    ),
    Blind(
        "e17 sgda clips weighted",
        "dro/sgda",
        "clip order or norm",
        ("The gradients are weighted first and clipped then, in place of clipped and then weighted."),
        (
            (
                "sgda.py",
                'rows = clip_rows(f.gradients(x, chosen), s["clip_x"])\n',
                'rows = clip_rows(weights[chosen, None] * f.gradients(x, chosen), s["clip_x"])\n',
            ),
            ("sgda.py", "(weights[chosen, None] * rows).sum(axis=0)", "rows.sum(axis=0)"),
        ),
    ),
    Blind(
        "e18 phased around zero",
        "output_perturbation/algorithm2",
        "missing term",
        ("Every phase regularises towards zero: the last phase's output is missing from the proximal term."),
        (("phased.py", "into_ball(centre - slope / weight, radius)", "into_ball(-slope / weight, radius)"),),
    ),
    Blind(
        "e19 stochastic one sided",
        "adaptive_batch/stochastic_spider",
        "noise scale",
        ("The tree's noise is made for the sensitivity max(...) without the factor 2 of replace-one."),
        (("stochastic_spider.py", 'per_gradient = 2 * max(G / s["batch"]', 'per_gradient = max(G / s["batch"]'),),
    ),
    Blind(
        "e20 phased whole data",
        "output_perturbation/algorithm2",
        "wrong batch",
        ("Every phase minimises the empirical risk of all records, in place of its own part's."),
        (
            (
                "phased.py",
                'slope = -loss["slope"] * rows[chosen].mean(axis=0)',
                'slope = -loss["slope"] * rows.mean(axis=0)',
            ),
        ),
    ),
)

FIFTH_FIRST_SIGHT = 17
FIFTH_MISNAMED = ("e15 double eta of before",)  # now
