"""What is known of a first difference: the numbers, the reference's line, epsilon, and changes that reproduce the run.

Nothing here says what is wrong: each part can be checked by hand, and a person decides.
"""

import warnings
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from time import process_time
from typing import Any

import numpy as np

from dpassay.audit.mutate.lent import lent, source
from dpassay.audit.mutate.operators import Site, sites
from dpassay.audit.mutate.slips import slips
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput, printable
from dpassay.reference.limits import TooLong, limited

from .arithmetic import facts
from .differences import Data, Difference, Part, compare
from .encoding import encode
from .epsilon import Effect, effect
from .recording import Run, VectorTape, events_of, run_again
from .reference_line import Line, Watched, alike_in, lines_of, watched
from .rounding import computed, numbers, visible_events

SECONDS = 10.0  # of processor time for all changes
SLOWEST = 0.3  # seconds for one changed run; one of the reference takes a hundredth
SHOWN = 5  # changes
LOOSE = 1e-7  # relative: behind a value that is not the vector's no rounding is known
UNUSABLE = (ArithmeticError, ValueError, TypeError, KeyError, IndexError, AttributeError)  # of numbers that are none
FIRST, RUN = "the first difference", "the run"  # what a changed run gives; empty where it gives neither
Pair = tuple[Data, Data]  # a vector, and what was asked for on it


@dataclass(frozen=True)
class Change:
    """One place of the reference with another text.

    Args:
        file: below ``reference/``.
        site: the place and the new text.
        vectors: on so many of the answered vectors it gives exactly the other run.
    """

    file: str
    site: Site
    vectors: int = 0

    @property
    def length(self) -> int:
        """How many letters become how many others, without those at both ends that stay."""
        old, new = source(self.file)[self.site.first : self.site.last], self.site.text
        least = min(len(old), len(new))
        first = next((place for place in range(least) if old[place] != new[place]), least)
        last = next((place for place in range(least - first) if old[-1 - place] != new[-1 - place]), least - first)
        return len(old) + len(new) - 2 * (first + last)

    def __str__(self) -> str:
        text, place = source(self.file), f"reference/{self.file}:{self.site.line}"
        begin, end = text.rfind("\n", 0, self.site.first) + 1, text.find("\n", self.site.last)
        before, after = (
            " ".join(one.split("  #")[0].split())
            for one in (text[begin:end], text[begin : self.site.first] + self.site.text + text[self.site.last : end])
        )
        if "_planted." in after:  # it calls what only planted lines have
            return f"{place}: `{before}`, but {self.site.operator.name.replace('_', ' ')}: {self.site.operator.why}"
        return f"{place}: `{before}` -> `{after}`"


@dataclass(frozen=True)
class Evidence:
    """What is known of the first difference.

    Args:
        first: the difference.
        numbers: what arithmetic says of it.
        lines: of the reference, that made the number or decided the call.
        effect: on epsilon; None where the answers cannot be accounted.
        changes: one-line changes of the reference that give the same run, the ones on most vectors first.
        tried: of how many; all: how many there are.
        vectors: answered ones on which they were tried.
        whole: the changes give the whole run, and not its first difference alone.
    """

    first: Difference
    numbers: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    effect: Effect | None = None
    changes: tuple[Change, ...] = ()
    tried: int = 0
    all: int = 0
    vectors: int = 0
    whole: bool = True

    def __str__(self) -> str:
        said = [f"numbers: {printable('; '.join(self.numbers))}"] if self.numbers else []
        said += [str(one) for one in self.lines]
        said += [f"epsilon: {self.effect}"] if self.effect is not None else []
        if self.changes:
            what = "your run" if self.whole else "this first difference, and not the whole run"
            said.append(f"one-line changes of the reference that reproduce {what}:")
            for one in self.changes[:SHOWN]:
                said.append(f"    {one}, on {one.vectors} of {self.vectors} vectors")
            more = len(self.changes) - SHOWN
            said += [f"    and {more} more"] if more > 0 else []
        elif self.tried:
            part = f"the {self.all}" if self.tried == self.all else f"the first {self.tried} of {self.all}"
            said.append(f"none of {part} one-line changes that were tried reproduces your run")
        return "\n".join(said)

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        changes = [
            {"file": f"reference/{one.file}", "line": one.site.line, "change": str(one), "vectors": one.vectors}
            for one in self.changes[:SHOWN]
        ]
        return {
            **{name: getattr(self.first, name) for name in ("step", "label", "name", "index", "expected", "got")},
            "numbers": list(self.numbers), "lines": [asdict(one) for one in self.lines],
            "epsilon": None if self.effect is None else self.effect.as_data(),
            "changes": changes, "reproducing": len(self.changes), "whole_run": self.whole,
            "tried": self.tried, "of": self.all, "vectors": self.vectors,
        }  # fmt: skip


