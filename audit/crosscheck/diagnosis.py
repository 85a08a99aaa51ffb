"""What is wrong, and not only where: the first differing step, the kind of difference, the change of the reference that
does the same, and what that does to epsilon.

Two sources are asked. The numbers themselves (``direct.py``) know signs, factors, shifts, scales. The reference with
one line changed (``mutants.py``) is run on the vector: a change that asks for exactly what the other implementation
asked for names the bug. Where many changes do, the kind that the numbers show decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable

from .differences import Difference, compare
from .direct import direct
from .effects import accounted
from .going_on import answers_going_on, goings_on, said_of
from .kinds import Kind
from .mutants import Mutant, answers, mutants, other_batches
from .realised import on_worst_pair

__all__ = ["Diagnosis", "Kind", "diagnose"]
Data = Mapping[str, Any]
OTHERS = 6  # further vectors that a change must explain as well
UNUSABLE = (ArithmeticError, ValueError, TypeError, KeyError, IndexError, AttributeError)  # of numbers that are none


@dataclass(frozen=True)
class Diagnosis:
    """The first difference, explained.

    Args:
        step, label, name, index, expected, got, ratio, length: as in :class:`~.differences.Difference`.
        kind: what kind of difference it is.
        detail: what shows the kind, in words.
        mutant: the change of the reference that does the same, or empty.
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

    def __str__(self) -> str:
        lines = [f"diagnosis: {self.kind.value}" + (f": {printable(self.detail)}" if self.detail else "")]
        if self.mutant:
            lines.append(f"the reference does the same with: {self.mutant}")
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
    said = []
    with suppress(*UNUSABLE):
        said = direct(vector, given, found)
    causes = _causes(vector, given, others, float32) if mutants else []
    if not causes and mutants and (not said or said[0][0] not in FIRM):
        said = [*_batches(vector, given, float32), *_going_on(vector, given, others, float32), *said]
    if any(one.change.kind is not Kind.FACTOR for one in causes):
        with suppress(*UNUSABLE):
            said = _said_of_all(said, others, float32)
    kind, detail, mutant = _decided(said, causes)
    if kind is Kind.UNKNOWN and mutants and not vector.get("own"):
        detail = "no single change of the reference does the same"
    effect = kind.effect
    with suppress(*UNUSABLE):
        effect = accounted(vector, given, kind)
    case = next((case for case in CASES if case.key == vector["case"]), None)
    shown = "" if case is None or mutant is None else on_worst_pair(case, mutant)
    effect = f"{effect}; {shown}" if shown else effect
    place = (first.step, first.label, first.name, first.index, first.expected, first.got, first.ratio, first.length)
    return Diagnosis(*place, kind, detail, "" if mutant is None else str(mutant), effect)


def _decided(said: Sequence[tuple[Kind, str]], causes: Sequence[Mutant]) -> tuple[Kind, str, Mutant | None]:
    """Kind, what shows it, and one change that does the same."""
    kinds = [kind for kind, _ in said]
    for kind, detail in said:
        same = [one for one in causes if one.change.kind is kind]
        if same:
            return kind, detail, same[0]
    if said and (not causes or kinds[0] in FIRM):
        return said[0][0], said[0][1], causes[0] if causes else None
    if causes:
        common = Counter(one.change.kind for one in causes)
        best = min(causes, key=lambda one: (-_weight(one.change.kind), -common[one.change.kind]))
        return best.change.kind, "", best
    return Kind.UNKNOWN, "", None


FIRM = (Kind.CALLS, Kind.LAW, Kind.BATCH, Kind.CLAIM, Kind.SHAPE, Kind.SENSITIVITY, Kind.NOISE_SCALE, Kind.UN_NOISED,
        Kind.SIGN)  # fmt: skip
SPECIFIC = (Kind.UN_NOISED, Kind.NO_CLIP, Kind.CLIP_ORDER, Kind.CLIP_NORM, Kind.CLIP_BOUND, Kind.BATCH, Kind.SIGN,
            Kind.MISSING_TERM, Kind.INDEX_SHIFT, Kind.BRANCH, Kind.FACTOR)  # fmt: skip


