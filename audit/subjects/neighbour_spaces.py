"""Where worst neighbours are searched: rows of numbers, and how a pair of problems is made of them.

`linear`: every record is a constant gradient (for clipped first-order methods). `logistic`: every record is a feature
vector with label +1 (a mirrored vector is the other label), for anything that runs on an `ErmProblem`. `rows`: the
matrix itself. Anybody's own problem: `MODULE:BUILD`, called as `build(rows, there)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.audit.inputs.foreign import is_code, load_callable
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.plain_numpy.signature import is_plain
from dpassay.audit.search.neighbours import Where
from dpassay.audit.subjects.programs import by_program
from dpassay.reference.case import Instance
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput, require
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.problems.margin_losses import loss_a
from dpassay.reference.transcript import Transcript
from dpassay.reference.types import Array


@dataclass(frozen=True)
class Target:
    """What is searched: an algorithm and a problem by name, and the size of the search."""

    algorithm: str  # a key of the catalogue (its schedule is kept), or MODULE:RUN with run(problem, tape)
    problem: str
    records: int
    dimension: int
    radius: float
    program: str | None = None  # command of a program on the live protocol, in place of the algorithm of the key

    @property
    def modules(self) -> list[str]:
        """Modules of the user that it names."""
        names = [self.algorithm] * is_code(self.algorithm) + [self.problem] * is_code(self.problem)
        return [name.partition(":")[0] for name in names]

    def open(self) -> tuple[Run[Any], Where]:
        """The algorithm, and the space of its neighbours.

        Raises:
            BadInput: an unknown name, an algorithm that does not run on such a problem, or one of the catalogue whose
                schedule is not made for such data.
        """
        where = Where(self.records, self.dimension, self.radius, _build(self.problem, self.radius))
        if is_code(self.algorithm):
            require(self.program is None, "--program", self.program, "runs in place of a key of `dpassay list`")
            run: Run[Any] = load_callable(self.algorithm, "algorithm")
            if is_plain(run):
                pairs = [where.pair(where.plainest(others)) for others in (-1.0, 0.0, 1.0)]
                with self.running():
                    run = PlainMechanism(run).tried(pairs)
            return run, where
        cases = find(self.algorithm)
        why = f"names {len(cases)} cases; give a key of `dpassay list`"
        require(len(cases) == 1, "algorithm", self.algorithm, why)
        case = cases[0]
        if self.program is not None:
            case = by_program(case, LiveProgram(self.program, case.id, case.reading))
        return self._fitting(case.build(), where, case.key), where

    def _fitting(self, instance: Instance, where: Where, key: str) -> Run[Any]:
        """The algorithm, unless its schedule is too quiet for such data: a claim about its own data is none about them.

        More records than it was made for are fine; fewer only if the declared sensitivities grow.
        """
        made_for, longest = (getattr(instance.pair.here, name, None) for name in ("n", "feature_bound"))
        if longest is not None:
            why = f"the schedule of {key} is made for records of length {longest:g} at most"
            require(self.radius <= longest, "--radius", self.radius, why)
        if made_for is not None and self.records < made_for:
            with self.running():
                found = replace(instance, pair=where.pair(where.plainest(-1.0))).longest_transcript()
            here, own = (_sensitivities(one) for one in (found, instance.longest_transcript()))
            fixed = [label for label, size in own.items() if size and here.get(label) == size]
            why = f"the schedule of {key} is made for {made_for}, fewer do not make it louder: --records {made_for}"
            require(not fixed, "--records", self.records, why)
        return instance.mechanism

    @contextmanager
    def running(self) -> Iterator[None]:
        """Whatever a run raises is said in one line.

        Raises:
            BadInput: naming the algorithm.
        """
        try:
            yield
        except Exception as error:
            said = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
            why = f"does not run on {self.problem!r} problems: {' '.join(said.split())}"
            raise BadInput("algorithm", self.algorithm, why) from None


def _sensitivities(transcript: Transcript) -> dict[str, float | None]:
    return {release.label: release.sensitivity for release in transcript.releases}


def _build(name: str, radius: float) -> Callable[[Array, Array], Pair[Any]]:
    if name == "linear":
        return _linear
    if name == "rows":
        return _rows
    if name == "logistic":
        return lambda rows, there: _logistic(rows, there, radius)
    if ":" not in name:
        raise BadInput("--problem", name, "must be linear, logistic, rows or MODULE:BUILD")
    build: Callable[[Array, Array], Pair[Any]] = load_callable(name, "--problem")
    return build


def _rows(rows: Array, there: Array) -> Pair[Any]:
    other = rows.copy()
    other[0] = there
    return Pair(rows, other, 0, "the rows themselves")


def _linear(rows: Array, there: Array) -> Pair[Any]:
    problem = LinearLosses(rows)
    return Pair(problem, problem.replace(0, there), 0, "records are constant gradients")


def _logistic(rows: Array, there: Array, radius: float) -> Pair[Any]:
    bound = radius * (1 + 1e-9)
    problem = ErmProblem(rows, np.ones(len(rows)), loss_a(), feature_bound=bound)
    return Pair(problem, problem.replace(0, there, 1.0), 0, "records are features with label +1")