def evidence(
    vector: Data,
    given: Data,
    found: Sequence[Difference],
    *,
    others: Sequence[Pair] = (),
    changes: bool = True,
    float32: bool = False,
) -> Evidence:
    """What is known of the first of these differences.

    Args:
        vector: what is expected; of another package's row there are no lines and no changes.
        given: events and output of the other implementation.
        found: how they differ; at least one difference.
        others: more vectors of the same algorithm, and what was asked for on them.
        changes: look for changes that reproduce the run.
        float32: the other implementation computes in single precision.
    """
    given = {"output": None, **given}
    known = Evidence(found[0])
    with suppress(*UNUSABLE):
        known = replace(known, numbers=tuple(facts(vector, given, found)))
    with suppress(*UNUSABLE):
        known = replace(known, effect=effect(vector, given))
    case = next((case for case in CASES if case.key == vector["case"]), None)
    if case is None:
        return known
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of runs that are watched, or changed
        try:
            with limited(SECONDS):
                seen = watched(case.build().run, vector, _until(vector, found[0]))
            known = replace(known, lines=tuple(lines_of(seen, vector, given, found)))
        except (BadInput, TooLong, *UNUSABLE):  # a file that is no vector of the reference
            return known
        if changes:
            pairs = [(vector, given), *((one, {"output": None, **theirs}) for one, theirs in others)]
            known = _reproduced(known, case, pairs, float32)
    return known


def _until(vector: Data, first: Difference) -> int | None:
    """How many events lie before the one that differs; None where the end of the run does."""
    if first.part in (Part.OUTPUT, Part.CLAIM) or first.step >= len(vector["events"]):
        return None
    return len(visible_events(vector, first.step))


def _reproduced(known: Evidence, case: Case, pairs: Sequence[Pair], float32: bool) -> Evidence:
    """The changes that give the first run, or else its first difference; then on how many of the others each does."""
    end, runs = process_time() + SECONDS, {one.key: one.build().run for one in CASES if one.id == case.id}
    answered = [Answered(runs[vector["case"]], vector, given, float32) for vector, given in pairs]
    if answered[0].given_by(None):  # so near that no change of a line is told from rounding
        return known
    every = candidates(watched(answered[0].run, answered[0].vector), known.lines)
    found: dict[bool, list[Change]] = {True: [], False: []}
    tried = 0
    for one in every:
        if process_time() > end:
            break
        tried += 1
        if given := answered[0].given_by(one):
            found[given == RUN].append(one)
    whole = bool(found[True])
    judged = []
    for one in {str(one): one for one in found[whole]}.values():
        others = [other.given_by(one) if process_time() < end + SECONDS else "" for other in answered[1:]]
        count = sum(given == RUN or (given == FIRST and not whole) for given in others)
        judged.append(replace(one, vectors=1 + count))
    judged.sort(key=lambda one: (-one.vectors, one.length))
    return replace(known, changes=tuple(judged), whole=whole, tried=tried, all=len(every), vectors=len(answered))


def candidates(seen: Watched, lines: Sequence[Line]) -> list[Change]:
    """Every change of the shared operators at the lines that ran; those near the lines that are shown first."""
    places = [(one.file.removeprefix("reference/"), one.number) for one in lines]
    found = []
    for file, ran in seen.lines.items():
        made = [*sites(source(file)), *slips(source(file), ran.__contains__, alike_in(seen, file))]
        for site in made:
            if site.line in ran:
                near = min((abs(site.line - number) for place, number in places if place == file), default=None)
                rank = (near is None, near or 0, file.startswith(("problems/", "solvers/")), file, site.line)
                found.append((rank, Change(file, site)))
    return [change for _, change in sorted(found, key=lambda one: one[0])]


class Answered:
    """One vector, what was asked for on it, and where that differs."""

    def __init__(self, run: Run, vector: Data, given: Data, float32: bool):
        self.run, self.vector = run, vector
        self._given, self._float32 = given, float32
        found = compare(vector, given, float32=float32)
        self._first = _until(vector, found[0]) if found and found[0].part is Part.FIELD else None

    def given_by(self, change: Change | None) -> str:
        """How much of what was asked for the changed reference asks for; without a change, the reference itself."""
        tape, output, ended = VectorTape(self.vector["events"]), None, False
        made = nullcontext() if change is None else lent(change.file, change.site)
        with suppress(Exception, TooLong), made, limited(SLOWEST), np.errstate(all="ignore"):
            output = encode(run_again(self.run, self.vector, tape), "output")
            ended = True
        known = [*self.vector["events"], {}]
        events = [_with_rounding(one, place) for one, place in zip(events_of(tape), known, strict=False)]
        expected = self._given["output"] if self._given.get("kind") == "diverged" else output
        run = {**self.vector, "events": events, "output": expected}
        found = compare(run, self._given, float32=self._float32)
        if not found and (ended or tape.diverged):
            return RUN
        until = _until(run, found[0]) if found else None
        agreed = len(visible_events(run)) if until is None else until
        return FIRST if self._first is not None and agreed > self._first else ""


def _with_rounding(event: Data, known: Data) -> dict[str, Any]:
    """An event of a changed run with what rounding may do to it: the vector's amounts, and a share of its own."""
    amounts = known.get("rounding", {})
    own = {name: LOOSE * max(map(abs, numbers(value)), default=0.0) for name, value in computed(event).items()}
    return {**event, "rounding": {name: max(one, float(amounts.get(name, 0.0))) for name, one in own.items()}}
