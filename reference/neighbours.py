"""Neighbours: two problems that differ in one record, and what runs on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from .tape import Tape

P = TypeVar("P")
Run = Callable[[P, Tape], Any]


@dataclass(frozen=True, eq=False)
class Pair(Generic[P]):
    """Two neighbouring problems: what an audit runs an algorithm on.

    Args:
        here: the problem with the data set D; the run on it is the one that is observed.
        there: the same problem with the neighbouring data set D'.
        target: number of the record in which the two differ, from 0. Replace-one: this record is another one. Both
            have the same number of records; nothing else may differ.
        description: how the pair was made, for reports.
        removed: add-remove: on one side the record is not there, and there is one record less.

    Raises:
        Nothing: whether the two are neighbours is the author's promise; problems may be of any type.

    Example:
        >>> import numpy as np
        >>> from dpassay.reference import Pair
        >>> here = np.zeros((4, 2))
        >>> there = here.copy()
        >>> there[3] = 1.0
        >>> pair = Pair(here, there, target=3, description="a record moves by sqrt(2)")
        >>> pair.swapped().here is there
        True

    Source: Dwork and Roth 2014, Definition 2.4 (neighbouring databases), with replacement in place of addition.
    """

    here: P
    there: P
    target: int
    description: str = ""
    removed: bool = False

    def swapped(self) -> Pair[P]:
        """The same pair in the other direction."""
        return replace(self, here=self.there, there=self.here)
