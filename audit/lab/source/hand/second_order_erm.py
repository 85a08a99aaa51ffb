"""Bugs in the methods of second_order_erm."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

_OPT, _SEARCH, _BATCH, _LINE = (f"second_order_erm/{name}.py" for name in ("opt", "opt_ls", "opt_b", "line_search"))
_GD, _TR, _TRB, _TWO, _COMMON = (
    f"second_order_erm/{name}.py" for name in ("dp_gd", "dp_tr", "tr_b", "two_opt", "common")
)

PATCHES = (
    Patch(
        "opt: half the noise",
        _OPT,
        "    return replace(found, sensitivity=exact_sensitivities(problem, start))",
        "    return replace(found, sensitivity=exact_sensitivities(problem, start), noise=found.noise.scaled(0.5))",
        "half the noise that the budget asks for",
    ),
    Patch(
        "opt: steps on the true gradient",
        _OPT,
        "w, k_g = w - g / s.smoothness, k_g + 1",
        "w, k_g = w - gradient / s.smoothness, k_g + 1",
        "the step takes the gradient before the noise",
    ),
    Patch(
        "opt: the test on the true gradient",
        _OPT,
        "if np.linalg.norm(g) > s.accuracy.gradient:",
        "if np.linalg.norm(gradient) > s.accuracy.gradient:",
        "whether the gradient is small is asked before the noise",
    ),
    Patch(
        "opt: the sign from the true gradient",
        _OPT,
        "p = descent_sign(p, g)",
        "p = descent_sign(p, gradient)",
        "the sign of eq. (5) is taken from the gradient before the noise",
    ),
    Patch(
        "opt: T from the true value",
        _OPT,
        "        top = float(top) + std * float(-ndtri(s.failure))",
        "        top = problem.value(s.start) + std * float(-ndtri(s.failure))",
        "the number of steps is computed from f(w0) itself",
    ),
    Patch(
        "opt: the Hessian has the gradient's noise",
        _OPT,
        "problem.hessian(w), std=std_H, sensitivity=delta_H)",
        "problem.hessian(w), std=min(std_g, std_H) / 2, sensitivity=delta_H)",
        "the noise scale of another release",
        only_noise=True,
    ),
    Patch(
        "opt: eigenvector of the true Hessian",
        _OPT,
        "smallest, p = s.eigen.pair(H, s.accuracy.curvature, tape)",
        "smallest, p = s.eigen.pair((H + problem.hessian(w)) / 2, s.accuracy.curvature, tape)",
        "the curvature is judged on a mean of the noisy and the true Hessian",
    ),
    Patch(
        "opt: certifies by the true Hessian",
        _OPT,
        "            return Outcome(w, True, k_g, k_H, k_H + 1)",
        "            return Outcome(w, bool(np.linalg.eigvalsh(problem.hessian(w))[0] > -1e-3), k_g, k_H, k_H + 1)",
        "the certificate is computed from the records",
    ),
    Patch(
        "opt_ls: the search begins at the true norm",
        _SEARCH,
        "norm_g = np.linalg.norm(g)",
        "norm_g = np.linalg.norm(gradient)",
        "a decision and a sensitivity are computed from the gradient before the noise",
    ),
    Patch(
        "opt_ls: b_H in place of b_g",
        _SEARCH,
        "sensitivity=delta_g * initial * float(norm_g),  # Delta_q = 2 gamma_init B_g ||g~|| / n",
        "sensitivity=delta_g * ls.b_H * fallback_g * float(norm_g),",
        "the sensitivity of the other search",
    ),
    Patch(
        "opt_ls: the curvature search forgets b_H",
        _SEARCH,
        "sensitivity=delta_g * ls.b_H * fallback,",
        "sensitivity=delta_g * fallback,",
        "the sensitivity at the last step size, not at the first",
    ),
    Patch(
        "line_search: one answer too many",
        _LINE,
        "        threshold_scale=2 * lam * sensitivity,",
        "        threshold_scale=1e-6 * lam * sensitivity,",
        "the threshold has next to no noise",
        thread="NVIDIA/NVFlare#343",
    ),
    Patch(
        "opt_b: one batch for all steps",
        _BATCH,
        '    for _k in range(1, T + 1):\n        batch = tape.batch("batch", problem.n, s.batch)  # S_k\n',
        '    batch = tape.batch("batch", problem.n, s.batch)\n    for _k in range(1, T + 1):\n',
        "the batch is drawn once, before the loop",
        thread="meta-pytorch/opacus#128",
    ),
    Patch(
        "opt_b: Hessian on the gradient's batch",
        _BATCH,
        '        if s.reading == "repaired":\n            batch = tape.batch("hessian batch", problem.n, s.batch)\n',
        "",
        "two releases on one batch, accounted as two batches",
        only_noise=True,
    ),
    Patch(
        "opt_b: gradients of all records",
        _BATCH,
        "gradient = problem.gradient(w, batch.indices)",
        "gradient = problem.gradient(w, np.arange(problem.n))",
        "the query uses all records and is amplified as a batch",
        thread="meta-pytorch/opacus#444",
    ),
    Patch(
        "dp_gd: selects by the true norms",
        _GD,
        "        norms.append(float(np.linalg.norm(g)))",
        "        norms.append(float(np.linalg.norm(gradient)))",
        "the iterate is selected by gradients before the noise",
    ),
    Patch(
        "dp_tr: model of the true Hessian",
        _TR,
        "        values, vectors = once(eigh, H)",
        "        values, vectors = once(eigh, hessian)",
        "the trust-region step takes the Hessian before the noise",
    ),
    Patch(
        "dp_tr: a radius from the data",
        _TR,
        "w = w + once(trust_region_step, g, values, vectors, s.radius)",
        "w = w + once(trust_region_step, g, values, vectors, s.radius * (1 + 1e-3 * float(np.linalg.norm(gradient))))",
        "the radius follows the gradient before the noise",
    ),
    Patch(
        "tr_b: sampling rate twice as large",
        _TRB,
        'batch = tape.batch("batch", problem.n, s.batch)',
        'batch = tape.batch("batch", problem.n, min(problem.n, 2 * s.batch))',
        "batches twice as large as the noise is made for: sampling protects less",
        only_noise=True,
        thread="meta-pytorch/opacus#444",
    ),
    Patch(
        "two_opt: the second phase forgets the first",
        _TWO,
        "    spent.charge(gaussian_cost(s.noise.sigma_f) + realised_cost(noise, outcome))\n",
        "    spent.charge(0.5 * (gaussian_cost(s.noise.sigma_f) + realised_cost(noise, outcome)))\n",
        "half of what was spent is written down: the second phase spends it again",
        thread="opendp/smartnoise-sdk#624",
    ),
    Patch(
        "common: sensitivity without the square root",
        _COMMON,
        "        hessian=problem.hessian_sensitivity(),",
        "        hessian=problem.hessian_sensitivity() ** 2,",
        "the square of a sensitivity below one",
        thread="opendp/smartnoise-core#243",
    ),
)
