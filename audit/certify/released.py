"""What a run releases, and which releases cost what one release of all of them does.

Entries of one array that are released one by one, and rows that were clipped by their joint norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference.laws.law import Law
from dpassay.reference.laws.number import Number

from .value import Layer, Records, Value


class Part(NamedTuple):
    """Some entries of an array: the array, their places, and how far all of it moves in the norm of this order."""

    whole: Value
    places: Any
    order: float
    moves: float


@dataclass(frozen=True)
class Certified:
    """One release: where, its noise, and how far its query can move in the norm that the noise needs."""

    place: str
    law: Law
    moves: float
    counted: float  # as its movement
    draws: tuple[int, ...]
    records: Records
    declared: float | None = None
    cause: str = ""
    part: Part | None = None
    layers: Mapping[Any, Layer] = field(default_factory=dict)  # where it is one of several that were clipped together

    @property
    def kind(self) -> tuple[Any, ...]:
        """What it costs; equal for releases that cost the same."""
        cost = self.law.cost(self.counted)
        assert cost is not None
        return (*cost._replace(size=float(f"{cost.size:.10g}")), self.draws)

    @property
    def scale(self) -> float:
        """Of its noise."""
        return float(self.law.scale or 0.0)


def as_few(releases: list[Certified]) -> list[Certified]:
    """The same releases, with one in place of several where it moves less than they do one by one."""

    def of_array(one: Certified) -> tuple[Hashable, set[Any]] | None:
        part = one.part
        if part is None or not one.scale:
            return None
        key = id(part.whole), part.order, type(one.law), one.scale, one.draws
        return key, set(np.ravel(part.places).tolist())

    def of_clip(one: Certified) -> tuple[Hashable, set[Any]] | None:
        key = frozenset((record, layer.joint) for record, layer in one.layers.items()), one.draws
        return (key, {(record, layer.member) for record, layer in one.layers.items()}) if one.layers else None

    return _merged(_merged(releases, of_array, _of_array), of_clip, _of_layers)


def _of_array(group: list[Certified], scale: float) -> float:
    assert group[0].part is not None
    return group[0].part.moves


def _of_layers(group: list[Certified], scale: float) -> float:
    """Over its noise each moves by at most r v, with r the largest of them, and squares of v add up to 1."""
    return max(layer.move * scale / one.scale for one in group for layer in one.layers.values())


def _merged(
    releases: list[Certified],
    known: Callable[[Certified], tuple[Hashable, set[Any]] | None],
    moves: Callable[[list[Certified], float], float],
) -> list[Certified]:
    """Of releases with one key those without a part in common are one release, as far as all its parts move."""
    groups: dict[Hashable, list[tuple[list[Certified], set[Any]]]] = {}
    for one in releases:
        key, own = known(one) or (id(one), set())
        taken = groups.setdefault(key, [])
        free = next((group for group in taken if not group[1] & own), None)
        if free is None:
            taken.append(([one], own))
        else:
            free[0].append(one)
            free[1].update(own)
    return [found for taken in groups.values() for group, _ in taken for found in _as_one(group, moves)]


def _as_one(group: list[Certified], moves: Callable[[list[Certified], float], float]) -> list[Certified]:
    if len(group) == 1:
        return group
    scale = min(one.scale for one in group)  # with more noise it costs less
    most, alone = moves(group, scale), [one.moves * scale / one.scale for one in group]
    if most >= (sum(alone) if group[0].part is not None and group[0].part.order == 1 else math.hypot(*alone)):
        return group
    law: Any = type(group[0].law)
    entries = sum(int(np.size(getattr(one.law, "query", 0.0))) for one in group)
    query: Any = np.float64(0.0) if issubclass(law, Number) else np.zeros(entries)
    return [replace(group[0], law=law(query, scale), moves=most, counted=most)]
