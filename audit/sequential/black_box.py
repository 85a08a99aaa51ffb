"""A black-box audit that grows: it learns on past outputs, bets on fresh ones, and decides how many to ask for next.

The first outputs teach each other: scores learned on one half bet on the other, and the mean of the two e-values is
one (a mean of e-values always is). From then on each round is bet on by what all rounds before it taught, so that the
product is a test martingale over rounds. A round is as long as the expected growth says that the rest of the way is, a
quarter to the whole of what is known.

Each score bets on the one event that promised most in the past, at stakes that its past rates ask for. That needs no
learning inside the block, so that small blocks count in full.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
FIRST = 250  # outputs a side that begin
LEAST_HALF = 20  # outputs a side in half of the first block: fewer only teach
KEPT = 200_000  # past outputs a side that are learned from: the last ones
MOST_ROUND = 500_000  # outputs a side of one round, so that memory does not grow with the budget
MARGIN = 1.3  # longer than the expected growth asks for
SHORTEST, LONGEST = 0.25, 1.0  # a round, in units of what is known


@dataclass(frozen=True)
class Bettor:
    """A score with stakes on 'its event happens more often on D' than the claim allows', fixed by past outputs.

    A pair of outputs, one a side, gains 1{on D'} - e^epsilon 1{on D} - delta, whose mean is at most 0 under the claim.
    """

    candidate: Candidate  # its name stays the same from round to round, so that what won may be trusted with more
    stakes: Array
    growth: float  # of the log wealth, expected for a pair of outputs; 0 where nothing is expected

    @staticmethod
    def taught(candidate: Candidate, p: Array, q: Array) -> Bettor:
        """Stakes that would have been best for the rates in past tables, drawn to the claim by their errors."""
        event, scores_p, scores_q = candidate.event, candidate.score(p), candidate.score(q)
        slope = float(np.exp(min(event.epsilon, LARGEST)))
        rate_p, rate_q = event.rate(scores_p), event.rate(scores_q)
        error = np.sqrt(rate_q * (1 - rate_q) / len(q) + slope**2 * rate_p * (1 - rate_p) / len(p))
        excess = rate_q - slope * rate_p - event.delta
        kept = max(0.0, 1 - 0.5 * error / excess) if excess > 0 else 0.0
        limit = MOST_STAKED / (slope + event.delta)
        tried = np.geomspace(1e-4, 1.0, STAKES) * limit
        less = min(max(rate_q - (1 - kept) * max(excess, 0.0), 0.0), 1.0)
        masses = np.outer([1 - less, less], [1 - rate_p, rate_p]).ravel()
        expected = np.log1p(tried[:, None] * _gains(event)) @ masses
        best = int(expected.argmax())
        if expected[best] <= 0:  # nothing is promised: a small stake all the same
            return Bettor(candidate, 0.02 * limit * FRACTIONS, 0.0)
        return Bettor(candidate, tried[best] * FRACTIONS, float(expected[best]))

    def log_wealth(self, p: Array, q: Array) -> float:
        """Of equal parts on each stake, on fresh tables of D and of D', paired in order as far as both sides go."""
        event, pairs = self.candidate.event, min(len(p), len(q))
        in_p, in_q = (event.inside(self.candidate.score(side)[:pairs]) for side in (p, q))
        counts = np.bincount(2 * in_q + in_p, minlength=4)
        logs = np.log1p(self.stakes[:, None] * _gains(event))
        return float(logsumexp(logs @ counts) - np.log(self.stakes.size))


def _gains(event: Event) -> Array:
    """Of a pair in which the event is on neither side, on D, on D', and on both."""
    slope = float(np.exp(min(event.epsilon, LARGEST)))
    return np.array([0.0, -slope, 1.0, 1.0 - slope]) - event.delta


def shares(bettors: Sequence[Bettor], size: int, won: Mapping[str, float]) -> dict[str, float]:
    """Of the stake, for each score and for repeated outputs, by name; they add up to 1.

    Most of it is where it has grown: wealth is left with what won it, so that choosing is paid for once and not in each
    round. A part is dealt anew (fixed share, Herbster and Warmuth 1998), by the growth that is expected in a round of
    `size` outputs a side.

    Args:
        won: log wealth of each in earlier rounds, less that of all together.
    """
    growth = np.array([one.growth for one in bettors]) * size
    fastest = np.exp(growth - logsumexp(growth))
    parts = (1 - REPEATS_SHARE) * (1 / len(bettors) + fastest) / 2
    dealt = {
        REPEATED: REPEATS_SHARE,
        **{one.candidate.name: float(part) for one, part in zip(bettors, parts, strict=True)},
    }
    logs = np.array([np.log(share) + won.get(name, 0.0) for name, share in dealt.items()])
    kept = np.exp(logs - logsumexp(logs))
    new = np.array(list(dealt.values()))
    return dict(zip(dealt, ((1 - DEALT) * kept + DEALT * new / new.sum()).tolist(), strict=True))


def audit_sequentially(
    mechanism: Mechanism,
    datasets: tuple[Any, Any],
    claim: Guarantee,
    rng: np.random.Generator,
    limit: int = 100_000,
    first: int = FIRST,
    confidence: float = 0.95,
    each: Callable[[ClaimTest], None] = lambda _: None,
) -> ClaimTest:
    """Draw, bet and learn until the claim falls or `limit` outputs a side are drawn.

    `each` gets the result after each round, which would stand if the audit ended there; the last one is returned.
    """
    start, needed = time.perf_counter(), -np.log(1 - confidence)

    def drawn(size: int) -> tuple[Tables, list[Any]]:
        outputs = [draw(mechanism, data, size, rng) for data in datasets]
        tables = to_tables(*outputs)
        require_independent(tables)
        return tables, outputs

    past, outputs = drawn(min(first, limit))
    known, notes, won = len(past.p), of_outputs(past, *outputs), dict[str, float]()
    wealth, gave_away = first_log_wealth(past, claim, rng)
    best = max(0.0, wealth)
    while True:
        result = ClaimTest(
            claim=claim.name,
            p_value=float(np.exp(-best)),
            confidence=confidence,
            method="sequential black box",
            runs=2 * known,
            seconds=time.perf_counter() - start,
            evidence={"log_wealth": wealth, **gave_away, "notes": notes},
        )
        each(result)
        if best >= needed or known >= limit - 1:
            return result
        taught = Round.taught(past, claim, rng)
        dealt = shares(taught.bettors, known, won)
        size = int(min(max(taught.wanted(needed - wealth, dealt), SHORTEST * known), LONGEST * known))
        size = min(size, limit - known, MOST_ROUND)
        fresh, _ = drawn(size)
        gained, ways = taught.log_wealth(fresh, rng, dealt, past)
        gave_away = taught.gave_away(fresh)
        won |= {way: won.get(way, 0.0) + log - gained for way, log in ways.items()}
        wealth, known, past = wealth + gained, known + size, appended(past, fresh, KEPT)
        best = max(best, wealth)


def first_log_wealth(tables: Tables, claim: Guarantee, rng: np.random.Generator) -> tuple[float, dict[str, object]]:
    """Log of the mean of two e-values: each half of the first outputs is bet on by what the other one taught.

    Also what the second of them showed, for a report.
    """
    half = min(len(tables.p), len(tables.q)) // 2
    if half < LEAST_HALF:
        return 0.0, {}
    parts, logs, shown = [tables.part(slice(0, half)), tables.part(slice(half, None))], [], {}
    for taught, judged in (parts, parts[::-1]):
        round_ = Round.taught(taught, claim, rng)
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
    def taught(past: Tables, claim: Guarantee, rng: np.random.Generator) -> Round:
        """Scores fitted on one half of the past, stakes chosen on the other."""
        chosen = telling_columns((past.p, past.q))
        p, q = kept((past.p, past.q), chosen)
        columns = tuple(column for column, one in zip(past.columns, chosen, strict=True) if one) or NOTHING
        held = (p[int(FIT_SHARE * len(p)) :], q[int(FIT_SHARE * len(q)) :])
        candidates = learn_scores(p, q, claim, rng, columns)
        return Round(columns, claim, [Bettor.taught(one, *held) for one in candidates])

    def wanted(self, missing: float, dealt: Mapping[str, float]) -> int:
        """Outputs a side after which the wealth would have grown by what is missing, as it seems now."""
        ahead = max(self.bettors, key=lambda one: one.growth)
        lost = -float(np.log(dealt[ahead.candidate.name]))  # of the stake that is not on this score
        return int(min(1e9, MARGIN * (missing + lost) / ahead.growth)) if ahead.growth > 0 else 10**9

    def log_wealth(
        self, fresh: Tables, rng: np.random.Generator, dealt: Mapping[str, float], past: Tables | None
    ) -> tuple[float, dict[str, float]]:
        """Log e-value of fresh outputs, and that of each bet; `past` outputs may come back."""
        p, q = fresh.matrices(self.columns)  # missing where the fresh outputs have none
        ways = {one.candidate.name: one.log_wealth(p, q) for one in self.bettors}
        before = None if past is None else past.matrices(fresh.columns)
        ways[REPEATED] = repeats_log_wealth(fresh.p, fresh.q, self.claim, rng, at_end=True, past=before)
        return float(logsumexp([ways[way] + np.log(share) for way, share in dealt.items()])), ways

    def gave_away(self, fresh: Tables) -> dict[str, object]:
        """The event that was expected to grow most, in words, with what was seen of it; for a report."""
        columns = [one for one in self.bettors if one.candidate.column is not None]
        ahead = max(columns or self.bettors, key=lambda one: one.growth)
        return of_event(ahead.candidate, fresh.matrices(self.columns), fresh.texts).evidence
