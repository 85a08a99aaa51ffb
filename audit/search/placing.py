"""The lines of the code that a finding is about: what its example shows when it is run again, watched.

Evidence, never a name: from the call of the tape where the sides differ, the value that differs (or the noise that is
too small) is followed back through the statements that made it; where the sides part, the condition that parts them.
"""

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from inspect import signature
from itertools import islice, takewhile
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from dpassay.audit.lockstep.source_lines import trade
from dpassay.audit.lockstep.watch import Call, Side, Spot, Step, Watch, argument, called, header, is_watched, parting
from dpassay.audit.lockstep.worlds import SIDES
from dpassay.reference.equality import same
from dpassay.reference.findings import Kind
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

from .witness import Made, Witness

_ROUNDING = 1e-12
_LABELS = 50
_MOST = 5  # lines on which a value is followed
_QUERIES = ("query", "queries", "utilities", "law", "value")  # of a call of the tape, behind the label
_SCALES = ("std", "scale", "threshold_scale", "law")
_ARGUMENTS = {  # of a call of the tape, which differ between the sides
    Kind.NOISE_SCALE: ("noise scale", ("std", "scale")),
    Kind.CLAIMED_SENSITIVITY: ("sensitivity", ("sensitivity",)),
    Kind.BATCH_SIZE: ("batch size", ("size", "rate")),
    Kind.REVEALED_VALUE: ("value", ("value",)),
}
BESIDE, READS = "uses private values beside what is released", "reads the record"  # where it begins
_RELEASES = "releases it"
_DRAWS = ("batch", "poisson", "fresh")
Told = Iterator[tuple[Step, str]]  # a step, and what it does


def placed(
    witness: Witness, begins: Sequence[FunctionType], again: Callable[[Watch], None], measured: bool = False
) -> Witness:
    """The witness with the lines that made what it shows, the most telling first.

    Args:
        begins: the first functions of the algorithm; those in their folders are its own.
        again: runs the example, schedule and all, under a watch.
        measured: what queries move by counts, and nothing that is claimed.
    """
    if not begins:
        return witness
    watch = Watch(is_watched)
    again(watch)
    if len(watch.sides) < len(SIDES):
        return witness
    placing, known, elsewhere = _Placing(witness, watch, begins[0], measured), dict[Spot, str](), dict[Spot, str]()
    for step, words in placing.lines():
        home = placing.at_home(step)
        does = known.setdefault(home.spot, words)
        known[home.spot] = f"{does} and {words}" if words == _RELEASES != does else does
        elsewhere.setdefault(step.spot, words)
    lines = {**known, **{spot: words for spot, words in elsewhere.items() if spot not in known}}
    made = tuple(Made(words, str(spot), spot.file, spot.number) for spot, words in lines.items())
    return replace(witness, made=made)


def bare_lines(label: str, run: Callable[[], object]) -> tuple[Made, ...]:
    """The lines that leave a release without noise, in a run of one world that may end there."""
    watch, known = Watch(is_watched), dict[Spot, str]()
    with suppress(Exception), watch.watching():
        run()
    for call in [one for one in watch.before.calls if one.label == label and _scale(one) == 0][:1]:
        step = releasing(watch.before, call)
        for node in _given(step, call, _SCALES) if step is not None else []:
            assert step is not None
            for one, words in _traced(watch.before, step, node, _scale(call), "noise scale"):
                known.setdefault(one.spot, words)
            known.setdefault(step.spot, "releases it")
    return tuple(Made(words, str(spot), spot.file, spot.number) for spot, words in known.items())


