"""The driver of a lockstep run: collects what the worlds ask for, compares, and answers all of them with one value.

:class:`Hub` is the part that all runs share. :class:`DrawnHub` draws the released values from a tilted law and knows
the exact loss and the weights; :class:`ScriptedHub` hands back what a script says. Nothing is drawn from a mixture
then, so there is no loss: what is tested are the premises of adaptive composition, which must hold whatever is
released. :class:`WithinReach` keeps what it hands back to values that noise can give.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammaincc, gammainccinv

from dpassay.reference.arrays import norm
from dpassay.reference.equality import same
from dpassay.reference.errors import printable, require
from dpassay.reference.findings import Finding, Kind, merge
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law, as_released, query_of
from dpassay.reference.neighbours import P, Pair, Run
from dpassay.reference.transcript import Draw

from .outcome import WHOLE, LockstepRun, Movement, Raised, ScriptedRun, Seen, caught
from .records import PUBLIC, VALUES, Group, HiddenStates, Records, ScriptedRecords, Streams
from .script import Choice, Dictation, dictated
from .source_lines import parting
from .tilting import Tilts, proposal
from .worlds import SIDES, Place, Request, Role, World

_INNER = ("secret", "noise")
_SHARED_CALLS = ("release", "draw", "public", "reveal", "end")  # all worlds get one answer
_EXACT = 1e-9  # queries that agree to this fraction of the noise are the same (one part in 1e9 of a standard deviation)
_LEAST = 1e-12  # a query that moves by less moves by rounding, however small its sensitivity is
LONGEST = 1000  # calls of one scripted run; beyond, other examples show more for the time


class Hub:
    """The loop, and everything that is compared between the worlds whatever values are handed back.

    The worlds are those of D first, then those of D', and perhaps a check world (see ``run.py``).
    """

    def __init__(self, run: Run[P], pair: Pair[P], streams: Streams, where: list[Place], result: LockstepRun):
        self._streams, self.result, self._target, self._removed = streams, result, pair.target, pair.removed
        sides = {"D": pair.here, "D'": pair.there}
        self.worlds = [World(run, sides[place.side], place) for place in where]
        main = [world for world in self.worlds if world.place.role != "check"]
        half = len(main) // 2
        self._here, self._there = main[:half], main[half:]
        self._others = main[1:]  # all that must ask for the same as the first one
        self._check = next((world for world in self.worlds if world.place.role == "check"), None)
        self._draws: list[Draw] = []
        self._open_with_target: dict[int, bool] = {}  # batches by index, which everybody knows: is the target in them?
        self._secrets = False  # was anything drawn that is never released?
        self._step = 0
        self._over = False  # the laws differ so much that no common value could be handed back

    # -- what the two kinds of runs do in their own way -----------------------------------------------------
    def _records_of(self, draw: Draw) -> Sequence[Any]:
        """The records of each world."""
        raise NotImplementedError

    def _holding(self, draws: tuple[int, ...]) -> Sequence[bool]:
        """Of the worlds of one side: do these draws have the target?"""
        raise NotImplementedError

    def _released(self, ask: Request, hidden: tuple[int, ...], here: list[Law], there: list[Law]) -> None:
        """Answer a release whose public parts agree."""
        raise NotImplementedError

    # -- the loop -----------------------------------------------------------------------------------------
    def go(self) -> None:
        """Until the worlds end or make different calls."""
        answers = {"release": self._release, "draw": self._draw, "reveal": self._reveal, "public": self._public_value}
        self._serve_inner()
        while not self._over and self._same_call():
            call = self._here[0].ask.call
            if call == "end":
                self._end()
                return
            answers[call]()
            if not self._over:
                self._serve_inner()
            self._step += 1

    def close(self) -> None:
        """End the worlds wherever they are."""
        for world in self.worlds:
            world.close()

    def _finding(self, kind: Kind, label: str, detail: object, given_secrets: bool = False) -> None:
        """Note it, in the words of ``detail``, unless it was noted before."""
        merge(self.result.findings, [Finding(kind, label, self._step, str(detail), given_secrets)])

    def _same_call(self) -> bool:
        first = self._here[0].ask
        for world in self._others:
            ask = world.ask
            if ask.call == first.call and ask.label == first.label:
                continue
            kind = Kind.EARLY_END if "end" in (ask.call, first.call) else Kind.CALL
            label = first.label if first.call != "end" else ask.label
            self._finding(kind, label, f"{_name(first)} on one side, {_name(ask)} on the other")
            return False
        if self._check and (self._check.ask.call, self._check.ask.label) != (first.call, first.label):
            self._drop_check("its calls depend on which other records, or which inner randomness, were drawn")
        return True

    def _drop_check(self, reason: str) -> None:
        self.result.inexact = self.result.inexact or reason
        assert self._check is not None
        self._check.close()
        self.worlds.remove(self._check)
        self._check = None

    def _answer(self, values: Any) -> None:
        for world in self.worlds:
            world.answer(values)

    # -- calls without a mechanism ------------------------------------------------------------------------
    def _end(self) -> None:
        first = self._here[0].ask.value
        other = next((world.ask.value for world in self._others if not same(first, world.ask.value)), first)
        if other is not first:
            path, _, _ = parting(first, other)
            at = f" at {printable(path)}" if path else ""
            sides = ([world.ask.value for world in side] for side in (self._here, self._there))
            covered = not all(same(side[0], one) for side in sides for one in side)  # by where the record was drawn
            self._finding(Kind.OUTPUT, "output", f"the outputs differ{at} although all released values agree", covered)
        self.result.complete, self.result.output = True, first

    def _reveal(self) -> None:
        first = self._here[0].ask
        for world in self._others:
            if not same(first.value, world.ask.value):
                self._finding(Kind.REVEALED_VALUE, first.label, f"{first.value} against {world.ask.value}")
        self._answer(None)

    def _public_value(self) -> None:
        ask = self._here[0].ask
        rng = self._streams[PUBLIC]
        state = rng.bit_generator.state
        values = []
        for world in self.worlds:
            rng.bit_generator.state = state
            assert world.ask.make is not None
            values.append(world.ask.make(rng))
        if not all(same(values[0], value) for value in values):
            self._finding(Kind.PUBLIC_VALUE, ask.label, "it depends on private data")
        self._answer(values[0])

    def _serve_inner(self) -> None:
        """Inner randomness is never released, so the worlds need not ask for the same amount of it.

        Every world has a stream of its own; all but the check world's start alike.
        """
        for world in self.worlds:
            if world.ask.call in _SHARED_CALLS:
                continue
            ask = world.settled()
            while ask.call in _INNER:
                assert ask.make is not None
                self._secrets = True
                world.answer(ask.make(self._streams.inner(id(world), world is self._check)))
                ask = world.settled()

    def _draw(self) -> None:
        draws = [draw for world in self.worlds if world is not self._check and (draw := world.ask.draw) is not None]
        first = max(draws, key=lambda draw: draw.n)
        for other in draws:
            known = other._replace(label=first.label, n=first.n if self._lacks(other, first) else other.n)
            if known != first:
                detail = f"{first.size or first.rate} of {first.n} against {other.size or other.rate} of {other.n}"
                self._finding(Kind.BATCH_SIZE, first.label, detail)
        self._draws.append(first)
        self._secrets = self._secrets or first.hidden
        found = self._records_of(first)
        if not first.hidden:
            self._open_with_target[first.number] = bool(found[0][0] <= self._target <= found[0][-1])
        for world, indices in zip(self.worlds, found, strict=True):
            if world.ask.draw and self._lacks(world.ask.draw, first):
                indices = (indices - (indices > self._target))[indices != self._target]
            world.answer(indices)

    def _lacks(self, draw: Draw, other: Draw) -> bool:
        """Is it the same Poisson batch of data without the target?"""
        return self._removed and draw.kind == "poisson" and draw.n == other.n - 1

    # -- releases -----------------------------------------------------------------------------------------
    def _release(self) -> None:
        ask = self._here[0].ask
        if not self._comparable(ask):
            self._over = True
            return
        here, there = self._laws(self._here), self._laws(self._there)
        hidden = tuple(number for number in ask.draws if self._draws[number].hidden)
        if hidden:
            self._outside(ask, hidden, here, there)
        elif ask.draws:
            self._elsewhere(ask, here, there)
        self._released(ask, hidden, here, there)

    def _laws(self, worlds: list[World]) -> list[Law]:
        return [law for world in worlds if (law := world.ask.law) is not None]

    def _comparable(self, ask: Request) -> bool:
        """Compare what must be public; False where no common value could be handed back."""
        assert ask.law is not None
        for world in self._others:
            assert world.ask.law is not None
            difference = ask.law.public_difference(world.ask.law)
            if difference and not difference.comparable:
                self._finding(Kind.LAW, ask.label, str(difference))
                return False
            if difference:
                self._finding(Kind.NOISE_SCALE, ask.label, difference)
            if world.ask.sensitivity != ask.sensitivity and not (difference and _in_proportion(ask, world.ask)):
                claimed = (ask.sensitivity, world.ask.sensitivity)
                claims = ["none" if one is None else f"{one:.6g}" for one in claimed]
                self._finding(Kind.CLAIMED_SENSITIVITY, ask.label, " against ".join(claims))
            if world.ask.draws != ask.draws:
                self._finding(Kind.CALL, ask.label, f"batches {ask.draws} against {world.ask.draws}")
        return True

    def _depends_on_a_batch(self, ask: Request, here: list[Law], there: list[Law]) -> bool:
        """A query on all records must not: with the target in or out of secret batches it is the same."""
        if all(laws[0].agrees(law) for laws in (here, there) for law in laws[1:]):
            return False
        self._finding(Kind.WRONG_BATCH, ask.label, "it is accounted as a query of all records, but depends on a batch")
        return True

    def _outside(self, ask: Request, hidden: tuple[int, ...], here: list[Law], there: list[Law]) -> None:
        """Without the target in the declared batches the target may not matter; nor, if Poisson, by more than half."""
        certain = any(self._draws[number].rate == 1 for number in hidden)
        for one, other, held in zip(here, there, self._holding(hidden), strict=True):
            if not held and not certain:
                self._untouched(ask, hidden, one, other)
        for laws, distance in self._joining(ask, hidden, here, there):
            assert ask.sensitivity is not None
            movement = self.result.movements[ask.label]
            movement.joined = max(2 * distance / ask.sensitivity if ask.sensitivity else 0.0, movement.joined)
            if _exceeds(distance, ask.sensitivity / 2, *laws[:2]):
                detail = f"a new record moves the query by {distance:.6g}, claimed half of {ask.sensitivity:.6g}"
                self._finding(Kind.SENSITIVITY_EXCEEDED, ask.label, detail)

    def _joining(
        self, ask: Request, hidden: tuple[int, ...], here: list[Law], there: list[Law]
    ) -> list[tuple[list[Law], float]]:
        """For each side its laws, out of the batch first, and how far a record that joins a Poisson batch moves it.

        Only Gaussian noise is amplified by half of the sensitivity; elsewhere there are none.
        """
        draw, sensitivity = self._draws[hidden[0]] if len(hidden) == 1 else None, ask.sensitivity
        if draw is None or draw.kind != "poisson" or draw.rate == 1 or sensitivity is None:
            return []
        cost = here[0].cost(sensitivity)
        gaussian = cost is not None and cost.kind == "gaussian"
        return [(laws, laws[0].distance(laws[1])) for laws in (here, there)] if gaussian else []

    def _elsewhere(self, ask: Request, here: Sequence[Law], there: Sequence[Law]) -> None:
        """A query on batches by index may not depend on a target that is in none of them: it is paid for elsewhere."""
        held = any(self._open_with_target.get(number, True) for number in ask.draws)
        for one, other in zip(here, there, strict=True) if not held else ():
            self._untouched(ask, ask.draws, one, other)

    def _untouched(self, ask: Request, draws: Sequence[int], one: Law, other: Law) -> None:
        """A record that none of the batches has must not move the query."""
        if not one.agrees(other):
            batches = " and ".join(dict.fromkeys(repr(self._draws[number].label) for number in draws))
            seen = f"it moves by {one.distance(other):.6g} with a record that the batch {batches} does not have"
            self._finding(Kind.WRONG_BATCH, ask.label, f"{seen}, and is accounted for the records of that batch alone")

    def _movement(self, ask: Request, here: Sequence[Law], there: Sequence[Law]) -> list[float]:
        """Note how far each state's query is moved."""
        distances = [one.distance(other) for one, other in zip(here, there, strict=True)]
        for one, other, distance in zip(here, there, distances, strict=True):
            if ask.sensitivity is not None and _exceeds(distance, ask.sensitivity, one, other):
                detail = f"the pair moves the query by {distance:.6g}, claimed {ask.sensitivity:.6g}"
                self._finding(Kind.SENSITIVITY_EXCEEDED, ask.label, detail)
        most = Movement(max(distances), ask.sensitivity, releases=1)
        most.whole = int(most.share >= WHOLE)
        self.result.movements[ask.label] = self.result.movements[ask.label].with_other(most)
        return distances

    def _without_noise(self, ask: Request, here: Sequence[Law], there: Sequence[Law]) -> bool:
        """Report bare values; True where only some are bare: they have no common density, and D's query is released."""
        bare = [law.is_bare for law in (*here, *there)]
        if True not in bare:
            return False
        if any(not np.array_equal(query_of(one), query_of(other)) for one, other in zip(here, there, strict=True)):
            # what was drawn in secret may protect a value that is released without noise
            self._finding(Kind.BARE_RELEASE, ask.label, "std = 0 and the neighbours' values differ", self._secrets)
            self.result.loss = self.result.loss if all(bare) else math.inf
        if not all(bare):
            self._answer(as_released(query_of(here[-1])))
        return not all(bare)


