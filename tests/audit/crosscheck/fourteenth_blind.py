"""24 bugs in programs of three folders, by somebody who had not seen the diagnosis; kinds written before the trial."""

from __future__ import annotations

from .sixth_blind import Planted

PLANTED = (
    Planted(
        "point-after-step",
        "newcomers/terse.py",
        "second_order_erm/dp_gd",
        "        W.append(w)\n        G.append(norm(v))\n        w = w - v / M\n",
        "        w = w - v / M\n        W.append(w)\n        G.append(norm(v))\n",
        "Each gradient norm is kept with the point after its step, so the test looks at w_{k+1} for |g_k|.",
        "index shift",
    ),
    Planted(
        "lower-triangle-empty",
        "newcomers/terse.py",
        "second_order_erm/dp_tr",
        "    S = np.empty_like(H)\n    S[i, j] = v\n    S[j, i] = v\n",
        "    S = np.zeros_like(H)\n    S[i, j] = v\n",
        "The released triangle is not mirrored, and eigh reads the lower one: the entries off the diagonal are lost.",
        "missing term",
        ("decision",),
    ),
    Planted(
        "centre-from-minimiser",
        "newcomers/terse.py",
        "output_perturbation/algorithm2",
        "            x = ball(x, R)\n",
        "            x = ball(q, R)\n",
        "The minimiser itself, not what was released of it, is projected and becomes the next centre.",
        "un-noised",
    ),
    Planted(
        "weight-grows-linearly",
        "newcomers/both_halves.py",
        "output_perturbation/algorithms4and5",
        "        weight *= 2\n",
        '        weight += mine["plan"]["regularisers"][0]\n',
        "The regulariser's weight grows by its first value with each phase, where it doubles.",
        "factor",
    ),
    Planted(
        "momentum-moved",
        "newcomers/ftrl.js",
        "dro/single_sample",
        "      query: momentum * g,\n"
        "      std: noise.scale(sensitivity),\n"
        "      sensitivity,\n"
        "      batches,\n"
        "    }).value;\n"
        "    s = (1 - momentum) * s + fresh;\n",
        "      query: g,\n"
        "      std: noise.scale(sensitivity),\n"
        "      sensitivity,\n"
        "      batches,\n"
        "    }).value;\n"
        "    s = (1 - momentum) * s + momentum * fresh;\n",
        "The value is released without its momentum, which multiplies what is released; the noise stays as it was.",
        "factor",
    ),
    Planted(
        "no-last-part",
        "newcomers/ftrl.js",
        "dp_ftrl/dp_ftrl",
        "  for (let seen = 0; seen < n; seen += batch) {\n",
        "  for (let seen = 0; seen + batch <= n; seen += batch) {\n",
        "The last batch is dropped where it is not a full one.",
        "index shift",
        ("calls",),
    ),
    Planted(
        "average-out",
        "newcomers/leader.js",
        "dp_ftrl/dp_ftrl",
        "  let theta = new Array(d).fill(0);\n"
        "  for (let seen = 0; seen < n; seen += batch) {\n"
        "    const size = Math.min(batch, n - seen);\n"
        '    const drawn = ask({ ask: "fresh", label: "records", n, size, order: "index" });\n'
        "    let sum = new Array(d).fill(0);\n"
        "    for (const i of drawn.indices) {\n"
        "      sum = plus(sum, clipped(rows[i], clip)); // a linear loss: the gradient is the record\n"
        "    }\n"
        "    tree.push(sum, drawn.batch);\n"
        "    theta = project(times(-1 / regularisation, tree.prefix()), radius);\n"
        "  }\n"
        "  return theta;\n",
        "  let total = new Array(d).fill(0);\n"
        "  for (let seen = 0; seen < n; seen += batch) {\n"
        "    const size = Math.min(batch, n - seen);\n"
        '    const drawn = ask({ ask: "fresh", label: "records", n, size, order: "index" });\n'
        "    let sum = new Array(d).fill(0);\n"
        "    for (const i of drawn.indices) {\n"
        "      sum = plus(sum, clipped(rows[i], clip)); // a linear loss: the gradient is the record\n"
        "    }\n"
        "    tree.push(sum, drawn.batch);\n"
        "    total = plus(total, project(times(-1 / regularisation, tree.prefix()), radius));\n"
        "  }\n"
        "  return times(1 / tree.step, total);\n",
        "The average of all leaders is returned, as in online-to-batch conversion, in place of the last one.",
        "output",
    ),
    Planted(
        "square-for-length",
        "newcomers/leader.js",
        "dp_ftrl/dp_ftrl",
        "const length = (a) => Math.sqrt(a.reduce((total, x) => total + x * x, 0));\n",
        "const length = (a) => a.reduce((total, x) => total + x * x, 0);\n",
        "The root is forgotten: records are clipped, and leaders projected, by their squared length.",
        "clip norm",
        ("clip bound",),
    ),
    Planted(
        "laplace-for-the-number",
        "newcomers/kl_recursive.py",
        "dro/recursive_spider",
        "        return self.tape.gaussian(\n"
        '            "value", total / s["value_batch"], std=self.std("value", moved), sensitivity=moved, batch=batch\n',
        "        return self.tape.laplace(\n"
        '            "value", total / s["value_batch"], scale=self.std("value", moved), sensitivity=moved,'
        " batch=batch\n",
        "The value, as it is a single number, is released with Laplace noise.",
        "law",
    ),
    Planted(
        "reach-without-length",
        "newcomers/line_search_erm.py",
        "second_order_erm/opt_ls",
        '            reach = sens["gradient"] * first * length\n',
        '            reach = sens["gradient"] * first\n',
        "The sensitivity of the search along the gradient lacks the gradient's length, as if it were a direction.",
        "noise scale",
    ),
    Planted(
        "sum-of-moves",
        "newcomers/loops.py",
        "dro/double_spider",
        "    bound = 2.0 * (by_x if by_x > by_eta else by_eta)\n",
        "    bound = by_x + by_eta\n",
        "The threshold is the sum of what the two moves do, by the triangle inequality, not twice the larger one.",
        "clip bound",
    ),
    Planted(
        "norm-of-the-batch",
        "newcomers/modules.py",
        "minimax_sosp/dp_sgda",
        "        norms = np.sqrt((grad_sample**2).sum(axis=1))\n",
        "        norms = np.full(len(grad_sample), np.sqrt((grad_sample**2).sum()))\n",
        "All gradients of a batch are scaled by one norm, that of all their entries together.",
        "clip norm",
        ("clip order",),
    ),
    Planted(
        "safe-division",
        "newcomers/modules.py",
        "minimax_sosp/dp_spider",
        "        scale[long] = max_norm / norms[long]\n",
        "        scale[long] = max_norm / (norms[long] + 1e-6)\n",
        "A millionth is added to a norm before dividing by it, as libraries do: what is clipped comes out too short.",
        "precision",
        ("clip bound",),
    ),
    Planted(
        "energy-kept",
        "newcomers/rgda.py",
        "minimax_sosp/dp_rgda",
        "                saddle, escaping, energy, waited = x, True, 0.0, 0\n",
        "                saddle, escaping, waited = x, True, 0\n",
        "The squares of an earlier escape are not cleared when the next one begins.",
        "decision",
        ("missing term",),
    ),
    Planted(
        "single-precision-rows",
        "newcomers/scans.py",
        "dro/composite_sgd",
        "    table = np.array(rows, dtype=float)\n",
        "    table = np.array(rows, dtype=np.float32)\n",
        "The records are stored in single precision, as array libraries do by default.",
        "precision",
    ),
    Planted(
        "eta-downhill-sign",
        "newcomers/scans.py",
        "dro/composite_spider",
        "    in_eta = s * (1.0 - density)\n",
        "    in_eta = s * (density - 1.0)\n",
        "The gradient in eta has the sign of an ascent, though the step goes down in both.",
        "sign",
    ),
    Planted(
        "drift-in-moves",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        "            drift += np.linalg.norm(step)\n",
        "            drift += np.linalg.norm(x - last)\n",
        "The drift adds up the moves of x, which have the step size in them, not the steps' lengths.",
        "factor",
        ("decision",),
    ),
    Planted(
        "sensitivities-added",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        "            sensitivity=max(leaf[1] for leaf in touched),\n",
        "            sensitivity=sum(leaf[1] for leaf in touched),\n",
        "A node declares the sum of its leaves' sensitivities, though no record is in two of them.",
        "sensitivity",
    ),
    Planted(
        "fewer-steps-for-the-noise",
        "outsider/opt.py",
        "second_order_erm/opt",
        'T = max(1, math.ceil((top - s["lower_bound"]) / min(by_gradient, by_curvature)))',
        'T = max(1, math.ceil((top - s["lower_bound"]) / max(by_gradient, by_curvature)))',
        "The number of steps is counted with the larger one of the two decreases: sigma is made for too few steps.",
        "noise scale",
    ),
    Planted(
        "exact-length-decides",
        "outsider/opt.py",
        "second_order_erm/opt",
        "        if length(g) > eps_g:\n",
        "        if length(f.gradient(w)) > eps_g:\n",
        "Whether the gradient is large is asked of the exact gradient, not of the released one.",
        "un-noised",
        ("decision",),
    ),
    Planted(
        "dual-change-unclipped",
        "outsider/dp_rgda.py",
        "minimax_sosp/dp_rgda",
        'du = self.mean(f.in_y(x, y, chosen) - f.in_y(x_old, y_old, chosen), s["clip_step"])',
        "du = (f.in_y(x, y, chosen) - f.in_y(x_old, y_old, chosen)).mean(axis=0)",
        "The differences of gradients in y are not clipped; those in x are.",
        "clipping is missing",
    ),
    Planted(
        "cache-by-first",
        "outsider/dp_ftrl.py",
        "dp_ftrl/dp_ftrl",
        "        if (first, last) not in self.known:\n"
        "            total = np.sum(self.leaves[first - 1 : last], axis=0)\n"
        "            self.known[first, last] = self.tape.gaussian(\n"
        '                f"tree/({first},{last})",\n'
        "                total,\n"
        "                std=self.std,\n"
        "                sensitivity=self.sensitivity,\n"
        "                batch=tuple(self.batches[first - 1 : last]),\n"
        "            )\n"
        "        return self.known[first, last]\n",
        "        if first not in self.known:\n"
        "            total = np.sum(self.leaves[first - 1 : last], axis=0)\n"
        "            self.known[first] = self.tape.gaussian(\n"
        '                f"tree/({first},{last})",\n'
        "                total,\n"
        "                std=self.std,\n"
        "                sensitivity=self.sensitivity,\n"
        "                batch=tuple(self.batches[first - 1 : last]),\n"
        "            )\n"
        "        return self.known[first]\n",
        "Nodes are remembered by where they begin: a longer one is taken for the shorter one, and never released.",
        "calls",
    ),
    Planted(
        "weight-by-place",
        "foreign/sgda.py",
        "dro/sgda",
        "        for i in chosen:\n"
        "            gradient = square(rows[i], x)[1]\n"
        '            if bug == "weighted, then clipped":\n'
        '                terms.append(clipped(times(used[i], gradient), s["clip_x"]))\n'
        "            else:\n"
        '                terms.append(times(used[i], clipped(gradient, s["clip_x"])))\n',
        "        for k, i in enumerate(chosen):\n"
        "            gradient = square(rows[i], x)[1]\n"
        '            terms.append(times(used[k], clipped(gradient, s["clip_x"])))\n',
        "A gradient is weighted by its place in the batch, not by its record.",
        "wrong batch",
        ("index shift",),
    ),
    Planted(
        "clipped-then-subtracted",
        "outsider/dp_spider.py",
        "minimax_sosp/dp_spider",
        "            rows_v = clip_rows(gradients(rows, x, chosen) - gradients(rows, x_old, chosen), bound)\n",
        "            rows_v = clip_rows(gradients(rows, x, chosen), bound)\n"
        "            rows_v = rows_v - clip_rows(gradients(rows, x_old, chosen), bound)\n",
        "The two gradients are clipped by themselves, and not their difference.",
        "clip order",
    ),
)

