"""The same change at more than one place: who leaves something out of a formula leaves it out wherever it stands."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import combinations, pairwise

from .kinds import Kind
from .mutants import Mutant, old_text

FEW = 4  # places of which every choice is tried; of more, pairs and all of them


def together(
    single: Iterable[Mutant], elsewhere: Iterable[Mutant] = (), idle: Container[Mutant] = ()
) -> Iterator[Mutant]:
    """Changes of one kind and name, of the same text, at two places and more; the largest choice first.

    Args:
        elsewhere: changes of what only other vectors run: they may join those of ``single``.
        idle: those that change nothing alone, and together no more.
    """
    outside = set()
    groups: dict[tuple[str, str], dict[tuple[str, int], Mutant]] = {}
    for one in single:
        if not one.more:
            groups.setdefault(_key(one), {})[one.file, one.change.first] = one
    for one in elsewhere:
        if _key(one) in groups:
            place = one.file, one.change.first
            if place not in groups[_key(one)]:
                groups[_key(one)][place] = one
                outside.add(one)
    for group in groups.values():
        members = list(group.values())
        sizes = range(len(members), 1, -1) if len(members) <= FEW else (len(members), 2)
        for size in sizes:
            for chosen in combinations(members, size):
                if not _overlap(chosen) and not all(one in idle or one in outside for one in chosen):
                    rest = tuple(site for one in chosen[1:] for site in one.sites)
                    yield Mutant(chosen[0].file, chosen[0].change, more=rest)


def _key(one: Mutant) -> tuple[str, str]:
    """Who takes another norm takes it wherever there is clipping, of one vector and of rows."""
    return one.change.name, one.file if one.change.kind is Kind.CLIP_NORM else old_text(one)


def _overlap(chosen: Iterable[Mutant]) -> bool:
    spans = sorted((one.file, one.change.first, one.change.last) for one in chosen)
    return any(a[0] == b[0] and b[1] < a[2] for a, b in pairwise(spans))
