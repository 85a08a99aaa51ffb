"""How many calls of a tape one run may make by itself: beyond, it has no end in sight."""

from __future__ import annotations

from .errors import require

LONGEST = 1_000_000


def in_sight(step: int, label: str) -> None:
    """May a run go on at this step?

    Raises:
        BadInput: no; the number of its steps is computed from a noisy value, say.
    """
    why = "calls of the tape in one run, and no end in sight (are its steps counted from a noisy value?)"
    require(step < LONGEST, f"run, at {label!r}", step, why)