def _weight(kind: Kind) -> int:
    """The more specific a kind is, the less likely it explains the numbers by chance."""
    return len(SPECIFIC) - SPECIFIC.index(kind) if kind in SPECIFIC else 0


def _causes(vector: Data, given: Data, others: Sequence[tuple[Data, Data]], float32: bool) -> list[Mutant]:
    """Changes that ask for the same on this vector and on the others."""
    case = next((case for case in CASES if case.key == vector["case"]), None)
    if case is None:
        return []
    run = case.build().run
    tried = mutants(run, [vector])
    found = [one for one in tried if _explains(run, vector, given, one, float32)]
    if not found:  # whoever computes another query may declare the same sensitivity and batches for it
        bare = _undeclared(given)
        found = [one for one in tried if _explains(run, vector, bare, one, float32)]
        others = [(other, _undeclared(theirs)) for other, theirs in others]
    if not found:  # a bug in two places is no single change: what explains the first difference of every vector
        cut = [_to_the_first(one, theirs, float32) for one, theirs in ((vector, given), *others[:OTHERS])]
        (vector, given), *others = [one for one in cut if one is not None] or [(vector, given)]
        found = [one for one in tried if _explains(run, vector, given, one, float32)]
    for other, theirs in others[:OTHERS]:
        kept = [one for one in found if _explains(run, other, theirs, one, float32)]
        found = kept or found  # a second bug there does not undo what is known here
    return found


def _to_the_first(vector: Data, given: Data, float32: bool) -> tuple[Data, Data] | None:
    """Vector and answers up to the first event that differs; None where no event does."""
    found = compare(vector, {"output": None, **given}, float32=float32)
    if not found or found[0].step < 0 or found[0].step >= len(vector["events"]):
        return None
    count = sum(event["event"] != "secret" for event in vector["events"][: found[0].step + 1])
    asked = [event for event in given["events"] if event["event"] != "secret"][:count]
    kept = {**vector, "events": vector["events"][: found[0].step + 1]}
    return kept, {**given, "events": asked, "kind": "cut"}


def _undeclared(given: Data) -> Data:
    kept = [{name: one[name] for name in one if name not in ("sensitivity", "batches")} for one in given["events"]]
    return {**given, "events": kept}


def _batches(vector: Data, given: Data, float32: bool) -> list[tuple[Kind, str]]:
    """Other records than those that were drawn, for which the reference asks for the same."""
    run = next((case.build().run for case in CASES if case.key == vector["case"]), None)
    tried = other_batches(run, vector) if run is not None else ()
    return [(Kind.BATCH, name) for name, made in tried if _agree(vector, made, given, float32)][:1]


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


def _going_on(vector: Data, given: Data, others: Sequence[tuple[Data, Data]], float32: bool) -> list[tuple[Kind, str]]:
    """Something else than the released values, with which the reference asks for the same, on the other vectors too."""
    run = next((case.build().run for case in CASES if case.key == vector["case"]), None)
    if run is None:
        return []
    known = [(vector, given), *others[:OTHERS]]
    for going in goings_on(vector):
        made = ((one, answers_going_on(run, one, going), theirs) for one, theirs in known)
        if all(found is not None and _agree(one, found, theirs, float32) for one, found, theirs in made):
            return [(going[0].kind, said_of(going))]
    return []


def _explains(run: Any, vector: Data, given: Data, mutant: Mutant, float32: bool) -> bool:
    """The changed reference as the vector: nothing differs as far as the other one went."""
    made = answers(run, vector, mutant)
    return made is not None and _agree(vector, made, given, float32)


def _agree(vector: Data, made: Data, given: Data, float32: bool) -> bool:
    if len(made["events"]) < len(given["events"]):
        return False
    events = []
    cut = len(vector["events"]) if given.get("kind") == "cut" else None
    for position, event in enumerate(made["events"][:cut]):
        known = vector["events"][position] if position < len(vector["events"]) else {}
        events.append({**event, "rounding": known.get("rounding", {})})
    stopped = given.get("kind") in ("diverged", "cut")
    output = given.get("output") if stopped else made["output"]
    expected = {**vector, "events": events, "output": output}
    return not compare(expected, {**given, "output": given.get("output")}, float32=float32)
