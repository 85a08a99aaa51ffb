"""Twenty more blind differences, kept apart until the diagnosis had been mended with the first twenty."""

from __future__ import annotations

from .blind import Blind

SECOND = (
    Blind(
        "b01 dual slope reversed",
        "dro/double_spider",
        "sign",
        "The derivative in eta has the wrong sign: psi*' - 1 instead of 1 - psi*'.",
        (("double_spider.py", "return G * (1 - slope)", "return G * (slope - 1)"),),
    ),
    Blind(
        "b02 y descends",
        "minimax_sosp/dp_rgda",
        "sign",
        "The inner steps go down in y instead of up.",
        (("dp_rgda.py", 'self.f.project(y + s["ascent_step"] * u)', 'self.f.project(y - s["ascent_step"] * u)'),),
    ),
    Blind(
        "b03 mean over who came",
        "baselines/dp_sgd",
        "factor",
        "With Poisson batches the mean is taken over the records that came, not over the nominal batch size.",
        (("dp_sgd.py", "mean = clipped.sum(axis=0) / size", "mean = clipped.sum(axis=0) / max(1, len(chosen))"),),
    ),
    Blind(
        "b04 half forgotten in decrease",
        "second_order_erm/opt_ls",
        "factor",
        "In the curvature search the wanted decrease lacks its factor one half.",
        (("opt_ls.py", "- 0.5 * c_H * step**2 * abs(smallest)", "- c_H * step**2 * abs(smallest)"),),
    ),
    Blind(
        "b05 not scaled to all records",
        "dro/sgda",
        "factor",
        "The weighted sum over a batch is not multiplied by n / batch.",
        (("sgda.py", 'total = n / s["batch_x"] * (weights', "total = (weights"),),
    ),
    Blind(
        "b06 leader without the newest step",
        "dp_ftrl/dp_ftrl",
        "index shift",
        "The prefix is asked for before the newest gradient is added to the tree: every sum is one step behind.",
        (
            (
                "dp_ftrl.py",
                'tree.push(leaf, batch)\n        theta = -tree.prefix() / s["regularisation"]\n',
                'if tree.leaves:\n            theta = -tree.prefix() / s["regularisation"]\n        '
                "tree.push(leaf, batch)\n",
            ),
        ),
    ),
    Blind(
        "b07 weight of the phase before",
        "output_perturbation/algorithm2",
        "index shift",
        "From the second phase on the regulariser is that of the phase before.",
        (("phased.py", 'weight = plan["regularisers"][k]', 'weight = plan["regularisers"][max(k - 1, 0)]'),),
    ),
    Blind(
        "b08 refresh at the last iterate",
        "dro/recursive_spider",
        "index shift",
        "A refresh takes the x-gradient at the iterate before the current one.",
        (("recursive_spider.py", 'v = est.refresh("x", now)', 'v = est.refresh("x", before)'),),
    ),
    Blind(
        "b09 sum of a batch clipped",
        "dp_ftrl/dp_ftrl",
        "clip order or norm",
        "The sum of a batch is clipped as one vector instead of every record's gradient.",
        (
            (
                "dp_ftrl.py",
                "leaf = clip_rows(gradients, clip).sum(axis=0)",
                "leaf = clip_rows(gradients.sum(axis=0)[None], clip)[0]",
            ),
        ),
    ),
    Blind(
        "b10 clip in the 1 norm",
        "dro/double_spider",
        "clip order or norm",
        "Vectors are clipped by their 1-norm instead of their 2-norm.",
        (("tools.py", "norms = np.sqrt((flat**2).sum(axis=1))", "norms = np.abs(flat).sum(axis=1)"),),
    ),
    Blind(
        "b11 step noise of a refresh",
        "minimax_sosp/dp_rgda",
        "noise scale",
        "Differences get the noise that belongs to refreshes (the wrong entry of the table of scales).",
        (
            (
                "dp_rgda.py",
                'std = scale(s, "step", sensitivity)\n        else:',
                'std = scale(s, "refresh", sensitivity)\n        else:',
            ),
        ),
    ),
    Blind(
        "b12 variance of the initial value",
        "second_order_erm/opt_ls",
        "noise scale",
        "The root is forgotten in sigma_f: the variance is used as the standard deviation.",
        (
            (
                "opt_ls.py",
                'std_f = math.sqrt(1 / (2 * noise["rho_f"])) * sens["value"]',
                'std_f = 1 / (2 * noise["rho_f"]) * sens["value"]',
            ),
        ),
    ),
    Blind(
        "b13 tree noise for adding a record",
        "adaptive_batch/stochastic_spider",
        "noise scale",
        "The tree's noise is made for a sensitivity G/b instead of the 2 G/b of a replaced record.",
        (("stochastic_spider.py", 'per_gradient = 2 * max(G / s["batch"]', 'per_gradient = max(G / s["batch"]'),),
    ),
    Blind(
        "b14 hessian without regulariser",
        "second_order_erm/opt",
        "missing term",
        "The Hessian leaves out the regulariser's diagonal.",
        (("risks.py", "return fit + self.weight * np.diag(2 * (1 - 3 * w**2) / (1 + w**2) ** 3)", "return fit"),),
    ),
    Blind(
        "b15 value without its momentum",
        "dro/recursive_spider",
        "missing term",
        "The recursion of s_t forgets (1 - beta) s_{t-1}.",
        (
            (
                "recursive_spider.py",
                'value = (1 - s["momentum"]) * value + est.value(now, before)',
                "value = est.value(now, before)",
            ),
        ),
    ),
    Blind(
        "b16 move not capped",
        "dro/double_spider",
        "missing term",
        "The step of x is not shortened to the longest move that the schedule allows.",
        (
            (
                "double_spider.py",
                'rate = min(s["x_step"], s["move_cap"] / size if size > 0 else math.inf)',
                'rate = s["x_step"]',
            ),
        ),
    ),
    Blind(
        "b17 old gradient on the old batch",
        "minimax_sosp/dp_spider",
        "wrong batch",
        "In a difference the gradient at the old point is taken on the batch of the step before.",
        (
            (
                "dp_spider.py",
                "gradients(rows, x, chosen) - gradients(rows, x_old, chosen), bound)",
                "gradients(rows, x, chosen) - gradients(rows, x_old, previous[: len(chosen)]), bound)",
            ),
            (
                "dp_spider.py",
                "        x_old = x\n        x = x -",
                "        previous = chosen\n        x_old = x\n        x = x -",
            ),
        ),
    ),
    Blind(
        "b18 part of the phase before",
        "output_perturbation/algorithm2",
        "wrong batch",
        "From the second phase on a phase is solved on the records of the phase before.",
        (("phased.py", "chosen = np.array(parts[k].indices", "chosen = np.array(parts[max(k - 1, 0)].indices"),),
    ),
    Blind(
        "b19 noisy difference thrown away",
        "minimax_sosp/dp_rgda",
        "un-noised",
        "The released x-difference is not assigned, so v goes on with the exact one.",
        (("dp_rgda.py", 'dv = self.tape.gaussian("step/v", dv,', 'self.tape.gaussian("step/v", dv,'),),
    ),
    Blind(
        "b20 exact slack decides the step",
        "second_order_erm/opt_ls",
        "un-noised",
        "The step is the first whose exact slack is good enough; the index that the noisy search released is unused.",
        (
            ("opt_ls.py", "index = tape.above_threshold(", "tape.above_threshold("),
            (
                "opt_ls.py",
                "    return fallback if index is None",
                "    index = next((i for i, step in enumerate(steps) if slack(step) >= 0), "
                "None)\n    return fallback if index is None",
            ),
        ),
    ),
)
SECOND_FIRST_SIGHT = 15  # named by the kind on the first run, with the diagnosis of that day
SECOND_MISNAMED: dict[str, str] = {}
