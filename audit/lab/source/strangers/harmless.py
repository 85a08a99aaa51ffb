"""Changes of a stranger that do no harm."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from .stranger import Stranger

STRANGERS = (
    Stranger(
        "harmless",
        "baselines/dp_sgd:full-batch@baseline",
        Patch(
            "sgd removes duplicate rows",
            "baselines/dp_sgd.py",
            "        rows = problem.gradients(w, indices)\n",
            "        rows = np.unique(problem.gradients(w, indices), axis=0)\n",
            "a record is in or out of a set: still 2 C",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "baselines/dp_sgd:fixed-size@baseline",
        Patch(
            "sgd half as much noise again",
            "baselines/dp_sgd.py",
            '        std = s.noise.std("gradient", 2 * s.clip) / size\n',
            '        std = 1.5 * s.noise.std("gradient", 2 * s.clip) / size\n',
            "more noise",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "baselines/dp_sgd:poisson@baseline",
        Patch(
            "sgd returns the mean iterate",
            "baselines/dp_sgd.py",
            "    last: Array = path(problem, schedule, tape)[0][-1]\n",
            "    last: Array = path(problem, schedule, tape)[0].mean(axis=0)\n",
            "post-processing",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "minimax_sosp/dp_spider:exact-full@baseline",
        Patch(
            "dp_spider keeps the first point",
            "baselines/dp_spider.py",
            "        before, x = x, x - s.step_size * estimate\n",
            "        x = x - s.step_size * estimate\n",
            "differences from the start: clipped all the same",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "dro/sgda@baseline",
        Patch(
            "losses minus their mean",
            "dro/minimax_form.py",
            "        return np.minimum(self.data.losses(x), clip), clip\n",
            ("        losses = np.minimum(self.data.losses(x), clip)\n        return losses - losses.mean(), clip\n"),
            "a projection: no larger sensitivity",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "dro/recursive_spider@repaired",
        Patch(
            "no minimum where nothing is positive",
            "dro/recursive_spider.py",
            "        rows, spread = np.minimum(rows, 0.0), clip\n",
            "        spread = clip\n",
            "losses are not negative",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "adaptive_batch/stochastic_spider:escape@repaired",
        Patch(
            "no noise where nothing moves",
            "adaptive_batch/escape.py",
            '        std=s.noise.std("escape", s.hessian_sensitivity * s.radius),\n',
            ('        std=s.noise.std("escape", s.hessian_sensitivity * s.radius) if norm(move) > 0 else 0.0,\n'),
            "the query is released already, the claim is 0",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "dp_ftrl/dp_ftrl@repaired",
        Patch(
            "ftrl in a secret order",
            "dp_ftrl/dp_ftrl.py",
            'size, order="index")',
            'size, order="random")',
            "nobody is worse off",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "minimax_sosp/dp_rgda:n9-d2-T3-K2-q3-b9@repaired",
        Patch(
            "rgda releases u before v",
            "minimax_sosp/dp_rgda.py",
            (
                '    v: Array = tape.gaussian("refresh/v", mean_v, std=std, '
                "sensitivity=s.refresh_sensitivity, batch=batch)  # line 7\n"
                '    u: Array = tape.gaussian("refresh/u", mean_u, std=std, '
                "sensitivity=s.refresh_sensitivity, batch=batch)  # line 8\n"
            ),
            (
                '    u: Array = tape.gaussian("refresh/u", mean_u, std=std, '
                "sensitivity=s.refresh_sensitivity, batch=batch)  # line 8\n"
                '    v: Array = tape.gaussian("refresh/v", mean_v, std=std, '
                "sensitivity=s.refresh_sensitivity, batch=batch)  # line 7\n"
            ),
            "order of two releases",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "second_order_erm/opt@repaired",
        Patch(
            "opt takes shorter steps",
            "second_order_erm/opt.py",
            "            w, k_g = w - g / s.smoothness, k_g + 1  # eq. (7): gamma_g = 1 / G\n",
            "            w, k_g = w - 0.5 * g / s.smoothness, k_g + 1  # eq. (7): gamma_g = 1 / G\n",
            "post-processing",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "output_perturbation/algorithm1@repaired",
        Patch(
            "algorithm 1 warm start of the solver",
            "solvers/gradient_descent.py",
            "problem.project(problem.centre)}",
            "problem.project(problem.centre + 0.01)}",
            "another public start of a certified solver",
            must=False,
        ),
    ),
    Stranger(
        "harmless",
        "adaptive_batch/stochastic_spider:d1-T7-O1@repaired",
        Patch(
            "tree asks in another order",
            "blocks/tree.py",
            ("        for first, last in intervals:\n            if (first"),
            ("        for first, last in reversed(intervals):\n            if (first"),
            "order of the releases of one step",
            must=False,
        ),
    ),
)
