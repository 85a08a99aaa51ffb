"""Twenty bugs in five foreign programs (newcomers/), by somebody who had not seen what the diagnosis can do.

The kinds, and the second kind that a fair reader could accept as well, were decided before any of them was run.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Planted:
    """One bug: in `program`, which answers for `algorithm`, the text `old`, found once, becomes `new`."""

    id: str
    program: str  # a file of newcomers/
    algorithm: str
    old: str
    new: str
    what: str  # what the developer did wrong
    kind: str
    also: tuple[str, ...] = ()  # accepted as well


PLANTED = (
    Planted(
        "float32-table",
        "modules.py",
        "minimax_sosp/dp_sgda",
        'table = np.asarray(spec["rows"], dtype=np.float64)',
        'table = np.asarray(spec["rows"], dtype=np.float32)',
        "The records are stored in the framework's default type, single precision.",
        "precision",
    ),
    Planted(
        "one-batch-for-both",
        "modules.py",
        "minimax_sosp/dp_sgda",
        "        ticket, index = self.sample_x()\n",
        "",
        "The descent step uses the batch of the ascent step again, in place of one of its own.",
        "wrong batch",
        ("calls",),
    ),
    Planted(
        "noise-of-a-sum",
        "modules.py",
        "minimax_sosp/dp_spider",
        "std = self.multipliers[name] * sensitivity",
        "std = self.multipliers[name] * max_norm",
        "The noise is multiplier times clipping norm, as on a sum of gradients, but it goes on their mean.",
        "noise scale",
    ),
    Planted(
        "old-x-new-y",
        "modules.py",
        "minimax_sosp/private_diff",
        "self.module.per_sample_grad_x(old_x, old_y, index)",
        "self.module.per_sample_grad_x(old_x, y, index)",
        "The difference takes the gradient before at the old x, but at the new y.",
        "index shift",
    ),
    Planted(
        "eta-uphill",
        "scans.py",
        "dro/composite_sgd",
        "in_eta = s * (1.0 - density)",
        "in_eta = s * (density - 1.0)",
        "The derivative of the dual objective in eta has the wrong sign.",
        "sign",
    ),
    Planted(
        "selected-one-early",
        "scans.py",
        "dro/composite_spider",
        "return flatten(history[int(chosen)]",
        "return flatten(history[int(chosen) - 1]",
        "The iterate that is returned is the one before the selected one: the selection was thought to count from 1.",
        "index shift",
    ),
    Planted(
        "uniform-weights",
        "scans.py",
        "dro/sgda",
        "sensitivity = 2 * bound * (n / size) * y.max()",
        "sensitivity = 2 * bound / size",
        "Sensitivity and noise of the x-gradient are those of a plain mean, as if every weight y_i were 1/n.",
        "noise scale",
        ("sensitivity",),
    ),
    Planted(
        "no-divergence-in-ascent",
        "scans.py",
        "dro/private_diff",
        "return onto_simplex(y + step * (gradient - pull))",
        "return onto_simplex(y + step * gradient)",
        "The ascent in y leaves out the gradient of the KL term.",
        "missing term",
    ),
    Planted(
        "search-never-gives-up",
        "terse.py",
        "second_order_erm/dp_gd",
        '        if G[k] > e["gradient"]:\n            break\n',
        "",
        "The search tests the Hessian at every iterate, also where the noisy gradient is too large.",
        "calls",
        ("missing term",),
    ),
    Planted(
        "half-a-matrix",
        "terse.py",
        "second_order_erm/dp_tr",
        "    S = np.empty_like(H)\n    S[i, j] = v\n    S[j, i] = v\n",
        "    S = np.zeros_like(H)\n    S[i, j] = v\n",
        "The released triangle is not mirrored; the eigenvalue routine reads the other one, so off-diagonals are lost.",
        "missing term",
    ),
    Planted(
        "half-of-the-square",
        "terse.py",
        "output_perturbation/algorithm2",
        "q = ball(x + b * a / mu[k - 1], R)",
        "q = ball(x + b * a / (2 * mu[k - 1]), R)",
        "The regulariser is taken for mu |x - c|^2, without the half: the step to the minimum is half as long.",
        "factor",
    ),
    Planted(
        "centre-without-noise",
        "terse.py",
        "output_perturbation/algorithm2",
        '        x = np.array(t.gaussian(f"x/{k}", q, std=std(N, f"x/{k}", s), sensitivity=s, batch=B[k - 1]))\n'
        '        if c["project"]:\n'
        "            x = ball(x, R)\n"
        "    return x\n",
        '        z = np.array(t.gaussian(f"x/{k}", q, std=std(N, f"x/{k}", s), sensitivity=s, batch=B[k - 1]))\n'
        "        x = q\n"
        '    return ball(z, R) if c["project"] else z\n',
        "The next phase is centred at the solver's own point in place of the released one.",
        "un-noised",
    ),
    Planted(
        "threshold-of-x",
        "loops.py",
        "dro/double_spider",
        'difference_bound(schedule[block + "_threshold"],',
        'difference_bound(schedule["x_threshold"],',
        "Differences in eta are clipped at the threshold of x (C_4 for C_2).",
        "clip bound",
        ("noise scale",),
    ),
    Planted(
        "claims-add-remove",
        "loops.py",
        "dro/double_spider",
        "sensitivity=2.0 * bound / size, batch=batch)",
        "sensitivity=bound / size, batch=batch)",
        "The sensitivity that is declared is that of adding or removing a record, though one is replaced.",
        "sensitivity",
    ),
    Planted(
        "eta-too-old",
        "loops.py",
        "dro/double_spider",
        '"x", x, eta_new, x_old, eta)',
        '"x", x, eta_new, x_old, eta_old)',
        "Line 12 subtracts the x-gradient at (x_{t-1}, eta_{t-1}), where the paper has (x_{t-1}, eta_t).",
        "index shift",
    ),
    Planted(
        "clips-each-anyway",
        "loops.py",
        "dro/double_spider",
        'vector = clip(vectors[i], bound) if mode == "each" else vectors[i]',
        "vector = clip(vectors[i], bound)",
        "Every record is clipped before the mean, also where the printed algorithm clips the mean.",
        "clip order",
    ),
    Planted(
        "forgot-the-root",
        "ftrl.js",
        "dp_ftrl/dp_ftrl",
        "const length = (u) => Math.hypot(...u);",
        "const length = (u) => u.reduce((sum, x) => sum + x * x, 0);",
        "The length of a gradient is the sum of squares, without the square root.",
        "norm",
    ),
    Planted(
        "mean-in-the-leaf",
        "ftrl.js",
        "dp_ftrl/dp_ftrl",
        "leaf = add(leaf, clipped(rows[i], clip));",
        "leaf = add(leaf, times(1 / size, clipped(rows[i], clip)));",
        "A leaf of the tree holds the mean over the batch, where the algorithm has the sum.",
        "factor",
    ),
    Planted(
        "newest-node-only",
        "ftrl.js",
        "dp_ftrl/dp_ftrl",
        "return this.exact.reduce((total, node) => add(total, node.noisy), new Array(this.d).fill(0));",
        "return this.exact[this.exact.length - 1].noisy;",
        "The prefix sum is the newest node alone: the nodes of the earlier intervals are not added.",
        "missing term",
    ),
    Planted(
        "symmetric-clamp",
        "ftrl.js",
        "dro/single_sample",
        "const g = clamp(values[which], 1, clip);",
        "const g = clamp(values[which], -clip, clip);",
        "The value is clipped to [-C, C], as a gradient would be; a value lies in [1, C].",
        "clip bound",
    ),
)
