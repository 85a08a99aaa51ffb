"""Labels are revealed from the middle of the scores outwards; what they teach chooses how the extreme ones are judged.

Given ANY scores, the labels that are still hidden are guessed wrong at least as often as epsilon says, whatever the
revealed ones were. So revealed labels may teach which depth to read at both ends, which end says more, in which
direction, and which weight each block deserves; the hidden rest is then one exact test at the whole level
(`evidence/weighted.py`). Nothing is paid for the choice of a threshold, and nothing that would have been judged is
spent on it.

What they teach is a smooth curve: log odds of a label by its rank, penalised for curvature (Whittaker 1923; Eilers and
Marx 1996), which goes on in a straight line where labels are hidden. If it does, the weights are near those of the most
powerful test; if it does not, the bound is weak, never wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky_banded, solveh_banded
from scipy.special import expit, ndtr, ndtri

from dpassay.audit.bounds import halved
from dpassay.audit.evidence.label_bets import tops
from dpassay.audit.evidence.weighted import Allowance, Guesses, weighted_epsilon
from dpassay.reference.arrays import Array, Bools, Indices

FEWEST = 40  # labels
MIDDLE = 0.15  # normal quantiles on each side of the median that are revealed first
STIFFNESS = (4.0, 400.0)  # of the curve: with 4, a slope that changes by 1/2 over one normal quantile costs 0.5
DAMPING = 0.3  # of its slopes: beyond what is known they fade, over sqrt(4 / 0.3) normal quantiles
CAPS = (0.05, 0.4, 1.0)  # log odds beyond epsilon at which weights stop growing: from nearly equal ones to graded ones
GRADES = 8  # weights are 1 to 8
MARGIN = 2.0  # nats of evidence that the stiffer curve needs: what is hidden may bend
PATIENCE = 0.25  # share of the hidden blocks that is revealed, at most, while nothing is seen
NARROWEST, RIDGE = 0.01, 1e-5  # keep the equations of the curve well conditioned
TURNS, ROUNDS = 8, 200
STEP, LAST = 0.1, 4.0  # width of a block in normal quantiles of the rank; labels in the outermost one, about


@dataclass(frozen=True)
class Blocks:
    """Labels in blocks of neighbouring ranks, the largest scores first: how many, and how many of D'.

    Blocks of one tied score have one point of the curve in common: `point` of each block, 0, 1, ... in their order, and
    `places`, the normal quantile of each point's middle rank: -3 is far among the large scores.
    """

    size: Array
    of_q: Array
    point: Indices
    places: Array


def blocks_of(low: Array, high: Array, rng: np.random.Generator) -> Blocks:
    """The labelled scores of D and of D', each sorted upwards, in blocks; `rng` draws the order inside ties."""
    pooled = np.sort(np.concatenate([low, high]))
    depth = edges(pooled.size)
    above, below = _ties(depth, pooled)
    tied = below > above + 1
    depth = np.unique(np.concatenate([depth, above[tied], below[tied]]))
    above, below = _ties(depth, pooled)
    middle = np.where(below > above + 1, above + below, depth[:-1] + depth[1:]) / (2 * pooled.size)
    ranks, point = np.unique(middle, return_inverse=True)
    of_q = np.diff(np.append(0, tops(high, low, depth[1:], rng))).astype(float)
    return Blocks(np.diff(depth).astype(float), of_q, point, np.asarray(ndtri(ranks)))


