"""Two sets of bugs, each with its kind written down before the diagnosis was tried on any of its set.

The first one is planted in two twins of algorithms that the diagnosis was not made with, and in the example in
JavaScript. What it showed led to changes of the diagnosis; the second one was written after them, for seven programs.
(It had two bugs more, which change nothing on any vector: a shift that the projection onto the simplex takes back, and
a direction that no vector needs to turn.)
"""

from __future__ import annotations

from .reported import Reported

SGDA, SPIDER, SEARCH, SGD = "dro/sgda", "minimax_sosp/dp_spider", "second_order_erm/opt_ls", "baselines/dp_sgd"
DOUBLE, FTRL, PHASES = "dro/double_spider", "dp_ftrl/dp_ftrl", "output_perturbation/algorithm2"
FIRST: tuple[tuple[str, str, str], ...] = (  # algorithm, bug of the twin, kind
    (SGDA, "multipliers of the other block", "noise scale"),
    (SGDA, "divergence left out", "missing term"),
    (SGDA, "old y", "index shift"),
    (SGDA, "not onto the simplex", "missing term"),
    (SGDA, "not scaled to all records", "factor"),
    (SGDA, "losses not clipped", "clipping is missing"),
    (SGDA, "weighted, then clipped", "clip order"),
    (SGDA, "sensitivity of equal weights", "noise scale"),
    (SGDA, "half of the last step", "factor"),
    (SGDA, "descends in y", "sign"),
    (SPIDER, "restarts one step late", "index shift"),
    (SPIDER, "differences count twice", "factor"),
    (SPIDER, "differences are taken off", "sign"),
    (SPIDER, "averages, then clips", "clip order"),
    (SPIDER, "returns the one before", "index shift"),
    (SPIDER, "noise for all records", "noise scale"),
    (SPIDER, "records from 1", "wrong batch"),
    (SPIDER, "quadratic in one coordinate", "missing term"),
)
COLUMNS = Reported(
    "filled column by column", "", SEARCH, "index shift", "opt_ls.js",
    "for (let k = j; k < matrix.length; k++) found[j][k] = found[k][j] = released[at++];",
    "for (let k = 0; k <= j; k++) found[j][k] = found[k][j] = released[at++];",
)  # fmt: skip
FIRST_TRIAL = 9  # of the first set, before the changes
SECOND = (
    Reported("step of x for y", "", SGDA, "factor", "sgda.py", 'sign * s["step_y"]', 'sign * s["step_x"]'),
    Reported(
        "weight of the next record", "", SGDA, "index shift", "sgda.py",
        "terms.append(times(used[i], clipped(", "terms.append(times(used[(i + 1) % n], clipped(",
    ),
    Reported(
        "loss not halved", "", SGDA, "factor", "sgda.py",
        "return 0.5 * residual * residual", "return residual * residual",
    ),
    Reported(
        "sensitivity of adding a record", "", SGDA, "noise scale", "sgda.py",
        'sensitivity = 2 * s["clip_x"] * scale', 'sensitivity = s["clip_x"] * scale',
    ),
    Reported(
        "refreshed at the point before", "", SPIDER, "index shift", "dp_spider.py",
        '[gradient(rows[i], x, bug) for i in chosen], s["clip"]',
        '[gradient(rows[i], before, bug) for i in chosen], s["clip"]',
    ),
    Reported(
        "half the bound at a refresh", "", SPIDER, "clip bound", "dp_spider.py",
        'for i in chosen], s["clip"]', 'for i in chosen], s["clip"] / 2',
    ),
    Reported(
        "half the sensitivity is said", "", SPIDER, "sensitivity", "dp_spider.py",
        "sensitivity = 2 * bound / size", "sensitivity = bound / size",
    ),
    Reported(
        "clipped in the largest entry", "", SPIDER, "clip norm", "dp_spider.py",
        "[clipped(row, bound, bug) for row in found]", '[clipped(row, bound, "infinity norm") for row in found]',
    ),
    Reported(
        "the first refresh is used as it is", "", SPIDER, "un-noised", "dp_spider.py",
        "            v = released\n", "            v = released if t else query\n",
    ),
    Reported(
        "a step less", "", SPIDER, "index shift", "dp_spider.py",
        'for t in range(s["steps"]):', 'for t in range(s["steps"] - 1):',
    ),
    Reported(
        "regulariser twice", "", SEARCH, "factor", "risk.js",
        "slope * x + (weight * 2 * w[j])", "slope * x + 2 * (weight * 2 * w[j])",
    ),
    Reported(
        "curvature of the other sign", "", SEARCH, "sign", "risk.js",
        "const curvature = (sigmoid(m) * sigmoid(-m)) / n;", "const curvature = -(sigmoid(m) * sigmoid(-m)) / n;",
    ),
    Reported(
        "labels left out", "", SEARCH, "factor", "risk.js",
        "labels[i] * dot(features[i], w)", "dot(features[i], w)",
    ),
    Reported(
        "noise of the sum for the mean", "", SGD, "noise scale", "dp_sgd.js",
        "const std = multiplier * sensitivity;", "const std = multiplier * 2 * clip;",
    ),
    Reported("threshold of eta alone", "", DOUBLE, "clip bound", "double_spider.py", "max(moved)", "moved[1]"),
    Reported(
        "gradient in eta of the other sign", "", DOUBLE, "sign", "double_spider.py", "(one - slope)", "(slope - one)"
    ),
    Reported(
        "summed, then clipped", "", FTRL, "clip order", "dp_ftrl.py",
        "total([clipped(row, clip, bug) for row in found], d)", "clipped(total(found, d), clip, bug)",
    ),
    Reported(
        "point not projected", "", PHASES, "missing term", "algorithm2.py",
        "into_ball(plus(start, mean, factor), radius)", "plus(start, mean, factor)",
    ),
)  # fmt: skip
SECOND_TRIAL = 11  # of the second set, before anything was changed for it
MISNAMED: dict[str, str] = {}  # three were, until every edit of every value was tried
