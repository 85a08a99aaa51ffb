"""The reference is handed other records than those that were drawn: those of the draw before, of all so far, all.

A line that uses records may stand in a solver, or far from the draw; on the tape it is one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .copies import run_copied
from .encode import encode
from .families import every_series, series
from .recording import VectorTape, events_of
from .rounding import Run

LABELS = 4  # of draws that are tried one by one
Drawn = Sequence[Sequence[int]]  # records of all draws so far, the last one's at the end
OTHER: dict[str, Callable[[Drawn, int], list[int]]] = {  # of n
    "every record number is one too large": lambda drawn, n: [(one + 1) % n for one in drawn[-1]],
    "every record number is one too small": lambda drawn, n: [(one - 1) % n for one in drawn[-1]],
    "the first records in place of those drawn": lambda drawn, n: list(range(len(drawn[-1]))),
    "the records drawn before": lambda drawn, n: list(drawn[max(len(drawn) - 2, 0)]),
    "the records drawn first": lambda drawn, n: list(drawn[0]),
    "all records drawn so far": lambda drawn, n: [one for batch in drawn for one in batch],
    "all records drawn so far, each once": lambda drawn, n: sorted({one for batch in drawn for one in batch}),
    "all records": lambda drawn, n: list(range(n)),
    "the records that were not drawn yet": lambda drawn, n: sorted(set(range(n)).difference(*drawn)),
    "without the last of the records drawn": lambda drawn, n: list(drawn[-1][:-1]),
    "without the first of the records drawn": lambda drawn, n: list(drawn[-1][1:]),
    "the records drawn, and the next one": lambda drawn, n: [*drawn[-1], *((one + 1) % n for one in drawn[-1][-1:])],
    "the other records": lambda drawn, n: _others(drawn[-1], n),
}
Records = tuple[str, str]  # which, and for which series of draws (empty: for every one)


def _others(drawn: Sequence[int], n: int) -> list[int]:
    return ([one for one in range(n) if one not in drawn] * n)[: len(drawn)]


def others_than_drawn(vector: Mapping[str, Any]) -> Iterator[Records]:
    """Everything that is tried on a vector, all draws alike first."""
    labels = every_series(event["label"] for event in vector["events"] if event["event"] == "draw")
    for label in ("", *(labels[:LABELS] if len(labels) > 1 else ())):
        yield from ((name, label) for name in OTHER)


def with_other_records(run: Run, vector: Mapping[str, Any], records: Records) -> dict[str, Any] | None:
    """What the reference asks for then; None where these are the ones that were drawn."""
    name, label = records
    drawn: dict[str, list[list[int]]] = {}
    events = []
    for event in vector["events"]:
        if event["event"] == "draw" and label in ("", series(event["label"])):
            before = drawn.setdefault(series(event["label"]), [])
            before.append(event["indices"])
            event = {**event, "indices": OTHER[name](before, event["n"])}
        events.append(event)
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
