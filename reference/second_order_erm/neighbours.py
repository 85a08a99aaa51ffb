"""Worst-case replace-one neighbours for the first release, f(w0)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import FloatArray


def aligned_pair(problem: ErmProblem, start: FloatArray, index: int = 0) -> tuple[ErmProblem, ErmProblem]:
    """D and D' differ in record `index`: R w0 / ||w0|| with label +1 in D and -1 in D'.

    f(w0) then moves by exactly `problem.value_sensitivity(start)`. For w0 = 0 the two values agree and nothing shows.
    """
    norm = float(np.linalg.norm(start))
    direction = start / norm if norm > 0 else np.eye(problem.d)[0]
    record = problem.feature_bound * direction
    return problem.replace(index, record, 1.0), problem.replace(index, record, -1.0)


def first_records(problem: ErmProblem, count: int) -> ErmProblem:
    """Keep the first `count` records: a small set on which one record weighs more and a run is fast."""
    return replace(problem, features=problem.features[:count], labels=problem.labels[:count])
