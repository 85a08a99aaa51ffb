"""Why a run of a case does not come to some of its releases and decisions: by place, for ``Case.unreached``.

A place is ``file.py: the beginning of its line``. Most of these are decided by the schedule, which is public and is the
same for all data: the other way is taken by another reading or variant of the catalogue. What is not listed here and is
not reached by a search is a gap of the search, and said as one.
"""

from __future__ import annotations

from collections.abc import Mapping

Reasons = Mapping[str, str]

_OTHER = "the schedule decides; the other way is another reading or variant"
_MODE = "how is clipped is part of the schedule; the other way is another reading"
_READING = "the reading decides how f(w0) is released"

CLIPPING: Reasons = {
    "clipping.py: if math.isinf(threshold)": "no threshold is infinite in a schedule of these",
    "clipping.py: return norms.mean_of(rows)": "no threshold is infinite in a schedule of these",
    'clipping.py: if mode == "mean"': _MODE,
    "clipping.py: return clip(norms.mean_of(rows)": _MODE,
    "clipping.py: return vector if norm <= bound": _MODE,
    "clipping.py: return np.asarray((flat": _MODE,
    "clipping.py: return norms.mean_of(clip_rows": _MODE,
    "clipping.py: if threshold == 0": "the thresholds of this schedule do not follow the iterate",
    "clipping.py: return np.zeros(rows.shape": "the thresholds of this schedule do not follow the iterate",
}
DP_SGD: Reasons = {
    "dp_sgd.py: if size == n and not s.poisson": "full or sampled batches are part of the schedule",
    "dp_sgd.py: batch = tape.poisson": "full or sampled batches are part of the schedule",
}
DP_RGDA: Reasons = {
    **CLIPPING,
    "dp_rgda.py: if not (schedule.restart_at_refresh": "a restart at the refresh is a repair",
}
OPT: Reasons = {
    f"{name}.py: {line}": _READING
    for name in ("opt", "opt_ls")
    for line in (
        'if s.reading == "printed"',
        "top = problem.value(s.start) + abs",
        'top = tape.gaussian("initial value"',
    )
}
_BATCHES = "full or sampled batches are part of the schedule"
DOUBLE_SPIDER: Reasons = {
    **CLIPPING,
    "batches.py: if size == n": _BATCHES,
    "batches.py: batch = tape.batch": _BATCHES,
    "batches.py: return batch.indices, batch": _BATCHES,
}
DP_SPIDER: Reasons = {
    **CLIPPING,
    'dp_spider.py: if s.select == "random"': "the last or a random iterate is part of the schedule",
    "dp_spider.py: chosen = tape.public": "the last or a random iterate is part of the schedule",
}
_OPT_B = (
    'if s.reading == "repaired"',
    'batch = tape.batch("hessian batch"',
    "return step_bound(problem.value_bound",
    "top = problem.value(s.start) + abs",
    "return step_bound(top",
)
OPT_B: Reasons = {
    **{f"opt_b.py: {line}": _OTHER for line in _OPT_B},
    **{f"tr_b.py: {line}": _OTHER for line in _OPT_B[:2]},
}
TWO_OPT_LS: Reasons = {
    **OPT,
    'two_opt_ls.py: if reading == "printed"': _OTHER,
    "two_opt_ls.py: return cost + ": _OTHER,
    "line_search.py: return above_threshold_mu(1 / lam": "the cost of a private search, of the repaired reading alone",
}
RECURSIVE_SPIDER: Reasons = {**CLIPPING, "recursive_spider.py: if schedule.lines.line_16": _OTHER}
STOCHASTIC_SPIDER: Reasons = {
    'stochastic_spider.py: if refresh and s.refresh == "bare"': "a bare refresh is a reading of its own",
    'stochastic_spider.py: noisy: Array = tape.gaussian("refresh/bare"': "a bare refresh is a reading of its own",
    'stochastic_spider.py: if s.refresh == "new tree"': "a new tree at every refresh is a repair",
    "stochastic_spider.py: return TreeSum(": "a new tree at every refresh is a repair",
    "tree.py: for i in range(1, depth + 1)": "the printed NODE(t); the repaired tree has another",
    "tree.py: if k >= t": "the printed NODE(t); with T = 2 it has no deeper node",
    "tree.py: break": "the printed NODE(t); with T = 2 it has no deeper node",
    "tree.py: if after <= t": "the printed NODE(t); with T = 2 it has no deeper node",
    "tree.py: return found": "the printed NODE(t); the repaired tree has another",
}
_SOLVER = "whether the solver is trusted is part of the schedule"
OUTPUT_PERTURBATION: Reasons = {
    "base_solver.py: if not certified": _SOLVER,
    "base_solver.py: return solver(": _SOLVER,
    "base_solver.py: return point": _SOLVER,
    "base_solver.py: if not certificate.holds": "the solvers reach what is asked for; a test has one that does not",
    "algorithm3.py: if schedule.jointly": "x and y together or one by one is part of the schedule",
    "algorithm3.py: pair = tape.gaussian": "x and y together or one by one is part of the schedule",
    "algorithm3.py: x_moves, y_moves": "x and y together or one by one is part of the schedule",
    "algorithm3.py: x = tape.gaussian": "x and y together or one by one is part of the schedule",
    "algorithm3.py: y = tape.gaussian": "x and y together or one by one is part of the schedule",
    "algorithm5.py: ": "this row is one phase of Algorithm 5, the inner problem alone",
}
