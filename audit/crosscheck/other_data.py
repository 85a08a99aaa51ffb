"""Other data for the reference, with which it asks for the same: other records than those drawn, other values."""

from __future__ import annotations

from .agreeing import Data, agree
from .causes import OTHERS, Known, run_of
from .going_on import Going, answers_going_on, goings_on, said_of
from .kinds import Kind
from .other_records import others_than_drawn, with_other_records
from .shown import Seen, Shown


def batches(known: Known, float32: bool) -> list[Shown]:
    """Other records than those that were drawn, for which the reference asks for the same, on the other vectors too."""
    run = run_of(known[0][0])
    if run is None:
        return []
    for records in others_than_drawn(known[0][0]):
        made = ((with_other_records(run, one, records), one, theirs) for one, theirs in known[: OTHERS + 1])
        if all(_same(*one, float32) for one in made):
            name, label = records
            return [Shown(Kind.BATCH, Seen.OTHER_RECORDS, name + (f", at {label}" if label else ""))]
    return []


def _same(made: Data | None, vector: Data, given: Data, float32: bool) -> bool:
    """Where nothing can be changed, the other one must be right."""
    return agree(vector, vector if made is None else made, given, float32)


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
