"""The part of `third_look.py` that changes the five papers."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

_OUTPUT = (
    Patch(
        "algorithm1: the sensitivity of taking a record out",
        "output_perturbation/algorithm1.py",
        "sensitivity=(2 + 2 * residual) * unit,",
        "sensitivity=(1 + 2 * residual) * unit,",
        "half of Lemma 3.3: a record that is replaced moves the minimiser twice as far",
    ),
    Patch(
        "algorithm1: a second draw outside the domain",
        "output_perturbation/algorithm1.py",
        "    # STEP: none, one shot\n",
        "    if not np.array_equal(problem.project(released), released):\n"
        '        released = tape.gaussian("output", solution, std=std, sensitivity=sensitivity)\n'
        "    # STEP: none, one shot\n",
        "a point outside the domain is drawn anew: then there are two releases",
        only_noise=True,
    ),
    Patch(
        "algorithm2: the last phase sees everything",
        "output_perturbation/algorithm2.py",
        "phase = problem.phase(batch.indices, ",
        "rows = batch.indices if k < schedule.plan.count else np.arange(schedule.n)\n"
        "        phase = problem.phase(rows, ",
        "the last phase is solved on all records, those of the former phases too",
    ),
    Patch(
        "algorithm3: the metric is forgotten",
        "output_perturbation/algorithm3.py",
        "        scale = np.sqrt(problem.weights)\n",
        "        scale = np.ones(len(solution))\n",
        "the bound of Lemma 4.3 is on (sqrt(mu_x) x, sqrt(mu_y) y); (x, y) itself moves further where mu is below 1",
    ),
    Patch(
        "algorithm4: a warm start for the other block",
        "output_perturbation/algorithm4.py",
        "        whole_centre = np.concatenate([centre, np.zeros(schedule.d_y)])\n",
        "        other = solution[schedule.d :] if k > 1 else np.zeros(schedule.d_y)\n"
        "        whole_centre = np.concatenate([centre, other])\n",
        "the dual block of the former phase goes on without noise",
    ),
    Patch(
        "base_solver: four times as exact",
        "output_perturbation/base_solver.py",
        "solver(problem, target / 2, rng).point, target)",
        "solver(problem, target / 4, rng).point, target)",
        "a better solution than the certificate asks for",
        must=False,
    ),
)
_SECOND_ORDER = (
    Patch(
        "opt: polishes the point",
        "second_order_erm/opt.py",
        "            return Outcome(w, True, k_g, k_H, k_H + 1)\n",
        "            return Outcome(w - problem.gradient(w) / s.smoothness, True, k_g, k_H, k_H + 1)\n",
        "one exact step at the end, for a better point",
    ),
    Patch(
        "opt: no Hessian where it is convex",
        "second_order_erm/opt.py",
        "        H = tape.symmetric_gaussian(",
        "        if np.linalg.eigvalsh(problem.hessian(w))[0] >= 0:\n"
        "            return Outcome(w, True, k_g, k_H, k_H)\n"
        "        H = tape.symmetric_gaussian(",
        "the true Hessian decides whether it is released, to save budget",
    ),
    Patch(
        "line_search: the best of the trials when none passes",
        "second_order_erm/line_search.py",
        "    return fallback if index is None else initial * beta**index\n",
        "    if index is None:\n"
        "        return max((initial * beta**i for i in range(i_max)), key=q)\n"
        "    return initial * beta**index\n",
        "where no trial passes, the one that fails the least by the true values is taken",
        thread="NVIDIA/NVFlare#343",
    ),
    Patch(
        "line_search: noise for monotonic queries",
        "second_order_erm/line_search.py",
        "        query_scale=4 * lam * sensitivity,",
        "        query_scale=2 * lam * sensitivity,",
        "half of the noise, as is enough for queries that all move one way",
        only_noise=True,
    ),
    Patch(
        "two_opt: f(w0) is free",
        "second_order_erm/two_opt.py",
        "spent.charge(gaussian_cost(s.noise.sigma_f) + realised_cost(noise, outcome))",
        "spent.charge(realised_cost(noise, outcome))",
        "the filter forgets what the first release of a phase cost, and phase two may spend it again",
        only_noise=True,
    ),
    Patch(
        "common: the root of the batch",
        "second_order_erm/common.py",
        "share = exact_sensitivities(problem, start), problem.n / batch",
        "share = exact_sensitivities(problem, start), sqrt(problem.n / batch)",
        "a mean over a batch moves n / m times as far, not the root of it",
        thread="opendp/smartnoise-core#243",
    ),
    Patch(
        "dp_gd: in the order of the true norms",
        "second_order_erm/dp_gd.py",
        "norms.append(float(np.linalg.norm(g)))",
        "norms.append(float(np.linalg.norm(gradient)))",
        "which Hessians are looked at, and in which order, depends on gradients that nobody released",
    ),
)
_DRO = (
    Patch(
        "double_spider: one threshold for both blocks",
        "dro/double_spider.py",
        'threshold = schedule.eta_threshold if block == "eta" else schedule.x_threshold',
        "threshold = schedule.eta_threshold",
        "another threshold, which the noise follows",
        must=False,
    ),
    Patch(
        "double_spider: the best iterate",
        "dro/double_spider.py",
        "        if t + 1 == chosen:\n",
        "        if t == 0 or problem.value(x, eta) < problem.value(selected.x, selected.eta):\n",
        "the iterate with the least true objective is handed out",
    ),
    Patch(
        "objective: exponentials without overflow",
        "dro/objective.py",
        "            return np.asarray(np.exp(self.data.losses(x, indices) / temperature))\n",
        "            losses = self.data.losses(x, indices)\n"
        "            return np.asarray(np.exp((losses - losses.max(initial=-np.inf)) / temperature))\n",
        "the largest loss of the batch is subtracted from all, so that every row depends on one record",
    ),
    Patch(
        "recursive_spider: starts from the mean",
        "dro/recursive_spider.py",
        "    v, u, s = np.zeros(problem.d), 0.0, 1.0\n",
        "    v, u = np.zeros(problem.d), 0.0\n"
        "    s = min(float(np.mean(problem.inner_values(*now))), schedule.value_clip)\n",
        "s_0 is the true mean in place of one",
    ),
    Patch(
        "recursive_spider: temperatures of both signs",
        "dro/recursive_spider.py",
        "        rows, spread = np.minimum(rows, 0.0), clip\n",
        "        rows, spread = rows - np.mean(rows), clip\n",
        "centred rows lie on both sides of zero, and each moves with the others; the sensitivity is that of one side",
    ),
)
_OTHERS = (
    Patch(
        "dp_rgda: the best inner step by the true gradient",
        "minimax_sosp/dp_rgda.py",
        "        mapping = float(np.linalg.norm(y - y_next)) / schedule.ascent_step  # |G~_lambda(y_{t,k})|, (28)\n",
        "        exact = problem.gradients_y(x, y, np.arange(problem.n)).mean(axis=0)\n"
        "        mapping = float(np.linalg.norm(y - problem.project(y + schedule.ascent_step * exact)))\n",
        "line 18 takes the smallest true gradient mapping",
    ),
    Patch(
        "dp_rgda: v and u clipped as one",
        "minimax_sosp/dp_rgda.py",
        "    mean_v = clipped_mean(rows_v, s.clip_refresh, s.clip_mode)\n"
        "    mean_u = clipped_mean(rows_u, s.clip_refresh, s.clip_mode)\n",
        "    both = clipped_mean(np.hstack([rows_v, rows_u]), s.clip_refresh, s.clip_mode)\n"
        "    mean_v, mean_u = both[: problem.d], both[problem.d :]\n",
        "the pair is clipped to the length that each of them may have: less moves, not more",
        must=False,
    ),
    Patch(
        "dp_rgda: a perturbation as long as the noisy gradient",
        "minimax_sosp/dp_rgda.py",
        'x_next = x + tape.public("perturb", ball)',
        'x_next = x + norm * tape.public("perturb", ball)',
        "the length of a release times a public direction",
        must=False,
    ),
    Patch(
        "stochastic_spider: drift by the Hessian",
        "adaptive_batch/stochastic_spider.py",
        "        drift += norm(step)\n",
        "        drift += norm(step) + s.step_size * norm(hessian @ step)\n",
        "when the next refresh comes depends on a Hessian that is not released",
    ),
    Patch(
        "stochastic_spider: the bound of the difference",
        "adaptive_batch/stochastic_spider.py",
        "claim = 2 * s.smoothness * norm(x - before) / size",
        "claim = 2 * s.smoothness * s.step_size * norm(step) / size",
        "x - before is step_size times step: the same number but for rounding",
        must=False,
    ),
    Patch(
        "stochastic_spider: leaves the saddle late",
        "adaptive_batch/stochastic_spider.py",
        "        if norm(x - saddle.x) >= s.escape_radius or frozen <= 0:",
        "        if norm(x - saddle.x) >= 2 * s.escape_radius or frozen <= 0:",
        "noise for moves up to the radius, moves up to twice that",
        only_noise=True,
    ),
    Patch(
        "sto_spider: drift by the true step",
        "minimax_sosp/sto_spider.py",
        "        drift += float(step @ step)\n",
        "        drift += float(step @ step) + s.step_size**2 * float(mean @ mean)\n",
        "the drift counts the query of this step beside the release: when it refreshes depends on the records",
    ),
)
PATCHES: tuple[Patch, ...] = (*_OUTPUT, *_SECOND_ORDER, *_DRO, *_OTHERS)
