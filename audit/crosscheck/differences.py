"""What differs between a vector and what another implementation asked for: every field, with place, ratio and amount.

A number agrees if it is off by at most what rounding may do to it (the vector says how much) or by a billionth of the
noise (``rounding.py`` says why). Single precision has 2^29 times the rounding of double precision.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from dpassay.audit.plain import array_of, number_of
from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput, printable

from .encoding import RESERVED
from .rounding import NOISE_SHARE, UNIT32, UNIT64, computed, numbers, visible_events
from .storage import check_answers

SCALES = ("std", "scale", "query_scale", "threshold_scale")  # the noise of a release, whichever its law has
STATED = ("law", "batches")  # compared where it is said
OF_A_DRAW = ("kind", "n", "size", "rate", "order")
Data = Mapping[str, Any]


class Part(StrEnum):
    """Which part of a run a difference is in."""

    FIELD = "field"  # of an event
    CALL = "call"  # another event than the vector's
    COUNT = "count"  # of events
    CLAIM = "claim"
    OUTPUT = "output"


@dataclass(frozen=True)
class Difference:
    """One field that does not agree.

    Args:
        step: position of the event in the vector; -1 for output and claim.
        name: the field, for a person (``query``, ``std``, ``call``, ``output``, ``claim.delta``).
        index: the first entry that differs, as indices into the nested lists; empty for a number.
        ratio: got over expected at that entry, where both are numbers and the expected one is not zero.
        length: numbers got and expected, where they differ.
        allowed: by how much an entry might be off; noise: the noise scale of the release.
        part: which part of the run it is in.
    """

    step: int
    label: str
    name: str
    expected: Any
    got: Any
    index: tuple[int | str, ...] = ()
    ratio: float | None = None
    length: tuple[int, int] | None = None
    allowed: float = 0.0
    noise: float = 0.0
    differing: int = 0
    part: Part = Part.FIELD

    def __str__(self) -> str:
        where = f"step {self.step}, {printable(self.label)}, {self.name}" if self.step >= 0 else self.name
        at = "".join(f"[{part}]" for part in self.index)
        text = f"{where}{at}: expected {_short(self.expected)}, got {_short(self.got)}"
        told = [f"{self.length[1]} numbers where {self.length[0]} are expected"] if self.length is not None else []
        told += [f"ratio {self.ratio:.6g}"] if self.ratio is not None else []
        told += [f"{self.differing} entries differ"] if self.differing > 1 else []
        told += [f"allowed {self.allowed:.2g}"] if self.allowed and self.ratio is not None else []
        return f"{text} ({', '.join(told)})" if told else text


def compare(vector: Data, answers: Data, *, float32: bool = False) -> list[Difference]:
    """All differences, up to the first call that is another one.

    Args:
        vector: as ``storage`` reads it.
        answers: ``events`` (for each event of the vector ``event`` and ``label`` and what was computed, under the
            vector's names; ``secret`` events may be left out), ``output``, and perhaps ``claim``.
        float32: the other implementation computes in single precision.

    Raises:
        BadInput: the answers are not of this form.
    """
    check_answers(answers, "answers")
    try:
        return _compare(vector, answers, float32)
    except RecursionError:
        raise BadInput("answers", "malformed", "are nested too deeply") from None


def _compare(vector: Data, answers: Data, float32: bool) -> list[Difference]:
    unit = UNIT32 / UNIT64 if float32 else 1.0
    ours = [(step, event) for step, event in enumerate(vector["events"]) if event["event"] != "secret"]
    theirs = visible_events(answers)
    found: list[Difference] = []
    for (step, one), other in zip(ours, theirs, strict=False):
        if (one["event"], one["label"]) != (other["event"], other["label"]):
            found.append(Difference(step, str(one["label"]), "call", _call(one), _call(other), part=Part.CALL))
            return found  # nothing after it can be told apart
        found += _event(step, one, other, unit)
    if len(ours) != len(theirs):
        step = ours[len(theirs)][0] if len(theirs) < len(ours) else len(vector["events"])
        label = _call(ours[len(theirs)][1]) if len(theirs) < len(ours) else _call(theirs[len(ours)])
        found.append(Difference(step, label, "number of events", len(ours), len(theirs), part=Part.COUNT))
    for name, expected in vector["claim"].items() if answers.get("claim") else ():
        got = answers["claim"].get(name)
        if not _same(expected, got):
            found.append(Difference(-1, "", f"claim.{name}", expected, got, part=Part.CLAIM))
    largest = max((abs(one) for one in numbers(vector["output"]) if math.isfinite(one)), default=0.0)
    allowed = max(unit * _number(vector["rounding"]), NOISE_SHARE * largest)
    return found + list(_output(vector["output"], answers["output"], allowed, ()))


def _event(step: int, one: Data, other: Data, unit: float) -> list[Difference]:
    found, label, noise = [], str(one["label"]), noise_of(one)
    amounts = one.get("rounding", {})
    for name in OF_A_DRAW if one["event"] == "draw" else STATED:
        if other.get(name) is not None and name in one and not _same(one[name], other[name]):
            found.append(Difference(step, label, name, one[name], other[name]))
    for name in computed(one):
        optional = name == "sensitivity" or one["event"] == "noise"
        if optional and other.get(name) is None:
            continue
        expected, got = array_of(one[name]), array_of(other.get(name))
        if expected is None or got is None:
            if not _same(one[name], other.get(name)):
                found.append(Difference(step, label, name, one[name], other.get(name)))
            continue
        largest = float(np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0))
        share = noise if name in ("query", "queries") else largest
        allowed = max(unit * _number(amounts.get(name, 0.0)), NOISE_SHARE * share)
        if name not in amounts and not share:
            allowed = NOISE_SHARE * largest
        difference = _numbers(expected, got, allowed)
        if difference is not None:
            found.append(Difference(step, label, name, **difference, allowed=allowed, noise=noise))
    return found


def event_there(vector: Data, given: Data, step: int) -> Data:
    """What the other implementation asked for in the place of an event of the vector; empty where there is nothing."""
    place, theirs = len(visible_events(vector, max(step, 0))), visible_events(given)
    return theirs[place] if step >= 0 and place < len(theirs) else {}


def noise_of(event: Data) -> float:
    """The noise scale of a release; zero where there is none."""
    known = [_number(event[name]) for name in SCALES[:3] if event.get(name) is not None]
    return known[0] if known else 0.0


def unstated(vector: Data, answers: Data) -> int:
    """Sensitivities of the vector that the answers do not state, so that they were not compared."""
    pairs = zip(visible_events(vector), visible_events(answers), strict=False)
    alike = [(one, other) for one, other in pairs if one["label"] == other["label"]]  # of another call nothing is known
    return sum(one.get("sensitivity") is not None and other.get("sensitivity") is None for one, other in alike)


def _numbers(expected: Array, got: Array, allowed: float) -> dict[str, Any] | None:
    if expected.shape != got.shape:
        told = {"expected": expected.tolist(), "got": got.tolist()}
        return {**told, "length": (expected.size, got.size)} if expected.size != got.size else told
    finite = np.isfinite(expected)
    wrong = np.zeros(expected.shape, dtype=bool)
    wrong[finite] = ~(np.abs(expected[finite] - got[finite]) <= allowed)
    wrong[~finite] = ~((expected == got) | (np.isnan(expected) & np.isnan(got)))[~finite]
    if not wrong.any():
        return None
    index = tuple(int(one) for one in np.argwhere(wrong)[0])
    one, other = float(expected[index]), float(got[index])
    ratio = other / one if one and math.isfinite(one) and math.isfinite(other) else None
    return {"expected": one, "got": other, "index": index, "ratio": ratio, "differing": int(wrong.sum())}


def _output(one: Any, other: Any, allowed: float, index: tuple[int | str, ...]) -> Sequence[Difference]:
    a, b = array_of(one), array_of(other)
    if a is not None and b is not None:
        difference = _numbers(a, b, allowed)
        if difference is None:
            return []
        place = (*index, *difference.pop("index", ()))
        return [Difference(-1, "", "output", **difference, index=place, allowed=allowed, part=Part.OUTPUT)]
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = [name for name in one if name not in RESERVED]
        return [found for name in names for found in _output(one[name], other.get(name), allowed, (*index, name))]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for place, (a, b) in pairs for found in _output(a, b, allowed, (*index, place))]
    return [] if _same(one, other) else [Difference(-1, "", "output", one, other, index, part=Part.OUTPUT)]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, int | float) and isinstance(other, int | float):
        try:
            return math.isclose(one, other, rel_tol=NOISE_SHARE)
        except OverflowError:  # a whole number with hundreds of digits
            return one == other
    return type(one) is type(other) and bool(one == other)


def _number(value: Any) -> float:
    """As a number; what is none counts as zero, so that it allows nothing."""
    found = number_of(value)
    try:
        return float(found) if isinstance(found, int | float) else 0.0
    except OverflowError:
        return 0.0


def _call(event: Data) -> str:
    return f"{event['event']} {event['label']}"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    text = printable(json.dumps(value, default=str))
    return text if len(text) <= 60 else text[:57] + "..."
