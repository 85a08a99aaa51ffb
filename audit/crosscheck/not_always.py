"""Which changes of the reference do the same if they are made at some times, or at some of their uses, only."""

from __future__ import annotations

from collections.abc import Sequence

from .causes import FIRST, Case, Causes
from .differences import compare
from .kinds import Kind
from .mutants import Mutant, at_times, at_uses, mutants, systematic
from .uses import Uses, explained

OF_CLIPPING = (Kind.NO_CLIP, Kind.CLIP_NORM, Kind.CLIP_ORDER, Kind.CLIP_BOUND)
AT_USES = (Kind.SIGN, Kind.INDEX_SHIFT, Kind.MISSING_TERM, Kind.UN_NOISED, Kind.BATCH, *OF_CLIPPING)
SOMETIMES = (Kind.BATCH, Kind.UN_NOISED)  # kinds of which every edit is made at some times only as well


def at_some_times(case: Case, known: Sequence[Mutant] | None = None) -> Causes:
    """Changes that do the same on all vectors if they are made at some times only.

    Args:
        known: the ones that are tried; else all.
    """
    vectors = [vector for vector, _ in case.known]
    if known is None:
        small = [one for one in systematic(case.seen) if one.change.kind in SOMETIMES and not one.more]
        known = [one for one in [*mutants(case.seen), *small] if one not in case.idle]
    tried = (sometimes for one in known for sometimes in at_times(one, vectors))
    found = case.most(case.explaining(tried)[1])
    return found if found.whole else Causes()  # there are too many of them for less to be a sign


def at_some_uses(case: Case) -> Causes:
    """Changes for which there are uses, on every vector that differs, at which they do the same."""
    if case.cut is None:
        return Causes()  # nothing says which use was changed
    first, *others = (
        Uses(case.run, vector, given, case.float32, case.seconds)
        for vector, given in case.bare
        if compare(vector, {"output": None, **given}, float32=case.float32)
    )
    found = []
    of_clipping = [one for one in mutants(case.seen) if one.change.kind in OF_CLIPPING]
    for one in [*of_clipping, *systematic(case.seen)]:
        if case.left <= 0:
            case.stopped = True
            break
        if one not in case.idle and one.change.kind in AT_USES:
            first.tried = 0
            changed = at_uses(one)
            if changed is not None and explained([first, *others[:FIRST]], changed):
                found.append((one, changed))
            case.left -= first.tried * case.cost
    listed = at_some_times(case, [one for one, _ in found])
    return listed if listed.found else Causes([changed for _, changed in found], bool(found))
