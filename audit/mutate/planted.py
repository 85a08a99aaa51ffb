"""Planted bugs at the tape: what one line of source asks of it is changed.

``through(tape, bug)`` is what a planted line calls: this file is copied beside the mutated algorithm, and imports
nothing of the audit. ``private(problem)`` is a number made of the raw records.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.laws.law import Law, query_of
from dpassay.reference.tape import Batches, Drawn, Tape
from dpassay.reference.transcript import Batch, Draw

_CACHE: dict[Any, Any] = {}  # what a run remembers from the run before


@dataclass(frozen=True)
class Mutation:
    """What is planted. Factors multiply; everything else stays as the algorithm has it."""

    noise: float = 1.0  # on every noise scale
    query: float = 1.0  # on every query, sensitivity left as declared
    sensitivity: float = 1.0  # on every declared sensitivity
    bug: str = ""  # one that is no factor, see `MutantTape`


class MutantTape(Tape):
    """Lies between an algorithm and another tape, which gives the values and keeps the transcript.

    It asks `inner` for something else than the algorithm does, as the mutation says.
    """

    def __init__(self, inner: Tape, mutation: Mutation) -> None:
        super().__init__()
        self._inner, self.transcript, self._mutation = inner, inner.transcript, mutation
        # of the run: each planted line lays a tape of its own over the inner one
        self._memory: dict[Any, Any] = inner.__dict__.setdefault("_planted", {})

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        return self._inner._released(label, law, sensitivity, draws)

    def _indices(self, draw: Draw) -> Indices:
        return self._inner._indices(draw)

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        return self._inner._value(kind, label, draw)

    def _revealed(self, label: str, value: Any) -> None:
        self._inner._revealed(label, value)

    def above_threshold(self, label: str, queries: Any, **how: Any) -> int | None:
        """The mutated release."""
        if self._mutation.query != 1:
            queries = (self._mutation.query * one for one in queries)
        if self._mutation.bug == "threshold_bare":
            how["threshold_scale"] = 1e-9 * how["threshold_scale"]
        return super().above_threshold(label, queries, **how)

    def release(self, label: str, law: Law, *, sensitivity: float | None, batch: Batches = None) -> Any:
        """The mutated release."""
        bug = self._mutation.bug
        if sensitivity is not None:
            sensitivity = self._mutation.sensitivity * sensitivity
        how: dict[str, Any] = {"sensitivity": sensitivity, "batch": None if bug == "batch_undeclared" else batch}
        if law.query is None:  # noise that is left out altogether is no law of such a release
            return super().release(label, law.changed(max(self._mutation.noise, 1e-9), 1.0), **how)
        changed = law.changed(self._noise(law), self._mutation.query)
        query = query_of(changed)
        if bug == "query_of_the_run_before":
            query = _CACHE.setdefault((label, self.step, query.shape), query.copy())
            changed = type(changed)(query, changed.scale)  # type: ignore[call-arg]
        value = super().release(label, changed, **how)
        if bug == "released_twice":
            value = (value + super().release(label, changed, **how)) / 2
        return self._handed_back(value, query)

    def _noise(self, law: Law) -> float:
        """The factor on a noise scale."""
        query, scale = query_of(law), law.scale
        former = self._memory.get("scale", scale)
        self._memory["scale"] = scale
        factors = {
            "over_root_d": max(query.size, 2) ** -0.5,
            "a_variance": min(scale, scale**-0.5) if scale else 1.0,
            "of_the_release_before": former / scale if scale else 1.0,
            "of_the_data": 1 + 1e-3 * float(np.sum(np.abs(query))),
        }
        return self._mutation.noise * float(factors.get(self._mutation.bug, 1.0))

    def _handed_back(self, value: Any, query: Array) -> Any:
        """What the algorithm goes on with in place of the released value."""
        bug = self._mutation.bug
        if bug == "noise_used_again":
            return query + self._memory.setdefault(("noise", query.shape), value - query)
        if bug == "query_in_its_place":
            return query if query.ndim else float(query)
        if bug == "query_in_part":
            return 0.5 * value + 0.5 * query
        if bug == "step_of_the_data":
            return value * (1 + 1e-6 * float(np.linalg.norm(query)))
        return value


ONLY_NOISE = {
    "noise_dropped": Mutation(noise=0.0),
    "noise_tenth_less": Mutation(noise=0.9),
    "noise_halved": Mutation(noise=0.5),
    "noise_over_root_d": Mutation(bug="over_root_d"),
    "noise_a_variance": Mutation(bug="a_variance"),
    "noise_of_the_release_before": Mutation(bug="of_the_release_before"),
    "noise_tenth_more": Mutation(noise=1.1),
    "sensitivity_and_noise_halved": Mutation(noise=0.5, sensitivity=0.5),
}  # bugs at one line of source that the accountant alone may judge
_AT_A_LINE = ONLY_NOISE | {
    "noise_of_the_data": Mutation(bug="of_the_data"),
    "sensitivity_halved": Mutation(sensitivity=0.5),
    "moves_half_as_far_again": Mutation(query=1.5),
}


def through(tape: Tape, bug: str) -> MutantTape:
    """The tape as one line of source sees it."""
    return MutantTape(tape, _AT_A_LINE.get(bug) or Mutation(bug=bug))


def same_batch(tape: Tape, draw: Callable[[], Batch]) -> Batch:
    """The first batch of the run, again."""
    memory = tape.__dict__.setdefault("_planted", {})
    if "batch" not in memory:
        memory["batch"] = draw()
    return memory["batch"]  # type: ignore[no-any-return]


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
