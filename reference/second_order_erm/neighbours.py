"""Worst-case replace-one neighbours for the first release, f(w0)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.types import Array


def aligned_pair(problem: ErmProblem, start: Array, index: int = 0) -> tuple[ErmProblem, ErmProblem]:
    """D and D' differ in record `index`: R w0 / ||w0|| with label +1 in D and -1 in D'.

    f(w0) then moves by exactly `problem.value_sensitivity(start)`. For w0 = 0 the two values agree and nothing shows.
    """
    norm = float(np.linalg.norm(start))
    direction = start / norm if norm > 0 else np.eye(problem.d)[0]
    record = problem.feature_bound * direction
    return problem.replace(index, record, 1.0), problem.replace(index, record, -1.0)


def opposed_pair(problem: ErmProblem, start: Array, index: int = 0) -> tuple[ErmProblem, ErmProblem]:
    """D and D' differ in record `index`: two records that pull the gradient at w0 apart as far as a scan finds.

    Both lie in the plane of w0 and one direction across it, on the wrong side of w0, so their gradients are long, and
    they point away from each other. The bound 2 R sup|phi'| / n is approached as ||w0|| grows.
    """
    norm = float(np.linalg.norm(start))
    along = start / norm if norm > 0 else np.eye(problem.d)[0]
    across = np.eye(problem.d)[int(np.argmin(np.abs(along)))]
    across = across - (across @ along) * along
    across /= np.linalg.norm(across)
    angles = np.linspace(0.0, np.pi / 2, 2001)
    slope = np.abs(problem.loss.link.slope(-problem.feature_bound * norm * np.sin(angles)))
    angle = float(angles[np.argmax(slope * np.cos(angles))])
    down, side = problem.feature_bound * np.sin(angle) * along, problem.feature_bound * np.cos(angle) * across
    return problem.replace(index, side - down, 1.0), problem.replace(index, -side - down, 1.0)


def first_records(problem: ErmProblem, count: int) -> ErmProblem:
    """Keep the first `count` records: a small set on which one record weighs more and a run is fast."""
    return replace(problem, features=problem.features[:count], labels=problem.labels[:count])