def _name(request: Request) -> str:
    return "the end" if request.call == "end" else f"{request.call} {request.label!r}"


def _exceeds(distance: float, sensitivity: float, one: Law, other: Law) -> bool:
    """Is a query moved by more than this, beyond rounding."""
    limit = sensitivity * (1 + 1e-9) + _LEAST
    return distance > limit and distance > limit + rounding(one, other)


def rounding(one: Law, other: Law) -> float:
    """What rounding alone may move a query: after a huge released value its own size is the measure."""
    found = [law.moved() for law in (one, other)]
    return 1e-12 * max((float(np.max(np.abs(query), initial=0.0)) for query in found if query is not None), default=0.0)


def _in_proportion(one: Request, other: Request) -> bool:
    """Both declare the same share of their noise scale as sensitivity: that it differs is said by the scale."""
    if one.sensitivity is None or other.sensitivity is None or one.law is None or other.law is None:
        return False
    crossed = one.sensitivity * other.law.scale, other.sensitivity * one.law.scale
    return math.isclose(*crossed, rel_tol=1e-9) and crossed[0] > 0


class DrawnHub(Hub):
    """Released values are drawn from a tilted law; the loss and the weights are exact."""

    def __init__(self, run: Run[P], pair: Pair[P], seed: Sequence[int], tilts: Tilts, tilt: int, where: list[Place]):
        super().__init__(run, pair, Streams(seed), where, LockstepRun(log_weights=np.zeros(len(tilts))))
        self._tilts, self._tilt = tilts, tilt
        self._states = HiddenStates([world.place for world in self._here])
        self._records: Records | None = None  # most runs draw nothing, and streams take time to make

    def _records_of(self, draw: Draw) -> Sequence[Any]:
        if self._records is None:
            self._records = Records(self._target, self._streams)
        number = self._states.drawn(draw)
        return self._records.indices(draw, [world.place for world in self.worlds], number)

    def _holding(self, draws: tuple[int, ...]) -> Sequence[bool]:
        found: list[bool] = self._states.holding(draws).tolist()
        return found

    def _group(self, ask: Request, hidden: tuple[int, ...], here: list[Law], there: list[Law]) -> Group:
        """The hidden states that the release is a mixture over."""
        group = self._states.group(hidden)
        if group is None:
            self.result.inexact = self.result.inexact or f"release {ask.label!r} depends on several sampled batches"
            return self._states.full()
        if hidden or len(here) == 1 or not self._depends_on_a_batch(ask, here, there):
            return group
        if sum(draw.hidden for draw in self._draws) > 1 and self._draws[-1].kind != "fresh":
            self.result.inexact = self.result.inexact or f"release {ask.label!r} depends on an undeclared batch"
        return self._states.last or group

    def _released(self, ask: Request, hidden: tuple[int, ...], here: list[Law], there: list[Law]) -> None:
        group = self._group(ask, hidden, here, there)
        picked, picked_there = [here[s] for s in group.worlds], [there[s] for s in group.worlds]
        self._movement(ask, picked, picked_there)
        if self._without_noise(ask, picked, picked_there):
            return
        plan = proposal(picked, picked_there, group, self._tilts)
        value = plan.sample(self._streams[VALUES], self._tilt)
        sides, proposals = plan.logs(value)
        why = "draws a value to which its own log_density gives no probability"
        require(proposals[self._tilt] != -math.inf, type(picked[0]).__name__, ask.label, why)
        means = np.logaddexp.reduce(group.logs + sides, axis=1)
        log_here, log_there = means.tolist()
        self.result.loss += log_here - log_there
        self.result.log_weights += log_here - proposals
        if math.isfinite(log_here) and math.isfinite(log_there):  # else the loss is infinite and no filter changes it
            self._states.update(group, sides - means[:, None])
        if self._check:
            self._compare_check(ask, hidden, here, value)
        self._answer(value)

    def _compare_check(self, ask: Request, hidden: tuple[int, ...], here: list[Law], value: Any) -> None:
        assert self._check is not None and self._check.ask.law is not None
        having = self._records.check_has_target if self._records else {}
        law, reference = self._check.ask.law, here[self._states.check_world(hidden, having)]
        if law.query is not None:
            agree = law.public_difference(reference) is None and law.agrees(reference)
        else:
            agree = abs(law.log_density(value) - reference.log_density(value)) < _EXACT
        if not agree:
            self._drop_check(f"release {ask.label!r} depends on which other records (or inner randomness) were drawn")


