"""A column of a table of outputs: its name, for a person, and where its numbers come from."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Origin(IntEnum):
    """Where the numbers of a column come from."""

    VALUE = 0  # a number of the outputs, as it is
    TEXT = 1  # a code of a whole text
    CODE = 2  # a code of the words of a text, of keys, of a type
    SUMMARY = 3  # of a list or a text: its length, sum, largest entry
    MADE = 4  # of other columns: a difference, a sum, an order statistic

    @property
    def coded(self) -> bool:
        """Codes have no order: only equality matters."""
        return self in (Origin.TEXT, Origin.CODE)


class Column(NamedTuple):
    """One column."""

    name: str
    origin: Origin = Origin.VALUE

    def __str__(self) -> str:
        return self.name


NOTHING = (Column("nothing"),)  # the columns where none says anything
