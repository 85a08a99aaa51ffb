"""Bugs for the example in JavaScript, with the kind that each is: written down before the diagnosis was tried on them.

The diagnosis was made with other bugs, in other twins, mostly of other algorithms (``planted.py``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HeldOut:
    """One change of one file of ``examples/live-js``."""

    name: str
    algorithm: str
    kind: str
    file: str
    before: str
    after: str


SEARCH, SGD = "second_order_erm/opt_ls", "baselines/dp_sgd"
HELD_OUT = (
    HeldOut(
        "half the noise of the queries", SEARCH, "noise scale", "opt_ls.js",
        "query_scale: 4 * lambda", "query_scale: 2 * lambda",
    ),
    HeldOut(
        "regulariser left out of the gradient", SEARCH, "missing term", "risk.js",
        "slope * x + (weight * 2 * w[j]) / (1 + w[j] ** 2) ** 2", "slope * x",
    ),
    HeldOut(
        "regulariser left out of the Hessian", SEARCH, "missing term", "risk.js",
        "w.forEach((x, j) => (found[j][j] +=", "w.forEach((x, j) => (found[j][j] += 0 *",
    ),
    HeldOut("sum of the losses for their mean", SEARCH, "factor", "risk.js", "return sum / n +", "return sum +"),
    HeldOut(
        "lower triangle for the upper one", SEARCH, "index shift", "opt_ls.js",
        "row.slice(j)", "row.slice(0, j + 1)",
    ),
    HeldOut(
        "releases of a step not counted", SEARCH, "noise scale", "opt_ls.js",
        "(s.noise.releases_per_step * T)", "(1 * T)",
    ),
    HeldOut("uphill", SEARCH, "sign", "opt_ls.js", "p = g.map((x) => -x);", "p = g.map((x) => x);"),
    HeldOut(
        "half the sensitivity is said", SEARCH, "sensitivity", "opt_ls.js",
        "sigma * deltaG, deltaG);", "sigma * deltaG, deltaG / 2);",
    ),
    HeldOut(
        "first trial of the line search left out", SEARCH, "index shift", "opt_ls.js",
        "initial * beta ** i;", "initial * beta ** (i + 1);",
    ),
    HeldOut("half of every step", SEARCH, "factor", "opt_ls.js", "x + gamma * p[j]", "x + (gamma / 2) * p[j]"),
    HeldOut(
        "the first step goes on with the query", SGD, "un-noised", "dp_sgd.js",
        "learning_rate * released[j]", "learning_rate * (t ? released : mean)[j]",
    ),
    HeldOut(
        "divided by the batch that came", SGD, "factor", "dp_sgd.js",
        "everybody, clip, size)", "everybody, clip, batch?.indices.length ?? size)",
    ),
)  # fmt: skip
FIRST_TRIAL = 8  # named before anything was changed; then "uphill" led to the change for bugs in two places
MISNAMED: dict[str, str] = {}
