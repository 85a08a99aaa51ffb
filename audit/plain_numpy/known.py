"""Noise of which the value is known by now, and what has to be released before something is looked at."""

from __future__ import annotations

import math
from typing import NamedTuple

from .noisy import Noisy

_ROUNDING = 1e-12  # of the largest of some numbers: what is left of their sum is rounding


class Told(NamedTuple):
    """What is known of a noise variable: ``value = query + coefficient * noise``."""

    value: float
    query: float = 0.0
    coefficient: float = 1.0


def put_in(query: float, terms: list[tuple[float, Told]]) -> float:
    """``query + sum of coefficient * noise``; what follows from released values alone is computed from them alone.

    Else the rounding of private numbers would stay in it, and differ between neighbours.
    """
    shares = [coefficient / told.coefficient for coefficient, told in terms]
    private = [query, *(-share * told.query for share, (_, told) in zip(shares, terms, strict=True))]
    left = math.fsum(private)
    if abs(left) <= _ROUNDING * max(map(abs, private)):
        left = 0.0
    return math.fsum([left, *(share * told.value for share, (_, told) in zip(shares, terms, strict=True))])


def later(noisy: Noisy) -> bool:
    """Was it computed after the data met the noise, by arithmetic that can be done again?"""
    return noisy.again is not None and all(parent.mixed for parent in noisy.parents)


def roots(noisy: Noisy, of_two: bool) -> list[Noisy]:
    """The lazy arrays that had met data before something else was added, nearest first; those not released yet.

    A sum of two that had met data each is looked at in the course of a run (a second step of descent), or returned
    (shares of one answer): only the first counts as an addition.
    """
    found: list[Noisy] = []
    waiting, seen = [noisy], {id(noisy)}
    while waiting:
        one = waiting.pop(0)
        further = [parent for parent in one.parents if id(parent) not in seen and parent.given is None]
        seen.update(map(id, further))
        (found if one.met_again or (of_two and one.of_two) else waiting).extend(further)
    return found
