"""A hash of what a row's runs do: does a bug change any of them?

Runs on the row's own pair alone would call a bug "no change" that other data show. So data sets, sizes and released
values are drawn from the whole space as well: at random, by a generator of this file's own, and not by the search that
is judged here; what the search never tries must not count as no change.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import ALONG, DRAWN, Choice
from dpassay.audit.search.ground import AllOf, Data
from dpassay.reference.arrays import Array
from dpassay.reference.case import Case, Instance
from dpassay.reference.laws.law import Law
from dpassay.reference.space import Space
from dpassay.reference.tape import LiveTape
from dpassay.reference.transcript import Draw, Note, Release

EXAMPLES = 400
_SEED = 7919
_LONGEST = 300  # calls of a run
_CALLS = 4_000  # in all of them: where runs are long, fewer do
_SIZES = 12  # combinations of sizes at most: a schedule is made for each
_COPIES = 0.5  # share of the examples in which records are copies of each other
_WHOLE = 0.8  # share of the rows that are not zero
_CHOICES = (
    DRAWN,
    DRAWN,
    Choice("query"),
    Choice("zero"),
    Choice("opposite"),
    Choice("huge"),
    Choice("huge", along="axis"),
)


def digest(case: Case, examples: int = EXAMPLES) -> str:
    """A hash of all that runs on both sides of the row's pair, and of examples of its space, put on the tape.

    Args:
        examples: data sets of the space, each with released values of its own.
    """
    instance, found = case.build(), hashlib.sha256()
    for problem in (instance.pair.here, instance.pair.there):
        for seed in range(3):
            tape = LiveTape(seed)
            output = instance.mechanism(problem, tape)
            found.update("".join(map(_text, tape.transcript.events)).encode())
            found.update(_plain(output).encode())
    if case.space is not None:
        for text in _of_space(instance, case.space(), examples):
            found.update(text.encode())
    return found.hexdigest()


def _of_space(instance: Instance, space: Space, examples: int) -> Iterator[str]:
    """What runs on neighbours of the space do, each as a text."""
    ground = AllOf(instance.mechanism if space.schedule is None else instance.run, space)
    rng = np.random.default_rng(_SEED)
    few, calls = rng.permutation(len(ground.combinations))[:_SIZES], 0
    for number in range(examples):
        sizes = ground.combinations[int(few[number % len(few)])]
        data = _data(space, sizes, rng)
        values = _Values(np.random.default_rng([_SEED, number]))
        try:
            setting = ground.setting(data)
            values.marks = setting.landmarks
            run = scripted(setting.mechanism, setting.pair, [number], values, longest=_LONGEST)
        except Exception as error:  # no schedule for these sizes, rows that make no problem: that is told, too
            yield f"{type(error).__name__}: {error}"
            continue
        yield "".join(map(_text, run.transcript.events)) + _plain(run.output) + run.raised
        yield f"{run.moves} {[str(one) for one in run.findings]}"
        calls += len(run.transcript.events)
        if calls > _CALLS:
            return


def _data(space: Space, sizes: Mapping[str, int], rng: np.random.Generator) -> Data:
    rows = np.array([_row(space, sizes, rng) for _ in range(sizes["n"] + 1)])
    rows, there = rows[:-1], rows[-1]
    target = int(rng.integers(len(rows)))
    if rng.random() < _COPIES:
        rows[rng.random(len(rows)) < rng.random()] = rows[0]
    if space.relation == "add-remove" and space.absent is not None:
        there = np.array(np.broadcast_to(space.absent, there.shape), dtype=float)
    return Data(dict(sizes), rows, there, target)


def _row(space: Space, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    """Any direction, any length, sometimes zero; in a box any place, often at an end."""
    allowed = space.rows
    label = [float(rng.choice(allowed.labels))] if allowed.labels else []
    width = allowed.columns(sizes) - len(label)
    if allowed.box is not None:
        low, high = allowed.box
        return np.append(low + (high - low) * np.clip(rng.uniform(-0.3, 1.3, width), 0.0, 1.0), label)
    size = 10.0 ** rng.uniform(-2, 2) if allowed.bound is None else allowed.bound * min(1.0, rng.uniform(0, 1.5))
    row = rng.standard_normal(width) if rng.random() < _WHOLE else np.zeros(width)
    return np.append(row * (size * (1 - 1e-12) / max(float(np.linalg.norm(row)), 1e-300)), label)


class _Values:
    """A dictation by chance: each value drawn, chosen in general, or about as long as where the algorithm decides."""

    def __init__(self, rng: np.random.Generator):
        self._rng = rng
        self.marks: Mapping[str, Sequence[float]] = {}

    def choice(self, label: str, occurrence: int, law: Law) -> Choice:
        """See :class:`~dpassay.audit.lockstep.script.Dictation`."""
        marks = self.marks.get(label, ())
        if len(marks) and self._rng.random() < 0.5:
            close = 1 + self._rng.choice((-1.0, 1.0)) * 10.0 ** self._rng.uniform(-6, -0.3)
            along = tuple(ALONG)[int(self._rng.integers(len(ALONG)))]
            return Choice("norm", size=float(self._rng.choice(marks)) * close, along=along)
        if law.is_finite and self._rng.random() < 0.5:
            return Choice("index", index=int(self._rng.integers(-1, 4)))
        return _CHOICES[int(self._rng.integers(len(_CHOICES)))]

    def takes_part(self, draw: Draw) -> bool:
        """See :class:`~dpassay.audit.lockstep.script.Dictation`."""
        return bool(self._rng.random() < 0.8)


def _text(event: Release | Draw | Note) -> str:
    if isinstance(event, Release):
        law = vars(event.law)
        return f"{event.label} {event.sensitivity} {event.draws} {_plain(law)} {_plain(event.value)}"
    return f"{event}" if isinstance(event, Draw) else f"{event.label} {event.kind} {_plain(event.value)}"


def _plain(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return value.tobytes().hex()
    if isinstance(value, dict):
        return str({name: _plain(one) for name, one in sorted(value.items()) if not name.startswith("_")})
    if isinstance(value, list | tuple):
        return str([_plain(one) for one in value])
    if isinstance(value, float | int | str | bool | None):
        return repr(value)
    return _plain(vars(value)) if hasattr(value, "__dict__") else type(value).__name__


if __name__ == "__main__":
    from dpassay.reference.catalogue import find

    print(*(digest(find(key)[0]) for key in sys.argv[1:]))
