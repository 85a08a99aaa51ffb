"""Bugs written without a look at the others, later than all of them: 28 that may break privacy, nine that do not."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from .third_look_papers import PATCHES as PAPERS

_SGD = "        mean = clip_rows(rows, s.clip).sum(axis=0) / size\n"

PATCHES: tuple[Patch, ...] = (
    Patch(
        "clipping: a millionth is added to the norm",
        "blocks/clipping.py",
        "factors = bound / np.maximum(norms.row_norms(flat), bound)",
        "factors = np.minimum(1.0, bound / (norms.row_norms(flat) + 1e-6))",
        "the libraries' way against a division by zero: rows come out a little shorter than the bound, never longer",
        must=False,
    ),
    Patch(
        "clipping: by the longest row",
        "blocks/clipping.py",
        "factors = bound / np.maximum(norms.row_norms(flat), bound)",
        "factors = np.full(len(flat), bound / max(norms.row_norms(flat).max(initial=0.0), bound))",
        "all rows are scaled by the longest one's factor: a long record shortens everybody else's row",
    ),
    Patch(
        "dp_sgd: clips at the median of the batch",
        "baselines/dp_sgd.py",
        _SGD,
        "        lengths = np.linalg.norm(rows, axis=1)\n"
        "        at = min(s.clip, float(np.median(lengths)) if len(rows) and np.median(lengths) > 0 else s.clip)\n"
        "        mean = clip_rows(rows, at).sum(axis=0) / size\n",
        "an adaptive clip without noise of its own: the median of the norms moves all rows",
    ),
    Patch(
        "dp_sgd: clips pairs of records",
        "baselines/dp_sgd.py",
        _SGD,
        "        half = len(rows) // 2\n"
        "        pairs = (rows[:half] + rows[half : 2 * half]) / 2 if half else rows\n"
        "        mean = clip_rows(pairs, s.clip).sum(axis=0) / max(1, size // 2)\n",
        "microbatches of two are averaged and then clipped: a record moves a mean of half as many rows",
        thread="tensorflow/privacy#81",
    ),
    Patch(
        "dp_sgd: subtracts the mean gradient first",
        "baselines/dp_sgd.py",
        _SGD,
        "        middle = rows.mean(axis=0) if len(rows) else 0.0\n"
        "        mean = (clip_rows(rows - middle, s.clip).sum(axis=0) + np.sum(rows * 0.0, axis=0)) / size\n",
        "rows are centred by the batch's own mean, so that each of them moves with every record",
    ),
    Patch(
        "dp_sgd: stops when hardly anything is left",
        "baselines/dp_sgd.py",
        "        # CLIP\n        mean = clip_rows",
        "        if len(rows) and np.linalg.norm(rows, axis=1).max() < 0.01 * s.clip:\n            break\n"
        "        # CLIP\n        mean = clip_rows",
        "a stopping test on the raw gradients",
    ),
    Patch(
        "dp_sgd: noise for another sampling",
        "baselines/dp_sgd.py",
        "dry = replace(schedule, noise=",
        "dry = replace(schedule, poisson=False, noise=",
        "noise for batches of a fixed size, whatever the run draws: by luck, enough or not",
        only_noise=True,
        thread="lxuechen/private-transformers#7",
    ),
    Patch(
        "dp_sgda: x on the records of y",
        "baselines/dp_sgda.py",
        'indices, batch = draw_records(tape, "x/samples", problem.n, s.batch_x)',
        '_, batch = draw_records(tape, "x/samples", problem.n, s.batch_x)',
        "the second gradient is taken on the first batch and declared on one of its own",
    ),
    Patch(
        "dp_spider: clips, then subtracts",
        "baselines/dp_spider.py",
        "            rows = rows - problem.gradients(before, indices)\n"
        "        # CLIP\n"
        "        threshold = s.clip if refresh else s.threshold(float(np.linalg.norm(x - before)))\n"
        '        mean = clipped_mean(rows, threshold, "each")\n',
        "            former = problem.gradients(before, indices)\n"
        "        # CLIP\n"
        "        threshold = s.clip if refresh else s.threshold(float(np.linalg.norm(x - before)))\n"
        '        mean = clipped_mean(rows, threshold, "each")\n'
        "        if not refresh:\n"
        '            mean = mean - clipped_mean(former, threshold, "each")\n',
        "the difference of two clipped gradients is as long as two thresholds",
    ),
    Patch(
        "dp_ftrl: fills the last batch up",
        "dp_ftrl/dp_ftrl.py",
        "        gradients = problem.gradients(theta, records.indices)\n",
        "        full = np.concatenate([records.indices, np.arange(schedule.batch - size)])\n"
        "        gradients = problem.gradients(theta, full)\n",
        "the last batch wraps around: the first records are in two leaves of the tree",
    ),
    Patch(
        "dp_ftrl: a small last batch counts as a full one",
        "dp_ftrl/dp_ftrl.py",
        "total = clip_rows(gradients, schedule.clip).sum(axis=0)",
        "total = clip_rows(gradients, schedule.clip).sum(axis=0) * (schedule.batch / size)",
        "the mean of fewer records is scaled to the size of a full batch, and so is each record's part",
        thread="meta-pytorch/opacus#420",
    ),
    Patch(
        "dp_ftrl: a running average",
        "dp_ftrl/dp_ftrl.py",
        "theta = _into_ball(-prefix / schedule.regularisation, schedule.radius)",
        "theta = (theta + _into_ball(-prefix / schedule.regularisation, schedule.radius)) / 2",
        "a function of the releases",
        must=False,
    ),
    *PAPERS,
)
