"""What is known of a difference that nothing explains: which quantity parts, when, how far, and which ones agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .differences import Difference, Part
from .rounding import computed

Data = Mapping[str, Any]


def what_is_known(vector: Data, found: Sequence[Difference]) -> str:
    """In words, of the label of the first difference; empty where that is a claim."""
    first = found[0]
    here = [one for one in found if one.label == first.label and one.name == first.name and one.step >= 0]
    if not here:
        alone = all(one.part is Part.OUTPUT for one in found)
        return "the releases are the reference's, what is returned is not" if alone else ""
    events = [(step, event) for step, event in enumerate(vector["events"]) if event["label"] == first.label]
    times = f"{len(here)} of its {len(events)} times" if len(events) > 1 else ""
    away = [one.noise and abs(float(one.got) - float(one.expected)) / one.noise for one in here if _numbers(one)]
    far = f"up to {max(away):.2g} of the noise in the first such entry" if any(away) else ""
    ratios = sorted({f"{one.ratio:.4g}" for one in here if one.ratio is not None})
    ratio = (
        f"ratios {', '.join(ratios[:4])}{' ...' if len(ratios) > 4 else ''}" if ratios and first.differing < 2 else ""
    )
    differing = {one.name for one in found if one.label == first.label and one.step >= 0}
    agree = [name for name in computed(events[0][1]) if name not in differing] if events else []
    parts = [f"{first.name} of {first.label} differs", times, far, ratio]
    told = ", ".join(part for part in parts if part)
    return told + (f"; its {' and '.join(agree)} agree" if agree else "")


def _numbers(one: Difference) -> bool:
    return isinstance(one.got, int | float) and isinstance(one.expected, int | float)
