"""Bugs of a stranger in `second_order_erm`."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from .stranger import Stranger

STRANGERS = (
    Stranger(
        "matrix",
        "second_order_erm/opt@repaired",
        Patch(
            "opt eigenpair of the true hessian",
            "second_order_erm/opt.py",
            "        smallest, p = s.eigen.pair(H, ",
            "        smallest, p = s.eigen.pair(problem.hessian(w), ",
            "noise drawn and not used",
        ),
    ),
    Stranger(
        "control flow",
        "second_order_erm/opt@repaired",
        Patch(
            "opt tests the true gradient",
            "second_order_erm/opt.py",
            "        if np.linalg.norm(g) > s.accuracy.gradient:\n",
            "        if np.linalg.norm(gradient) > s.accuracy.gradient:\n",
            "branch on un-noised data",
        ),
    ),
    Stranger(
        "state",
        "second_order_erm/opt_ls@repaired",
        Patch(
            "line search keeps f by the point",
            "second_order_erm/line_search.py",
            "    here, square = problem.value(w), float(g @ g)\n",
            ("    here, square = gradient_query.__dict__.setdefault(w.tobytes(), problem.value(w)), float(g @ g)\n"),
            "a cache without the data in its key",
        ),
    ),
    Stranger(
        "thresholds",
        "second_order_erm/opt_ls@repaired",
        Patch(
            "line search claims the fallback step",
            "second_order_erm/opt_ls.py",
            "                sensitivity=delta_g * initial * float(norm_g),",
            "                sensitivity=delta_g * fallback_g * float(norm_g),",
            "noise and claim too small by b_g",
        ),
    ),
    Stranger(
        "output",
        "second_order_erm/dp_gd@repaired",
        Patch(
            "dp_gd orders by true norms",
            "second_order_erm/dp_gd.py",
            "        norms.append(float(np.linalg.norm(g)))\n",
            "        norms.append(float(np.linalg.norm(gradient)))\n",
            "argmin and a test over un-noised norms",
        ),
    ),
    Stranger(
        "output",
        "second_order_erm/dp_tr@repaired",
        Patch(
            "dp_tr one clean step at the end",
            "second_order_erm/dp_tr.py",
            "            return Outcome(w, True, k, 0, k + 1)\n",
            "            return Outcome(w - 0.01 * gradient, True, k, 0, k + 1)\n",
            "output of un-noised data, where the run is certified",
        ),
    ),
    Stranger(
        "sampling",
        "second_order_erm/opt_b@repaired",
        Patch(
            "opt_b hessian on the gradient's batch",
            "second_order_erm/opt_b.py",
            (
                '            batch = tape.batch("hessian batch", problem.n, s.batch)\n'
                "        hessian = problem.hessian(w, batch.indices)\n"
            ),
            (
                '            first, batch = batch, tape.batch("hessian batch", problem.n, s.batch)\n'
                '        hessian = problem.hessian(w, (first if s.reading == "repaired" else '
                "batch).indices)\n"
            ),
            "the batch is drawn, another one is read",
        ),
    ),
    Stranger(
        "accounting",
        "second_order_erm/two_opt@repaired",
        Patch(
            "two_opt does not charge hessians",
            "second_order_erm/two_opt.py",
            '    return gaussian_cost(noise["gradient"], gradients + outcome.hessian_evaluations)\n',
            '    return gaussian_cost(noise["gradient"], gradients)\n',
            "phase two spends what phase one spent",
        ),
    ),
)
