"""What runs reached of an algorithm's own source, as data, and what they missed for a reason that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Coverage:
    """What was reached.

    Args:
        lines, lines_reached: executable lines of the functions that the algorithm can come to.
        branches, branches_reached: the two ways out of every ``if`` and ``while``, and into and past every ``for``.
        missed: releases and decisions that were never reached, ``file.py:12: text``, or a way that was never taken.
        unreached: every line that was never reached, in the same form.
        explained: by place what was missed for a reason that the case gives; it is not in ``missed``.
    """

    lines: int = 0
    lines_reached: int = 0
    branches: int = 0
    branches_reached: int = 0
    missed: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    explained: Mapping[str, str] = field(default_factory=dict)

    def explained_by(self, reasons: Mapping[str, str]) -> Coverage:
        """The same with the missed places for which there is a reason (``Case.unreached``) set apart."""
        found = {place: reason for place in self.missed if (reason := reason_for(place, reasons))}
        left = tuple(place for place in self.missed if place not in found)
        return replace(self, missed=left, explained={**self.explained, **found})

    def __str__(self) -> str:
        text = f"{self.lines_reached} of {self.lines} lines, {self.branches_reached} of {self.branches} branches"
        return text + (f"; never reached: {'; '.join(self.missed)}" if self.missed else "")


def reason_for(place: str, reasons: Mapping[str, str]) -> str:
    """The reason whose place, ``file.py: beginning of the line``, is this one; empty if there is none."""
    file, _, rest = place.partition(":")
    text = f"{file}:{rest.partition(':')[2]}"
    return next((reason for start, reason in reasons.items() if text.startswith(start)), "")
