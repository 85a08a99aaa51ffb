"""At which of its uses is a change made? It is found use by use: each event says whether the last one was changed.

No list of times has them all: a sign that a library gives as it likes, a leaf of a tree that is treated in another way.
A change at some uses explains nothing unless every number of every vector that differs is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .agreeing import Data, agree, seen_by_others
from .differences import differ
from .mutants import Mutant, answers
from .recording import VectorTape, latest
from .rounding import Run
from .sometimes import When

LAST = 2  # uses before an event that are tried for it
MOST = 16  # uses at which a change is made: more are no sign of one


@dataclass
class Uses:
    """One vector, and what the other one asked for on it, what is declared aside."""

    run: Run
    vector: Data
    given: Data
    float32: bool
    seconds: float
    tried: int = 0

    def __post_init__(self) -> None:
        self._known, self._asked = seen_by_others(self.vector["events"]), seen_by_others(self.given["events"])
        self._place = 0

    def found(self, mutant: Mutant) -> bool:
        """Are there uses at which the change leads to what was asked for?"""
        made: set[int] = set()
        place, count = self._trial(mutant, made)
        while place <= len(self._asked) and len(made) < MOST:
            for use in reversed(range(max(0, count - LAST), count)):
                further, uses = self._trial(mutant, {*made, use}) if use not in made else (0, 0)
                if further > place:
                    made, place, count = {*made, use}, further, uses
                    break
            else:
                return False
        return bool(made) and place > len(self._asked)

    def _trial(self, mutant: Mutant, uses: set[int]) -> tuple[int, int]:
        """Up to which event it agrees (one more where it agrees altogether), and how often it was used."""
        self.tried += 1
        when = When("", uses=uses)
        self._place = 0
        made = answers(self.run, self.vector, mutant, None, self._stop, self.seconds, when=when)
        if made is not None and self._place == 0:
            whole = agree(self.vector, made, self.given, self.float32)
            return len(self._asked) + whole, when.count
        return self._place - 1, when.count

    def _stop(self, tape: VectorTape) -> bool:
        made, place = latest(tape), tape.position - 1
        if made is None:
            return True
        if place < len(self._asked):
            known = {**made, "rounding": self._known[place].get("rounding", {})}
            if not differ(place, known, self._asked[place], float32=self.float32):
                return True
        self._place = place + 1
        return False


def explained(uses: Sequence[Uses], mutant: Mutant) -> bool:
    """Is there such a choice of uses on every one of these vectors?"""
    return all(one.found(mutant) for one in uses)
