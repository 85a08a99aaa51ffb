"""The reference with one change, run on a vector, in this process: which change gives what another one asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpassay.audit.mutate import planted
from dpassay.reference.laws.law import Law, query_of

from .bounding import into_a_bound
from .changes import Change, changes
from .copies import prepare, run_copied
from .cost import LIMIT
from .edited import Edited, NotReleased
from .edits import edits
from .elsewhere import from_elsewhere
from .encode import encode
from .jitter import Jitter
from .kinds import Kind
from .making import run_again
from .pairs import pairs
from .planting import Site, TooLong, function_of, functions, in_a_lambda, limited, planted_at, source
from .reached import Reached, reached
from .recording import VectorTape, events_of, tape_for
from .rounding import Run
from .shadow import shadowed
from .slips import without
from .sometimes import OF_THE_LAST, When, sometimes, times

DRAWS = re.compile(r"(draw_records|tape\.(batch|poisson|fresh))\(.*")  # records are drawn, with what follows
BOUNDING = re.compile("threshold|radius|(?<!iteration_)bound")  # names of what computes a bound
OF_CLIPPING = ("clip", "clip_rows", "row_norms")  # functions that do nothing else
MEANS = ("clipped_mean",)  # of clipped rows, or clipped themselves: which way is taken decides about the order
UNCLIPPED = re.compile(r"isinf\(")  # the line that asks whether there is a bound
SHOWN = 60  # characters of a line
TAPES = ("tape", "self._tape", "self.tape")  # texts that say less than their line
Stop = Callable[[VectorTape], bool]  # does what was asked for last agree?


@dataclass(frozen=True)
class Mutant:
    """One change in one file below ``reference/``, perhaps at more places.

    Args:
        when: it is made (``sometimes.py``), empty: always.
        more: the other places.
    """

    file: str
    change: Change
    when: str = ""
    more: tuple[Site, ...] = ()

    def __str__(self) -> str:
        when, text = f", {self.when}" if self.when else "", old_text(self)
        text = line_of(self).partition("#")[0].strip() if text in TAPES else text
        places = "".join(f" and {_place(*one)}" for one in self.more if one[1].name)
        return f"{self.change.name}{when} `{_short(text)}` ({_place(self.file, self.change)}{places})"

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every place."""
        return ((self.file, self.change), *self.more)


def _place(file: str, change: Change) -> str:
    return f"reference/{file}, line {change.line}"


def old_text(mutant: Mutant) -> str:
    """What stands in the reference at its first place."""
    change = mutant.change
    return " ".join(source(mutant.file).encode()[change.first : change.last].decode().split())


def line_of(mutant: Mutant) -> str:
    """The line of the reference at its first place."""
    return source(mutant.file).splitlines()[mutant.change.line - 1]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


class _Differs(Exception):
    """What was asked for so far is not what is to be explained."""


class _HeldTape(VectorTape):
    """Stops a run at the first event, up to the one that is to be explained, at which it does not agree."""

    def __init__(self, vector: Mapping[str, Any], until: int | None, stop: Stop | None, shadow: bool):
        super().__init__(vector["events"], on=bool(vector.get("further")))
        self._shadow = shadow
        self._until, self._stop = until, stop

    def release(self, label: str, law: Law, **how: Any) -> Any:
        """The value of the vector; with its twin without noise if that is wanted."""
        value = super().release(label, law, **how)
        known = self._shadow and getattr(law, "query", None) is not None
        return shadowed(value, query_of(law)) if known else value

    def _next(self, kind: str, label: str) -> dict[str, Any]:
        if self._stop is not None and self._position:
            stop = self._stop
            if self._position == self._until:
                self._stop = None
            if not stop(self):
                raise _Differs
        return super()._next(kind, label)


def mutants(seen: Reached) -> list[Mutant]:
    """Every change of what the reference ran that is known to be made by people."""
    found = []
    for file in seen.files():
        found += [Mutant(file, one) for one in _changes(file) if _ran(seen, file, one)]
    return [_of_its_place(one) for one in found]


def systematic(seen: Reached) -> list[Mutant]:
    """Every small edit of what the reference ran (``edits.py``)."""
    found = []
    for file in seen.files():
        ran, scope = partial(seen.ran, file), partial(seen.scope, file)
        found += [Mutant(file, Change(*one)) for one in edits(source(file), ran, scope)]
        for one, *rest in pairs(source(file), ran, scope):
            found.append(Mutant(file, Change(*one), more=tuple((file, Change(*other)) for other in rest)))
    found.sort(key=lambda one: bool(one.more) or "_edit." in one.change.text)  # in case that there is little time
    return [_of_its_place(one) for one in found]


def exchanged(seen: Reached) -> Iterator[Mutant]:
    """Every value for another one of the same function (``elsewhere.py``)."""
    for file in seen.files():
        ran, scope = partial(seen.ran, file), partial(seen.scope, file)
        for one in from_elsewhere(source(file), ran, scope):
            yield _of_its_place(Mutant(file, Change(*one)))


SCALED = ("value doubled", "value halved")


