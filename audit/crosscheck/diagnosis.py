"""What is wrong, and not only where: the first differing step, the kind of difference, the change of the reference that
does the same, and what that does to epsilon.

Two sources are asked. The numbers themselves (``direct.py``) know signs, factors, shifts, scales. The reference with
one line changed (``mutants.py``) is run on the vector: a change that asks for exactly what the other implementation
asked for names the bug. Where many changes do, the kind that the numbers show decides.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable

from .afterwards import afterwards
from .causes import (
    OTHERS,
    Causes,
    Known,
    always,
    at_first,
    at_more_places,
    at_some_times,
    batches,
    case_of,
    fitted,
    going_on,
)
from .differences import SCALES, Difference, Part, compare
from .direct import direct
from .effects import accounted
from .kinds import Kind
from .known import what_is_known
from .mutants import Mutant, line_of
from .realised import on_worst_pair
from .shown import Seen, Shown

__all__ = ["Diagnosis", "Kind", "diagnose"]
Data = Mapping[str, Any]
NOTHING = "no single change of the reference does the same"
UNUSABLE = (ArithmeticError, ValueError, TypeError, KeyError, IndexError, AttributeError)  # of numbers that are none


@dataclass(frozen=True)
class Diagnosis:
    """The first difference, explained.

    Args:
        step, label, name, index, expected, got, ratio, length: as in :class:`~.differences.Difference`.
        kind: what kind of difference it is.
        detail: what shows the kind, in words.
        mutant: the change of the reference that does the same, or empty.
        also: other changes, of other kinds, that these vectors cannot tell from it.
        effect: what it does to epsilon.
    """

    step: int
    label: str
    name: str
    index: tuple[int | str, ...]
    expected: Any
    got: Any
    ratio: float | None
    length: tuple[int, int] | None
    kind: Kind
    detail: str
    mutant: str
    effect: str
    also: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"diagnosis: {self.kind.value}" + (f": {printable(self.detail)}" if self.detail else "")]
        if self.mutant:
            lines.append(f"the reference does the same with: {self.mutant}")
        lines += [f"or, which these vectors cannot tell from it, {one}" for one in self.also]
        return "\n".join([*lines, f"epsilon: {self.effect}"])

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "kind": self.kind.value, "index": list(self.index)}


def diagnose(
    vector: Data,
    given: Data,
    *,
    mutants: bool = True,
    differences: Sequence[Difference] | None = None,
    others: Sequence[tuple[Data, Data]] = (),
    float32: bool = False,
) -> Diagnosis:
    """Explain what another implementation asked for.

    Args:
        vector: what is expected. Where ``given`` differs nowhere from it, the kind is :attr:`Kind.NONE`.
        given: events and output of the other implementation.
        mutants: try the changes of the reference.
        differences: of the two, if they are known already.
        others: more vectors of the same algorithm with their answers, right or wrong: a change must explain them too.
        float32: the other implementation computes in single precision.
    """
    given = {"output": None, **given}  # a run that could not go on has none
    found = list(differences or compare(vector, given, float32=float32))
    if not found:
        nothing = "every event and the output agree"
        return Diagnosis(-1, "", "", (), None, None, None, None, Kind.NONE, nothing, "", Kind.NONE.effect)
    first = found[0]
    said: list[Shown] = []
    with suppress(*UNUSABLE):
        said = direct(vector, given, found)
    known = [(vector, given), *others]
    causes, stopped = Causes(), False
    if mutants:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of changed runs
            causes, more, stopped = _asked(known, said, float32)
        said = [*more, *said]
    if causes.found:
        with suppress(*UNUSABLE):
            said = _said_of_all(said, others, float32)
    queries = causes.whole and any(_at_a_query(*other, float32) for other in others)
    steady = len({f"{ratio:.6g}" for ratio in _first_ratios(known, float32)}) <= 1
    kind, detail, mutant = _decided(said, causes, queries, steady)
    if kind is Kind.UNKNOWN:
        with suppress(*UNUSABLE):
            detail = what_is_known(vector, found)
        if mutants and not vector.get("own"):
            tried = "of the changes that there was time for none does the same" if stopped else NOTHING
            detail = tried + (f"; {detail}" if detail else "")
    case = next((case for case in CASES if case.key == vector["case"]), None)
    late = case is not None and mutant is not None and causes.whole and afterwards(case.build().run, vector, mutant)
    kind = AFTERWARDS.get(kind, kind) if late else kind
    effect = kind.effect
    with suppress(*UNUSABLE):
        effect = accounted(vector, given, kind, late, sure=not _calls_alone(known, float32))
    shown = "" if case is None or mutant is None or mutant.when else on_worst_pair(case, mutant)
    effect = f"{effect}; {shown}" if shown else effect
    place = (first.step, first.label, first.name, first.index, first.expected, first.got, first.ratio, first.length)
    also = () if mutant is None or not causes.whole else _also(kind, mutant, causes)
    return Diagnosis(*place, kind, detail, "" if mutant is None else str(mutant), effect, also)


def _asked(known: Known, said: Sequence[Shown], float32: bool) -> tuple[Causes, list[Shown], bool]:
    """What the reference says: its changes; what it asks for with other records and values; was there enough time."""
    case = case_of(known, float32)
    if case is None:
        return Causes(), [], False
    first = said[0].kind if said else Kind.UNKNOWN
    plain = bool(said) and said[0].seen is Seen.REORDERED
    causes = always(case, plain=plain)
    kinds = {one.change.kind for one in causes.found}
    if causes.whole and not kinds <= CHANCE:
        return causes, [], False
    firm = first in FIRM
    more = [] if firm else [*batches(*known[0], float32), *going_on(known, float32)]
    if more:  # it explains every vector
        return Causes(), more, False
    if causes.whole or plain:
        other = at_some_times(case) if first is Kind.CALLS else Causes()
        return (other if other.whole else causes), [], False
    wider = Causes() if firm else at_more_places(case)
    wider = wider if wider.whole or firm else fitted(case)
    if wider.whole:
        return wider, [], False
    if causes.found and not kinds <= CHANCE:
        return causes, [], case.stopped
    sometimes = Causes() if firm else at_some_times(case)
    partly = sometimes if sometimes.found else causes
    return (partly if partly.found else at_first(case)), [], case.stopped


def _decided(said: Sequence[Shown], causes: Causes, queries: bool, steady: bool) -> tuple[Kind, str, Mutant | None]:
    """Kind, what shows it, and one change that does the same.

    Args:
        queries: another vector parts at a query.
        steady: every vector that differs shows the same ratio first.
    """
    first, detail = (said[0].kind, str(said[0])) if said else (Kind.UNKNOWN, "")
    kinds = {one.change.kind for one in causes.found}
    for shown in said:
        kind = shown.kind
        if kind is Kind.FACTOR and causes.whole and kinds - {Kind.FACTOR} and not shown.sizes:
            continue  # of no size that the vector has
        if kind is Kind.INDEX_SHIFT and causes.whole and Kind.BATCH in kinds:
            continue  # the query of another step, because it is of the records of another step
        same = [one for one in causes.found if one.change.kind is kind]
        if same:
            return kind, str(shown), min(same, key=_used_by_all)
    if said and (not causes.found or (first in (*FIRM, Kind.CALLS) and not _follows(first, causes, queries, steady))):
        near = [one for one in causes.found if not _used_by_all(one)] if causes.whole else []
        return first, detail, near[0] if near else None
    if causes.found:
        likely = [one for one in causes.found if one.change.kind in LEADS] if first is Kind.CALLS else []
        causes = Causes(likely or causes.found, causes.whole)
        common = Counter(one.change.kind for one in causes.found)
        best = min(
            causes.found, key=lambda one: (_used_by_all(one), -_weight(one.change.kind), -common[one.change.kind])
        )
        return best.change.kind, detail if first is Kind.CALLS else "", best
    return Kind.UNKNOWN, "", None


def _follows(first: Kind, causes: Causes, queries: bool, steady: bool) -> bool:
    """Is what the numbers show first only what follows from a change that explains every vector, or most of them?"""
    others = {one.change.kind for one in causes.found} - CHANCE
    if first is Kind.CALLS:  # another call, and then nothing: a factor that leads there is too little to go by
        return bool(others & LEADS) or (causes.whole and (bool(others) or queries))
    if not causes.whole:
        return False
    if first is Kind.SENSITIVITY:  # a factor of what is declared, and of nothing else
        return queries or bool(others - {Kind.CLIP_BOUND})
    if first is Kind.NOISE_SCALE:
        elsewhere = {one.change.kind for one in causes.found if not NOISE.search(line_of(one))} - CHANCE
        return queries or (not steady and bool(elsewhere - {Kind.INDEX_SHIFT}))
    return False


def _also(kind: Kind, mutant: Mutant, causes: Causes) -> tuple[str, ...]:
    """The simplest change of each of two other kinds, elsewhere than in what everything uses."""
    others: dict[Kind, Mutant] = {}
    for one in causes.found:
        if one.change.kind not in (kind, mutant.change.kind) and not _used_by_all(one):
            others.setdefault(one.change.kind, one)
    ranked = sorted(others, key=lambda one: -_weight(one))[:2]
    return tuple(f"{one.value}: {others[one]}" for one in ranked)


FIRM = (Kind.LAW, Kind.BATCH, Kind.CLAIM, Kind.SHAPE, Kind.SENSITIVITY, Kind.NOISE_SCALE, Kind.UN_NOISED,
        Kind.SIGN)  # fmt: skip
AFTERWARDS = {Kind.NO_CLIP: Kind.MISSING_TERM, Kind.CLIP_BOUND: Kind.FACTOR}  # of what is released already
CALLS = (Part.CALL, Part.COUNT)
CHANCE = {Kind.FACTOR, Kind.BRANCH}  # what may lead to the same calls, or the same scales, by chance
LEADS = {Kind.INDEX_SHIFT, Kind.UN_NOISED}  # to another call, even where not every vector is explained
NOISE = re.compile("std|sigma|noise|scale|rho|multiplier|sensitivity")  # lines that are about noise
SPECIFIC = (Kind.UN_NOISED, Kind.NO_CLIP, Kind.CLIP_ORDER, Kind.CLIP_NORM, Kind.CLIP_BOUND, Kind.BATCH, Kind.SIGN,
            Kind.MISSING_TERM, Kind.INDEX_SHIFT, Kind.BRANCH, Kind.FACTOR)  # fmt: skip


def _used_by_all(mutant: Mutant) -> bool:
    """Functions that everything uses are the last that a second implementation has wrong."""
    return any(file.startswith("blocks/") or "/" not in file for file, _ in mutant.sites)


def _weight(kind: Kind) -> int:
    """The more specific a kind is, the less likely it explains the numbers by chance."""
    return len(SPECIFIC) - SPECIFIC.index(kind) if kind in SPECIFIC else 0


def _first_ratios(known: Known, float32: bool) -> Iterator[float]:
    """Got over expected, of the first differing number of each vector where it is a noise scale."""
    for vector, given in known[:OTHERS]:
        found = compare(vector, {"output": None, **given}, float32=float32)[:1]
        yield from (one.ratio for one in found if one.ratio is not None and one.name in SCALES)


def _at_a_query(vector: Data, given: Data, float32: bool) -> bool:
    found = compare(vector, {"output": None, **given}, float32=float32)
    return any(one.name in ("query", "queries") for one in found if one.step == found[0].step)


def _calls_alone(known: Known, float32: bool) -> bool:
    """Does every vector that differs part at which call comes next, and at no number?"""
    firsts = [compare(vector, {"output": None, **given}, float32=float32)[:1] for vector, given in known[:OTHERS]]
    return all(one.part in CALLS for found in firsts for one in found)


def _said_of_all(said: list[Shown], others: Sequence[tuple[Data, Data]], float32: bool) -> list[Shown]:
    """Where a change explains all, a factor that not every red vector shows alike is chance."""
    factor = next((one for one in said if one.kind is Kind.FACTOR), None)
    if factor is None:
        return said
    for other, theirs in others[:OTHERS]:
        found = list(compare(other, {"output": None, **theirs}, float32=float32))
        if found and not any(map(factor.same_factor, direct(other, {"output": None, **theirs}, found))):
            return [one for one in said if one.kind is not Kind.FACTOR]
    return said
