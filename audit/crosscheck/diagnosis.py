"""What is wrong, and not only where: the first differing step, the kind of difference, the change of the reference that
does the same, and what that does to epsilon.

Two sources are asked. The numbers themselves (``direct.py``) know signs, factors, shifts, scales. The reference with
one line changed (``mutants.py``) is run on the vector: a change that asks for exactly what the other implementation
asked for names the bug. Where many changes do, the kind that the numbers show decides.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable

from .afterwards import afterwards, exact_for_released
from .apart import told_apart
from .causes import (
    OTHERS,
    Case,
    Causes,
    Known,
    always,
    at_first,
    at_more_places,
    case_of,
    fitted,
    of_other_values,
)
from .deciding import CHANCE, FIRM, also_named, decided, evidence
from .differences import Difference, Part, compare, noise_of
from .direct import direct
from .effects import INFINITE, accounted
from .families import series
from .further import Again, Pair
from .kinds import Kind
from .known import what_is_known
from .not_always import at_some_times, at_some_uses
from .other_data import batches, going_on
from .reading import of_the_released
from .realised import on_worst_pair
from .shown import Seen, Shown

__all__ = ["Diagnosis", "Kind", "diagnose"]
Data = Mapping[str, Any]
ROUNDED_OF_NOISE = 1e-4  # what rounding moves is less than this share of the noise
FEW = 20  # vectors on which it is seen whether records move a value
NOTHING = "no single change of the reference does the same"
AFTERWARDS = {Kind.NO_CLIP: Kind.MISSING_TERM, Kind.CLIP_BOUND: Kind.FACTOR}  # of what is released already
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
        partly: the change does the same on some of the vectors that differ, and not on all.
        told: on so many more vectors the change does the same, which were made to tell it from others.
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
    partly: bool = False
    told: int = 0

    def __str__(self) -> str:
        lines = [f"diagnosis: {self.kind.value}" + (f": {printable(self.detail)}" if self.detail else "")]
        if self.mutant:
            where = " on some of the vectors, not on all," if self.partly else ""
            lines.append(f"the reference does the same{where} with: {self.mutant}")
        lines += [f"and on {self.told} more vectors, made to tell it from other changes"] if self.told else []
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
    again: Again | None = None,
) -> Diagnosis:
    """Explain what another implementation asked for.

    Args:
        vector: what is expected. Where ``given`` differs nowhere from it, the kind is :attr:`Kind.NONE`.
        given: events and output of the other implementation.
        mutants: try the changes of the reference.
        differences: of the two, if they are known already.
        others: more vectors of the same algorithm with their answers, right or wrong: a change must explain them too.
        float32: the other implementation computes in single precision.
        again: runs it on more vectors, where those that are known do not tell changes of two kinds apart.
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
        said = [] if _rounded(said) and not _mostly_rounded(others, float32) else said
        said = _some_noise(said, first, others, float32)
    known = [(vector, given), *others]
    causes, stopped, asked = Causes(), False, list[Pair]()
    if mutants:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of changed runs
            causes, more, stopped = _asked(known, said, float32)
            if again is not None and causes.full:
                causes, asked = told_apart(causes, known, again, float32)
                if not causes.found:
                    causes, more, stopped = _asked([*known, *asked], said, float32)
        said = [*more, *said]
    if causes.found:
        with suppress(*UNUSABLE):
            said = _said_of_all(said, others, float32)
    seen = evidence(said, causes, known, float32)
    kind, detail, mutant = decided(seen)
    if kind is Kind.UNKNOWN:
        with suppress(*UNUSABLE):
            detail = what_is_known(vector, found)
        if mutants and not vector.get("own"):
            tried = "of the changes that there was time for none does the same" if stopped else NOTHING
            detail = tried + (f"; {detail}" if detail else "")
    case = next((case for case in CASES if case.key == vector["case"]), None)
    late = False
    if case is not None and mutant is not None and causes.whole:
        late = of_the_released(mutant) or afterwards(case.build().run, vector, mutant)
    kind = AFTERWARDS.get(kind, kind) if late else kind
    if kind is Kind.INDEX_SHIFT and case is not None and mutant is not None:
        vectors = [one for one, _ in known if not one.get("further")][:FEW]
        kind = Kind.UN_NOISED if exact_for_released(vectors, mutant) else kind
    told = len(asked) if causes.told and causes.full and mutant in causes.found else 0
    effect, partly = kind.effect, mutant is not None and bool(causes.found) and not causes.whole
    with suppress(*UNUSABLE):
        sure = not seen.calls_alone or (told > 0 and len({one.change.kind for one in causes.found}) == 1)
        effect = accounted(vector, given, kind, late, sure=sure, partly=partly)
    silent = mutant is None or mutant.when or (partly and kind in INFINITE)  # too little for so much
    shown = "" if case is None or mutant is None or silent else on_worst_pair(case, mutant)
    effect = f"{effect}; {shown}" if shown else effect
    effect = f"if it is this: {effect}" if partly else effect
    place = (first.step, first.label, first.name, first.index, first.expected, first.got, first.ratio, first.length)
    also = () if mutant is None or not causes.whole else also_named(kind, mutant, causes)
    return Diagnosis(*place, kind, detail, "" if mutant is None else str(mutant), effect, also, partly, told)


