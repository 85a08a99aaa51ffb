"""A leak as a number: what an adversary gains who sees the claimed output alone, not the releases.

Where neighbours hand out different outputs for the same released values, the account says nothing. If everything that
is random has finitely many values, the law of the output is enumerated and its epsilon is exact. Otherwise fresh
outputs of both sides are judged as those of a black box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn

import numpy as np

from dpassay.audit.blackbox.detect import epsilon_of_outputs
from dpassay.reference.arrays import Indices
from dpassay.reference.equality import same
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.law import Law, as_released, query_of
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.tape import Drawn, LiveTape, Tape
from dpassay.reference.transcript import Draw, Note, RecordDrawer

_MOST = 512  # runs of an enumeration
_SHARE = 0.1  # of the error that is allowed: the number of the outputs comes on top of the likelihood's


def epsilon_of_output(
    run: Run[Any], pair: Pair[Any], delta: float, *, samples: int, confidence: float, seed: int
) -> tuple[float, str] | None:
    """A lower bound of epsilon from the outputs alone, and how it was found (``exact`` or ``outputs``).

    None where they cannot be compared as numbers.
    """
    here, there = (_enumerated(run, problem) for problem in (pair.here, pair.there))
    if here is not None and there is not None:
        return max(_exact(here, there, delta), _exact(there, here, delta)), "exact"
    rng = np.random.default_rng([seed, 11])
    sides = []
    for side, problem in enumerate((pair.here, pair.there)):
        tapes = [LiveTape(np.random.SeedSequence([seed, 12, side, i])) for i in range(samples)]
        sides.append([numbers_of(_seen(tape, run(problem, tape))) for tape in tapes])
    if not all(isinstance(one, list) and len(one) == len(sides[0][0] or ()) > 0 for side in sides for one in side):
        return None
    try:
        table, other = map(np.array, sides)
        bound = epsilon_of_outputs(table, other, delta, rng, 1 - _SHARE * (1 - confidence))
    except BadInput:  # too few outputs, or none that is finite
        return None
    return bound.epsilon, "outputs"


def _seen(tape: Tape, output: Any) -> list[Any]:
    """What leaves without a mechanism: the output, and what was revealed on the way."""
    revealed = [event.value for event in tape.transcript.events if isinstance(event, Note) and event.kind == "reveal"]
    return [output, *revealed]


# -- enumeration ----------------------------------------------------------------------------------------------
class _NotFinite(Exception):
    """Something was drawn that has no finite list of values."""


class _ChosenTape(Tape):
    """Takes the outcomes with these numbers, then the first ones; remembers the choices and their probability."""

    def __init__(self, numbers: Sequence[int]):
        super().__init__()
        self.numbers = list(numbers)
        self.counts: list[int] = []
        self.endless = False  # which the code may catch, and NumPy makes another error of
        self.log_probability = 0.0
        self._records = RecordDrawer(np.random.default_rng(0))

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        if law.is_bare:
            return as_released(query_of(law))
        outcomes = law.outcomes()
        if outcomes is None:
            self._endless()
        place = len(self.counts)
        self.counts.append(len(outcomes.support))
        if place == len(self.numbers):
            self.numbers.append(0)
        self.log_probability += float(outcomes.log_probabilities[self.numbers[place]])
        return outcomes.support[self.numbers[place]]

    def _indices(self, draw: Draw) -> Indices:
        if draw.hidden:
            self._endless()
        return self._records.indices(draw)

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        self._endless()

    def _endless(self) -> NoReturn:
        self.endless = True
        raise _NotFinite


def _enumerated(run: Run[Any], problem: Any) -> list[tuple[Any, float]] | None:
    """Outputs with their probabilities; None where they are not finitely many, or too many."""
    found: list[tuple[Any, float]] = []
    numbers: list[int] = []
    for _ in range(_MOST):
        tape = _ChosenTape(numbers)
        try:
            output = _seen(tape, run(problem, tape))
        except Exception:
            if tape.endless:
                return None
            raise
        if tape.endless:
            return None
        known = next((k for k, (one, _) in enumerate(found) if same(one, output)), None)
        probability = math.exp(tape.log_probability)
        if known is None:
            found.append((output, probability))
        else:
            found[known] = (output, found[known][1] + probability)
        numbers = tape.numbers
        while numbers and numbers[-1] + 1 == tape.counts[len(numbers) - 1]:
            numbers.pop()
        if not numbers:
            return found
        numbers[-1] += 1
    return None


def _exact(here: list[tuple[Any, float]], there: list[tuple[Any, float]], delta: float) -> float:
    """The smallest epsilon with ``sum (p - e^epsilon q)_+ <= delta``: the best event is a prefix by ratio."""
    pairs = [(p, math.fsum(q for other, q in there if same(one, other))) for one, p in here]
    pairs.sort(key=lambda pq: pq[0] / pq[1] if pq[1] else math.inf, reverse=True)
    best = p_sum = q_sum = 0.0
    for p, q in pairs:
        p_sum, q_sum = p_sum + p, q_sum + q
        if p_sum > delta:
            best = max(best, math.log((p_sum - delta) / q_sum) if q_sum else math.inf)
    return best


def numbers_of(output: Any) -> list[float] | None:
    """All numbers of an output, in order; None where it holds something else."""
    if isinstance(output, bool | int | float | np.generic | np.ndarray):
        array = np.asarray(output)
        return [float(one) for one in array.ravel()] if array.dtype.kind in "fiub" else None
    if is_dataclass(output) and not isinstance(output, type):
        output = [getattr(output, field.name) for field in fields(output)]
    if isinstance(output, dict):
        output = [output[key] for key in sorted(output, key=str)]
    if not isinstance(output, list | tuple):
        return None
    parts = [numbers_of(one) for one in output]
    return None if any(part is None for part in parts) else [one for part in parts if part is not None for one in part]