class _Placing:
    """The lines of one finding, in the worlds of one run."""

    def __init__(self, witness: Witness, watch: Watch, begin: FunctionType, measured: bool):
        half = len(watch.sides) // 2
        self.finding, self.begin, self.output = witness.finding, begin.__code__, witness.here
        self.measured = measured
        self.pairs = list(zip(watch.sides[:half], watch.sides[half:], strict=False))
        self.here, self.there = self.pairs[-1]  # those that are looked at

    def at_home(self, step: Step) -> Step:
        """The algorithm's own step that waits for this one; what helpers do is told by the line that calls them."""
        folder, users = Path(self.begin.co_filename).parent, trade(self.begin.co_filename) == "theirs"
        own = (one for one in step.waiting() if users or Path(one.spot.file).parent == folder)
        return next(own, step)

    def ends(self) -> list[Step]:
        """Where the algorithm returns."""
        code = self.begin.co_filename, self.begin.co_firstlineno
        ended = (one for both in reversed(self.pairs) for side in both for one in side.ended)
        return [one for one in ended if (one.spot.file, one.first) == code]

    def lines(self) -> Told:
        """Steps with what they do, the most telling first."""
        kind = self.finding.kind
        if kind in (Kind.CALL, Kind.EARLY_END):
            yield from self._parted()
        elif kind is Kind.OUTPUT:
            for end in [one for one in self.ends() if one in self.here.ended]:
                yield from self._beside(end, end.statement)
                yield from _traced(self.here, end, end.statement, self.output, "output", self.there)
                yield end, "returns it"
            yield from ((end, "returns it") for end in self.ends())  # of the other side, which may end elsewhere
        elif kind is Kind.OVER_BUDGET:
            for one, other in _costliest(self.here.calls, self.there.calls, self.measured)[:1]:
                noise = list(self._argument("noise scale", one, _SCALES, _scale(one), alone=True))
                drawn = [told for told in _called(self.here, one) if told[1] != _RELEASES]
                yield from (*noise[:1], *drawn, *noise[1:])
                if not one.asked.get("sensitivity") and _moved(one, other) > 0:
                    yield from self._argument("query", one, _QUERIES, _query(one))
                yield from _called(self.here, one)
        else:
            yield from self._of_calls(kind)

    def _parted(self) -> Told:
        worlds = self.pairs[0][0], self.pairs[-1][0]  # whether the record takes part may decide, too
        for pair in (*self.pairs, worlds):
            self.here, self.there = pair
            step = parting(_ending(self.here, self.there), _ending(self.there, self.here))
            if step is not None:
                yield from self._beside(step, step.statement)
                yield step, "the last line of both sides"
                yield from _on_the_way(self.here.behind(step, step.statement, self.there))
                return
        for pair in (*self.pairs, worlds):
            self.here, self.there = pair
            number = _common(*pair)
            if number < min(len(side.calls) for side in pair):
                yield from self._argument("label", self.here.calls[number], ("label",), None, leaks=True)
                yield from _called(self.here, self.here.calls[number])
                return

    def _of_calls(self, kind: Kind) -> Told:
        """The calls of one label on both sides: the query that moves the most, or an argument that differs."""
        calls = [
            (one, other, pair)
            for pair in self.pairs
            for one, other in zip(pair[0].calls, pair[1].calls, strict=False)
            if one.label == self.finding.label
        ]
        if not calls:
            return
        role, names = _ARGUMENTS.get(kind, ("query", ()))
        differing = (both for both in calls if any(not same(both[0].asked.get(n), both[1].asked.get(n)) for n in names))
        if kind is Kind.WRONG_BATCH:  # where it was noticed, out of the batches before in them
            noticed = [both for both in calls if both[0] in both[2][0].calls[self.finding.step : self.finding.step + 1]]
            calls = [both for both in noticed if _moved(both[0], both[1]) > 0][:1] or calls
        worst = max(calls, key=lambda both: _moved(both[0], both[1]))
        one, other, (self.here, self.there) = next(differing, worst)
        if names:
            number = next((one.asked[name] for name in names if one.asked.get(name) is not None), None)
            yield from self._argument(role, one, names, number, leaks=True)
        elif _moved(one, other) > 0:
            yield from self._argument(role, one, _QUERIES, _query(one), leaks=kind is Kind.WRONG_BATCH)
        if kind is Kind.SENSITIVITY_EXCEEDED:
            claimed = one.asked.get("sensitivity")
            yield from islice(self._argument("sensitivity", one, ("sensitivity",), claimed, alone=True), 1)
        yield from _called(self.here, one)

    def _argument(
        self, role: str, call: Call, names: Iterable[str], number: Any, *, alone: bool = False, leaks: bool = False
    ) -> Told:
        """What makes an argument of a call of the tape that has one of these names.

        Args:
            number: the argument, if it is one.
            alone: it is the same on both sides.
            leaks: it should be.
        """
        step = releasing(self.here, call)
        for node in _given(step, call, names) if step is not None else []:
            assert step is not None
            beside = list(self._beside(step, node)) if leaks else []
            if self.finding.kind is Kind.WRONG_BATCH and (not beside or beside[0][0] is step):
                ended = (one for one in self.ends() if one in self.here.ended)
                beside = list(self._beside(step, node, call.step or next(ended, step)))
            yield from beside
            yield from _traced(self.here, step, node, number, role, None if alone else self.there)

    def _beside(self, step: Step, node: ast.AST | None, looked: Step | None = None) -> Told:
        """The first step in time that has a part in what differs, and none in what is released.

        ``looked``: where the code first looks at a sum that nobody names; then what is behind it may be released, too,
        and where it may differ.
        """
        here, there = self.here, self.there
        released = {one.spot for one in _behind_releases(here)} if looked is None else set()
        if not (released or looked):  # everything is beside nothing
            return
        behind = [one for one in here.behind(step, node, there) if one.spot not in released]
        if looked is not None and looked is not step:  # added behind its noise
            behind += here.behind(looked, looked.statement, there)
        sure = [one for one in behind if any(here.differs(there, one, name, not looked) for name in one.new)]
        first = min(sure, key=lambda one: (one.done, -one.begun), default=step)
        if isinstance(step.statement, ast.If | ast.While) and step in first.waiting():
            first = step  # what a condition calls is a part of it
        if first.spot not in released:
            yield first, READS if looked else BESIDE


