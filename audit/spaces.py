"""Where worst neighbours are searched: rows of numbers, and how a pair of problems is made of them.

`linear`: every record is a constant gradient (for clipped first-order methods). `logistic`: every record is a feature
vector with label +1 (a mirrored vector is the other label), for anything that runs on an `ErmProblem`. Anybody's own
problem: `MODULE:BUILD`, called as `build(rows, there)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.audit.blackbox.sources import load_callable
from dpassay.audit.mutations import Run
from dpassay.audit.neighbours import Space
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput, require
from dpassay.reference.lockstep import Pair
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.problems.margin_losses import loss_a

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Target:
    """What is searched: an algorithm and a problem by name, and the size of the search."""

    algorithm: str  # a key of the catalogue (its schedule is kept), or MODULE:RUN with run(problem, tape)
    problem: str
    records: int
    dimension: int
    radius: float

    def open(self) -> tuple[Run, Space]:
        """The algorithm, and the space of its neighbours.

        Raises:
            BadInput: an unknown name, or an algorithm that does not run on such a problem.
        """
        run = _algorithm(self.algorithm)
        build = _build(self.problem, self.radius)
        return run, Space(self.records, self.dimension, self.radius, build)


def _algorithm(name: str) -> Run:
    if ":" in name and "/" not in name:  # keys have a paper, modules have dots
        run: Run = load_callable(name, "algorithm")
        return run
    cases = find(name)
    require(len(cases) == 1, "algorithm", name, f"names {len(cases)} cases; give a key of `dpassay list`")
    return cases[0].build().run


def _build(name: str, radius: float) -> Callable[[Array, Array], Pair[Any]]:
    if name == "linear":
        return _linear
    if name == "logistic":
        return lambda rows, there: _logistic(rows, there, radius)
    if ":" not in name:
        raise BadInput("--problem", name, "must be linear, logistic or MODULE:BUILD")
    build: Callable[[Array, Array], Pair[Any]] = load_callable(name, "--problem")
    return build


def _linear(rows: Array, there: Array) -> Pair[Any]:
    problem = LinearLosses(rows)
    return Pair(problem, problem.replace(0, there), 0, "records are constant gradients")


def _logistic(rows: Array, there: Array, radius: float) -> Pair[Any]:
    bound = radius * (1 + 1e-9)
    problem = ErmProblem(rows, np.ones(len(rows)), loss_a(), feature_bound=bound)
    return Pair(problem, problem.replace(0, there, 1.0), 0, "records are features with label +1")
