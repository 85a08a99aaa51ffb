"""A function of tables that knows its last answers: events, bets and pictures ask for the same scores."""

from __future__ import annotations

from collections.abc import Callable

from dpassay.reference.types import Array

KEPT = 4  # training and test part of both sides
LARGEST = 20_000_000  # entries of an answer that is kept


class Remembered:
    """Of tables that are not changed in between: they are told apart by identity."""

    def __init__(self, function: Callable[[Array], Array]):
        self._function = function
        self._known: list[tuple[Array, Array]] = []

    def __call__(self, table: Array) -> Array:
        """The function's answer."""
        for known, answer in self._known:
            if known is table:
                return answer
        answer = self._function(table)
        if answer.size <= LARGEST:
            self._known = [(table, answer), *self._known][:KEPT]
        return answer