class ScriptedHub(Hub):
    """A script dictates the values. World 0 of a side is out of every secret batch (if there are any)."""

    result: ScriptedRun

    def __init__(
        self, run: Run[P], pair: Pair[P], seed: Sequence[int], script: Dictation, hidden: bool, longest: int = LONGEST
    ):
        roles: tuple[Role, ...] = ("out", "in") if hidden else ("full",)
        where = [Place(side, role) for side in SIDES for role in roles]
        self.unprepared = False  # a secret batch came up, and no worlds run without the target
        super().__init__(partial(caught, run), pair, Streams(seed), where, ScriptedRun())
        self._script, self._longest, self._prepared = script, longest, hidden
        self._records = ScriptedRecords(pair.target, self._streams, script)
        self._occurrences: Counter[str] = Counter()
        self._before: dict[str, Any] = {}

    def _same_call(self) -> bool:
        self.result.too_long = self._step >= self._longest
        return not self.result.too_long and super()._same_call()

    def _draw(self) -> None:
        draw = self._here[0].ask.draw
        if draw is not None and draw.hidden and not self._prepared:
            self._over = self.unprepared = True
        else:
            super()._draw()

    def _records_of(self, draw: Draw) -> Sequence[Any]:
        return 2 * self._records.indices(draw, len(self._here))

    def _holding(self, draws: tuple[int, ...]) -> Sequence[bool]:
        found: list[bool] = np.any([self._records.held[number] for number in draws], axis=0).tolist()
        return found

    def _released(self, ask: Request, hidden: tuple[int, ...], here: list[Law], there: list[Law]) -> None:
        if not hidden and len(here) > 1:
            self._depends_on_a_batch(ask, here, there)
        moved = max(self._movement(ask, here, there))
        joined = [one for _, one in self._joining(ask, hidden, here, there)]
        self.result.moves.append(moved)
        self.result.joins.append((joined[0], joined[-1]) if joined else None)
        self.result.there.append(there[-1])
        rates = [self._draws[number].rate for number in hidden if self._draws[number].kind != "fresh"]
        self._shares(ask, here, there, moved, min(rates, default=1.0))
        if self._without_noise(ask, here, there):
            return
        law, label = here[-1], ask.label
        value = self._dictated(self._script.choice(label, self._occurrences[label], law), law, label)
        self._occurrences[label] += 1
        self._before[label] = value
        self._answer(value)

    def _dictated(self, choice: Choice, law: Law, label: str) -> Any:
        return dictated(choice, law, self._before.get(label), self._streams[VALUES])

    def _shares(self, ask: Request, here: list[Law], there: list[Law], moved: float, rate: float) -> None:
        before = self.result.shares.setdefault(ask.label, 0.0)
        if ask.sensitivity:
            if moved > ask.sensitivity:  # a share above 1 accuses: rounding is taken off
                both = zip(here, there, strict=True)
                moved = max(one.distance(other) - rounding(one, other) - _LEAST for one, other in both)
            self.result.shares[ask.label] = max(before, moved / ask.sensitivity)
        self.result.separation = math.hypot(self.result.separation, rate * here[-1].apart(there[-1], moved))

    def _finding(self, kind: Kind, label: str, detail: object, given_secrets: bool = False) -> None:
        raised = [world.ask.value for world in self.worlds if isinstance(world.ask.value, Raised)]
        if raised:
            detail = f"{detail}; one side ends by raising {raised[0].text}"
        super()._finding(kind, label, detail, given_secrets)
        if (kind, label) not in self.result.seen:
            self.result.seen[(kind, label)] = self._ended() if kind is Kind.OUTPUT else self._place()

    def _place(self) -> Seen:
        """The queries of the worlds that differ the most."""
        pairs = [
            (one, other)
            for one, other in zip(self._laws(self._here), self._laws(self._there), strict=False)
            if one.query is not None and isinstance(other, type(one)) and query_of(one).shape == query_of(other).shape
        ]
        if not pairs:
            return Seen()
        one, other = max(pairs, key=lambda laws: laws[0].distance(laws[1]))
        return Seen(query_of(one), query_of(other))

    def _ended(self) -> Seen:
        """The part of the outputs that differs, where it is numbers."""
        first = self._here[-1].ask.value
        for world in (*self._there, *self._here):
            one, other = parting(first, world.ask.value)[1:]
            if not same(one, other) and _numbers(one) and _numbers(other):
                return Seen(np.asarray(one, dtype=float), np.asarray(other, dtype=float))
        return Seen()

    def finish(self) -> ScriptedRun:
        """The result, with the transcript of D."""
        world = self._here[-1]
        self.result.transcript = world.tape.transcript
        self.result.transcript.output = self.result.output
        self.result.raised = world.ask.value.text if isinstance(world.ask.value, Raised) else ""
        return self.result


