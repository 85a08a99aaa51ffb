"""Double SPIDER (DRO): gradients and differences in eta and x, with thresholds that follow the moves."""

from __future__ import annotations

import math
from typing import Any

from .arithmetic import clipped, dot, norm, numbers, plus, scale_of, times, total


def run(case: dict[str, Any], tape: Any, kind: Any = float, bug: str = "") -> dict[str, Any]:
    return Run(case, tape, kind, bug).all()


class Run:
    def __init__(self, case: dict[str, Any], tape: Any, kind: Any, bug: str):
        self.problem, self.schedule = case["problem"], case["schedule"]
        self.tape, self.kind, self.bug = tape, kind, bug
        known = {"dro.space.Squares": self.square, "dro.space.Waves": self.wave}
        if self.problem["data"]["class"] not in known or self.problem["divergence"]["name"] not in SLOPES:
            raise NotImplementedError
        self.of_record = known[self.problem["data"]["class"]]
        self.rows = self.problem["data"]["rows"]
        if len({len(row) for row in self.rows}) != 1:
            raise ValueError("records of several lengths")
        if min(self.schedule["noise"]["by_label"].values()) < 0:
            raise ValueError("negative noise")

    def all(self) -> dict[str, Any]:
        s, bug = self.schedule, self.bug
        d = self.problem["data"].get("d", len(self.rows[0]) - 1)
        x = list(s["start_x"] or [0.0] * d)
        eta = s["start_eta"]
        before, g, v = (x, eta), 0.0, [0.0] * len(x)
        chosen = int(self.tape.public("select"))
        selected = (x, eta)
        for t in range(s["steps"]):
            refresh = (t + (bug == "refresh a step late")) % s["phase"] == 0 if t else True
            found = self.estimate("eta", refresh, (x, eta), before)
            g = found[0] if refresh else g + found[0]
            new = eta - s["eta_step"] * g
            at = (x, eta) if bug == "old eta" else (x, new)
            found = self.estimate("x", refresh, at, (before[0], eta))
            v = found if refresh or bug == "differences not added up" else plus(v, found)
            length = norm(v)
            rate = min(s["x_step"], s["move_cap"] / length if length > 0 else math.inf)
            before = (x, eta)
            x, eta = plus(x, v, -rate), new
            if t + 1 == chosen:
                selected = (x, eta)
        if s["last"]:
            selected = (x, eta)
        return {"x": selected[0], "eta": selected[1]}

    def estimate(self, block: str, refresh: bool, now: Any, before: Any) -> list[float]:
        s, what = self.schedule, "refresh" if refresh else "difference"
        size = s["refresh_batch"] if refresh else s["batch"]
        batch, chosen = None, list(range(s["n"]))
        if size != s["n"]:
            batch = self.tape.batch(f"{block}/{what} batch", s["n"], size)
            chosen = batch.indices.tolist()
        if refresh:
            rows = [self.gradient(block, now, i) for i in chosen]
            bound = s[f"{block}_clip"]
        else:
            rows = [plus(self.gradient(block, now, i), self.gradient(block, before, i), -1.0) for i in chosen]
            rule = s[f"{block}_threshold"]
            moved = rule["per_x"] * norm(plus(now[0], before[0], -1.0)), rule["per_eta"] * abs(now[1] - before[1])
            bound = min(rule["cap"], (1.0 if self.bug == "half the threshold" else 2.0) * max(moved))
        width = len(rows[0])
        mode = "mean" if self.bug == "clipped after averaging" else s["clip_mode"]
        if mode == "mean":
            mean = clipped(times(1 / size, total(rows, width)), bound)
        else:
            mean = times(1 / size, total([clipped(row, bound) if bound else [0.0] * width for row in rows], width))
        std = scale_of(s, f"{block}/{what}", 2.0 / size) * bound
        query: Any = mean if block == "x" else mean[0]
        noisy = self.tape.gaussian(f"{block}/{what}", query, std=std, sensitivity=2 * bound / size, batch=batch)
        found = numbers(noisy, self.kind)
        return found if block == "x" else [found]

    def gradient(self, block: str, at: Any, i: int) -> list[float]:
        loss, slope_in_x = self.of_record(self.rows[i], at[0])
        u = (loss - self.problem["dual_scale"] * at[1]) / self.problem["weight"]
        slope = SLOPES[self.problem["divergence"]["name"]](u, self.problem["divergence"]["constants"])
        slope = min(slope, 1e100)
        if block == "eta":
            one = 0.0 if self.bug == "the one is missing" else 1.0
            return [self.problem["dual_scale"] * (one - slope)]
        return times(slope, slope_in_x)

    def square(self, row: list[Any], x: list[Any]) -> tuple[Any, list[Any]]:
        """Loss and gradient of one record."""
        a, b = row[:-1], row[-1]
        residual = dot(a, x) - b
        return (1.0 if self.bug == "loss not halved" else 0.5) * residual * residual, times(residual, a)

    def wave(self, row: list[Any], x: list[Any]) -> tuple[Any, list[Any]]:
        """The same where losses are waves along the first coordinate."""
        (a, b), kind = row, type(x[0])
        sine, cosine = kind(math.sin(2 * x[0])), kind(math.cos(2 * x[0]))
        return 0.5 * (1 + a * sine + b * cosine), [a * cosine - b * sine, *([0.0 * x[0]] * (len(x) - 1))]


def exponential(u: float) -> float:
    try:
        return type(u)(math.exp(u))
    except OverflowError:
        return math.inf


SLOPES = {
    "chi_square": lambda u, c: max(u + 1.0, 0.0 * u),
    "kl": lambda u, c: exponential(u),
    "kl_cvar(0.2)": lambda u, c: exponential(min(u, -math.log(c["alpha"]))),
    "cressie_read(3)": lambda u, c: max((c["k"] - 1) * u + 1, 0.0) ** (1 / (c["k"] - 1)),
}
