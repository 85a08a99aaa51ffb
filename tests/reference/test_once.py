"""What worlds of a lockstep run ask one after the other is computed once; nothing else passes from one to another."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.reference.equality import _MOST, once


def test_the_same_arguments_are_computed_once_and_others_anew():
    asked = []

    def doubled(array, factor):
        asked.append(factor)
        return factor * array, factor

    one = np.array([1.0, 2.0])
    first = once(doubled, one, 2.0)
    assert once(doubled, one.copy(), 2.0) is first and asked == [2.0]
    one[0] = 5.0  # the array has changed since: it is another argument
    assert once(doubled, one, 2.0)[0].tolist() == [10.0, 4.0]
    assert once(doubled, one.reshape(2, 1), 2.0)[0].shape == (2, 1)
    assert once(doubled, one.astype(int), 2.0)[0].tolist() == [10.0, 4.0]
    assert once(doubled, one, 2)[1] == 2 and len(asked) == 5
    assert first[0].tolist() == [2.0, 4.0]


def test_what_comes_back_cannot_be_written_into():
    found = once(np.negative, np.arange(3.0))
    with pytest.raises(ValueError, match="read-only"):
        found += 1


def test_few_results_are_kept():
    asked: list[int] = []
    ask = asked.append
    for number in [*range(_MOST + 1), _MOST, 0]:
        once(ask, number)
    assert asked == [*range(_MOST + 1), 0]  # the last one is known, the first one was given up