UNSEEN = (
    Planted(
        "last-trial-on-failure",
        "newcomers/line_search_erm.py",
        "second_order_erm/opt_ls",
        "        return last if hit is None else candidates[hit]\n",
        "        return candidates[-1] if hit is None else candidates[hit]\n",
        "Where no trial passes, the last trial is taken for the safe step; they differ where b is no power of beta.",
        "decision",
    ),
    Planted(
        "one-batch-left",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        "left < 2 * size:",
        "left < size:",
        "The run goes on where the records that are left do for one of a step's two batches only.",
        "decision",
        ("calls",),
    ),
    Planted(
        "ceil-by-int",
        "newcomers/sosp_spider.py",
        "adaptive_batch/stochastic_spider",
        "math.ceil(wanted - 1e-12)",
        "int(wanted) + 1",
        "The size of a batch is cut off, plus one: one record too many where it is a whole number.",
        "wrong batch",
        ("index shift",),
    ),
    Planted(
        "begins-at-zero",
        "foreign/dp_sgd.py",
        "baselines/dp_sgd",
        '    weights = list(schedule["start"] or [0.0] * d)\n',
        "    weights = [0.0] * d\n",
        "The start of the schedule is ignored.",
        "missing term",
        ("output",),
    ),
    Planted(
        "density-below-zero",
        "newcomers/scans.py",
        "dro/composite_sgd",
        "    density = np.clip(u + 1.0, 0.0, 1e100)\n",
        "    density = u + 1.0\n",
        "The slope of the conjugate is not cut off at zero.",
        "decision",
        ("missing term",),
    ),
    Planted(
        "three-term-lanczos",
        "outsider/risks.py",
        "second_order_erm/opt",
        "        for _ in range(2):\n            for q in basis:\n                v = v - (q @ v) * q\n",
        "        for q in basis[-2:]:\n            v = v - (q @ v) * q\n",
        "Lanczos vectors are made orthogonal to the last two only, once.",
        "precision",
    ),
)
