"""Ten more, on files and lines that had none, written before anybody had looked at how the search does on them."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

PATCHES: tuple[Patch, ...] = (
    Patch(
        "algorithm5: the regulariser of the phase before",
        "output_perturbation/algorithm5.py",
        "mu_k = schedule.plan.regularisers[k - 1]  # line 3",
        "mu_k = schedule.plan.regularisers[max(0, k - 2)]  # line 3",
        "off by one: from phase 2 on the problem is half as strongly concave as the sensitivity says",
    ),
    Patch(
        "algorithms4and5: the dual half keeps its own noise",
        "output_perturbation/algorithms4and5.py",
        "algorithm5.run(problem, replace(schedule.y_half, noise=schedule.noise), tape, batches)",
        "algorithm5.run(problem, schedule.y_half, tape, batches)",
        "the calibrated noise reaches one half only, the other one runs with that of the draft",
        only_noise=True,
    ),
    Patch(
        "tr_b: a lazy Hessian",
        "second_order_erm/tr_b.py",
        "        hessian = problem.hessian(w, batch.indices)\n",
        "        hessian = problem.hessian(w, batch.indices) if k == 0 else hessian\n",
        "the Hessian of the first batch serves all steps, each declared on a batch of its own",
    ),
    Patch(
        "two_opt_ls: line searches cost nothing",
        "second_order_erm/two_opt_ls.py",
        "    return cost + sum(\n        count * gaussian_parameter",
        "    return cost + 0.0 * sum(\n        count * gaussian_parameter",
        "the filter is not charged for the line searches, and the second phase may spend them again",
        only_noise=True,
    ),
    Patch(
        "dp_rgda: the old gradient from all records",
        "minimax_sosp/dp_rgda.py",
        "    change_u = problem.gradients_y(*now, indices) - problem.gradients_y(*before, indices)\n",
        "    every = problem.gradients_y(*before, np.arange(problem.n))\n"
        "    change_u = problem.gradients_y(*now, indices) - every.mean(axis=0)\n",
        "a control variate over all records: every row of the batch moves with a record that is not in it",
    ),
    Patch(
        "oracles: the mean over what is not zero",
        "adaptive_batch/oracles.py",
        "        return mean_of(rows), batch\n",
        "        return mean_of(rows[rows.any(axis=1)] if rows.any() else rows), batch\n",
        "rows of zeros are taken for padding, and the divisor is what is left",
    ),
    Patch(
        "composite_sgd: columns of one size",
        "dro/composite_sgd.py",
        "        return np.column_stack(columns)\n",
        "        rows = np.column_stack(columns)\n        return rows / np.maximum(rows.std(axis=0), 1e-3)\n",
        "gradients are divided by their spread in the batch before they are clipped, so that each row moves with all",
    ),
    Patch(
        "protocols: the bound that the data show",
        "baselines/protocols.py",
        "        rows = self.problem.gradients_y(x, y, indices)\n"
        "        return clip_rows(rows, clip).mean(axis=0), 2 * clip / len(indices)\n",
        "        rows = self.problem.gradients_y(x, y, indices)\n"
        "        longest = min(clip, float(np.linalg.norm(rows, axis=1).max()))\n"
        "        return clip_rows(rows, clip).mean(axis=0), 2 * longest / len(indices)\n",
        "where no row is as long as the clip there is less noise: its scale shows the longest row",
    ),
    Patch(
        "batches: the first records in place of a draw",
        "blocks/batches.py",
        "    batch = tape.batch(label, n, size)\n    return batch.indices, batch\n",
        "    return np.arange(size), None\n",
        "no secret batch, and none is declared: the accountant sees queries on all records and makes more noise",
        must=False,
    ),
    Patch(
        "recursive_spider: the median of the values",
        "dro/recursive_spider.py",
        "    mean, claimed = np.mean(value - (1.0 - schedule.momentum) * other), schedule.value_sensitivity\n",
        "    mean, claimed = np.median(value - (1.0 - schedule.momentum) * other), schedule.value_sensitivity\n",
        "a robust mean: where the values fall into two halves, one record moves the median from one to the other",
    ),
)
