"""The reference is handed other records than those that were drawn: those of the draw before, of all so far, all.

A line that uses records may stand in a solver, or far from the draw; on the tape it is one place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .copies import run_copied
from .encode import encode
from .families import every_series, series
from .recording import VectorTape, events_of
from .records import DRAWN_LAST, OTHER_RECORDS
from .rounding import Run

LABELS = 4  # of draws that are tried one by one
Records = tuple[str, str]  # which, and for which series of draws (empty: for every one)


def others_than_drawn(vector: Mapping[str, Any]) -> Iterator[Records]:
    """Everything that is tried on a vector, all draws alike first."""
    labels = every_series(event["label"] for event in vector["events"] if event["event"] == "draw")
    for label in ("", *(labels[:LABELS] if len(labels) > 1 else ())):
        yield from ((name, label) for name in (*OTHER_RECORDS, *(DRAWN_LAST if label else ())))


def with_other_records(run: Run, vector: Mapping[str, Any], records: Records) -> dict[str, Any] | None:
    """What the reference asks for then; None where these are the ones that were drawn."""
    name, label = records
    drawn: dict[str, list[list[int]]] = {}
    events, last_drawn = [], None
    for event in vector["events"]:
        now = event.get("indices")
        if event["event"] == "draw" and label in ("", series(event["label"])):
            before = drawn.setdefault(series(event["label"]), [])
            before.append(event["indices"])
            others = last_drawn or now if name in DRAWN_LAST else OTHER_RECORDS[name](before, event["n"])
            event = {**event, "indices": others}
        events.append(event)
        last_drawn = now or last_drawn
    if events == vector["events"]:
        return None
    tape, output = VectorTape(events, on=bool(vector.get("further"))), None
    with np.errstate(all="ignore"):
        try:
            output = encode(run_copied(run, vector, tape), "output")
        except Exception:  # whatever other records lead to; another call than the vector's is an answer
            if not tape.diverged:
                return {"output": None, "events": []}
    last = [{name: tape.diverged[name] for name in ("event", "label")}] if tape.diverged else []
    return {"output": output, "events": events_of(tape) + last}