_NATS = 700.0  # all dictated values of a run are together at least as probable as e^-700; a float ends at e^-745
_SHARE = 0.5  # of what is left that one value may take: later ones need some, too


class WithinReach(ScriptedHub):
    """A hub that moves a chosen value as near to its query as it must be for the noise to go so far.

    A premise must hold on a tape whatever was released. Plain code declares nothing, so all that it can break is its
    claim, and values that come out with probability e^-700 break none: delta covers them. They lead to places where
    floats end (a clipping bound of 1e-260, noise that is no number), and right code is not right there.
    """

    _left = _NATS

    def _dictated(self, choice: Choice, law: Law, label: str) -> Any:
        value = super()._dictated(choice, law, label)
        if choice.how in ("drawn", "query") or not (law.is_normal or isinstance(law, Laplace)) or not law.scale > 0:
            return value
        query = query_of(law)
        away = (np.asarray(value, dtype=float) - query) / law.scale
        # half the squared 2-norm of Gaussian noise, or the sum of the lengths of Laplace noise, is a Gamma
        shape, power = (query.size / 2, 2) if law.is_normal else (query.size, 1)
        gamma = norm(away) ** 2 / 2 if law.is_normal else float(np.sum(np.abs(away)))
        most = float(gammainccinv(shape, math.exp(-self._left * _SHARE)))
        if gamma > most:
            away = away * (most / gamma) ** (1 / power)
            gamma, value = most, law.possible(as_released(np.asarray(query + law.scale * away)))
        self._left += math.log(max(float(gammaincc(shape, gamma)), math.exp(-_NATS)))
        return value


def _numbers(value: Any) -> bool:
    kind = np.asarray(value).dtype.kind if isinstance(value, int | float | np.ndarray | np.generic) else ""
    return kind in ("f", "i", "u", "b") and bool(np.isfinite(value).all())
