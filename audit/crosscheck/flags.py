"""What a vector is good for: which bug a red one points to, and what that bug does to epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpassay.reference.files import parse_toml, read_text


@dataclass(frozen=True)
class Flag:
    """One property of a vector.

    Args:
        bug: what is likely wrong where vectors with this flag are red and others are not.
        effect: what that does to epsilon.
    """

    bug: str
    effect: str


_TABLE = parse_toml(read_text(Path(__file__).with_suffix(".toml"), "flags"), "flags.toml")
FLAGS = {name: Flag(str(entry["bug"]), str(entry["effect"])) for name, entry in _TABLE.items()}
REFUSALS = tuple(name for name, entry in _TABLE.items() if entry.get("refused"))


def flags_of(recipe: str, vector: Mapping[str, Any]) -> list[str]:
    """All flags that a vector deserves, from its recipe and its events."""
    events, schedule = vector["events"], vector["schedule"]
    facts = {
        "one-record": vector["sizes"].get("n") == 1,
        "one-step": vector["sizes"].get("steps") == 1,
        "batch-of-one": 1 in (vector["sizes"].get("batch"), vector["sizes"].get("step_batch")),
        "sampled": any(event["event"] == "draw" and event.get("order") != "index" for event in events),
        "sparse-vector": any(event.get("law") == "AboveThreshold" for event in events),
        "raw-noise": any(event["event"] == "noise" for event in events),
        "printed": vector["reading"] == "printed",
        "not-for-float32": not vector["float32"],
        recipe: True,
    }
    assert isinstance(schedule, Mapping) and set(facts) <= set(FLAGS)
    return sorted(name for name, holds in facts.items() if holds)
