"""DP-SPIDER on the primal of a minimax problem, from the page about vectors and the formulas of its vectors alone."""

from __future__ import annotations

from typing import Any

from .arithmetic import check_finite, clipped, norm, numbers, plus, scale_of, times, total


def run(case: dict[str, Any], tape: Any, kind: Any = float, bug: str = "") -> dict[str, Any]:
    inner, s = case["problem"]["problem"], case["schedule"]
    if inner["class"] != "problems.pulls.Pulls" or s["select"] != "last":
        raise NotImplementedError(inner["class"])
    rows, n = inner["rows"], s["n"]
    check_finite(rows)
    if any(len(row) != 4 for row in rows) or max(s["refresh_batch"], s["step_batch"]) > n:
        raise ValueError("records of another length, or a batch above n")
    if min(s["noise"]["by_label"].values()) < 0:
        raise ValueError("negative noise")
    x = list(s["start"] or [0.0, 0.0])
    before, v, path = x, [0.0, 0.0], [x]
    reused = None
    for t in range(s["steps"]):
        refresh = t % s["period"] == (1 if bug == "restarts one step late" else 0) or t == 0
        label, size = ("refresh", s["refresh_batch"]) if refresh else ("difference", s["step_batch"])
        batch, chosen = None, list(range(n))
        if size < n:
            if not (bug == "keeps its first batch" and reused):
                reused = tape.batch(f"{label}/samples", n, size)
            batch = reused
            chosen = batch.indices.tolist()
        if bug == "records from 1":
            chosen = [(i - 1) % n for i in chosen]
        if refresh:
            found, bound = [gradient(rows[i], x, bug) for i in chosen], s["clip"]
        else:
            found = [plus(gradient(rows[i], x, bug), gradient(rows[i], before, bug), -1.0) for i in chosen]
            bound = min(s["difference_clip"], s["smoothness"] * norm(plus(x, before, -1.0)))
        if bug == "averages, then clips" and not refresh:
            query = clipped(times(1 / size, total(found, 2)), bound)
        else:
            query = times(1 / size, total([clipped(row, bound, bug) for row in found], 2))
        sensitivity = 2 * bound / size
        std = scale_of(s, label, 2 * bound / (n if bug == "noise for all records" else size))
        released = numbers(tape.gaussian(label, query, std=std, sensitivity=sensitivity, batch=batch), kind)
        if refresh:
            v = released
        else:
            factor = {"differences count twice": 2.0, "differences are taken off": -1.0}.get(bug, 1.0)
            v = plus(v, released, factor)
        before = x
        x = plus(x, v, -s["step_size"] * (2.0 if bug == "twice the first step" and t == 0 else 1.0))
        path.append(x)
    return {"iterates": path, "x": path[-2] if bug == "returns the one before" else x}


def gradient(row: list[Any], x: list[Any], bug: str) -> list[Any]:
    a1, a2, _, c = row
    if bug == "quadratic in one coordinate":
        return [a1 + c * x[0], a2 + 0.0 * x[1]]
    return [a1 + c * x[0], a2 + c * x[1]]
