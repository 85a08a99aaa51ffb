"""Labels are revealed from the middle of the scores outwards; what they teach chooses how the extreme ones are judged.

Given ANY scores, the labels that are still hidden are guessed wrong at least as often as epsilon says, whatever the
revealed ones were. So revealed labels may teach which depth to read at both ends, which end says more, in which
direction, and which weight each block deserves; the hidden rest is then one exact test at the whole level
(`weighted.py`). Nothing is paid for the choice of a threshold, and nothing that would have been judged is spent on it.

What they teach is a smooth curve: log odds of a label by its rank, penalised for curvature (Whittaker 1923; Eilers and
Marx 1996), which goes on in a straight line where labels are hidden. If it does, the weights are near those of the most
powerful test; if it does not, the bound is weak, never wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky_banded, solveh_banded
from scipy.special import expit, ndtr, ndtri

from dpassay.reference.types import Array, Bools, Indices

from .alike import promise_alike
from .found_out import FoundOut
from .ranked import Blocks, blocks_of
from .weighted import Allowance, Guesses, weighted_epsilon

FEWEST = 40  # labels
MIDDLE = 0.15  # normal quantiles on each side of the median that are revealed first
STIFFNESS = (
    4.0,
    400.0,
)  # of the curve: with 4, a slope that changes by one half over one normal quantile costs 0.5
DAMPING = 0.3  # of its slopes: beyond what is known they fade, over sqrt(4 / 0.3) normal quantiles
CAPS = (0.05, 0.4, 1.0)  # log odds beyond epsilon at which weights stop growing: from nearly equal ones to graded ones
GRADES = 8  # weights are 1 to 8
MARGIN = 2.0  # nats of evidence that the stiffer curve needs: what is hidden may bend
PATIENCE = 0.25  # share of the hidden blocks that is revealed, at most, while nothing is seen
NARROWEST, RIDGE = 0.01, 1e-5  # keep the equations of the curve well conditioned
TURNS, ROUNDS = 8, 200


@dataclass(frozen=True)
class Plan:
    """What is judged: the first `top` blocks and those from `bottom` on, their weights and which side is guessed."""

    top: int
    bottom: int
    sign: int  # +1: large scores are guessed to be of D'
    weights: Indices  # of all blocks, 0 for revealed ones
    epsilon: float = 0.0  # what is promised


def _penalty(places: Array, stiffness: float) -> Array:
    """Squared first and second differences of the curve, upper banded form (up to 3, points)."""
    gaps = np.maximum(np.diff(places), NARROWEST)
    bands = np.zeros((3, places.size))
    bands[2, :-1] += DAMPING / gaps
    bands[2, 1:] += DAMPING / gaps
    bands[1, 1:] -= DAMPING / gaps
    if places.size > 2:
        scale = np.sqrt(2 * stiffness / (gaps[:-1] + gaps[1:]))
        a, c = scale / gaps[:-1], scale / gaps[1:]
        b = -a - c
        bands[2, :-2] += a * a
        bands[2, 1:-1] += b * b
        bands[2, 2:] += c * c
        bands[1, 1:-1] += a * b
        bands[1, 2:] += b * c
        bands[0, 2:] += a * c
    return bands[-min(3, places.size) :]


def _known_by_point(blocks: Blocks, known: Bools) -> tuple[Array, Array]:
    """How many labels are known at each point of the curve, and how many of them are of D'."""
    tried = np.where(known, blocks.size, 0.0) + blocks.told
    hits = np.where(known, blocks.of_q, 0.0) + blocks.told_q
    points = blocks.places.size
    counts = [np.bincount(blocks.point, one, points).astype(float) for one in (tried, hits)]
    return counts[0], counts[1]


def log_odds_curve(blocks: Blocks, known: Bools, start: Array, penalty: Array) -> Array:
    """Log odds that a label is of D', by point: penalised likelihood of the known blocks, a fading line beyond."""
    tried, hits = _known_by_point(blocks, known)
    curve = start
    for _ in range(TURNS):
        rate = expit(curve)
        weight = tried * rate * (1 - rate) + RIDGE
        bands = penalty.copy()
        bands[-1] += weight
        found = np.clip(solveh_banded(bands, weight * curve + hits - tried * rate), -30.0, 30.0)
        moved, curve = float(np.abs(found - curve).max()), found
        if moved < 1e-3:
            break
    return np.asarray(curve)


