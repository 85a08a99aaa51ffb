"""Which noise has been added to data, and which more than once."""

from __future__ import annotations

from collections import Counter
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
        self._times: Counter[int] = Counter()
        self.again: list[str] = []

    @property
    def most(self) -> int:
        """The number of sums with data that one noise is in."""
        return max(self._times.values(), default=0)

    def note(self, desk: Desk, noisy: Noisy) -> None:
        """Noise was added to data; in a reading that asks for it, noise drawn anew takes the place of what had been."""
        variables = noisy.variables
        known = sorted(one for one in variables if one in self._times)
        self.again += [desk.lines[one] for one in known]
        self._times.update(variables)
        if desk.habits.renewed and known:
            noisy.ids = noisy.ids.copy()
            for one in known:
                noisy.ids[noisy.ids == one] = desk.like(one)
