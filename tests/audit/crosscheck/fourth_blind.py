"""Twenty more of a third author, run once as the third set was."""

from __future__ import annotations

from .blind import Blind

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

# at first sight: by the one kind that the author holds to be right, and by a kind that the author accepts beside it
FOURTH_FIRST_SIGHT, FOURTH_FIRST_IN_SUBSTANCE = 11, 13
FOURTH_MISNAMED: tuple[str, ...] = ()  # now
