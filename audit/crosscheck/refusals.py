"""Inputs that must be refused: a vector's problem or schedule with one thing wrong, where the reference says no.

What the reference takes is not asked of others: only a change that it refuses, before anything is released, becomes
a vector.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dpassay.reference.errors import BadInput

from .decode import decode
from .recording import RecordingTape, events_of
from .rounding import Run

Data = dict[str, Any]
Change = Callable[[Data, Data], bool]


def refusals(run: Run, vector: Mapping[str, Any]) -> Iterator[Data]:
    """Every change of this vector that the reference refuses."""
    for name, change in CHANGES.items():
        told = copy.deepcopy({"problem": vector["problem"], "schedule": vector["schedule"]})
        if not change(told["problem"], told["schedule"]):
            continue
        why, before = _refused(run, told["problem"], told["schedule"])
        if why:
            rest = {one: vector[one] for one in vector if one not in ("events", "output", "rounding", *told)}
            identity = {"id": f"{vector['case']}/{name}", "expect": "refused", "why": why, "flags": [name]}
            yield {**rest, **told, **identity, "events": before, "output": None, "rounding": 0.0}


def _refused(run: Run, problem: Any, schedule: Any) -> tuple[str, list[Data]]:
    """What the reference says, and what it has drawn by then; an empty text where it asks for a release."""
    tape = RecordingTape(0)
    try:
        with np.errstate(all="ignore"):
            run(decode(problem, "problem"), None if schedule is None else decode(schedule, "schedule"), tape)
    except BadInput as error:
        return ("" if tape.asked else str(error)), events_of(tape)
    except (ValueError, IndexError, ArithmeticError):
        pass  # an accident somewhere inside is no refusal that others could be held to
    return "", []


def _matrix(value: Any) -> list[Any] | None:
    """The first matrix of records in a problem (a vector of them, for problems with one number a record)."""
    if isinstance(value, list):
        return value if value and isinstance(value[0], list | float) else None
    if isinstance(value, Mapping):
        found = [_matrix(entry) for name, entry in value.items() if name not in ("derived", "formulas")]
        return next((one for one in found if one is not None), None)
    return None


def _first_number(problem: Data, value: Any) -> bool:
    rows = _matrix(problem)
    while rows is not None and isinstance(rows[0], list) and rows[0]:
        rows = rows[0]
    if not rows:
        return False
    rows[0] = value if isinstance(value, str) else value * (abs(rows[0]) + 1)
    return True


def _ragged(problem: Data, schedule: Data) -> bool:
    rows = _matrix(problem)
    if rows is None or not isinstance(rows[0], list):
        return False
    rows[0] = rows[0][:-1]
    return True


def _label(problem: Data, schedule: Data) -> bool:
    for part in (problem, problem.get("loss") if isinstance(problem, dict) else None):
        if isinstance(part, dict) and isinstance(part.get("labels"), list):
            part["labels"][0] = 0.5
            return True
    return False


def _size(name: str, problem: Data, schedule: Data) -> bool:
    if not isinstance(schedule, dict) or not isinstance(schedule.get(name), int):
        return False
    schedule[name] += 1
    return True


def _batch(problem: Data, schedule: Data) -> bool:
    names = [one for one in ("batch", "refresh_batch", "batch_size", "batch_x") if (schedule or {}).get(one)]
    if not names:
        return False
    schedule[names[0]] = 10_000
    return True


def _noise(schedule: Data, change: Callable[[Data], None]) -> bool:
    noise = schedule.get("noise") if isinstance(schedule, dict) else None
    if not isinstance(noise, dict) or not noise.get("by_label"):
        return False
    change(noise["by_label"])
    return True


def _negative(scales: Data) -> None:
    for label in scales:
        scales[label] = -1.0


def _renamed(scales: Data) -> None:
    for label in list(scales):
        scales["another " + label] = scales.pop(label)


CHANGES: dict[str, Change] = {
    "nan-record": lambda problem, schedule: _first_number(problem, "nan"),
    "infinite-record": lambda problem, schedule: _first_number(problem, "infinity"),
    "record-outside": lambda problem, schedule: _first_number(problem, 1000.0),
    "ragged-records": _ragged,
    "wrong-label": _label,
    "another-n": lambda problem, schedule: _size("n", problem, schedule),
    "another-d": lambda problem, schedule: _size("d", problem, schedule),
    "batch-above-n": _batch,
    "negative-noise": lambda problem, schedule: _noise(schedule, _negative),
    "unknown-label": lambda problem, schedule: _noise(schedule, _renamed),
}
