"""The same change at more than one place: who leaves something out of a formula leaves it out wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import combinations, pairwise

from .kinds import Kind
from .mutants import Mutant, old_text
from .planting import Site

Key = tuple[str, str]  # of what changes together: the change's name, and where it is
BLOCK = re.compile(r"(?:(?<=_)|\b)(?:x|y|eta|temperature|u|v)(?=_|\b)")  # names of blocks of variables and estimates
NAME = re.compile(r"[A-Za-z_][\w.]*")
FEW = 4  # places of which every choice is tried; of more, pairs and all of them


def together(
    single: Iterable[Mutant],
    elsewhere: Iterable[Mutant] = (),
    every: Iterable[Mutant] = (),
    *,
    idle: Container[Mutant] = (),
) -> Iterator[Mutant]:
    """Changes of one kind and name, of the same text, at two places and more; the largest choice first.

    Args:
        elsewhere: changes of what only other vectors run: they may join those of ``single``.
        every: still more of them, for changes that can be made at few places of a file.
        idle: those that change nothing alone, and together no more.
    """
    single, elsewhere = list(single), list(elsewhere)
    rare = [*elsewhere, *every]
    tried: set[tuple[Site, ...]] = set()
    for key in (_key, _key_of_blocks, _key_of_file):
        for one in _chosen(single, rare if key is _key_of_file else elsewhere, idle, key):
            if one.sites not in tried:
                tried.add(one.sites)
                yield one


def _chosen(
    single: Iterable[Mutant], elsewhere: Iterable[Mutant], idle: Container[Mutant], key: Callable[[Mutant], Key]
) -> Iterator[Mutant]:
    outside = set()
    groups: dict[Key, dict[tuple[str, int], Mutant]] = {}
    for one in single:
        if not one.more:
            groups.setdefault(key(one), {})[one.file, one.change.first] = one
    for one in elsewhere:
        if key(one) in groups:
            place = one.file, one.change.first
            if place not in groups[key(one)]:
                groups[key(one)][place] = one
                outside.add(one)
    for group in groups.values():
        members = list(group.values())
        if key is _key_of_file and len(members) > FEW:
            continue  # it is no rare slip
        sizes = range(len(members), 1, -1) if len(members) <= FEW else (len(members), 2)
        for size in sizes:
            for chosen in combinations(members, size):
                if not _overlap(chosen) and not all(one in idle or one in outside for one in chosen):
                    rest = tuple(site for one in chosen[1:] for site in one.sites)
                    yield Mutant(chosen[0].file, chosen[0].change, more=rest)


def _key(one: Mutant) -> Key:
    """Who takes another norm takes it wherever there is clipping, of one vector and of rows."""
    return one.change.name, one.file if one.change.kind is Kind.CLIP_NORM else old_text(one)


def _key_of_blocks(one: Mutant) -> Key:
    """What is written for x stands once more for y, where another program has one function for both."""
    name, text = _key(one)
    return BLOCK.sub("@", name), BLOCK.sub("@", text)


def _key_of_file(one: Mutant) -> Key:
    """A rare slip of what begins with the same name is made wherever it can be made."""
    begin = NAME.search(old_text(one))
    return one.change.name, f"{one.file} {begin[0] if begin else ''}"


def _overlap(chosen: Iterable[Mutant]) -> bool:
    spans = sorted((one.file, one.change.first, one.change.last) for one in chosen)
    return any(a[0] == b[0] and b[1] < a[2] for a, b in pairwise(spans))
