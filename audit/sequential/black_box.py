"""A black-box audit that grows: it learns on past outputs, bets on fresh ones, and decides how many to ask for next.

The first outputs teach each other: scores learned on one half bet on the other, and the mean of the two e-values is
one (a mean of e-values always is). From then on each round is bet on by what all rounds before it taught, so that the
product is a test martingale over rounds. A round is as long as the expected growth says that the rest of the way is, a
quarter to the whole of what is known; with a budget in seconds it fits into what is left.

Bets on fresh outputs by what past outputs taught: e-values, which may be averaged and multiplied.

Each score bets on the one event that promised most in the past, at stakes that its past rates ask for. That needs no
learning inside the block, so that small blocks count in full.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import logsumexp

from dpassay.audit.blackbox.detect import REPEATED, of_outputs, require_independent
from dpassay.audit.blackbox.learner import FIT_SHARE, Candidate, learn_scores
from dpassay.audit.blackbox.repeats import repeats_log_wealth
from dpassay.audit.blackbox.sources import Mechanism, draw
from dpassay.audit.blackbox.table import NOTHING, Column, Tables, appended, kept, telling_columns, to_tables
from dpassay.audit.blackbox.telling import of_event
from dpassay.audit.evidence.events import Event
from dpassay.audit.results import ClaimTest
from dpassay.reference.arrays import Array
from dpassay.reference.guarantee import LARGEST, Guarantee

FRACTIONS = np.array([0.15, 0.4, 1.0])  # of the best stake: past rates promise more than fresh outputs keep
MOST_STAKED = 0.95  # of what one pair of outputs can lose
STAKES = 60  # tried
REPEATS_SHARE = 0.35  # of the stake is on outputs that repeat exactly; learned scores share the rest
DEALT = 0.15  # of the stake, dealt anew in each round


@dataclass(frozen=True)
class EventBet:
    """Stakes on 'this event happens more often on D' than the claim allows', fixed by past outputs.

    A pair of outputs, one a side, gains 1{on D'} - e^epsilon 1{on D} - delta, whose mean is at most 0 under the claim.
    """

    event: Event
    stakes: Array
    growth: float  # of the log wealth, expected for a pair of outputs; 0 where nothing is expected

    @staticmethod
    def of_past(event: Event, p: Array, q: Array) -> EventBet:
        """Stakes that would have been best for the rates of past scores, drawn to the claim by their errors."""
        slope = float(np.exp(min(event.epsilon, LARGEST)))
        rate_p, rate_q = event.rate(p), event.rate(q)
        error = np.sqrt(rate_q * (1 - rate_q) / q.size + slope**2 * rate_p * (1 - rate_p) / p.size)
        excess = rate_q - slope * rate_p - event.delta
        kept = max(0.0, 1 - 0.5 * error / excess) if excess > 0 else 0.0
        limit = MOST_STAKED / (slope + event.delta)
        tried = np.geomspace(1e-4, 1.0, STAKES) * limit
        less = min(max(rate_q - (1 - kept) * max(excess, 0.0), 0.0), 1.0)
        masses = np.outer([1 - less, less], [1 - rate_p, rate_p]).ravel()
        expected = np.log1p(tried[:, None] * _gains(event)) @ masses
        best = int(expected.argmax())
        if expected[best] <= 0:  # nothing is promised: a small stake all the same
            return EventBet(event, 0.02 * limit * FRACTIONS, 0.0)
        return EventBet(event, tried[best] * FRACTIONS, float(expected[best]))

    def log_wealth(self, p: Array, q: Array) -> float:
        """Of equal parts on each stake, on the scores of fresh outputs, paired in order as far as both sides go."""
        pairs = min(p.size, q.size)
        in_p, in_q = self.event.inside(p[:pairs]), self.event.inside(q[:pairs])
        counts = np.bincount(2 * in_q + in_p, minlength=4)
        logs = np.log1p(self.stakes[:, None] * _gains(self.event))
        return float(logsumexp(logs @ counts) - np.log(self.stakes.size))


def _gains(event: Event) -> Array:
    """Of a pair in which the event is on neither side, on D, on D', and on both."""
    slope = float(np.exp(min(event.epsilon, LARGEST)))
    return np.array([0.0, -slope, 1.0, 1.0 - slope]) - event.delta


@dataclass(frozen=True)
class Bettor:
    """A candidate with the stakes on its event."""

    candidate: Candidate
    bet: EventBet

    @property
    def name(self) -> str:
        """Stays the same from round to round, so that what won may be trusted with more."""
        return self.candidate.name

    def log_wealth(self, p: Array, q: Array) -> float:
        """On fresh tables of D and of D'."""
        return self.bet.log_wealth(self.candidate.score(p), self.candidate.score(q))


def bettors(candidates: Sequence[Candidate], held: tuple[Array, Array]) -> list[Bettor]:
    """All candidates, with stakes that the rates of `held` ask for: past outputs that no score was fitted on."""
    return [Bettor(one, EventBet.of_past(one.event, one.score(held[0]), one.score(held[1]))) for one in candidates]


def shares(all_of_them: Sequence[Bettor], size: int, won: Mapping[str, float]) -> dict[str, float]:
    """Of the stake, for each score and for repeated outputs, by name; they add up to 1.

    Most of it is where it has grown: wealth is left with what won it, so that choosing is paid for once and not in each
    round. A part is dealt anew (fixed share, Herbster and Warmuth 1998), by the growth that is expected in a round of
    `size` outputs a side.

    Args:
        won: log wealth of each in earlier rounds, less that of all together.
    """
    growth = np.array([one.bet.growth for one in all_of_them]) * size
    fastest = np.exp(growth - logsumexp(growth))
    parts = (1 - REPEATS_SHARE) * (1 / len(all_of_them) + fastest) / 2
    dealt = {REPEATED: REPEATS_SHARE, **{one.name: float(part) for one, part in zip(all_of_them, parts, strict=True)}}
    logs = np.array([np.log(share) + won.get(name, 0.0) for name, share in dealt.items()])
    kept = np.exp(logs - logsumexp(logs))
    new = np.array(list(dealt.values()))
    return dict(zip(dealt, ((1 - DEALT) * kept + DEALT * new / new.sum()).tolist(), strict=True))


FIRST = 250  # outputs a side that begin
LEAST_HALF = 20  # outputs a side in half of the first block: fewer only teach
KEPT = 200_000  # past outputs a side that are learned from: the last ones
MOST_ROUND = 500_000  # outputs a side of one round, so that memory does not grow with the budget
MARGIN = 1.3  # longer than the expected growth asks for
SHORTEST, LONGEST = 0.25, 1.0  # a round, in units of what is known


@dataclass
class _Costs:
    """Seconds for an output on each side, and for the last learning; only a budget in seconds looks at them."""

    limit: float | None
    start: float = field(default_factory=time.perf_counter)
    drawing: float = 0.0
    drawn: int = 0
    learning: float = 0.0

    @property
    def left(self) -> float:
        """Seconds."""
        return float("inf") if self.limit is None else self.limit - (time.perf_counter() - self.start)

    def fitting(self, size: int) -> int:
        """A round that fits into the rest, after learning."""
        each = self.drawing / max(1, self.drawn)
        return size if self.limit is None or each == 0 else min(size, int((self.left - self.learning) / each))


@dataclass
class _Outputs:
    """Draws outputs on both sides, and keeps what is odd about the first ones, in words."""

    mechanism: Mechanism
    datasets: tuple[Any, Any]
    rng: np.random.Generator
    costs: _Costs
    said: list[str] = field(default_factory=list)

    def fresh(self, size: int) -> Tables:
        """So many a side."""
        begun = time.perf_counter()
        outputs = [draw(self.mechanism, data, size, self.rng) for data in self.datasets]
        self.costs.drawing += time.perf_counter() - begun
        self.costs.drawn += size
        found = to_tables(*outputs)
        require_independent(found)
        if self.costs.drawn == size:  # the first ones
            self.said.extend(of_outputs(found, *outputs))
        return found


@dataclass
class _State:
    """What the audit knows: past outputs, what each kind of score has won, and the wealth."""

    past: Tables
    known: int
    wealth: float = 0.0
    best: float = 0.0
    won: dict[str, float] = field(default_factory=dict)
    gave_away: dict[str, object] = field(default_factory=dict)


def audit_sequentially(
    mechanism: Mechanism,
    datasets: tuple[Any, Any],
    claim: Guarantee,
    rng: np.random.Generator,
    limit: int = 100_000,
    first: int = FIRST,
    confidence: float = 0.95,
    each: Callable[[ClaimTest], None] = lambda _: None,
    seconds: float | None = None,
) -> ClaimTest:
    """Draw, bet and learn until the claim falls, `limit` outputs a side are drawn, or `seconds` are over.

    Without `seconds` the same seed gives the same numbers. `each` gets the result that would stand if the audit ended
    after this round.
    """
    costs, needed = _Costs(seconds), -np.log(1 - confidence)
    outputs = _Outputs(mechanism, datasets, rng, costs)

    def result() -> ClaimTest:
        return ClaimTest(
            claim=claim.name,
            p_value=float(np.exp(-state.best)),
            confidence=confidence,
            method="sequential black box",
            runs=2 * state.known,
            seconds=time.perf_counter() - costs.start,
            evidence={"log_wealth": state.wealth, **state.gave_away, "notes": outputs.said},
        )

    tables = outputs.fresh(min(first, limit))
    state = _State(tables, len(tables.p))
    gained, state.gave_away = first_log_wealth(tables, claim, rng)
    _add(state, gained, {})
    each(result())
    while state.best < needed and state.known < limit and costs.left > 0:
        begun = time.perf_counter()
        round_ = Round.learned(state.past, claim, rng)
        costs.learning = time.perf_counter() - begun
        dealt = shares(round_.bettors, state.known, state.won)
        wanted = round_.wanted(needed - state.wealth, dealt)
        size = int(min(max(wanted, SHORTEST * state.known), LONGEST * state.known))
        size = min(costs.fitting(size), limit - state.known, MOST_ROUND)
        if size < 2:
            break
        tables = outputs.fresh(size)
        _add(state, *round_.log_wealth(tables, rng, dealt, state.past))
        state.gave_away = round_.gave_away(tables)
        state.known += size
        state.past = appended(state.past, tables, KEPT)
        each(result())
    return result()


def _add(state: _State, gained: float, ways: Mapping[str, float]) -> None:
    state.wealth += gained
    state.best = max(state.best, state.wealth)
    for way, log in ways.items():
        state.won[way] = state.won.get(way, 0.0) + log - gained


def first_log_wealth(tables: Tables, claim: Guarantee, rng: np.random.Generator) -> tuple[float, dict[str, object]]:
    """Log of the mean of two e-values: each half of the first outputs is bet on by what the other one taught.

    Also what the second of them showed, for a report.
    """
    half = min(len(tables.p), len(tables.q)) // 2
    if half < LEAST_HALF:
        return 0.0, {}
    parts, logs, shown = [tables.part(slice(0, half)), tables.part(slice(half, None))], [], {}
    for taught, judged in (parts, parts[::-1]):
        round_ = Round.learned(taught, claim, rng)
        logs.append(round_.log_wealth(judged, rng, shares(round_.bettors, half, {}), None)[0])
        shown = round_.gave_away(judged)
    return float(logsumexp(logs) - np.log(2)), shown


@dataclass(frozen=True)
class Round:
    """Bets that are fixed before the outputs of the round are seen."""

    columns: tuple[Column, ...]  # that said something in the past
    claim: Guarantee
    bettors: list[Bettor]

    @staticmethod
    def learned(past: Tables, claim: Guarantee, rng: np.random.Generator) -> Round:
        """Scores fitted on one half of the past, stakes chosen on the other."""
        chosen = telling_columns((past.p, past.q))
        p, q = kept((past.p, past.q), chosen)
        columns = tuple(column for column, one in zip(past.columns, chosen, strict=True) if one) or NOTHING
        candidates = learn_scores(p, q, claim, rng, columns=columns)
        held = (p[int(FIT_SHARE * len(p)) :], q[int(FIT_SHARE * len(q)) :])
        return Round(columns, claim, bettors(candidates, held))

    def wanted(self, missing: float, dealt: Mapping[str, float]) -> int:
        """Outputs a side after which the wealth would have grown by what is missing, as it seems now."""
        ahead = max(self.bettors, key=lambda one: one.bet.growth)
        lost = -float(np.log(dealt[ahead.name]))  # of the stake that is not on this score
        return int(min(1e9, MARGIN * (missing + lost) / ahead.bet.growth)) if ahead.bet.growth > 0 else 10**9

    def log_wealth(
        self, fresh: Tables, rng: np.random.Generator, dealt: Mapping[str, float], past: Tables | None
    ) -> tuple[float, dict[str, float]]:
        """Log e-value of fresh outputs, and that of each bet; `past` outputs may come back."""
        p, q = self.aligned(fresh)
        ways = {one.name: one.log_wealth(p, q) for one in self.bettors}
        before = None if past is None else past.matrices(fresh.columns)
        ways[REPEATED] = repeats_log_wealth(fresh.p, fresh.q, self.claim, rng, at_end=True, past=before)
        return float(logsumexp([ways[way] + np.log(share) for way, share in dealt.items()])), ways

    def gave_away(self, fresh: Tables) -> dict[str, object]:
        """The event that was expected to grow most, in words, with what was seen of it; for a report."""
        columns = [one for one in self.bettors if one.candidate.column is not None]
        ahead = max(columns or self.bettors, key=lambda one: one.bet.growth)
        return of_event(ahead.candidate, self.aligned(fresh), fresh.texts).evidence

    def aligned(self, fresh: Tables) -> tuple[Array, Array]:
        """The columns that were learned on, missing where the fresh outputs have none."""
        return fresh.matrices(self.columns)
