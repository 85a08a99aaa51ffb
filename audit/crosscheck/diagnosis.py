"""What is wrong, and not only where: the first differing step, the kind of difference, the change of the reference that
does the same, and what that does to epsilon.

Two sources are asked. The numbers themselves (``direct.py``) know signs, factors, shifts, scales. The reference with
one line changed (``mutants.py``) is run on the vector: a change that asks for exactly what the other implementation
asked for names the bug. Where many changes do, the kind that the numbers show decides.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable

from .causes import OTHERS, Causes, Known, always, at_first, at_more_places, at_some_times, batches, case_of, going_on
from .differences import Difference, compare
from .direct import direct
from .effects import accounted
from .kinds import Kind
from .known import what_is_known
from .mutants import Mutant
from .realised import on_worst_pair

__all__ = ["Diagnosis", "Kind", "diagnose"]
Data = Mapping[str, Any]
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
        vector: with at least one difference from ``given``.
        given: events and output of the other implementation.
        mutants: try the changes of the reference.
        differences: of the two, if they are known already.
        others: more vectors of the same algorithm with their answers, right or wrong: a change must explain them too.
        float32: the other implementation computes in single precision.
    """
    given = {"output": None, **given}  # a run that could not go on has none
    found = list(differences or compare(vector, given, float32=float32))
    first = found[0]
    said: list[tuple[Kind, str]] = []
    with suppress(*UNUSABLE):
        said = direct(vector, given, found)
    known = [(vector, given), *others]
    causes = Causes()
    if mutants:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of changed runs
            causes, more = _asked(known, said, float32)
        said = [*more, *said]
    if any(one.change.kind is not Kind.FACTOR for one in causes.found):
        with suppress(*UNUSABLE):
            said = _said_of_all(said, others, float32)
    queries = causes.whole and any(_at_a_query(*other, float32) for other in others)
    kind, detail, mutant = _decided(said, causes, queries)
    if kind is Kind.UNKNOWN:
        with suppress(*UNUSABLE):
            detail = what_is_known(vector, found)
        if mutants and not vector.get("own"):
            detail = "no single change of the reference does the same" + (f"; {detail}" if detail else "")
    effect = kind.effect
    with suppress(*UNUSABLE):
        effect = accounted(vector, given, kind)
    case = next((case for case in CASES if case.key == vector["case"]), None)
    shown = "" if case is None or mutant is None or mutant.when else on_worst_pair(case, mutant)
    effect = f"{effect}; {shown}" if shown else effect
    place = (first.step, first.label, first.name, first.index, first.expected, first.got, first.ratio, first.length)
    also = () if mutant is None or not causes.whole else _also(kind, mutant, causes)
    return Diagnosis(*place, kind, detail, "" if mutant is None else str(mutant), effect, also)


def _asked(known: Known, said: Sequence[tuple[Kind, str]], float32: bool) -> tuple[Causes, list[tuple[Kind, str]]]:
    """What the reference says: its changes, and what it asks for with other records and other values."""
    case = case_of(known, float32)
    if case is None:
        return Causes(), []
    causes = always(case)
    branched = (
        bool(said) and said[0][0] is Kind.CALLS and not any(one.change.kind is Kind.CALLS for one in causes.found)
    )
    if causes.whole and not branched:
        return causes, []
    firm = bool(said) and said[0][0] in FIRM
    more = [] if firm else [*batches(*known[0], float32), *going_on(known, float32)]
    if more:  # it explains every vector
        return Causes(), more
    wider = Causes() if firm or causes.whole else at_more_places(case)
    if wider.whole:
        return wider, []
    if causes.found:  # where a run branches otherwise, a value that is used wrongly comes before a wrong bound
        return causes, []
    sometimes = Causes() if firm else at_some_times(case)
    return (sometimes if sometimes.found else at_first(case)), []


def _decided(said: Sequence[tuple[Kind, str]], causes: Causes, queries: bool) -> tuple[Kind, str, Mutant | None]:
    """Kind, what shows it, and one change that does the same; ``queries``: another vector parts at a query."""
    kinds = [kind for kind, _ in said]
    chance = any(one.change.kind is not Kind.FACTOR for one in causes.found) and causes.whole
    for kind, detail in said:
        if kind is Kind.FACTOR and chance and "(" not in detail:  # of no size that the vector has
            continue
        same = [one for one in causes.found if one.change.kind is kind]
        if same:
            return kind, detail, min(same, key=_used_by_all)
    follows = causes.whole and kinds[:1] != [Kind.CALLS]
    if kinds[:1] == [Kind.SENSITIVITY] and not queries:  # a factor of what is declared, and of nothing else
        follows = follows and any(one.change.kind is not Kind.FACTOR for one in causes.found)
    shown = (*SHOWN, Kind.NOISE_SCALE) if queries else SHOWN
    if kinds[:1] == [Kind.CALLS]:  # another call, and then nothing: a factor that leads there is too little to go by
        follows = causes.whole and all(one.change.kind is not Kind.FACTOR for one in causes.found)
    if said and (not causes.found or (kinds[0] in (*FIRM, Kind.CALLS) and not (follows and kinds[0] in shown))):
        near = [one for one in causes.found if not _used_by_all(one)] if causes.whole else []
        return said[0][0], said[0][1], near[0] if near else None
    if causes.found:
        common = Counter(one.change.kind for one in causes.found)
        best = min(
            causes.found, key=lambda one: (_used_by_all(one), -_weight(one.change.kind), -common[one.change.kind])
        )
        return best.change.kind, "", best
    return Kind.UNKNOWN, "", None


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
SHOWN = (Kind.CALLS, Kind.SENSITIVITY)  # what follows from something else, if a change of that explains everything
SPECIFIC = (Kind.UN_NOISED, Kind.NO_CLIP, Kind.CLIP_ORDER, Kind.CLIP_NORM, Kind.CLIP_BOUND, Kind.BATCH, Kind.SIGN,
            Kind.MISSING_TERM, Kind.INDEX_SHIFT, Kind.BRANCH, Kind.FACTOR)  # fmt: skip


def _used_by_all(mutant: Mutant) -> bool:
    """Functions that everything uses are the last that a second implementation has wrong."""
    return any(file.startswith("blocks/") or "/" not in file for file, _ in mutant.sites)


def _weight(kind: Kind) -> int:
    """The more specific a kind is, the less likely it explains the numbers by chance."""
    return len(SPECIFIC) - SPECIFIC.index(kind) if kind in SPECIFIC else 0


def _at_a_query(vector: Data, given: Data, float32: bool) -> bool:
    found = compare(vector, {"output": None, **given}, float32=float32)
    return any(one.name in ("query", "queries") for one in found if one.step == found[0].step)


def _said_of_all(
    said: list[tuple[Kind, str]], others: Sequence[tuple[Data, Data]], float32: bool
) -> list[tuple[Kind, str]]:
    """Where a change explains all, a factor that not every red vector shows is chance."""
    if Kind.FACTOR not in [kind for kind, _ in said]:
        return said
    for other, theirs in others[:OTHERS]:
        found = list(compare(other, {"output": None, **theirs}, float32=float32))
        if found and Kind.FACTOR not in [kind for kind, _ in direct(other, {"output": None, **theirs}, found)]:
            return [one for one in said if one[0] is not Kind.FACTOR]
    return said