def _behind_releases(side: Side) -> Iterator[Step]:
    """What the first release of each label is made of: of no release before it.

    Of plain code the draw of its noise, and what was there when the code first looked at the sum.
    """
    known = set[str]()
    for call in side.calls:
        step = releasing(side, call) if _query(call) is not None else None
        if step is not None and call.label not in known and len(known) < _LABELS:
            known.add(call.label)
            for node in _given(step, call, _QUERIES):
                yield from side.behind(step, node)
            if call.step is not None and call.step is not step:
                behind = side.behind(call.step, call.step.statement)
                yield from (one for one in behind if one.spot != call.step.spot)


def _traced(here: Side, step: Step, node: ast.AST | None, number: Any, role: str, there: Side | None = None) -> Told:
    """The statement that computed the value of an expression, else the first to hold it, and those that are behind it.

    Of two that hold the same number the later one computes it: a bound may be as large as the noise made from it.

    Args:
        number: the value, if it is one.
    """
    behind = list(here.behind(step, node, there))
    first = step if number is not None or not behind else behind[0]
    holding = [] if _is_computed(node) else [one for one in behind if holds(one, number)]
    computed = (one for one in holding if any(isinstance(node, ast.BinOp) for node in header(one.statement)))
    made = next(computed, holding[-1] if holding else first)
    yield made, f"makes the {role}"
    further = here.behind(made, made.statement, there) if made is not step else behind
    yield from _on_the_way(further)


def _is_computed(node: ast.AST | None) -> bool:
    """Is a number made by the expression itself? Of a draw of plain code: what it is given beside its size."""
    drawn = [*node.args[:2], *node.keywords] if isinstance(node, ast.Call) else [node]
    given = [one for one in drawn if one is not None and getattr(one, "arg", "") != "size"]
    return any(isinstance(part, ast.BinOp) for one in given for part in ast.walk(one))


def _on_the_way(steps: Iterable[Step]) -> Told:
    """The first of these at which something is computed: others hand on what they have."""
    lines: dict[Spot, Step] = {}
    for one in steps:
        if any(isinstance(node, ast.Call | ast.BinOp | ast.Compare) for node in header(one.statement)):
            lines.setdefault(one.spot, one)
        if len(lines) == _MOST:
            break
    for one in lines.values():
        yield one, "on the way"


def holds(step: Step, number: Any) -> bool:
    """Is a value that a step sets, or returns, this number? Up to rounding."""
    kinds = "f" if isinstance(number, float) else "fiu"
    return number is not None and any(
        np.shape(one) == np.shape(number)
        and np.asarray(one).dtype.kind in kinds
        and np.allclose(one, number, rtol=_ROUNDING, atol=0.0)
        for one in step.new.values()
        if isinstance(one, float | int | np.number | np.ndarray)
    )