def _of_its_place(mutant: Mutant) -> Mutant:
    """What is wrong where clipping is done is the clipping; a factor where a bound is computed, the bound; where
    records are drawn, the batch.
    """
    function, change = function_of(mutant.file, mutant.change), mutant.change
    kind = change.kind
    if function is not None and function.name in MEANS and UNCLIPPED.search(line_of(mutant)):
        return replace(mutant, change=replace(change, kind=Kind.NO_CLIP))
    if function is not None and function.name in OF_CLIPPING and kind in (Kind.FACTOR, Kind.MISSING_TERM):
        kind = Kind.CLIP_BOUND if change.name in SCALED else Kind.CLIP_NORM  # a multiple of the norm: of the bound
    elif function is not None and function.name in MEANS and kind in (Kind.CALLS, Kind.BRANCH):
        kind = Kind.CLIP_ORDER
    elif kind in (Kind.FACTOR, Kind.MISSING_TERM) and function is not None:
        bounding = BOUNDING.search(function.qualname.lower()) or into_a_bound(mutant.file, change.line, function.lines)
        kind = Kind.CLIP_BOUND if bounding else kind
    if kind in (Kind.FACTOR, Kind.INDEX_SHIFT) and _in_a_draw(mutant):
        kind = Kind.BATCH
    return mutant if kind is change.kind else replace(mutant, change=replace(change, kind=kind))


def _in_a_draw(mutant: Mutant) -> bool:
    """Is an argument of a draw changed?"""
    found = DRAWS.search(line_of(mutant))
    begins = source(mutant.file).encode().rfind(b"\n", 0, mutant.change.first) + 1
    return found is not None and mutant.change.first - begins > len(line_of(mutant)[: found.start()].encode())


def seen_by(run: Run, vector: Mapping[str, Any], until: int | None) -> Reached:
    """What the reference ran until so many events were asked for."""
    return reached(run, vector, until)


def _ran(seen: Reached, file: str, change: Change) -> bool:
    """Was the function entered? Where its lines were not run, a change may still lead there."""
    return any(change.line in one.lines and seen.ran(file, one.lines[0], one.lines[-1]) for one in functions(file))


def answers(
    run: Run,
    vector: Mapping[str, Any],
    mutant: Mutant,
    until: int | None = None,
    stop: Stop | None = None,
    seconds: float = LIMIT,
    late: list[bool] | None = None,
    when: When | None = None,
    shadow: bool = False,
) -> dict[str, Any] | None:
    """What the changed reference asks for on a vector; None where it does not run, or is stopped.

    Args:
        late: gets an entry where the run did not end in its seconds.
        when: at which uses the change is made; else it is the mutant's own affair.
        shadow: released values know their queries; so it is tried where a value is computed from released ones.
    """
    tape = _HeldTape(vector, until, stop, shadow)
    output: Any = None
    if mutant.when and when is None:
        when = When(mutant.when, tape, asked(run, vector, mutant) if mutant.when in OF_THE_LAST else 0)
    prepare(vector)  # with no change planted
    try:
        with _planted(mutant, when, Edited(tape, _records(vector))), limited(seconds), np.errstate(all="ignore"):
            again = run_again if _while_read(mutant) else run_copied
            output = encode(again(run, vector, tape), "output")
    except _Differs:
        return None
    except NotReleased:
        given = run, vector, mutant, until, stop, seconds, late, when
        return None if shadow else answers(*given, shadow=True)
    except TooLong:
        if late is not None:
            late.append(True)
        return None
    except Exception as error:  # whatever a changed line may raise
        if not tape.diverged and not isinstance(error, IndexError):  # of iterates: what was asked for is an answer
            return None
    last = [{name: tape.diverged[name] for name in ("event", "label")}] if tape.diverged else []
    return {"events": events_of(tape) + last, "output": output}


def _while_read(mutant: Mutant) -> bool:
    """Is something changed that is run, or made, when a vector is read?"""
    names = {one.name for one in (function_of(*site) for site in mutant.sites) if one is not None}
    return bool(names & {"__init__", "__post_init__"}) or any(in_a_lambda(*site) for site in mutant.sites)


def values_at(run: Run, vector: Mapping[str, Any], mutant: Mutant, jitter: Jitter | None) -> list[Any]:
    """What the watched expressions of a change compute; empty where a function of a problem computes them."""
    tape = tape_for(vector)
    edit = Edited(tape, _records(vector))
    with _planted(mutant, None, edit), limited(1.0), np.errstate(all="ignore"), suppress(Exception):
        run_again(run, vector, tape, jitter)
    return [] if edit.inside else edit.values


def asked(run: Run, vector: Mapping[str, Any], mutant: Mutant) -> int:
    """How often the reference computes the expression that is changed sometimes."""
    never = When("")
    with _planted(mutant, never), limited(LIMIT), np.errstate(all="ignore"), suppress(Exception):
        run_copied(run, vector, tape_for(vector))
    return never.count


def at_times(mutant: Mutant, vectors: Sequence[Mapping[str, Any]]) -> Iterator[Mutant]:
    """The same change, made sometimes; nothing where it is no expression."""
    change = sometimes(source(mutant.file).encode(), mutant.change)
    if change is not None:
        yield from (replace(mutant, change=change, when=when) for when in times(vectors))


def at_uses(mutant: Mutant) -> Mutant | None:
    """The same change, made at some of its uses; None where it is no expression, or at more places."""
    change = None if mutant.more else sometimes(source(mutant.file).encode(), mutant.change)
    return None if change is None else replace(mutant, change=change, when="at some of its uses")


@contextmanager
def planted_in(mutant: Mutant, seconds: float) -> Iterator[None]:
    """The reference with this change, for so many seconds at most."""
    with _planted(mutant), limited(seconds):
        yield


@lru_cache(maxsize=256)
def _changes(file: str) -> tuple[Change, ...]:
    return tuple(changes(source(file)))


@contextmanager
def _planted(mutant: Mutant, when: When | None = None, edit: Edited | None = None) -> Iterator[None]:
    """The living functions of the file run the changed code."""
    lent = {"_planted": planted, "_without": without, "_when": when or When(""), "_edit": edit or Edited()}
    with planted_at(mutant.sites, lent):
        yield


def _records(vector: Mapping[str, Any]) -> int:
    found = vector["sizes"].get("n", 0)
    return found if isinstance(found, int) else 0