def _evidence(blocks: Blocks, known: Bools, curve: Array, penalty: Array) -> float:
    """Log evidence of a stiffness by Laplace's approximation at its curve, but for a constant."""
    rate = np.clip(expit(curve), 1e-15, 1 - 1e-15)
    tried, hits = _known_by_point(blocks, known)
    fit = float((hits * np.log(rate) + (tried - hits) * np.log1p(-rate)).sum())
    bent = penalty[-1] @ curve**2
    for off in range(1, penalty.shape[0]):
        bent += 2 * penalty[-1 - off, off:] @ (curve[off:] * curve[:-off])
    prior, after = penalty.copy(), penalty.copy()
    prior[-1] += RIDGE
    after[-1] += tried * rate * (1 - rate) + RIDGE
    spread = [float(np.log(cholesky_banded(one)[-1]).sum()) for one in (prior, after)]
    return fit - 0.5 * float(bent) + spread[0] - spread[1]


def fitted_log_odds(blocks: Blocks, stiffness: float) -> Array:
    """The curve when every label is known, by block."""
    known = np.ones(blocks.size.size, dtype=bool)
    return log_odds_curve(blocks, known, np.zeros(blocks.places.size), _penalty(blocks.places, stiffness))[blocks.point]


def revealed_log_odds(blocks: Blocks, plan: Plan) -> Array:
    """The curve through what the plan has revealed, by block."""
    known = np.zeros(blocks.size.size, dtype=bool)
    known[plan.top : plan.bottom] = True
    start = np.zeros(blocks.places.size)
    return log_odds_curve(blocks, known, start, _penalty(blocks.places, STIFFNESS[0]))[blocks.point]


def _promise(size: Array, odds: Array, log_odds: Array, cap: float, errors: float, corrupted: int) -> float:
    """The epsilon at which the weighted test of hidden blocks would be refuted half of the time (normal law)."""
    low, high, right = -1.0, 20.0, expit(odds)
    for _ in range(18):
        middle = 0.5 * (low + high)
        null = expit(middle + log_odds)
        weight = np.clip((odds - middle - log_odds) / cap, 0.0, 1.0)
        excess = float((size * weight * (right - null)).sum())
        spread = float((size * weight**2 * null * (1 - null)).sum())
        if corrupted and spread > 0:
            excess -= corrupted * float(weight.max() * (1 - null[weight.argmax()]))
        good = spread > 0 and excess >= errors * np.sqrt(spread)
        low, high = (middle, high) if good else (low, middle)
    return low


def plan_outward(
    blocks: Blocks,
    alpha: float,
    corrupted: int = 0,
    prior: float = 0.0,
    signs: Sequence[int] = (1, -1),
    alike: FoundOut | None = None,
    kept: int = 0,
) -> Plan | None:
    """Reveal until the hidden blocks are those worth judging; None if all were revealed.

    Args:
        blocks: only those that are revealed are looked at (`tests/audit/scores/test_outward.py` holds this).
        alpha: level of the test.
        corrupted: labels that may be corrupted.
        prior: log odds of D' before anything is seen, log(size on D' / size on D).
        signs: directions that may be guessed, +1 where high scores speak for D'.
        alike: if given, all guesses weigh the same, high scores are guessed to be of D', and these are the levels.
        kept: so many labels at either end are never revealed. Then there is always a plan, without weights if nothing
            was seen.
    """
    count, ranks = blocks.size.size, np.cumsum(blocks.size) / blocks.size.sum()
    top, bottom = int(np.searchsorted(ranks, ndtr(-MIDDLE))), int(np.searchsorted(ranks, ndtr(MIDDLE))) + 1
    least = min(top, int(np.searchsorted(np.cumsum(blocks.size), kept)) + 1) if kept else 0
    most = max(bottom, count - int(np.searchsorted(np.cumsum(blocks.size[::-1]), kept)) - 1) if kept else count
    side = np.where(np.arange(count) < count / 2, 1.0, -1.0)
    errors, penalties = float(-ndtri(alpha)), [_penalty(blocks.places, one) for one in STIFFNESS]
    curves = [np.full(blocks.places.size, prior) for _ in penalties]
    for _ in range(ROUNDS):
        known = np.zeros(count, dtype=bool)
        known[top:bottom] = True
        curves = [log_odds_curve(blocks, known, *each) for each in zip(curves, penalties, strict=True)]
        likely = [_evidence(blocks, known, *each) for each in zip(curves, penalties, strict=True)]
        odds = curves[int(likely[1] > likely[0] + MARGIN)][blocks.point]
        hidden = np.flatnonzero(~known)

        def promise(sign: int, cap: float, odds: Array = odds, hidden: Indices = hidden) -> float:
            guess = sign * side[hidden]
            return _promise(blocks.size[hidden], guess * odds[hidden], guess * prior, cap, errors, corrupted)

        if alike:
            epsilon, cut = promise_alike(blocks.size[hidden], (side * odds)[hidden], alike)
            sign, cap, grades, beyond = 1, 1.0, 1, side * odds - cut
        else:
            epsilon, sign, cap = max((promise(sign, cap), sign, cap) for sign in signs for cap in CAPS)
            grades, beyond = GRADES, sign * side * (odds - prior) - epsilon
        useful = ~known & (beyond > 0)
        ends = _innermost(useful[:top]), count - _innermost(useful[bottom:][::-1])
        worth = ends if epsilon > 0 else (0, count)
        if epsilon <= 0:
            ends = min(ends[0], int((1 - PATIENCE) * top)), max(ends[1], count - int((1 - PATIENCE) * (count - bottom)))
        ends = max(ends[0], least), min(ends[1], most)
        if ends == (top, bottom):
            graded = np.clip(np.round(grades * np.clip(beyond / cap, 0.0, 1.0)), 1, grades).astype(np.int64)
            graded[worth[0] : worth[1]] = 0
            return Plan(top, bottom, sign, np.where(known, 0, graded), max(epsilon, 0.0))
        top, bottom = (top + ends[0]) // 2, (bottom + ends[1] + 1) // 2  # half of the way: the curve may change
        if top == 0 and bottom == count:
            return None
    return None