def _given(step: Step, call: Call, names: Iterable[str]) -> list[ast.AST]:
    """The argument of a call of the tape that has one of these names; of plain code the draws, or the statement."""
    places = [name for name in signature(getattr(Tape, call.name)).parameters if name != "self"]
    at = {name: number for number, name in enumerate(places)}
    found = [given for name in names if (given := argument(step, call.name, name, at.get(name))) is not None]
    calls = [one for one in header(step.statement) if isinstance(one, ast.Call) and called(one) in step.outside]
    draws = [one for one in calls if hasattr(np.random.Generator, called(one))] if names is _SCALES else []
    return [*found[:1]] or [*draws] or ([step.statement] if names is _QUERIES and step.statement else [])


def releasing(side: Side, call: Call) -> Step | None:
    """The step that makes a call of the tape; of plain code, whose releases are named by lines, the last one there."""
    name, _, number = call.label.rpartition(":")
    if not (name.endswith(".py") and number.isdecimal()):
        return call.step
    before = (one for one in reversed(side.steps) if one.calls <= side.calls.index(call))
    found = (one for one in before if Path(one.spot.file).name == name and one.spot.number == int(number))
    return next(found, call.step)


def _called(side: Side, call: Call) -> Told:
    """The draw of its batch, and the release."""
    batch, draws = call.asked.get("batch"), [one for one in side.calls if one.name in _DRAWS]
    batches = [batch] if isinstance(batch, Batch) else batch or ()
    drawn = [draws[one.draw] for one in batches if one.draw < len(draws)]
    for one in (*drawn, call):
        step = releasing(side, one)
        if step is not None:
            size = " at the rate {rate:.4g}" if "rate" in one.asked else ", {size} of {n}"
            yield step, f"draws its batch{size.format(**one.asked)}" if one.name in _DRAWS else _RELEASES


def _ending(side: Side, other: Side) -> list[Step]:
    """The steps since the last call that both worlds make, if this one goes on to another, or to its end."""
    common = _common(side, other)
    goes_on = len(side.calls) > common or any(one.caller is None for one in side.ended)
    return [one for one in side.steps if one.calls == common] if goes_on else []


def _common(side: Side, other: Side) -> int:
    """How many calls both worlds make before they differ."""
    pairs = zip(side.calls, other.calls, strict=False)
    return sum(1 for _ in takewhile(lambda both: (both[0].label, both[0].name) == (both[1].label, both[1].name), pairs))


def _query(call: Call) -> Any:
    """What is released, without noise."""
    query = call.asked.get("query", getattr(call.asked.get("law"), "query", None))
    return None if query is None else np.asarray(query, dtype=float)


def _moved(one: Call, other: Call) -> float:
    """How far a query is moved, over what is declared."""
    here, there = _query(one), _query(other)
    if here is None or there is None or here.shape != there.shape:
        return 0.0
    return float(np.linalg.norm(np.ravel(here - there))) / (one.asked.get("sensitivity") or 1.0)


def _costliest(here: Sequence[Call], there: Sequence[Call], measured: bool) -> list[tuple[Call, Call]]:
    """The calls of the label whose releases spend the most: the sum of squared sensitivities over noise.

    Where nobody declares a sensitivity, it is the movement that counts.
    """
    asked = [both for both in zip(here, there, strict=False) if "sensitivity" in both[0].asked]
    costs: dict[str, float] = {}
    for one, other in asked:
        scale, sensitivity = _scale(one), one.asked["sensitivity"]
        sensitivity = _moved(one, other) * (sensitivity or 1.0) if measured or not sensitivity else sensitivity
        if sensitivity and scale is not None:
            costs[one.label] = costs.get(one.label, 0.0) + ((sensitivity / scale) ** 2 if scale else math.inf)
    worst = max(costs, key=lambda label: costs[label], default=None)
    return [both for both in asked if both[0].label == worst]


def _scale(call: Call) -> float | None:
    found = call.asked.get("std", call.asked.get("scale", getattr(call.asked.get("law"), "scale", None)))
    return float(found) if isinstance(found, float | int | np.floating) else None
