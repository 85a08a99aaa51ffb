"""What a difference does to epsilon: the vector's run and the other implementation's, accounted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from dpassay.reference.accounting.cost import account
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.between import (
    BoundedLaplace,
    FoldedGeometric,
    FoldedLaplace,
    TruncatedGeometric,
    TruncatedLaplace,
)
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.geometric import Geometric
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.laws.number import Number
from dpassay.reference.laws.selection import Selection
from dpassay.reference.laws.snapping import Snapping
from dpassay.reference.laws.staircase import Staircase
from dpassay.reference.transcript import Draw, Release, Transcript

from .kinds import Kind
from .rounding import numbers

Data = Mapping[str, Any]
NUMBERS: dict[str, type[Number]] = {
    kind.__name__: kind
    for kind in (BoundedLaplace, FoldedGeometric, FoldedLaplace, Geometric, Snapping, Staircase, TruncatedGeometric,
                 TruncatedLaplace)
}  # fmt: skip
INFINITE = (Kind.UN_NOISED, Kind.NO_CLIP)
HARMLESS = (Kind.SIGN, Kind.FACTOR, Kind.INDEX_SHIFT, Kind.MISSING_TERM, Kind.BRANCH, Kind.CLIP_ORDER, Kind.CLIP_NORM)
AFTERWARDS = "what differs is computed from released values alone: no record reaches it but through a release"


def accounted(
    vector: Data, given: Data, kind: Kind, late: bool = False, sure: bool = True, partly: bool = False
) -> str:
    """In words: the two epsilons, where the accountant can tell, and what the kind does.

    The other run is accounted with its own noise scales and batches, and with the vector's sensitivities times what the
    kind says of them (the factor of the query, the batch for clipping after averaging, sqrt(d) for another norm).

    Args:
        late: what differs is computed from released values alone.
        sure: a number differs, and not only which call comes next: many changes lead to another call.
        partly: what is named explains some of the vectors that differ.
    """
    why = AFTERWARDS if late and kind in HARMLESS else kind.effect
    ours = epsilon_of(vector, vector["events"], {})
    factors = {} if late else _factors(vector, given, kind)
    theirs = math.inf if kind in INFINITE and not partly else epsilon_of(vector, given["events"], factors)
    if ours is None or theirs is None or kind is Kind.UNKNOWN:
        return why
    delta = vector["claim"]["delta"]
    if _shown(ours) == _shown(theirs):
        return f"accounted {_shown(ours)} for the vector's run and for yours (delta {delta:g}); {why}"
    said = f"accounted {_shown(ours)} for the vector's run, {_shown(theirs)} for yours (delta {delta:g})"
    if math.isinf(theirs) and not sure:
        said += ", if it is this: calls differ, and no number that would tell it from other changes"
    return f"{said}; {why}"


def _shown(epsilon: float) -> str:
    return "infinite" if math.isinf(epsilon) else f"{epsilon:.3g}"


def epsilon_of(vector: Data, events: list[Data], factors: Mapping[str, float]) -> float | None:
    """Of these events, each with the sensitivity of the vector's event of the same label and place among those."""
    stated: dict[str, list[Any]] = {}
    for event in reversed(vector["events"]):
        if event["event"] == "release":
            stated.setdefault(event["label"], []).append(event["sensitivity"])
    transcript = Transcript()
    try:
        for event in events:
            one = _event(transcript, event, stated, factors)
            if one is not None:
                transcript.events.append(one)
        relation = vector["claim"]["relation"]
        found: float = account(transcript, relation).epsilon(vector["claim"]["delta"])
        return found
    except (BadInput, KeyError, TypeError, ValueError, OverflowError, IndexError):
        return None  # what they said cannot be accounted: an unknown law, scales that are no numbers


def _event(
    transcript: Transcript, event: Data, stated: Mapping[str, list[Any]], factors: Mapping[str, float]
) -> Release | Draw | None:
    if event["event"] == "draw":
        n, size = int(event["n"]), len(event["indices"])
        rate = float(event.get("rate", size / n))
        transcript.batches.append(np.asarray(event["indices"], dtype=np.int64))
        return Draw(len(transcript.batches) - 1, event["label"], event["kind"], n, event.get("size"), rate)
    if event["event"] != "release" or event.get("law") is None:
        return None
    label, known = event["label"], stated.get(event["label"], [])
    sensitivity = known.pop() if known else event.get("sensitivity")
    scaled = None if sensitivity is None else float(sensitivity) * factors.get(label, 1.0)
    return Release(len(transcript.events), label, _law(event), scaled, tuple(event.get("batches", ())), None)


def _law(event: Data) -> Law:
    name = event["law"]
    if name == "Gaussian":
        return Gaussian(np.array(numbers(event["query"])), float(event["std"]))
    if name == "Laplace":
        return Laplace(np.array(numbers(event["query"])), float(event["scale"]))
    if name == "AboveThreshold":
        scales = float(event["threshold_scale"]), float(event["query_scale"])
        asked = iter(numbers(event["queries"]))  # as far as they were evaluated
        told = event.get("count"), float(event.get("falls", 1.0))
        return AboveThreshold(asked, float(event["threshold"]), *scales, *told)
    if name == "Selection":
        logs = np.array(numbers(event["log_probabilities"]))
        utilities, rate = np.array(numbers(event["utilities"])), float(event["rate"])
        return Selection(tuple(range(len(logs))), logs, utilities, rate, bool(event["monotonic"]))
    if name in NUMBERS:
        kind = NUMBERS[name]
        query, *rest = (numbers(event[field.name])[0] for field in fields(kind))
        return kind(np.asarray(query), *rest)
    raise BadInput("law", name, "has no accounting here")


def _factors(vector: Data, given: Data, kind: Kind) -> dict[str, float]:
    """By label: how much farther one record moves the query than the vector says."""
    found: dict[str, float] = {}
    for one, other in _aligned(vector, given):
        here, there = np.array(numbers(one.get("query"))), np.array(numbers(other.get("query")))
        size = max(here.size, 1)
        if kind is Kind.FACTOR and here.shape == there.shape and np.abs(here).max(initial=0.0) > 0:
            found[one["label"]] = float(np.linalg.norm(there) / np.linalg.norm(here))
        elif kind is Kind.BATCH:
            found[one["label"]] = _records(vector["events"], one, 1) / max(_records(given["events"], other, 1), 1)
        elif kind is Kind.CLIP_ORDER:
            found[one["label"]] = float(_records(vector["events"], one, _all(vector)))
        elif kind is Kind.CLIP_NORM:
            found[one["label"]] = math.sqrt(size)
    return found


def _aligned(vector: Data, given: Data) -> Iterator[tuple[Data, Data]]:
    ours = [event for event in vector["events"] if event["event"] != "secret"]
    theirs = [event for event in given["events"] if event["event"] != "secret"]
    for one, other in zip(ours, theirs, strict=False):
        if one["event"] == other["event"] == "release" and one["label"] == other["label"]:
            yield one, other


def _records(events: list[Data], event: Data, otherwise: int) -> int:
    """How many records the query averages; ``otherwise`` where it names no batch."""
    draws = [one for one in events if one["event"] == "draw"]
    named = [number for number in event.get("batches") or () if number < len(draws)]
    known = [draws[number].get("size") or len(draws[number].get("indices", ())) for number in named]
    return int(known[0]) if known else otherwise


def _all(vector: Data) -> int:
    problem = vector["problem"] if isinstance(vector["problem"], Mapping) else {}
    return int(vector["sizes"].get("n") or problem.get("derived", {}).get("n", 1))
