"""Which changes of the reference ask for what another implementation asked for, on all vectors that are known.

In turn: a change that does the same on every vector; one that does so if declared sensitivities and batches do not
count; one that is made sometimes only. Where there is none, what explains the first difference of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from dpassay.reference.catalogue import CASES

from .agreeing import Data, agree, seen_by_others, to_the_first, undeclared
from .cost import length, patience
from .differences import compare, differ
from .fitting import Fitting, fits
from .mutants import (
    Mutant,
    answers,
    exchanged,
    mutants,
    old_text,
    seen_by,
    systematic,
)
from .reached import Reached
from .recording import VectorTape, latest
from .rounding import Run, computed
from .sometimes import OF_THE_LAST
from .together import together

OTHERS = 240  # further vectors that a change must explain as well
NUMBERS = ("query", "queries", "std", "scale", "query_scale", "threshold_scale", "threshold", "output")  # to be fitted
PARTLY, FIRST = 60, 24  # changes that explain the first vector and not all: so many are counted, on so many vectors
ELSEWHERE = 8  # of those that differ, are looked at for what else they run
CALLS = 60_000_000  # of functions, in all changed runs together: they are counted, as what is found shall not hang on
FIXED, LATE = 500, 20  # the machine. What a run costs beside its calls, and what one costs that does not end
Known = Sequence[tuple[Data, Data]]  # vectors with their answers, right or wrong; the first one is to be explained


@dataclass
class Causes:
    """Changes that explain, and whether they explain every vector to its end.

    Args:
        full: the further ones too.
        told: others that did so as well do something else on vectors that were chosen for it.
    """

    found: list[Mutant] = field(default_factory=list)
    whole: bool = False
    full: bool = False
    told: bool = False


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
    cost: float = field(init=False)
    left: float = CALLS
    stopped: bool = False
    idle: set[Mutant] = field(default_factory=set)  # changes that change nothing up to the first difference,
    early: set[Mutant] = field(default_factory=set)  # and those that change something before it
    firsts: list[Mutant] = field(default_factory=list)  # those that do the same there, whatever comes after it

    def __post_init__(self) -> None:
        self.bare = [(vector, undeclared(given)) for vector, given in self.known]
        self.cut = to_the_first(*self.bare[0], self.float32)
        vector, given = self.cut or self.bare[0]
        self._vector, self._asked = seen_by_others(vector["events"]), seen_by_others(given["events"])
        self.seconds = patience(self.run, self.known[0][0])
        self.seen = seen_by(self.run, self.known[0][0], self.until)
        calls = length(self.run, self.known[0][0])
        events = self.known[0][0]["events"]
        share = 1.0 if self.until is None or not events else min(1.0, (1 + self.until) / len(events))
        self.cost = FIXED + calls * share
        self._asides: set[Mutant] | None = None  # where the last run belongs
        self._agreed = False  # did it agree at the first difference?
        pairs = self.bare[: OTHERS + 1]  # nothing differs but what is declared: then no change is made for the rest
        self._declared = not any(
            compare(one, {"output": None, **theirs}, float32=self.float32) for one, theirs in pairs
        )

    @property
    def until(self) -> int | None:
        """Events of the vector up to the first that differs; None where no event does."""
        return None if self.cut is None else len(seen_by_others(self.cut[0]["events"]))

    @property
    def elsewhere(self) -> Reached:
        """What the reference runs on other vectors that differ, those of another reading first."""
        red = [one for one in self.known[1:] if compare(one[0], {"output": None, **one[1]}, float32=self.float32)]
        red.sort(key=lambda one: one[0]["reading"] == self.known[0][0]["reading"])
        found = Reached()
        for vector, _ in red[:ELSEWHERE]:
            for file, lines in seen_by(self.run, vector, None).lines.items():
                found.lines.setdefault(file, set()).update(lines)
        return found

    def explaining(self, tried: Iterable[Mutant]) -> tuple[list[Mutant], list[Mutant]]:
        """Those that do the same on the first vector: with all that is declared, and what is declared aside."""
        whole: list[Mutant] = []
        bare: list[Mutant] = []
        vector = self.known[0][0]
        for one in tried:
            if self.left <= 0:
                self.stopped = True
                break
            made = self._made(one)
            if made is not None and agree(*self._first(self.bare, made), self.float32):
                bare += [] if self._declared else [one]
                if agree(*self._first(self.known, made), self.float32):
                    whole.append(one)
            elif made is not None and self.cut is None and not one.when and agree(vector, made, vector, self.float32):
                self.idle.add(one)
        return whole, bare

    def spend(self) -> None:
        """One changed run on the first vector."""
        self.left -= self.cost

    @staticmethod
    def _first(known: Known, made: Data) -> tuple[Data, Data, Data]:
        return known[0][0], made, known[0][1]

    def _made(self, mutant: Mutant) -> Data | None:
        self.spend()
        if mutant.when in OF_THE_LAST:
            self.spend()  # a run more says when its last time is
        late: list[bool] = []
        self._asides, self._agreed = None, False
        made = answers(self.run, self.known[0][0], mutant, self.until, self._stop, self.seconds, late)
        self.left -= LATE * self.cost * len(late)
        if self._asides is not None and not mutant.when:
            self._asides.add(mutant)
        if self._agreed and not mutant.when:
            self.firsts.append(mutant)
        return made

    def _stop(self, tape: VectorTape) -> bool:
        made, place = latest(tape), tape.position - 1
        if made is None:
            return True
        if place >= len(self._asked):
            return self.cut is None  # the other one asked for less
        event = self._vector[place]
        before = self.until is None or tape.position < self.until  # there both agree, so that either will do
        if before and event["event"] != "draw" and all(made.get(name) == one for name, one in computed(event).items()):
            return True
        known = {**made, "rounding": self._vector[place].get("rounding", {})}
        same = not differ(place, known, self._asked[place], float32=self.float32)
        if not same and before:
            self._asides = self.early
        elif not same and not differ(place, known, event, float32=self.float32):
            self._asides = self.idle
        self._agreed = same and tape.position == self.until
        return same

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


def always(case: Case, *, plain: bool = False, every: bool = False) -> Causes:
    """Changes that do the same on all vectors, what is declared aside if need be: the known ones, then every edit.

    Args:
        plain: the numbers say it so plainly that the known ones are enough.
        every: the known ones do not stand for the others, as little is to be explained.
    """
    partly = Causes()
    finds: tuple[Callable[[Reached], list[Mutant]], ...] = (mutants,) if plain else (mutants, systematic)
    for find in (lambda seen: [*mutants(seen), *systematic(seen)],) if every else finds:
        declared, bare = case.explaining(find(case.seen))
        found = case.most(declared, declared=True)
        if not found.full:
            other = case.most(bare)
            found = other if other.full or (other.whole and not found.whole) or not found.found else found
        if found.full:
            return found
        partly = found if found.whole or not partly.found else partly
    return partly


def at_more_places(case: Case) -> Causes:
    """The same change at more places than one."""
    known = [*mutants(case.seen), *systematic(case.seen)]
    known = [one for one in known if one not in case.early]
    elsewhere = case.elsewhere
    tried = together(known, mutants(elsewhere), systematic(elsewhere), idle=case.idle)
    found = case.most(case.explaining(tried)[1])
    return found if found.whole else Causes()


def of_other_values(case: Case) -> Causes:
    """Each value for another one of the same function."""
    found = case.most(case.explaining(exchanged(case.seen))[1])
    return found if found.whole else Causes()


def fitted(case: Case) -> Causes:
    """Factors and terms with a number that is found from the first difference."""
    first = compare(*(case.cut or case.bare[0]), float32=case.float32)[0]
    if first.name not in NUMBERS:
        return Causes()
    fitting, tried = Fitting(case, first.name), []
    for one in fits(case.seen):
        if case.left <= 0:
            case.stopped = True
            break
        with suppress(ArithmeticError, ValueError):
            met = fitting.met(one)
            tried += [] if met is None else [met]
    found = case.most(case.explaining(tried)[1])
    return found if found.whole else Causes()


def at_first(case: Case) -> Causes:
    """What explains the first difference of each vector: a bug in two places is no single change."""
    cut = [to_the_first(*one, case.float32) for one in case.known[: OTHERS + 1]]
    kept = [one for one in cut if one is not None]
    if not kept or cut[0] is None:
        return Causes()
    tried = dict.fromkeys(case.firsts or mutants(case.seen))  # none is noted where too little is asked for
    first = [one for one in tried if explains(case.run, *kept[0], one, case.float32)]
    found = _most(case.run, first, kept[1:], case.float32).found
    if not found:  # other constants may lead to what hides it
        committed = [one for one in kept[1:] if not one[0].get("further")]
        found = _most(case.run, first, committed, case.float32).found
    return Causes(found)


def _most(run: Run, first: Sequence[Mutant], others: Known, float32: bool, *, full: bool = True) -> Causes:
    """Of these, the ones that explain the most of the other vectors, but at least half of those that differ."""
    if not first:
        return Causes()
    red = [bool(compare(vector, {"output": None, **given}, float32=float32)) for vector, given in others]
    order = sorted(range(len(others)), key=lambda place: not red[place])
    whole = [one for one in first if all(explains(run, *others[place], one, float32) for place in order)]
    if whole:
        return Causes(whole, True, full)
    if not all(_counts(vector) for vector, _ in others):  # there may be something else that is seen there alone
        return _most(run, first, [one for one in others if _counts(one[0])], float32, full=False)
    others, red = others[:FIRST], red[:FIRST]
    known = [[explains(run, *other, one, float32) for other in others] for one in first[:PARTLY]]
    best = max(sum(row) for row in known)
    kept = [
        one
        for one, row in zip(first, known, strict=False)
        if sum(row) == best and 2 * sum(good for good, bad in zip(row, red, strict=True) if bad) >= sum(red)
    ]
    return Causes(kept, False)


def _counts(vector: Data) -> bool:
    """Must it be explained? Those that were made because others did not tell changes apart must be."""
    return not vector.get("further") or bool(vector.get("asked"))


def explains(run: Run, vector: Data, given: Data, mutant: Mutant, float32: bool) -> bool:
    """The changed reference as the vector: nothing differs as far as the other one went."""
    made = answers(run, vector, mutant)
    return made is not None and agree(vector, made, given, float32)
