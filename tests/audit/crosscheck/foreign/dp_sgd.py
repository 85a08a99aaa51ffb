"""DP-SGD on linear losses, from the formulas of its vectors alone."""

from __future__ import annotations

from typing import Any

from .arithmetic import check_finite, clipped, numbers, plus, scale_of, times, total


def run(case: dict[str, Any], tape: Any, kind: Any = float, bug: str = "") -> list[float]:
    problem, schedule = case["problem"], case["schedule"]
    if problem["class"] != "problems.linear.LinearLosses":
        raise NotImplementedError(problem["class"])
    rows = problem["rows"]
    check_finite(rows)
    n, d, clip = len(rows), len(rows[0]), schedule["clip"]
    size = schedule["batch_size"] or n
    weights = list(schedule["start"] or [0.0] * d)
    sensitivity = 2 * clip / size
    for _ in range(schedule["steps"] + (bug == "a step more")):
        batch, chosen = None, range(n)
        if schedule["poisson"]:
            batch = tape.poisson("batch", n, size / n)
            chosen = batch.indices.tolist()
        elif size != n:
            batch = tape.batch("batch", n, max(1, size // 2) if bug == "half the batch" else size)
            chosen = batch.indices.tolist()
        if bug == "neighbour's rows":
            chosen = [(i + 1) % n for i in chosen]
        found = [rows[i] for i in chosen]
        if bug == "clipped after averaging":
            mean = clipped(times(1 / size, total(found, d)), clip)
        else:
            mean = times(
                1 / size, total([clipped(row, 2 * clip if bug == "twice the bound" else clip, bug) for row in found], d)
            )
        if bug == "sign":
            mean = times(-1.0, mean)
        if bug == "sum for mean":
            mean = times(size, mean)
        std = scale_of(schedule, "gradient", 2 * clip) / size
        if bug == "variance":
            std = std**2
        if bug == "noise of the libraries":
            std = std / 2  # their multiplier is per clip, not per sensitivity
        if bug == "no noise":
            std = 0.0
        if bug == "off by a millionth of the noise":
            mean[0] += 1e-6 * std
        stated = sensitivity / 2 if bug == "sensitivity of adding" else sensitivity
        told = None if bug == "batch not said" else batch
        if bug == "Laplace noise":
            released = tape.laplace("gradient", mean, scale=std, sensitivity=stated, batch=told)
        else:
            released = tape.gaussian("gradient", mean, std=std, sensitivity=stated, batch=told)
        step = mean if bug == "goes on with the query" else numbers(released, kind)
        weights = plus(weights, step, schedule["learning_rate"] * (1 if bug == "ascent" else -1))
    return weights
