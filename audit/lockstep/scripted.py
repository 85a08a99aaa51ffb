"""A lockstep run whose released values, and whose batches as far as the target is concerned, a script dictates.

Nothing is drawn from a mixture here, so no loss is computed. What is tested are the premises of adaptive composition,
which must hold whatever the released values are: the worlds make the same calls with the same public parts, nothing
differs that is not a query, and no query moves by more than it declares.
"""

from __future__ import annotations

import linecache
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from dpassay.audit.inputs.raised import place_raised
from dpassay.audit.live.errors import ProgramBroken
from dpassay.reference.equality import same
from dpassay.reference.findings import Kind
from dpassay.reference.laws.law import Law, as_released, query_of
from dpassay.reference.neighbours import P, Pair, Run
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Transcript
from dpassay.reference.types import Array

from .compare import LEAST, distances_of, joining, rounding
from .hub import Hub
from .outcome import LockstepRun
from .outputs import parting
from .participation import Participation, ScriptedRecords
from .script import Choice, Dictation, dictated
from .streams import VALUES
from .tilting import PLAIN, Tilts
from .worlds import SIDES, Place, Request, Role

_PLAIN = Tilts([PLAIN])
LONGEST = 1000  # calls of one run; beyond, other examples show more for the time
_APPARATUS = (
    *("reference/tape.py", "reference/case.py", "audit/lockstep/", "audit/plain_numpy/", "audit/live/"),
    "audit/lab/mutations.py",
)


class Raised:
    """How a run ended that raised: the type of the exception is an output, and must agree; its text need not."""

    def __init__(self, name: str, text: str):
        self.name, self.text = name, text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Raised) and self.name == other.name

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Seen:
    """The place of a finding: line of source, the two queries there (None: it is not about a query)."""

    line: str
    here: Array | None = None
    there: Array | None = None


@dataclass(eq=False)
class ScriptedRun(LockstepRun):
    """What a scripted run showed, beside its findings and movements.

    Args:
        transcript: of D, with the target where the script puts it.
        shares: by label the largest moved distance over its declared sensitivity.
        separation: root of the sum of (moved / noise scale, times the sampling rate) squared: a rank, no bound.
        moves: how far the pair moves the query of each release, in order.
        joins: how far a record that joins a Poisson batch moves it, in order; 0 where half of a move does not count.
        joined: by label twice the largest of these over its declared sensitivity.
        there: the laws of the releases on D'.
        seen: where each finding was made, by (kind, label).
        raised: the exception that ended the run (the same in all worlds), with its line; empty if none.
        too_long: the run was cut off.
    """

    transcript: Transcript = field(default_factory=Transcript)
    shares: dict[str, float] = field(default_factory=dict)
    separation: float = 0.0
    moves: list[float] = field(default_factory=list)
    joins: list[float] = field(default_factory=list)
    joined: dict[str, float] = field(default_factory=dict)
    there: list[Law] = field(default_factory=list)
    seen: dict[tuple[Kind, str], Seen] = field(default_factory=dict)
    raised: str = ""
    too_long: bool = False


def scripted(
    run: Run[P],
    pair: Pair[P],
    seed: Sequence[int],
    script: Dictation,
    *,
    hidden: bool = False,
    hub_type: Callable[..., ScriptedHub] | None = None,
    longest: int = LONGEST,
) -> ScriptedRun:
    """One run on both sides with dictated values.

    Args:
        hidden: the algorithm is known to draw secret batches, so worlds without the target are run beside. Found out
            (by a second run) where it is not known.
        hub_type: a hub that looks at more than :class:`ScriptedHub` does; else the one that the run names, if any.
        longest: calls after which the run is cut off.
    """
    hub = (hub_type or _hub_of(run))(run, pair, seed, script, hidden, longest)
    try:
        hub.go()
    finally:
        for world in hub.worlds:
            world.close()
    if not hub.unprepared:
        return hub.finish()
    return scripted(run, pair, seed, script, hidden=True, hub_type=hub_type, longest=longest)


