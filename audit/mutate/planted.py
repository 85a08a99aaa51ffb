"""What a planted line calls. This file is copied beside the mutated algorithm; nothing in the product imports it.

``through(tape, bug)`` is the tape with one habit changed at one line of source; ``private(problem)`` is a number made
of the raw records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_CACHE: dict[Any, Any] = {}  # what a run remembers from the run before


class through:  # noqa: N801 - it stands where a tape's name stood
    """The tape as one line of source sees it; every call that is not changed goes straight through."""

    def __init__(self, tape: Any, bug: str):
        self._tape, self._bug = tape, bug

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tape, name)

    def gaussian(self, label: str, query: Any, **how: Any) -> Any:
        """A Gaussian release with the bug."""
        return self._released(self._tape.gaussian, "std", label, query, how)

    def symmetric_gaussian(self, label: str, query: Any, **how: Any) -> Any:
        """A release of a symmetric matrix with the bug."""
        return self._released(self._tape.symmetric_gaussian, "std", label, query, how)

    def laplace(self, label: str, query: Any, **how: Any) -> Any:
        """A Laplace release with the bug."""
        return self._released(self._tape.laplace, "scale", label, query, how)

    def above_threshold(self, label: str, queries: Any, **how: Any) -> Any:
        """AboveThreshold with the bug."""
        factor = {"noise_dropped": 1e-9, "noise_tenth_less": 0.9, "noise_halved": 0.5}.get(self._bug, 1.0)
        for name in ("threshold_scale", "query_scale"):
            how[name] = how[name] * factor
        if self._bug == "threshold_bare":
            how["threshold_scale"] = 1e-9 * how["threshold_scale"]
        if self._bug == "sensitivity_halved":
            how["sensitivity"] = how["sensitivity"] / 2
        if self._bug == "moves_half_as_far_again":
            queries = (1.5 * one for one in queries)
        return self._tape.above_threshold(label, queries, **how)

    def _released(self, release: Callable[..., Any], scale: str, label: str, query: Any, how: dict[str, Any]) -> Any:
        bug, query = self._bug, np.asarray(query, dtype=float)
        memory = self._tape.__dict__.setdefault("_planted", {})
        former = memory.get("scale", how[scale])
        memory["scale"] = how[scale]
        if bug in SCALES:
            how[scale] = SCALES[bug](float(how[scale]), query.size, float(former))
        if bug == "noise_of_the_data":
            how[scale] = how[scale] * (1 + 1e-3 * float(np.sum(np.abs(query))))
        if bug in ("sensitivity_halved", "sensitivity_and_noise_halved") and how["sensitivity"] is not None:
            how["sensitivity"] = how["sensitivity"] / 2
        if bug == "batch_undeclared":
            how["batch"] = None
        if bug == "moves_half_as_far_again":
            query = 1.5 * query
        if bug == "query_of_the_run_before":
            query = _CACHE.setdefault((label, self._tape.step, query.shape), query.copy())
        value = release(label, query, **how)
        if bug == "released_twice":
            value = (value + release(label, query, **how)) / 2
        if bug == "noise_used_again":
            kept = memory.setdefault(("noise", query.shape), value - query)
            value = query + kept
        if bug == "query_in_its_place":
            value = query if query.ndim else float(query)
        if bug == "query_in_part":
            value = 0.5 * value + 0.5 * query
        if bug == "step_of_the_data":
            value = value * (1 + 1e-6 * float(np.linalg.norm(query)))
        return value


SCALES: dict[str, Callable[[float, int, float], float]] = {
    "noise_dropped": lambda scale, size, former: 0.0,
    "noise_tenth_less": lambda scale, size, former: 0.9 * scale,
    "noise_halved": lambda scale, size, former: 0.5 * scale,
    "noise_over_root_d": lambda scale, size, former: scale / max(size, 2) ** 0.5,
    "noise_a_variance": lambda scale, size, former: min(scale**2, scale**0.5),
    "noise_of_the_release_before": lambda scale, size, former: former,
    "noise_tenth_more": lambda scale, size, former: 1.1 * scale,
    "sensitivity_and_noise_halved": lambda scale, size, former: 0.5 * scale,
}


def private(problem: Any) -> float:
    """A number made of all raw records: the sum over every array that the problem holds, one level deep."""
    return _total(problem, 2)


def moved(value: Any, problem: Any) -> Any:
    """A start, or several, moved by the records; what is no array (a schedule, no start at all) stays."""
    if isinstance(value, tuple):
        return tuple(moved(one, problem) for one in value)
    return value + 1e-3 * private(problem) if isinstance(value, np.ndarray | float) else value


def _total(value: Any, depth: int) -> float:
    if isinstance(value, np.ndarray):
        return float(np.sum(value)) if value.dtype.kind in "fiu" else 0.0
    if depth and hasattr(value, "__dict__"):
        return sum(_total(one, depth - 1) for one in vars(value).values())
    if depth and isinstance(value, list | tuple):
        return sum(_total(one, depth - 1) for one in value)
    return 0.0


def same_batch(tape: Any, draw: Callable[[], Any]) -> Any:
    """The first batch of the run, again."""
    memory = tape.__dict__.setdefault("_planted", {})
    if "batch" not in memory:
        memory["batch"] = draw()
    return memory["batch"]


def with_data(output: Any, problem: Any) -> Any:
    """The output, moved a little by the raw records."""
    shift = 1e-6 * private(problem)
    if isinstance(output, np.ndarray | float):
        return output + shift
    if isinstance(output, tuple):
        return (with_data(output[0], problem), *output[1:])
    for name, one in vars(output).items() if hasattr(output, "__dict__") else ():
        if isinstance(one, np.ndarray):
            object.__setattr__(output, name, one + shift)
            return output
    return (output, shift)


def clipped_by_coordinates(value: Any, bound: Any, *rest: Any) -> Any:
    """Clipping in the infinity norm."""
    limit = np.asarray(bound, dtype=float)
    return np.clip(value, -limit, limit)