def _asked(known: Known, said: Sequence[Shown], float32: bool) -> tuple[Causes, list[Shown], bool]:
    """What the reference says: its changes; what it asks for with other records and values; was there enough time."""
    case = case_of(known, float32)
    if case is None:
        return Causes(), [], False
    first = said[0].kind if said else Kind.UNKNOWN
    returned = compare(*known[0], float32=float32)[0].part is Part.OUTPUT
    plain = bool(said) and said[0].seen is Seen.REORDERED
    causes = always(case, plain=plain, every=first in (Kind.CALLS, Kind.BATCH) or returned)
    kinds = {one.change.kind for one in causes.found}
    if causes.full and not kinds <= CHANCE:
        return causes, [], False
    firm = first in FIRM
    more = [] if firm else [*batches(known, float32), *going_on(known, float32)]
    if more:  # it explains every vector
        return Causes(), more, False
    if causes.full or plain:
        return causes, [], False
    wider = _wider(case, first)
    if wider.full or causes.whole:
        return (wider if wider.full else causes), [], case.stopped
    if wider.whole or (causes.found and not kinds <= CHANCE):
        return (wider if wider.whole else causes), [], case.stopped
    sometimes = Causes()
    if not firm and first is not Kind.CALLS:
        sometimes = at_some_uses(case)
        sometimes = sometimes if sometimes.found else at_some_times(case)
    partly = sometimes if sometimes.found else causes
    return (partly if partly.found else at_first(case)), [], case.stopped


def _wider(case: Case, first: Kind) -> Causes:
    """Changes at more places or at some times, and numbers that are fitted."""
    wider = Causes()
    finds = (at_some_times, of_other_values) if first is Kind.CALLS else (at_more_places, fitted, of_other_values)
    for find in () if first in FIRM else finds:
        found = find(case)
        if found.full:
            return found
        wider = wider if wider.whole else found
    return wider


def _some_noise(
    said: list[Shown], first: Difference, others: Sequence[tuple[Data, Data]], float32: bool
) -> list[Shown]:
    """No noise in one vector, and another amount in others: it is the scale that is wrong."""
    if not said or said[0].seen is not Seen.NO_NOISE:
        return said
    for other, theirs in others[:OTHERS]:
        for one in compare(other, {"output": None, **theirs}, float32=float32):
            same = (one.name, series(one.label)) == (first.name, series(first.label))
            if same and isinstance(one.got, int | float) and one.got > 0:
                return [Shown(Kind.NOISE_SCALE, Seen.NO_NOISE_AT_FIRST), *said[1:]]
    return said


def _rounded(said: Sequence[Shown]) -> bool:
    return bool(said) and said[0].kind is Kind.PRECISION


def _mostly_rounded(others: Sequence[tuple[Data, Data]], float32: bool) -> bool:
    """Do no more than half of the others part by much, as rounding does nowhere? Else a small part is chance."""
    every = [(one, given, list(compare(one, {"output": None, **given}, float32=float32))) for one, given in others]
    numbers = [one for one in every if one[2] and one[2][0].name in ("query", "queries", "output")]
    return 2 * sum(_rounded(direct(*one)) or _small(one[0], one[2][0]) for one in numbers) >= len(numbers)


def _small(vector: Data, one: Difference) -> bool:
    """Is it next to nothing beside the noise?"""
    noise = noise_of(vector["events"][one.step]) if 0 <= one.step < len(vector["events"]) else 0.0
    known = isinstance(one.expected, int | float) and isinstance(one.got, int | float)
    return known and noise > 0 and abs(one.got - one.expected) <= ROUNDED_OF_NOISE * noise


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