class ScriptedHub(Hub):
    """A hub that asks a script. State 0 is out of every secret batch (if there are any), the last as scripted."""

    result: ScriptedRun

    def __init__(
        self, run: Run[P], pair: Pair[P], seed: Sequence[int], script: Dictation, hidden: bool, longest: int = LONGEST
    ):
        self._longest = longest
        roles: tuple[Role, ...] = ("out", "in") if hidden else ("full",)
        where = [Place(side, role) for side in SIDES for role in roles]
        self._prepared, self.unprepared = hidden, False
        self.result = ScriptedRun()
        super().__init__(_caught(run), pair, seed, _PLAIN, 0, where)
        self.result = ScriptedRun()
        self._script = script
        self._records = ScriptedRecords(pair.target, self._streams, script, len(roles))  # type: ignore[assignment]
        self._states = Participation(self._records)  # type: ignore[assignment,arg-type]
        self._occurrences: Counter[str] = Counter()
        self._before: dict[str, Any] = {}

    def _same_call(self) -> bool:
        if self._step >= self._longest:
            self.result.too_long = True
            return False
        return super()._same_call()

    def _draw(self) -> None:
        draw = self._here[0].ask.draw
        if draw is not None and draw.hidden and not self._prepared:
            self._over = self.unprepared = True
        else:
            super()._draw()

    def _release(self) -> None:
        ask = self._here[0].ask
        if not self._comparable(ask):
            return
        here, there = self._laws(self._here), self._laws(self._there)
        hidden = self._hidden(ask)
        if not hidden and len(here) > 1:
            self._undeclared(ask, here, there)
        if hidden:
            self._outside(ask, hidden, here, there)
        elif ask.draws:
            self._elsewhere(ask, here, there)
        distances = distances_of(here, there)
        self._movement(ask, here, there, distances)
        self.result.moves.append(max(distances))
        self._joined(ask, hidden, here, there)
        self.result.there.append(there[-1])
        rates = [self._draws[number].rate for number in hidden if self._draws[number].kind != "fresh"]
        self._shares(ask, here, there, max(distances), min(rates, default=1.0))
        law = here[-1]
        if self._without_noise(ask, here, there):
            self._answer(as_released(query_of(law)))
            return
        choice = self._script.choice(ask.label, self._occurrences[ask.label], law)
        value = self._dictated(choice, law, ask.label)
        self._occurrences[ask.label] += 1
        self._before[ask.label] = value
        self._answer(value)

    def _dictated(self, choice: Choice, law: Law, label: str) -> Any:
        return dictated(choice, law, self._before.get(label), self._streams[VALUES])

    def _joined(self, ask: Request, hidden: tuple[int, ...], here: list[Law], there: list[Law]) -> None:
        """How far the record moves the query by being in the batch: a sensitivity covers it twice."""
        draws = [self._draws[number] for number in hidden]
        moved = max((distance for _, distance in joining(draws, ask.sensitivity, here, there)), default=0.0)
        self.result.joins.append(moved)
        if ask.sensitivity:
            share = 2 * moved / ask.sensitivity
            self.result.joined[ask.label] = max(share, self.result.joined.get(ask.label, 0.0))

    def _shares(self, ask: Request, here: list[Law], there: list[Law], moved: float, rate: float) -> None:
        label, sensitivity = ask.label, ask.sensitivity
        self.result.shares.setdefault(label, 0.0)
        if sensitivity:
            known = self.result.shares[label]
            if moved > sensitivity:  # a share above 1 accuses: rounding is taken off
                both = zip(here, there, strict=True)
                moved = max(one.distance(other) - rounding(one, other) - LEAST for one, other in both)
            self.result.shares[label] = max(known, moved / sensitivity)
        self.result.separation = math.hypot(self.result.separation, rate * here[-1].apart(there[-1], moved))

    def _finding(self, kind: Kind, label: str, detail: object, given_secrets: bool = False) -> None:
        raised = [world.ask.value for world in self.worlds if isinstance(world.ask.value, Raised)]
        if raised:
            detail = f"{detail}; one side ends by raising {raised[0].text}"
        super()._finding(kind, label, detail, given_secrets)
        if (kind, label) not in self.result.seen:
            self.result.seen[(kind, label)] = self._ended() if kind is Kind.OUTPUT else self._place()

    def _place(self) -> Seen:
        """Line and queries of the worlds that part the most."""
        line = next((found for world in self.worlds if (found := _line(world.frame))), "")
        pairs = [
            (one.ask.law, other.ask.law)
            for one, other in zip(self._here, self._there, strict=True)
            if one.ask.law is not None and other.ask.law is not None and one.ask.law.query is not None
        ]
        comparable = [
            laws
            for laws in pairs
            if isinstance(laws[1], type(laws[0])) and query_of(laws[0]).shape == query_of(laws[1]).shape
        ]
        if not comparable:
            return Seen(line)
        one, other = max(comparable, key=lambda laws: laws[0].distance(laws[1]))
        return Seen(line, query_of(one), query_of(other))

    def _ended(self) -> Seen:
        """The part of the outputs that differs, where it is numbers; who asks for the line runs it again."""
        first = self._here[-1].ask.value
        for world in (*self._there, *self._here):
            one, other = parting(first, world.ask.value)[1:]
            if not same(one, other) and _numbers(one) and _numbers(other):
                return Seen("", np.asarray(one, dtype=float), np.asarray(other, dtype=float))
        return Seen("")

    def finish(self) -> ScriptedRun:
        """The result, with the transcript of D."""
        world = self._here[-1]
        self.result.transcript = world.tape.transcript
        self.result.transcript.output = self.result.output
        self.result.raised = world.ask.value.text if isinstance(world.ask.value, Raised) else ""
        return self.result


def _numbers(value: Any) -> bool:
    kind = np.asarray(value).dtype.kind if isinstance(value, int | float | np.ndarray | np.generic) else ""
    return kind in ("f", "i", "u", "b") and bool(np.isfinite(value).all())


def _hub_of(run: Callable[..., Any]) -> Callable[..., ScriptedHub]:
    found: Callable[..., ScriptedHub] = getattr(run, "hub_type", ScriptedHub)
    return found


def _caught(run: Run[P]) -> Run[P]:
    """What a run raises is its end."""

    def whole(problem: P, tape: Tape) -> Any:
        try:
            return run(problem, tape)
        except ProgramBroken:  # no outcome of the run: what the program says cannot be judged at all
            raise
        except Exception as error:
            where = "{}:{}".format(*place_raised(error))
            return Raised(type(error).__name__, f"{type(error).__name__} ({where}): {' '.join(str(error).split())}")

    return whole


def _line(frame: FrameType | None) -> str:
    """``file.py:12 in run: the text of the line``, of the innermost frame that is not the apparatus."""
    while frame is not None and any(part in frame.f_code.co_filename for part in _APPARATUS):
        frame = frame.f_back
    if frame is None:
        return ""
    name = frame.f_code.co_filename
    text = f"{_where(frame)}: {linecache.getline(name, frame.f_lineno).strip()}"
    caller = frame.f_back
    if caller is not None and not any(part in caller.f_code.co_filename for part in _APPARATUS):
        text += f" (from {_where(caller)})"
    return text


def _where(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} in {frame.f_code.co_name}"