def _innermost(useful: Bools) -> int:
    """How many blocks from the outside to the last useful one."""
    found = np.flatnonzero(useful)
    return int(found[-1]) + 1 if found.size else 0


def read_outward(
    low: Array,
    high: Array,
    rng: np.random.Generator,
    alpha: float,
    allowed: Sequence[Allowance] | FoundOut,
    prior: float = 0.0,
    signs: Sequence[int] = (1, -1),
) -> tuple[float, dict[str, object]]:
    """The bound of epsilon and what it rests on.

    Args:
        low, high: the labelled scores of D and of D', each sorted upwards.
        rng: draws the order inside ties.
        alpha: the level that the plan is made for; the test keeps within `allowed`.
        prior, signs: as in `plan_outward`.
    """
    if low.size + high.size < FEWEST:
        return 0.0, {}
    blocks = blocks_of(low, high, rng)
    corrupted = 0 if isinstance(allowed, FoundOut) else allowed[len(allowed) // 2].corrupted
    plan = plan_outward(blocks, alpha, corrupted, prior, signs)
    if plan is None:
        return 0.0, {}
    if isinstance(allowed, FoundOut):
        plan = _affordable(blocks, plan, allowed)
    return judge(blocks, plan, allowed, prior)


def _affordable(blocks: Blocks, plan: Plan, allowed: FoundOut) -> Plan:
    """The plan with its largest weights cut until no coin decides more than is paid for."""
    for most in range(int(plan.weights.max(initial=1)), 1, -1):
        cut = np.minimum(plan.weights, most)
        classes = [Guesses(one, int(blocks.size[cut == one].sum())) for one in range(1, most + 1)]
        if allowed.affords([one for one in classes if one.count], max(plan.epsilon, 0.0)):
            return replace(plan, weights=cut)
    return replace(plan, weights=np.minimum(plan.weights, 1))


def judge(
    blocks: Blocks, plan: Plan, allowed: Sequence[Allowance] | FoundOut, prior: float = 0.0
) -> tuple[float, dict[str, object]]:
    """The exact bound of epsilon from the hidden blocks, and what it rests on; arguments as in `read_outward`."""
    count = blocks.size.size
    judged = np.flatnonzero(plan.weights)
    at_top = np.arange(count) < plan.top
    guessed_q = at_top if plan.sign > 0 else ~at_top
    wrong = np.where(guessed_q, blocks.size - blocks.of_q, blocks.of_q)
    classes: dict[tuple[int, float], int] = {}
    for block in judged:
        key = int(plan.weights[block]), prior if guessed_q[block] else -prior
        classes[key] = classes.get(key, 0) + int(blocks.size[block])
    guesses = [Guesses(weight, number, odds) for (weight, odds), number in sorted(classes.items())]
    weighed = int((plan.weights * wrong).sum())
    if isinstance(allowed, FoundOut):
        epsilon = allowed.epsilon(guesses, weighed)
    else:
        epsilon = weighted_epsilon(guesses, weighed, allowed)
    evidence: dict[str, object] = {
        "guesses": int(blocks.size[judged].sum()),
        "wrong": int(wrong[judged].sum()),
        "direction": f"{'high' if plan.sign > 0 else 'low'} scores guessed to be of D'",
    }
    return epsilon, evidence
