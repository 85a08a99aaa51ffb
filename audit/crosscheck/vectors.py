"""Test vectors: one recorded run as data, for implementations in any language.

A vector holds the problem, the schedule, and the tape of one run. Whoever is fed the same released values, batches and
public values must ask for the same queries with the same noise scales, in the same order, and return the same output.
No seeds have to agree.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference import files
from dpassay.reference.case import Case
from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.files import write_text
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.tape import record
from dpassay.reference.transcript import Draw, Note, Release, Transcript
from dpassay.reference.types import Array

FORMAT = 2
_COMPUTED = ("query", "std", "scale", "queries", "threshold", "threshold_scale", "query_scale", "log_probabilities")
RTOL = 1e-9  # a few thousand roundings (2e-16 each) in another order of summation, with room


def plain(value: Any) -> Any:
    """Arrays, dataclasses and numpy scalars as JSON data; anything else by its name."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.name[0] != "_"}
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else type(value).__name__


def make_vector(case: Case, seed: int) -> dict[str, Any]:
    """Record one run of a case."""
    instance = case.build()
    transcript = record(partial(instance.mechanism, instance.pair.here), seed)
    return {
        "format": FORMAT,
        "case": case.key,
        "seed": seed,
        "problem": plain(instance.pair.here),
        "schedule": plain(instance.schedule),
        "events": events(transcript),
        "output": plain(transcript.output),
    }


def events(transcript: Transcript) -> list[dict[str, Any]]:
    """The events of a transcript as data."""
    found: list[dict[str, Any]] = []
    for event in transcript.events:
        if isinstance(event, Release):
            law = dict(plain(event.law))
            if isinstance(event.law, AboveThreshold):
                law["queries"] = plain(event.law.evaluated)  # no more than that must be computed
            common = {"event": "release", "label": event.label, "law": type(event.law).__name__, **law}
            found.append({**common, "sensitivity": event.sensitivity, "value": plain(event.value)})
        elif isinstance(event, Draw):
            indices = transcript.batches[event.number].tolist()
            found.append({"event": "draw", "label": event.label, "kind": event.kind, "indices": indices})
        elif isinstance(event, Note):
            found.append({"event": event.kind, "label": event.label, "value": plain(event.value)})
    return found


def write_json(path: Path, document: Any) -> None:
    """Canonical JSON: sorted keys, shortest floats that round-trip, newline at the end."""
    write_text(path, json.dumps(document, sort_keys=True, allow_nan=False) + "\n", "output")


def read_json(path: Path, what: str) -> dict[str, Any]:
    """A JSON object from a file; :class:`BadInput` for anything else."""
    document = files.read_json(path, what)
    require(isinstance(document, dict), f"{path}", type(document).__name__, "must be a JSON object")
    return dict(document)


def compare(vector: dict[str, Any], answers: dict[str, Any], rtol: float = RTOL) -> list[str]:
    """Differences between a vector and what another implementation asked for; empty if there are none.

    ``answers`` has ``events``, one for each event of the vector with ``event`` and ``label`` and, for releases, the
    fields of the law: ``query`` and the noise scale (``std`` or ``scale``), for AboveThreshold ``queries`` up to the
    released index, ``threshold``, ``threshold_scale`` and ``query_scale``; for revealed values, ``value``; and
    ``output``.

    Raises:
        BadInput: either is not of this form, or nested too deeply.
    """
    try:
        return _compare(vector, answers, rtol)
    except RecursionError:
        raise BadInput("vector, answers", "malformed", "are nested too deeply") from None


def _compare(vector: dict[str, Any], answers: dict[str, Any], rtol: float) -> list[str]:
    require(vector.get("format") == FORMAT, "vector: format", vector.get("format"), f"must be {FORMAT}")
    require("output" in vector, "vector: output", None, "is missing")
    require("output" in answers, "answers: output", None, "is missing: it is compared as well")
    ours, theirs = _events(vector, "vector"), _events(answers, "answers")
    found: list[str] = []
    if len(ours) != len(theirs):
        found.append(f"number of events: expected {len(ours)}, got {len(theirs)}")
    for step, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if (one["event"], one["label"]) != (other.get("event"), other.get("label")):
            found.append(
                f"step {step}: expected {one['event']} {one['label']!r}, got {other.get('event')} "
                f"{other.get('label')!r}"
            )
            break
        for name in (*_COMPUTED, *(("value",) if one["event"] == "reveal" else ())):
            if name in one and not _close(one[name], other.get(name), rtol):
                found.append(
                    f"step {step}, {printable(one['label'])}, {name}: expected {_short(one[name])}, "
                    f"got {_short(other.get(name))} (rtol {rtol:g})"
                )
    if not _close(vector["output"], answers["output"], rtol):
        found.append(f"output: expected {_short(vector['output'])}, got {_short(answers['output'])} (rtol {rtol:g})")
    return found


def _events(document: dict[str, Any], what: str) -> list[dict[str, Any]]:
    events = document.get("events")
    require(isinstance(events, list), f"{what}: events", events, "must be a list")
    for step, event in enumerate(events or []):
        good = isinstance(event, dict) and isinstance(event.get("event"), str) and isinstance(event.get("label"), str)
        require(good, f"{what}: events[{step}]", event, "must be an object with the strings 'event' and 'label'")
    return list(events or [])


def _close(one: Any, other: Any, rtol: float) -> bool:
    """Numbers within ``rtol`` of the largest (infinities and NaN: the same in the same place), all else the same."""
    a, b = _numbers(one), _numbers(other)
    if a is not None and b is not None:
        if a.shape != b.shape:
            return False
        finite = np.isfinite(a)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return False
        scale = float(np.max(np.abs(a[finite]), initial=0.0))
        return bool(np.all(np.abs(a[finite] - b[finite]) <= rtol * max(scale, 1e-300)))
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_close(one[key], other[key], rtol) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(_close(a, b, rtol) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def _numbers(value: Any) -> Array | None:
    """A number, or nested lists of them of one shape, as an array; None for anything else (true is no number)."""
    if not isinstance(value, int | float | list) or isinstance(value, bool):
        return None
    try:
        found = np.asarray(value)
    except (ValueError, OverflowError):
        return None
    return found.astype(float) if found.dtype.kind in "iuf" else None


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
