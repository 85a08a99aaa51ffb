"""Bugs that were reported in public issue trackers, planted in the example in JavaScript and in the twins in Python.

The kind of each was written down before the diagnosis was tried on any of them, and nothing of it was made for them.
What a report is about is carried over to an algorithm that has vectors; the code is not that of the report.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reported:
    """One change of one file of ``examples/live-js`` or of ``foreign``."""

    name: str
    thread: str
    algorithm: str
    kind: str
    file: str
    before: str
    after: str


SGD, SEARCH = "baselines/dp_sgd", "second_order_erm/opt_ls"
FTRL, PHASES, SPIDER = "dp_ftrl/dp_ftrl", "output_perturbation/algorithm2", "dro/double_spider"
REPORTED = (
    Reported(
        "noise of a mean divided by the root of the batch", "tensorflow/privacy#88", SGD, "noise scale", "dp_sgd.js",
        "const std = multiplier * sensitivity;", "const std = (multiplier * 2 * clip) / Math.sqrt(size);",
    ),
    Reported(
        "the plain mean is added to the noisy one", "dayu11/Differentially-Private-Deep-Learning#7", SGD, "un-noised",
        "dp_sgd.js", "schedule.learning_rate * released[j]", "schedule.learning_rate * (released[j] + mean[j])",
    ),
    Reported(
        "the clipping bound is not passed on", "meta-pytorch/opacus#664", SGD, "clip bound", "dp_sgd.js",
        "everybody, clip, size)", "everybody, 0.5, size)",
    ),
    Reported(
        "the number of steps is rounded down", "meta-pytorch/opacus#640", SGD, "index shift", "dp_sgd.js",
        "t < steps; t++", "t < steps - 1; t++",
    ),
    Reported(
        "a fixed number of records where they should be independent", "google-deepmind/jax_privacy#121", SGD,
        "wrong batch", "dp_sgd.js",
        'if (poisson) batch = live.poisson("batch", problem.n, size / problem.n);',
        'if (poisson) batch = live.batch("batch", problem.n, size);',
    ),
    Reported(
        "the update is applied twice", "nntrainer/nntrainer#219", SGD, "factor", "dp_sgd.js",
        "x - schedule.learning_rate * released[j]", "x - 2 * schedule.learning_rate * released[j]",
    ),
    Reported(
        "two records are averaged, then clipped", "tensorflow/privacy#135", SGD, "clip order", "dp_sgd.py",
        "        if bug == \"clipped after averaging\":",
        "        pairs = [found[i : i + 2] for i in range(0, len(found), 2)]\n"
        "        found = [times(1.0, total([times(1 / len(p), r) for r in p], d)) for p in pairs for _ in p]\n"
        "        if bug == \"clipped after averaging\":",
    ),
    Reported(
        "noise divided by the batch twice", "meta-pytorch/opacus#753", SGD, "noise scale", "dp_sgd.py",
        'scale_of(schedule, "gradient", 2 * clip) / size', 'scale_of(schedule, "gradient", 2 * clip) / size**2',
    ),
    Reported(
        "only one triangle gets its noise", "pytorch/functorch#467", SEARCH, "un-noised", "opt_ls.js",
        "found[j][k] = found[k][j] = released[at++];", "found[j][k] = released[at++];",
    ),
    Reported(
        "two noise scales are exchanged", "kozistr/AdaBound-tensorflow#3", SEARCH, "noise scale", "opt_ls.js",
        "threshold_scale: 2 * lambda * sensitivity, query_scale: 4 * lambda * sensitivity",
        "threshold_scale: 4 * lambda * sensitivity, query_scale: 2 * lambda * sensitivity",
    ),
    Reported(
        "a node is drawn anew wherever it is used", "meta-pytorch/opacus#308", FTRL, "calls", "dp_ftrl.py",
        "if (first, last) not in nodes:", "if True:",
    ),
    Reported(
        "a sum is divided by the number of terms", "SewoongLab/spectre-defense#3", FTRL, "factor", "dp_ftrl.py",
        '-1.0) / schedule["regularisation"], prefix)', '-1.0) / (schedule["regularisation"] * t), prefix)',
    ),
    Reported(
        "the counter begins at one", "tensorflow/tensorflow#35444", PHASES, "noise scale", "algorithm2.py",
        'std = scale_of(schedule, f"x/{k}", sensitivity)',
        'last = plan["count"]\n'
        '        std = scale_of(schedule, f"x/{min(k + 1, last)}", schedule["sensitivities"][min(k, last - 1)])',
    ),
    Reported(
        "the first phases' records again", "tensorflow/privacy#483", PHASES, "wrong batch", "algorithm2.py",
        "for i in batch.indices.tolist()]", "for i in range(plan[\"length\"])]",
    ),
    Reported(
        "one counter for all parameters", "flashlight/flashlight#143", SPIDER, "calls", "double_spider.py",
        'found = self.estimate("x", refresh, at, (before[0], eta))',
        'found = self.estimate("x", (t + 1) % s["phase"] == 0 or t == 0, at, (before[0], eta))',
    ),
    Reported(
        "a correction accumulates", "frgfm/holocron#1", SPIDER, "missing term", "double_spider.py",
        "g = found[0] if refresh else g + found[0]", "g = found[0] if refresh else found[0]",
    ),
)  # fmt: skip
FIRST_TRIAL = 12  # named before anything was changed
MISNAMED = {"only one triangle gets its noise": "calls"}  # what a solver makes of half a matrix is its own
