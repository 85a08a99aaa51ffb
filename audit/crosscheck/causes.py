"""Which changes of the reference ask for what another implementation asked for, on all vectors that are known.

In turn: a change that does the same on every vector; one that does so if declared sensitivities and batches do not
count; one that is made sometimes only. Where there is none, what explains the first difference of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from dpassay.reference.catalogue import CASES

from .differences import compare
from .going_on import Going, answers_going_on, goings_on, said_of
from .kinds import Kind
from .mutants import Mutant, answers, at_times, length, mutants, old_text, other_batches, patience, seen_by, systematic
from .reached import Reached
from .recording import VectorTape, events_of
from .rounding import Run
from .together import together

OTHERS = 40  # further vectors that a change must explain as well
MOST = 6000  # changed runs for changes that are made sometimes,
CALLS = 6_000_000  # and calls of functions in all of them: about ten seconds
Data = Mapping[str, Any]
Known = Sequence[tuple[Data, Data]]  # vectors with their answers, right or wrong; the first one is to be explained


@dataclass
class Causes:
    """Changes that explain, and whether they explain every vector to its end."""

    found: list[Mutant] = field(default_factory=list)
    whole: bool = False


def run_of(vector: Data) -> Run | None:
    """The reference of a vector's row of the catalogue."""
    return next((case.build().run for case in CASES if case.key == vector["case"]), None)


@dataclass
class Case:
    """What is to be explained: the reference, the vectors with their answers, and what it ran until they part.

    Args:
        known: declared sensitivities and batches included.
        bare: without them: whoever computes another query may declare the same sensitivity for it.
    """

    run: Run
    known: Known
    float32: bool
    bare: Known = field(init=False)
    cut: tuple[Data, Data] | None = field(init=False)
    seen: Reached = field(init=False)
    seconds: float = field(init=False)

    def __post_init__(self) -> None:
        self.bare = [(vector, _undeclared(given)) for vector, given in self.known]
        self.cut = _to_the_first(*self.bare[0], self.float32)
        self.seconds = patience(self.run, self.known[0][0])
        self.seen = seen_by(self.run, self.known[0][0], self.until)

    @property
    def until(self) -> int | None:
        """Events up to the first that differs; None where no event does."""
        return None if self.cut is None else len(self.cut[1]["events"])

    @property
    def limit(self) -> int:
        """Changed runs that are not too many: they are counted, so that what is found does not hang on the machine."""
        return min(MOST, CALLS // length(self.run, self.known[0][0]))

    def explaining(self, tried: Iterable[Mutant], *, declared: bool = False) -> list[Mutant]:
        """Those that do the same on the first vector."""
        vector, given = (self.known if declared else self.bare)[0]
        return [one for one in tried if self._agrees(vector, given, one)]

    def _agrees(self, vector: Data, given: Data, mutant: Mutant) -> bool:
        made = answers(self.run, vector, mutant, self.until, self._stop, self.seconds)
        return made is not None and agree(vector, made, given, self.float32)

    def _stop(self, tape: VectorTape) -> bool:
        assert self.cut is not None
        vector, given = self.cut
        return agree(vector, {"events": events_of(tape), "output": None}, given, self.float32)

    def most(self, first: Sequence[Mutant], *, declared: bool = False) -> Causes:
        """Of these, the ones that explain the largest number of the other vectors."""
        others = (self.known if declared else self.bare)[1 : OTHERS + 1]
        found = _most(self.run, first, others, self.float32)
        found.found.sort(key=lambda one: (len(one.sites), len(old_text(one))))  # the shortest text says it best
        return found


def case_of(known: Known, float32: bool) -> Case | None:
    """None where the reference is not known."""
    run = run_of(known[0][0])
    return None if run is None else Case(run, known, float32)


def always(case: Case) -> Causes:
    """Changes that do the same on all vectors, what is declared aside if need be: the known ones, then every edit."""
    partly = Causes()
    for find in (mutants, systematic):
        tried = find(case.seen)
        found = case.most(case.explaining(tried, declared=True), declared=True)
        if not found.whole:
            bare = case.most(case.explaining(tried))
            found = bare if bare.whole or not found.found else found
        if found.whole:
            return found
        partly = partly if partly.found else found
    return partly


def at_more_places(case: Case) -> Causes:
    """The same change at more places than one."""
    tried = together([*mutants(case.seen), *systematic(case.seen)])
    found = case.most(case.explaining(islice(tried, case.limit // 2)))
    return found if found.whole else Causes()


def at_some_times(case: Case) -> Causes:
    """Changes that do the same on all vectors if they are made at some times only."""
    vector = case.known[0][0]
    tried = (sometimes for one in mutants(case.seen) for sometimes in at_times(one, [vector]))
    found = case.most(case.explaining(islice(tried, case.limit)))
    return found if found.whole else Causes()  # there are too many of them for less to be a sign


def at_first(case: Case) -> Causes:
    """What explains the first difference of each vector: a bug in two places is no single change."""
    cut = [_to_the_first(*one, case.float32) for one in case.known[: OTHERS + 1]]
    kept = [one for one in cut if one is not None]
    if not kept or cut[0] is None:
        return Causes()
    first = [one for one in mutants(case.seen) if explains(case.run, *kept[0], one, case.float32)]
    return Causes(_most(case.run, first, kept[1:], case.float32).found)


def _most(run: Run, first: Sequence[Mutant], others: Known, float32: bool) -> Causes:
    """Of these, the ones that explain the most of the other vectors, but at least half of those that differ."""
    if not first:
        return Causes()
    red = [bool(compare(vector, {"output": None, **given}, float32=float32)) for vector, given in others]
    known = [[explains(run, *other, one, float32) for other in others] for one in first]
    best = max(sum(row) for row in known)
    kept = [
        one
        for one, row in zip(first, known, strict=True)
        if sum(row) == best and 2 * sum(good for good, bad in zip(row, red, strict=True) if bad) >= sum(red)
    ]
    return Causes(kept, best == len(others))


def batches(vector: Data, given: Data, float32: bool) -> list[tuple[Kind, str]]:
    """Other records than those that were drawn, for which the reference asks for the same."""
    run = run_of(vector)
    tried = other_batches(run, vector) if run is not None else ()
    return [(Kind.BATCH, name) for name, made in tried if agree(vector, made, given, float32)][:1]


def going_on(known: Known, float32: bool) -> list[tuple[Kind, str]]:
    """Something else than the released values, with which the reference asks for the same, on the other vectors too."""
    run = run_of(known[0][0])
    if run is None:
        return []
    explained: list[Going] = []
    for going in goings_on(known[0][0]):
        made = ((one, answers_going_on(run, one, going), theirs) for one, theirs in known[: OTHERS + 1])
        if all(found is not None and agree(one, found, theirs, float32) for one, found, theirs in made):
            if explained and explained[0][1:] != going[1:]:
                break  # the same at other places is no news
            explained.append(going)
    if not explained:
        return []
    others = " or ".join(going[0].name for going in explained[1:3])
    return [(explained[0][0].kind, said_of(explained[0]) + (f" (or {others})" if others else ""))]


def explains(run: Run, vector: Data, given: Data, mutant: Mutant, float32: bool) -> bool:
    """The changed reference as the vector: nothing differs as far as the other one went."""
    made = answers(run, vector, mutant)
    return made is not None and agree(vector, made, given, float32)


def agree(vector: Data, made: Data, given: Data, float32: bool) -> bool:
    """Does what was made differ from what is given nowhere?"""
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
