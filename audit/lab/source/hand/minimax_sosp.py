"""Bugs in DP-RGDA and the methods beside it."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

_RGDA, _STO = "minimax_sosp/dp_rgda.py", "minimax_sosp/sto_spider.py"

PATCHES = (
    Patch(
        "sto_spider: clips each coordinate",
        _STO,
        "mean = clip_rows(rows, s.clip).mean(axis=0)",
        "mean = np.clip(rows, -s.clip, s.clip).mean(axis=0)",
        "clipped coordinate by coordinate",
        thread="fedbiomed/fedbiomed#1443",
    ),
    Patch(
        "sto_spider: clips after the mean",
        _STO,
        "mean = clip_rows(rows, s.clip).mean(axis=0)",
        "mean = clip_rows(rows.mean(axis=0, keepdims=True), s.clip)[0]",
        "the mean is clipped, not each record",
        thread="tensorflow/privacy#620",
    ),
    Patch(
        "sto_spider: kicks by the true gradient",
        _STO,
        "if frozen <= 0 and float(np.linalg.norm(estimate)) <= s.tolerance:",
        "if frozen <= 0 and float(np.linalg.norm(mean)) <= s.tolerance:",
        "the decision to leave a saddle is taken on the gradient before the noise",
    ),
    Patch(
        "sto_spider: drift of the records",
        _STO,
        "        drift += float(step @ step)",
        "        drift += float(step @ step) + 1e-3 * float(mean @ mean)",
        "the next refresh depends on the query",
    ),
    Patch(
        "dp_rgda: the step size from the true value",
        _RGDA,
        "        norm = float(np.linalg.norm(v))\n",
        "        norm = float(np.linalg.norm(v)) + 1e-6 * abs(problem.gradients_x(x, y, np.arange(1)).sum())\n",
        "a step is normalised by a number that holds a record",
    ),
    Patch(
        "dp_rgda: ends early on one record",
        _RGDA,
        "        if escape and since == s.escape_threshold:  # line 19",
        "        if float(np.sum(problem.gradients_x(x, y, np.arange(1)))) > 1e3 or (\n"
        "            escape and since == s.escape_threshold\n        ):",
        "the run ends when the gradient of one record is large",
    ),
    Patch(
        "dp_rgda: starts at the data",
        _RGDA,
        "    status = Status(x, x, y, np.zeros_like(x), np.zeros_like(y))\n",
        "    x = x + 1e-3 * problem.gradients_x(x, y, np.arange(1)).mean(axis=0)\n"
        "    status = Status(x, x, y, np.zeros_like(x), np.zeros_like(y))\n",
        "the start is moved by a record",
    ),
)
