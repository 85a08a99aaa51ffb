"""Other data for the reference, with which it asks for the same: other records than those drawn, other values."""

from __future__ import annotations

from .agreeing import Data, agree
from .causes import OTHERS, Known, run_of
from .going_on import Going, answers_going_on, goings_on, said_of
from .kinds import Kind
from .mutants import other_batches
from .shown import Seen, Shown


def batches(vector: Data, given: Data, float32: bool) -> list[Shown]:
    """Other records than those that were drawn, for which the reference asks for the same."""
    run = run_of(vector)
    tried = other_batches(run, vector) if run is not None else ()
    found = (name for name, made in tried if agree(vector, made, given, float32))
    return [Shown(Kind.BATCH, Seen.OTHER_RECORDS, name) for name in found][:1]


def going_on(known: Known, float32: bool) -> list[Shown]:
    """Something else than the released values, with which the reference asks for the same, on the other vectors too."""
    run = run_of(known[0][0])
    if run is None:
        return []
    explained: list[Going] = []
    for going in goings_on(known[0][0], [vector for vector, _ in known[1 : OTHERS + 1]]):
        made = ((one, answers_going_on(run, one, going), theirs) for one, theirs in known[: OTHERS + 1])
        if all(found is not None and agree(one, found, theirs, float32) for one, found, theirs in made):
            if explained and explained[0][1:] != going[1:]:
                break  # the same at other places is no news
            explained.append(going)
    if not explained:
        return []
    others = tuple(going[0].name for going in explained[1:3])
    return [Shown(explained[0][0].kind, Seen.GOES_ON_WITH, said_of(explained[0]), others=others)]