def _ties(depth: Indices, pooled: Array) -> tuple[Indices, Indices]:
    """Between which depths the score in the middle of each block stands."""
    value = pooled[pooled.size - 1 - (depth[:-1] + depth[1:]) // 2]
    return pooled.size - np.searchsorted(pooled, value, "right"), pooled.size - np.searchsorted(pooled, value)


def edges(labels: int) -> Indices:
    """Depths at which blocks end, from 0 to `labels`: equal widths in normal quantiles."""
    reach = int(-ndtri(min(0.4, LAST / labels)) / STEP)
    inner = np.round(labels * ndtr(np.arange(-reach, reach + 1) * STEP)).astype(np.int64)
    return np.unique(np.concatenate([[0], inner, [labels]]))


@dataclass(frozen=True)
class Plan:
    """What is judged: blocks with a weight, of which the first `top` are guessed one way, the others the other."""

    top: int
    sign: int  # +1: large scores are guessed to be of D'
    weights: Indices  # of all blocks, 0 for revealed ones


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
    tried, hits = np.where(known, blocks.size, 0.0), np.where(known, blocks.of_q, 0.0)
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


def _promise(size: Array, odds: Array, log_odds: Array, cap: float, errors: float, corrupted: int) -> float:
    """The epsilon at which the weighted test of hidden blocks would be refuted half of the time (normal law)."""
    right = expit(odds)

    def refuted(epsilon: float) -> bool:
        null = expit(epsilon + log_odds)
        weight = np.clip((odds - epsilon - log_odds) / cap, 0.0, 1.0)
        excess = float((size * weight * (right - null)).sum())
        spread = float((size * weight**2 * null * (1 - null)).sum())
        if corrupted and spread > 0:
            excess -= corrupted * float(weight.max() * (1 - null[weight.argmax()]))
        return bool(spread > 0 and excess >= errors * np.sqrt(spread))

    return halved(refuted, -1.0, 20.0, 18)[0]


def plan_outward(
    blocks: Blocks, alpha: float, corrupted: int = 0, prior: float = 0.0, signs: Sequence[int] = (1, -1)
) -> Plan | None:
    """Reveal until the hidden blocks are those worth judging; None if all were revealed.

    Args:
        blocks: only those that are revealed are looked at (`tests/audit/scores/test_scores.py` holds this).
        alpha: level of the test.
        corrupted: labels that may be corrupted.
        prior: log odds of D' before anything is seen, log(size on D' / size on D).
        signs: directions that may be guessed, +1 where high scores speak for D'.
    """
    count, ranks = blocks.size.size, np.cumsum(blocks.size) / blocks.size.sum()
    top, bottom = int(np.searchsorted(ranks, ndtr(-MIDDLE))), int(np.searchsorted(ranks, ndtr(MIDDLE))) + 1
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

        epsilon, sign, cap = max((promise(sign, cap), sign, cap) for sign in signs for cap in CAPS)
        beyond = sign * side * (odds - prior) - epsilon
        useful = ~known & (beyond > 0)
        ends = _innermost(useful[:top]), count - _innermost(useful[bottom:][::-1])
        if epsilon <= 0:
            ends = min(ends[0], int((1 - PATIENCE) * top)), max(ends[1], count - int((1 - PATIENCE) * (count - bottom)))
        if ends == (top, bottom):
            graded = np.clip(np.round(GRADES * np.clip(beyond / cap, 0.0, 1.0)), 1, GRADES).astype(np.int64)
            return Plan(top, sign, np.where(known, 0, graded))
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
    allowed: Sequence[Allowance],
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
    plan = plan_outward(blocks, alpha, allowed[len(allowed) // 2].corrupted, prior, signs)
    return judge(blocks, plan, allowed, prior) if plan else (0.0, {})


def judge(
    blocks: Blocks, plan: Plan, allowed: Sequence[Allowance], prior: float = 0.0
) -> tuple[float, dict[str, object]]:
    """The exact bound of epsilon from the hidden blocks, and what it rests on; arguments as in `read_outward`."""
    judged = np.flatnonzero(plan.weights)
    at_top = np.arange(blocks.size.size) < plan.top
    guessed_q = at_top if plan.sign > 0 else ~at_top
    wrong = np.where(guessed_q, blocks.size - blocks.of_q, blocks.of_q)
    classes: dict[tuple[int, float], int] = {}
    for block in judged:
        key = int(plan.weights[block]), prior if guessed_q[block] else -prior
        classes[key] = classes.get(key, 0) + int(blocks.size[block])
    guesses = [Guesses(weight, number, odds) for (weight, odds), number in sorted(classes.items())]
    evidence: dict[str, object] = {
        "guesses": int(blocks.size[judged].sum()),
        "wrong": int(wrong[judged].sum()),
        "direction": f"{'high' if plan.sign > 0 else 'low'} scores guessed to be of D'",
    }
    return weighted_epsilon(guesses, int((plan.weights * wrong).sum()), allowed), evidence
