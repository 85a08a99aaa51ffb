"""Phased output perturbation on linear losses: every phase is solved in closed form."""

from __future__ import annotations

import math
from typing import Any

from .arithmetic import check_finite, norm, numbers, plus, scale_of, times, total


def run(case: dict[str, Any], tape: Any, kind: Any = float, bug: str = "") -> list[float]:
    problem, schedule = case["problem"], case["schedule"]
    loss, radius, plan = problem["loss"], problem["domain_x"]["radius"], schedule["plan"]
    if loss["class"] != "problems.strongly_convex.LinearLoss":
        raise NotImplementedError(loss["class"])
    rows = loss["records"]
    check_finite(rows)
    if len(rows) != schedule["n"] or any(norm(row) > 1 + 1e-6 for row in rows):
        raise ValueError("records of another number or length")
    d = schedule["d"]
    centre = [0.0] * d
    batches = [tape.fresh(f"phase/{k}", len(rows), plan["length"], order="index") for k in range(1, plan["count"] + 1)]
    for k, batch in enumerate(batches, start=1):
        weight = plan["regularisers"][k if bug == "next phase's weight" and k < plan["count"] else k - 1]
        mean = times(1 / plan["length"], total([rows[i] for i in batch.indices.tolist()], d))
        factor = (1.0 if bug == "sign of the loss" else -1.0) * -loss["slope"] / weight
        start = [0.0] * d if bug == "centre forgotten" else centre
        point = into_ball(plus(start, mean, factor), radius)
        sensitivity = schedule["sensitivities"][k - 1]
        std = scale_of(schedule, f"x/{k}", sensitivity)
        if bug == "root of the noise":
            std = math.sqrt(std)
        released = tape.gaussian(f"x/{k}", point, std=std, sensitivity=sensitivity, batch=batch)
        centre = numbers(released, kind)
        if schedule["project"]:
            centre = into_ball(centre, radius)
    return centre


def into_ball(point: list[float], radius: float) -> list[float]:
    length = norm(point)
    return point if length <= radius else times(radius / length, point)
