"""DP-SGDA in the minimax form of DRO, from the page about vectors and the formulas of its vectors alone."""

from __future__ import annotations

import math
from typing import Any

from .arithmetic import check_finite, clipped, dot, numbers, plus, scale_of, times, total


def run(case: dict[str, Any], tape: Any, kind: Any = float, bug: str = "") -> list[float]:
    problem, s = case["problem"], case["schedule"]
    if problem["data"]["class"] != "dro.space.Squares":
        raise NotImplementedError(problem["data"]["class"])
    rows, n = problem["data"]["rows"], s["n"]
    check_finite(rows)
    if s["batch_x"] > n or s["batch_y"] > n or min(s["noise"]["by_label"].values()) < 0:
        raise ValueError("batch above n, or negative noise")
    d = len(rows[0]) - 1
    x, y = s["start"] or ([0.0] * d, [1 / n] * n)
    x, y = list(x), [kind(one) for one in y]
    noise = {"x": "y", "y": "x"} if bug == "multipliers of the other block" else {"x": "x", "y": "y"}
    for t in range(s["steps"]):
        losses = [square(row, x)[0] for row in rows]
        query = losses if bug == "losses not clipped" else [min(loss, s["clip_y"]) for loss in losses]
        std = scale_of(s, noise["y"], s["clip_y"])
        released = numbers(tape.gaussian("y", query, std=std, sensitivity=s["clip_y"]), kind)
        at = query if bug == "ascends along the query" else released
        penalty = [math.log(max(n * one, 1e-12)) for one in y]
        if bug == "divergence left out":
            penalty = [0.0] * n
        sign = -1.0 if bug == "descends in y" else 1.0
        new = plus(y, plus(at, penalty, -problem["weight"]), sign * s["step_y"])
        new = [max(one, 0.0) for one in new] if bug == "not onto the simplex" else onto_simplex(new)
        used = new if s["alternating"] and bug != "old y" else y
        batch, chosen = None, list(range(n))
        if s["batch_x"] < n:
            batch = tape.batch("x/samples", n, s["batch_x"])
            chosen = batch.indices.tolist()
        scale = 1.0 if bug == "not scaled to all records" else n / s["batch_x"]
        terms = []
        for i in chosen:
            gradient = square(rows[i], x)[1]
            if bug == "weighted, then clipped":
                terms.append(clipped(times(used[i], gradient), s["clip_x"]))
            else:
                terms.append(times(used[i], clipped(gradient, s["clip_x"])))
        largest = 1 / n if bug == "sensitivity of equal weights" else max(used)
        sensitivity = 2 * s["clip_x"] * scale * largest
        std = scale_of(s, noise["x"], sensitivity)
        query_x = times(scale, total(terms, d))
        found = numbers(tape.gaussian("x", query_x, std=std, sensitivity=sensitivity, batch=batch), kind)
        last = bug == "half of the last step" and t == s["steps"] - 1
        x, y = plus(x, found, -s["step_x"] * (0.5 if last else 1.0)), new
    return x


def square(row: list[Any], x: list[Any]) -> tuple[Any, list[Any]]:
    residual = dot(row[:-1], x) - row[-1]
    return 0.5 * residual * residual, times(residual, row[:-1])


def onto_simplex(y: list[Any]) -> list[Any]:
    """The nearest point with entries of at least zero that sum to one."""
    ordered, running, level = sorted(y, reverse=True), 0.0, 0.0
    for k, one in enumerate(ordered, start=1):
        running = running + one
        if one - (running - 1.0) / k > 0:
            level = (running - 1.0) / k
    return [max(one - level, 0.0) for one in y]
