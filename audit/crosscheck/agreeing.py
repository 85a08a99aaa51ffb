"""Does one run ask for what another one asked for, and up to where?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .differences import compare
from .rounding import computed, numbers

LOOSE = 1e-7  # relative

Data = Mapping[str, Any]


def agree(vector: Data, made: Data, given: Data, float32: bool) -> bool:
    """Does what was made differ from what is given nowhere?"""
    if len(made["events"]) < len(given["events"]):
        return False
    events = []
    cut = given.get("until") if given.get("kind") == "cut" else None
    along = True  # with the vector, so that its rounding is known
    for position, event in enumerate(made["events"][:cut]):
        known = vector["events"][position] if position < len(vector["events"]) else {}
        same = _call(known) == _call(event)
        rounding = known.get("rounding", {}) if same else {}
        if not along or not same:
            loose = _loose(event)
            rounding = {**rounding, **{name: max(one, rounding.get(name, 0.0)) for name, one in loose.items()}}
        events.append({**event, "rounding": rounding})
        along = along and same and computed(known) == computed(event)
    stopped = given.get("kind") in ("diverged", "cut")
    output = given.get("output") if stopped else made["output"]
    expected = {**vector, "events": events, "output": output}
    return not compare(expected, {**given, "output": given.get("output")}, float32=float32)


def _call(event: Data) -> tuple[Any, Any]:
    return event.get("event"), event.get("label")


def _loose(event: Data) -> dict[str, float]:
    """What is allowed behind another call or value than the vector's, where no rounding is known."""
    return {name: LOOSE * max(map(abs, numbers(value)), default=0.0) for name, value in computed(event).items()}


def to_the_first(vector: Data, given: Data, float32: bool) -> tuple[Data, Data] | None:
    """Vector and answers up to the first event that differs; None where no event does."""
    found = compare(vector, {"output": None, **given}, float32=float32)
    if not found or found[0].step < 0 or found[0].step >= len(vector["events"]):
        return None
    count = sum(event["event"] != "secret" for event in vector["events"][: found[0].step + 1])
    asked = [event for event in given["events"] if event["event"] != "secret"][:count]
    until = found[0].step + 1
    inner = [event for event in vector["events"][until:] if event["event"] == "secret"]  # whoever goes on asks for it
    kept = {**vector, "events": [*vector["events"][:until], *inner]}
    return kept, {**given, "events": asked, "kind": "cut", "until": until}


def seen_by_others(events: Sequence[Data]) -> list[Data]:
    """All but inner randomness."""
    return [event for event in events if event["event"] != "secret"]


def undeclared(given: Data) -> Data:
    """Without sensitivities and batches."""
    kept = [{name: one[name] for name in one if name not in ("sensitivity", "batches")} for one in given["events"]]
    return {**given, "events": kept}
