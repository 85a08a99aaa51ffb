"""DP-FTRL on linear losses: noisy dyadic sums."""

from __future__ import annotations

from typing import Any

from .arithmetic import check_finite, clipped, norm, numbers, plus, scale_of, times, total


def run(case: dict[str, Any], tape: Any, kind: Any = float, bug: str = "") -> list[float]:
    problem, schedule = case["problem"], case["schedule"]
    rows = problem["rows"]
    check_finite(rows)
    n, d, clip = len(rows), len(rows[0]), schedule["clip"]
    if (n, d) != (schedule["n"], schedule["d"]) or schedule["batch"] > n:
        raise ValueError("made for other sizes")
    std = scale_of(schedule, "tree", 2 * clip)
    sums, batches, nodes = [[0.0] * d], [], {}
    theta, used = [0.0] * d, 0
    while used < n:
        size = min(schedule["batch"], n - used)
        batch = tape.fresh("records", n, size, order="index")
        used += size
        batches.append(batch)
        found = [rows[i] for i in batch.indices.tolist()]
        sums.append(plus(sums[-1], total([clipped(row, clip, bug) for row in found], d)))
        prefix, t = [0.0] * d, len(batches)
        for first, last in intervals(t):
            if (first, last) not in nodes:
                start = first if bug == "node begins late" else first - 1
                query = plus(sums[last], sums[start], -1.0)
                inside = tuple(batches[first - 1 : last])
                noisy = tape.gaussian(f"tree/({first},{last})", query, std=std, sensitivity=2 * clip, batch=inside)
                nodes[first, last] = numbers(noisy, kind)
            prefix = plus(prefix, nodes[first, last])
        if bug == "last node alone":
            prefix = nodes[intervals(t)[-1]]
        theta = times((1.0 if bug == "sign of the leader" else -1.0) / schedule["regularisation"], prefix)
        radius = schedule["radius"]
        if radius is not None and norm(theta) > radius:
            theta = times(radius / norm(theta), theta)
    return theta


def intervals(t: int) -> list[tuple[int, int]]:
    """The dyadic intervals of 1..t, the longest first."""
    found, start = [], 0
    for bit in reversed(range(t.bit_length())):
        if t >> bit & 1:
            found.append((start + 1, start + 2**bit))
            start += 2**bit
    return found
