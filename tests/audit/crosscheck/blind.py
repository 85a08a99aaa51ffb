"""Twenty differences that others planted in programs of theirs: kinds and words were theirs, before any trial.

The programs in ``outsider`` were written from the papers and the page about vectors by somebody who had not seen the
diagnosis. Each entry edits one of them: kind, what is wrong, in which algorithm, and the text before and after.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Blind:
    """One difference."""

    name: str
    algorithm: str
    kind: str
    says: str
    edits: tuple[tuple[str, str, str], ...]
    also: tuple[str, ...] = ()  # kinds that name the same mistake in substance, says its author


BLIND = (
    Blind(
        "a01 refresh clipped after averaging",
        "dro/recursive_spider",
        "clip order or norm",
        "At a refresh the gradients are averaged first and the mean is clipped, instead of each record's.",
        (
            (
                "recursive_spider.py",
                "query = clip_rows(rows, bound).sum(axis=0) / size\n        sensitivity = spread",
                "query = clip_rows((rows.sum(axis=0) / size)[None], bound)[0]\n        sensitivity = spread",
            ),
        ),
    ),
    Blind(
        "a02 gradients clipped then subtracted",
        "minimax_sosp/dp_rgda",
        "clip order or norm",
        "In the x-differences the two gradients are clipped each and then subtracted; the difference is not clipped.",
        (
            (
                "dp_rgda.py",
                'dv = self.mean(f.in_x(x, y, chosen) - f.in_x(x_old, y_old, chosen), s["clip_step"])',
                'dv = self.mean(f.in_x(x, y, chosen), s["clip_step"])\n        dv = dv - self.mean(f.in_x('
                'x_old, y_old, chosen), s["clip_step"])',
            ),
        ),
    ),
    Blind(
        "a03 eigenvector points uphill",
        "second_order_erm/opt",
        "sign",
        "The direction of negative curvature is turned so that it goes along the gradient instead of against it.",
        (
            (
                "opt.py",
                "if p @ g > 0:",
                "if p @ g < 0:",
            ),
        ),
    ),
    Blind(
        "a04 temperature ascends",
        "dro/recursive_spider",
        "sign",
        "lambda is moved up along its gradient instead of down.",
        (
            (
                "recursive_spider.py",
                'temp = max(now[1] - s["step"] * z_temp, problem["floor"])',
                'temp = max(now[1] + s["step"] * z_temp, problem["floor"])',
            ),
        ),
    ),
    Blind(
        "a05 penalty added",
        "dro/sgda",
        "sign",
        "The slope of the divergence is added to the ascent direction in y instead of subtracted.",
        (
            (
                "sgda.py",
                '(noisy - p["weight"] * pull)',
                '(noisy + p["weight"] * pull)',
            ),
        ),
    ),
    Blind(
        "a06 half forgotten in leader",
        "dp_ftrl/dp_ftrl",
        "factor",
        "The leader is divided by 2 lambda, as if the regulariser were lambda |theta|^2 and not half of it.",
        (
            (
                "dp_ftrl.py",
                'theta = -tree.prefix() / s["regularisation"]',
                'theta = -tree.prefix() / (2 * s["regularisation"])',
            ),
        ),
    ),
    Blind(
        "a07 mean over n",
        "dro/double_spider",
        "factor",
        "The sum of clipped gradients of a batch is divided by the number of all records, not by the batch size.",
        (
            (
                "double_spider.py",
                "mean = clip_rows(rows, bound).sum(axis=0) / size",
                'mean = clip_rows(rows, bound).sum(axis=0) / self.s["n"]',
            ),
        ),
    ),
    Blind(
        "a08 smoothness on the wrong side",
        "second_order_erm/opt",
        "factor",
        "The gradient step is multiplied by the smoothness G instead of divided by it.",
        (
            (
                "opt.py",
                "w = w - g / G",
                "w = w - G * g",
            ),
        ),
    ),
    Blind(
        "a09 steps counted from zero",
        "dro/recursive_spider",
        "index shift",
        "The steps are counted from 0 instead of 1, so refreshes and the selected step come one off.",
        (
            (
                "recursive_spider.py",
                'for t in range(1, s["steps"] + 1):',
                'for t in range(s["steps"]):',
            ),
        ),
    ),
    Blind(
        "a10 dual of one step before",
        "dro/double_spider",
        "index shift",
        "The x-difference is taken from (x_{t-1}, eta_{t-1}) although eta is one step ahead: it should be eta_t.",
        (
            (
                "double_spider.py",
                'est.difference("x", (x, eta_new), (x_old, eta))',
                'est.difference("x", (x, eta_new), (x_old, eta_old))',
            ),
        ),
    ),
    Blind(
        "a11 difference noise of a refresh",
        "minimax_sosp/dp_spider",
        "noise scale",
        "The noise of a difference is made for the batch size of a refresh, which is larger than that of a difference.",
        (
            (
                "dp_spider.py",
                'std = scale(s, "difference", sensitivity)',
                'std = scale(s, "difference", 2 * bound / s["refresh_batch"])',
            ),
        ),
    ),
    Blind(
        "a12 hessian noise for the gradient",
        "second_order_erm/opt_ls",
        "noise scale",
        "The Hessian gets noise for the sensitivity of the gradient.",
        (
            (
                "opt_ls.py",
                'f.hessian(w), sigma * sens["hessian"], sens["hessian"])',
                'f.hessian(w), sigma * sens["gradient"], sens["hessian"])',
            ),
        ),
    ),
    Blind(
        "a13 noise per drawn record",
        "baselines/dp_sgd",
        "noise scale",
        "With Poisson batches the noise is divided by how many records came instead of the nominal batch size.",
        (
            (
                "dp_sgd.py",
                'noisy = tape.gaussian("gradient", mean, std=std, ',
                'noisy = tape.gaussian("gradient", mean, std=std * size / max(1, len(chosen)), ',
            ),
        ),
    ),
    Blind(
        "a14 value without regulariser",
        "second_order_erm/opt_ls",
        "missing term",
        "The value of f leaves out the regulariser.",
        (
            (
                "risks.py",
                "return float(fit + self.weight * (w**2 / (1 + w**2)).sum())",
                "return float(fit)",
            ),
        ),
    ),
    Blind(
        "a15 ascent estimate not added up",
        "minimax_sosp/dp_rgda",
        "missing term",
        "The estimate of the y-gradient is replaced by the last noisy difference: the estimate so far is forgotten.",
        (
            (
                "dp_rgda.py",
                "u = u + du",
                "u = du",
            ),
        ),
    ),
    Blind(
        "a16 minimiser not projected",
        "output_perturbation/algorithm2",
        "missing term",
        "The minimiser of a phase is not kept inside the ball: the projection is left out.",
        (
            (
                "phased.py",
                "point = into_ball(centre - slope / weight, radius)",
                "point = centre - slope / weight",
            ),
        ),
    ),
    Blind(
        "a17 first records for drawn ones",
        "dro/sgda",
        "wrong batch",
        "The gradients in x are those of the first records of the data, not of the records that were drawn.",
        (
            (
                "sgda.py",
                'rows = clip_rows(f.gradients(x, chosen), s["clip_x"])',
                'rows = clip_rows(f.gradients(x, everyone[: len(chosen)]), s["clip_x"])',
            ),
        ),
    ),
    Blind(
        "a18 gradient on the hessians batch",
        "adaptive_batch/stochastic_spider",
        "wrong batch",
        "At a refresh the gradient is the mean over the records that O3 drew for the Hessian.",
        (
            (
                "stochastic_spider.py",
                'gradient = f.gradient(x, chosen)\n            other, chosen_h = fresh("O3", size)\n',
                'other, chosen_h = fresh("O3", size)\n            gradient = f.gradient(x, chosen_h)\n',
            ),
        ),
    ),
    Blind(
        "a19 exact gradient decides",
        "second_order_erm/opt",
        "un-noised",
        "Whether the gradient is small is decided on the exact gradient instead of the released one.",
        (
            (
                "opt.py",
                "if length(g) > eps_g:",
                "if length(f.gradient(w)) > eps_g:",
            ),
        ),
    ),
    Blind(
        "a20 single leaves bare",
        "dp_ftrl/dp_ftrl",
        "un-noised",
        "Only inner nodes of the tree get noise; a leaf is released as it is.",
        (
            (
                "dp_ftrl.py",
                "std=self.std,\n",
                "std=self.std if last > first else 0.0,\n",
            ),
        ),
    ),
)
FIRST_SIGHT = 14  # named rightly on the first run, with the diagnosis of that day
MISNAMED: dict[str, str] = {}
