"""Which noise has been added to data, and which more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .desk import Desk
    from .noisy import Noisy


class Met:
    """Remembers the noise variables that met data.

    Args:
        again: lines of noise that was added to data more than once.
    """

    def __init__(self) -> None:
        self._variables: set[int] = set()
        self.again: list[str] = []

    def note(self, desk: Desk, noisy: Noisy) -> None:
        """Noise was added to data; in a reading that asks for it, noise drawn anew takes the place of what had been."""
        variables = set(noisy.ids.ravel().tolist())
        known = sorted(variables & self._variables)
        self.again += [desk.lines[one] for one in known]
        self._variables |= variables
        if desk.habits.renewed and known:
            noisy.ids = noisy.ids.copy()
            for one in known:
                noisy.ids[noisy.ids == one] = desk.like(one)
