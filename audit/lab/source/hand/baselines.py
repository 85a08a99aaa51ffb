"""Bugs in the baselines."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

_SGD, _SPIDER, _SGDA, _DIFF = (f"baselines/{name}.py" for name in ("dp_sgd", "dp_spider", "dp_sgda", "private_diff"))

PATCHES = (
    Patch(
        "dp_sgd: noise for the mean of a mean",
        _SGD,
        'std = s.noise.std("gradient", 2 * s.clip) / size',
        'std = s.noise.std("gradient", 2 * s.clip) / size / size',
        "the noise is divided by the batch size a second time",
        only_noise=True,
        thread="meta-pytorch/opacus#753",
    ),
    Patch(
        "dp_sgd: clips the mean of the batch",
        _SGD,
        "mean = clip_rows(rows, s.clip).sum(axis=0) / size",
        "mean = clip_rows(rows.mean(axis=0, keepdims=True), s.clip)[0]",
        "one microbatch: the mean is clipped, not each record",
        thread="tensorflow/privacy#81",
    ),
    Patch(
        "dp_sgd: clips each coordinate",
        _SGD,
        "clip_rows(rows, s.clip)",
        "np.clip(rows, -s.clip, s.clip)",
        "clipped parameter by parameter, not by the norm of the whole gradient",
        thread="fedbiomed/fedbiomed#1443",
    ),
    Patch(
        "dp_sgd: the clipping norm is not used",
        _SGD,
        "clip_rows(rows, s.clip)",
        "clip_rows(rows, 10.0 * s.clip)",
        "a fixed clipping norm in place of the one that the noise is made for",
        thread="meta-pytorch/opacus#664",
    ),
    Patch(
        "dp_sgd: divides by the records that came",
        _SGD,
        "mean = clip_rows(rows, s.clip).sum(axis=0) / size",
        "mean = clip_rows(rows, s.clip).sum(axis=0) / max(1, len(indices))",
        "a Poisson batch is divided by its own size, which is private",
        thread="meta-pytorch/opacus#420",
    ),
    Patch(
        "dp_sgd: an empty batch gets no noise",
        _SGD,
        "        released = tape.gaussian(",
        "        if len(indices) == 0:\n            continue\n        released = tape.gaussian(",
        "an empty Poisson batch is skipped, so that everybody sees that nobody was in it",
        thread="meta-pytorch/opacus#164",
    ),
    Patch(
        "dp_sgd: clips after the noise",
        _SGD,
        "        w = w - s.learning_rate * released\n",
        "        w = clip_rows((w - s.learning_rate * released)[None], 100.0)[0]\n",
        "another clip after the noise is post-processing",
        must=False,
        thread="illidanlab/dpgan#4",
    ),
    Patch(
        "dp_sgd: learning rate by the true gradient",
        _SGD,
        "        w = w - s.learning_rate * released\n",
        "        w = w - s.learning_rate * released / (1.0 + float(np.linalg.norm(mean)))\n",
        "the step is normalised by the norm of the gradient before the noise",
    ),
    Patch(
        "dp_sgd: momentum of the true gradient",
        _SGD,
        "        w = w - s.learning_rate * released\n",
        "        w = w - s.learning_rate * (released + 0.1 * mean)\n",
        "a momentum term is fed by the gradient before the noise",
    ),
    Patch(
        "dp_sgd: the loop skips small gradients",
        _SGD,
        "        # NOISE\n",
        "        # NOISE\n        if float(np.linalg.norm(mean)) < 1e-3 * s.clip:\n            continue\n",
        "a step is left out where the true gradient is small",
    ),
    Patch(
        "dp_sgd: returns the best iterate",
        _SGD,
        "    return last",
        "    return last if float(np.sum(problem.gradients(last, np.arange(problem.n)))) > 0 else np.zeros_like(last)",
        "which iterate is returned depends on the true gradient there",
    ),
    Patch(
        "dp_spider: the difference is clipped for a refresh",
        _SPIDER,
        "        sensitivity = 2 * threshold / size",
        "        sensitivity = min(2 * threshold, s.clip) / size",
        "half of the sensitivity of a refresh: a record replaced counts as one removed",
        thread="opendp/smartnoise-core#356",
    ),
    Patch(
        "dp_spider: the estimate takes the true difference",
        _SPIDER,
        "estimate = noisy if refresh else estimate + noisy",
        "estimate = noisy if refresh else estimate + mean",
        "the noisy difference is released, the true one is used",
    ),
    Patch(
        "dp_spider: refreshes when the true gradient is large",
        _SPIDER,
        "        refresh = t % s.period == 0",
        "        refresh = t == 0 or float(np.linalg.norm(problem.gradients(x, np.arange(problem.n)).mean(0))) > 0.5",
        "the moment of a refresh depends on the records",
    ),
    Patch(
        "dp_sgda: descends along the true gradient",
        _SGDA,
        "x - s.step_x * noisy_x, y_next",
        "x - s.step_x * (noisy_x + query) / 2, y_next",
        "half of the step is the gradient before the noise",
    ),
    Patch(
        "private_diff: the difference is not clipped",
        _DIFF,
        "query, sensitivity = problem.query_x(x, y, indices, threshold, None if refresh else before)",
        "query, sensitivity = problem.query_x(x, y, indices, 2 * threshold, None if refresh else before)\n"
        "        sensitivity = sensitivity / 2",
        "clipped at twice the threshold that the noise is made for",
    ),
)
