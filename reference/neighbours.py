"""Neighbours: two problems that differ in one record, and what runs on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .tape import Tape

P = TypeVar("P")
Run = Callable[[P, Tape], Any]


@dataclass(frozen=True, eq=False)
class Pair(Generic[P]):
    """Two neighbouring problems (replace-one: they differ in the record number ``target`` alone)."""

    here: P
    there: P
    target: int
    description: str = ""

    def swapped(self) -> Pair[P]:
        """The same pair in the other direction."""
        return Pair(self.there, self.here, self.target, self.description)
