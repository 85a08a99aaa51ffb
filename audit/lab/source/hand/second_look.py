"""Bugs written without a look at the others, to see what an audit finds that nobody has tuned it to."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

PATCHES: tuple[Patch, ...] = (
    Patch(
        "dp_sgd: divides by the records that joined",
        "baselines/dp_sgd.py",
        "mean = clip_rows(rows, s.clip).sum(axis=0) / size",
        "mean = clip_rows(rows, s.clip).sum(axis=0) / max(1, len(indices))",
        "the sum is divided by the number of records that joined, which the target's own coming changes",
        thread="meta-pytorch/opacus#819",
    ),
    Patch(
        "dp_sgd: skips empty batches",
        "baselines/dp_sgd.py",
        "        # GRADIENT\n        rows = problem.gradients(w, indices)",
        "        if len(indices) == 0:\n            continue\n        # GRADIENT\n"
        "        rows = problem.gradients(w, indices)",
        "nothing is released for an empty Poisson batch: a missing release says that the target was not there",
        thread="meta-pytorch/opacus#161",
    ),
    Patch(
        "clipping: norms in half precision",
        "blocks/clipping.py",
        "    factors = bound / np.maximum(norms.row_norms(flat), bound)",
        "    lengths = np.sqrt((flat.astype(np.float16) ** 2).sum(axis=1, dtype=np.float16))\n"
        "    factors = bound / np.maximum(lengths.astype(float), bound)",
        "norms are computed in half precision: a record whose norm comes out too small is clipped too little",
        thread="google-deepmind/jax_privacy#309",
    ),
    Patch(
        "dp_sgda: one noise for both blocks",
        "baselines/dp_sgda.py",
        "        # STEP\n        y_next = problem.ascend(y, noisy_y, s.step_y)\n        # GRADIENT, CLIP\n"
        '        indices, batch = draw_records(tape, "x/samples", problem.n, s.batch_x)\n'
        "        query, sensitivity = problem.query_x(x, y_next if s.alternating else y, indices, s.clip_x, None)\n"
        "        # NOISE\n"
        '        noisy_x = tape.gaussian("x", query, std=s.noise.std("x", sensitivity), '
        "sensitivity=sensitivity, batch=batch)",
        "        # STEP\n"
        "        y_next, noise = problem.ascend(y, noisy_y, s.step_y), (noisy_y - query) / sensitivity\n"
        "        # GRADIENT, CLIP\n"
        '        indices, batch = draw_records(tape, "x/samples", problem.n, s.batch_x)\n'
        "        query, sensitivity = problem.query_x(x, y_next if s.alternating else y, indices, s.clip_x, None)\n"
        "        # NOISE\n"
        "        noisy_x = query + sensitivity * np.resize(noise, query.shape)",
        "the same random numbers are added to both blocks, so that their difference has no noise",
        thread="jax-ml/jax#3646",
    ),
    Patch(
        "dp_spider: clips before it subtracts",
        "baselines/dp_spider.py",
        "            rows = rows - problem.gradients(before, indices)\n        # CLIP\n"
        "        threshold = s.clip if refresh else s.threshold(float(np.linalg.norm(x - before)))\n"
        '        mean = clipped_mean(rows, threshold, "each")',
        "            old = problem.gradients(before, indices)\n        # CLIP\n"
        "        threshold = s.clip if refresh else s.threshold(float(np.linalg.norm(x - before)))\n"
        '        mean = clipped_mean(rows, threshold, "each")\n'
        "        if not refresh:\n"
        '            mean = mean - clipped_mean(old, threshold, "each")',
        "both gradients of a difference are clipped and then subtracted: it moves by twice what is declared",
    ),
    Patch(
        "dp_ftrl: pads the last batch",
        "dp_ftrl/dp_ftrl.py",
        "        gradients = problem.gradients(theta, records.indices)",
        "        padded = np.append(records.indices, np.arange(schedule.batch - size))\n"
        "        gradients = problem.gradients(theta, padded)",
        "the last batch is filled up with the first records, which take part twice and are declared once",
        thread="meta-pytorch/opacus#196",
    ),
    Patch(
        "algorithm1: sensitivity from the data's gradients",
        "output_perturbation/algorithm1.py",
        "    sensitivity = schedule.sensitivity\n    std",
        "    steepest = np.linalg.norm(problem.loss.rows(solution, np.arange(problem.n)), axis=1).max()\n"
        "    sensitivity = min(schedule.sensitivity, 4 * float(steepest) / (problem.n * problem.strong_convexity))\n"
        "    std",
        "the Lipschitz constant is the largest gradient that the data show, so that the noise follows the data",
        thread="IBM/differential-privacy-library#20",
    ),
    Patch(
        "algorithm2: no noise where it leaves the domain",
        "output_perturbation/algorithm2.py",
        "centre = problem.domain_x.project(released) if schedule.project else released",
        "centre = released if np.allclose(problem.domain_x.project(released), released) else x_k",
        "where the noisy point leaves the domain the solution goes on without noise",
        thread="NVIDIA/NVFlare#343",
    ),
    Patch(
        "algorithm2: phases read all records so far",
        "output_perturbation/algorithm2.py",
        "problem.phase(batch.indices, Regulariser",
        "problem.phase(np.arange(batch.indices[-1] + 1), Regulariser",
        "each phase reads all records up to its own, for more data: those of earlier phases take part again",
        thread="meta-pytorch/opacus#219",
    ),
    Patch(
        "algorithm3: noise in the wrong norm",
        "output_perturbation/algorithm3.py",
        'pair = tape.gaussian("pair", scale * solution, std=noise.std("pair", joint), sensitivity=joint)\n'
        "        released = pair / scale",
        'released = tape.gaussian("pair", solution, std=noise.std("pair", joint), sensitivity=joint)',
        "the sensitivity is stated in the weighted norm, the noise added without the weights",
        thread="google-deepmind/jax_privacy#383",
    ),
    Patch(
        "algorithm4: warm start of the other block",
        "output_perturbation/algorithm4.py",
        "np.concatenate([centre, np.zeros(schedule.d_y)])",
        "np.concatenate([centre, np.zeros(schedule.d_y) if k == 1 else solution[schedule.d :]])",
        "the other block is centred at its last solution, which has no noise",
    ),
    Patch(
        "opt: returns the better end",
        "second_order_erm/opt.py",
        "    return Outcome(w, False, k_g, k_H, k_H)",
        "    w = min((s.start, w), key=problem.value)\n    return Outcome(w, False, k_g, k_H, k_H)",
        "of the start and the last point the one with the smaller true loss is returned",
        thread="aidotse/LeakPro#438",
    ),
    Patch(
        "opt_ls: forgets the length of the direction",
        "second_order_erm/opt_ls.py",
        "sensitivity=delta_g * initial * float(norm_g),",
        "sensitivity=delta_g * initial,",
        "the sensitivity of the line search's queries lacks the norm of the direction",
        thread="IBM/differential-privacy-library#105",
    ),
    Patch(
        "opt_b: Hessian of the old batch",
        "second_order_erm/opt_b.py",
        '            batch = tape.batch("hessian batch", problem.n, s.batch)\n'
        "        hessian = problem.hessian(w, batch.indices)",
        '            batch, old = tape.batch("hessian batch", problem.n, s.batch), batch\n'
        "        hessian = problem.hessian(w, old.indices)",
        "a batch is drawn and accounted for the Hessian, which is computed on the gradient's",
        thread="meta-pytorch/opacus#128",
    ),
    Patch(
        "dp_tr: steps that lower the true loss",
        "second_order_erm/dp_tr.py",
        "        w = w + once(trust_region_step, g, values, vectors, s.radius)",
        "        trial = w + once(trust_region_step, g, values, vectors, s.radius)\n"
        "        w = trial if problem.value(trial) <= problem.value(w) else w",
        "a step is taken only if the true loss falls, as trust regions do that are not private",
    ),
    Patch(
        "two_opt: the second phase has the whole budget",
        "second_order_erm/two_opt.py",
        "s.second(problem, one.w, spent.left)",
        "s.second(problem, one.w, s.base.noise.rho)",
        "the second phase gets the whole budget and not what is left",
        thread="ryan112358/mbi#11",
        only_noise=True,
    ),
    Patch(
        "recursive_spider: exact where noise is negative",
        "dro/recursive_spider.py",
        '    return float(tape.gaussian("value", mean, std=std, sensitivity=claimed, batch=batch))',
        '    noisy = float(tape.gaussian("value", mean, std=std, sensitivity=claimed, batch=batch))\n'
        "    return noisy if noisy > -1.0 else float(mean)",
        "a noisy value that makes no sense is replaced by the exact one",
        thread="opendp/smartnoise-sdk#547",
    ),
    Patch(
        "double_spider: clips at the median",
        "dro/double_spider.py",
        '    clip = schedule.eta_clip if block == "eta" else schedule.x_clip  # C_1, C_3\n',
        '    clip = schedule.eta_clip if block == "eta" else schedule.x_clip  # C_1, C_3\n'
        "    norms = np.linalg.norm(rows.reshape(len(rows), -1), axis=1)\n"
        "    clip = min(clip, max(1e-6, float(np.median(norms))))\n",
        "the clip is the median norm of the batch: it is not released, and nothing pays for it",
        thread="google-parfait/tensorflow-federated#1080",
    ),
    Patch(
        "minimax_form: largest weight of the batch",
        "dro/minimax_form.py",
        "2.0 * clip * scale * float(y.max())",
        "2.0 * clip * scale * float(y[indices].max())",
        "the sensitivity takes the largest weight of the records that were drawn, which are secret",
        thread="opendp/smartnoise-core#356",
    ),
    Patch(
        "dp_rgda: ascends until the true gradient is small",
        "minimax_sosp/dp_rgda.py",
        "        x_before, y_before, y = x, y, y_next\n",
        "        x_before, y_before, y = x, y, y_next\n"
        "        exact = problem.gradients_y(x, y, np.arange(problem.n)).mean(axis=0)\n"
        "        if np.linalg.norm(exact) < schedule.tolerance:\n"
        "            break\n",
        "the inner loop ends when the true gradient is small",
    ),
    Patch(
        "sto_spider: refreshes when the estimate is off",
        "minimax_sosp/sto_spider.py",
        "        refresh = drift >= s.drift_limit\n",
        "        exact = problem.gradients(x, np.arange(problem.n)).mean(axis=0)\n"
        "        refresh = drift >= s.drift_limit or bool(np.linalg.norm(estimate - exact) > s.clip)\n",
        "a refresh comes when the estimate is far from the true gradient",
    ),
    Patch(
        "sto_spider: a kick of the true length",
        "minimax_sosp/sto_spider.py",
        "kick(rng, problem.d, s.perturbation))",
        "kick(rng, problem.d, min(s.perturbation, np.linalg.norm(mean))))",
        "the step away from a saddle is as long as the gradient before noise",
    ),
    Patch(
        "stochastic_spider: batch from the true gradient",
        "adaptive_batch/stochastic_spider.py",
        "        size = s.batch if refresh else s.adaptive_batch(norm(step))\n",
        "        size = s.batch if refresh else s.adaptive_batch(norm(gradient))\n",
        "the adaptive batch follows the mean before noise",
    ),
    Patch(
        "escape: declares the last batch",
        "adaptive_batch/escape.py",
        "        batch=saddle.batches or None,",
        "        batch=saddle.batches[-1:] or None,",
        "of the batches that the Hessian estimate was summed up from the last alone is declared",
    ),
)
