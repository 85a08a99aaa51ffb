"""The accountant against a second derivation on the same transcript: plain composition of loss distributions.

What is derived here is a lower bound on what the accountant may say: each pair of laws is one that an adaptive
mechanism with these releases can show.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from dpassay.reference.accounting.cost import Account
from dpassay.reference.accounting.parts import Part, curve
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.arrays import Array
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.above_threshold import below as laplace_below
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.categorical import Selection
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.laws.number import BoundedLaplace, DiscreteGaussian, Number
from dpassay.reference.transcript import Release, Transcript

_LOOSE = 0.001  # by which the derivation may be too high: its grid (4e-5 at most, of what was tried)
_POINTS, _CELLS, _FEWER, _MOST = 2**18, 6001, 301, 500_000  # cells of one release, of one among several, of all
_TRIED, _BEYOND, _LEAST = 60, 1e-13, 1e-11  # epsilons of a curve; delta that rounding may move, and that is compared
# of the first query over the threshold, and the others, in scales of their noise
_LEVELS = ((0, 0), (0, 1), (0, -1), (1, 1), (-1, -1))
_SMALLEST = 1e-300  # probability: below, floats lose their digits
_QUERIES, _RIGHT = 40, 1e-11  # of a line search: more show hardly more; a probability that its quadrature finds
_SEEN = 1e-16  # a probability: a release without a loss that is as likely shows nothing here


@dataclass(frozen=True)
class _Loss:
    """One release, ``kind`` and its size; or all of one batch, and at which rate a record takes part."""

    kind: str
    size: float
    rate: float = 1.0
    sampling: str = ""
    shown: tuple[tuple[float, float], ...] = ()  # probabilities on D and on D', of a pair of a law with many forms
    inner: tuple["_Loss", ...] = ()  # releases of the batch, with the record against without it


def size_of(law: Law, sensitivity: float) -> tuple[str, float] | None:
    """What a release costs by its textbook: ``gaussian`` (mu), ``laplace`` or ``pure`` (epsilon); None: not known."""
    if isinstance(law, Gaussian):
        return ("gaussian", sensitivity / law.std) if law.std > 0 else None
    if isinstance(law, Laplace):
        return "laplace" if law.query.size == 1 else "pure", sensitivity / law.scale
    if isinstance(law, Number) and not isinstance(law, DiscreteGaussian):
        return "pure", (2 if isinstance(law, BoundedLaplace) else 1) * sensitivity / law.scale
    if isinstance(law, Selection | Intervals | Bingham):
        return "pure", law.rate * sensitivity * (1 if getattr(law, "monotonic", False) else 2)
    if isinstance(law, AboveThreshold):
        return "above-threshold", sensitivity / law.threshold_scale + 2 * sensitivity / law.query_scale
    return None


def wrong_cost(release: Release) -> Iterator[str]:
    """A law that says it costs less than it does, or a line search that says it has other noise or queries."""
    law, sensitivity = release.law, release.sensitivity or 0.0
    known, said = size_of(law, sensitivity), law.cost(sensitivity)
    if isinstance(law, AboveThreshold) and said and said.kind == "above-threshold":
        shape = 1 / (law.query_scale / law.threshold_scale + 2), law.count or 0, law.falls if law.count else 1.0
        if not np.allclose(said[2:], shape, rtol=1e-9):
            yield f"{release.label!r} is accounted with (share, queries, falls) {said[2:]}, and has {shape}"
    if known is not None and said is not None and said.size < known[1] * (1 - 1e-9):
        yield f"{release.label!r} costs {known[1]:.6g} ({known[0]}), and {said.size:.6g} is accounted"


def wrong_curve(part: Part, relation: Relation) -> Iterator[str]:
    """One cost by itself, if its delta is below that of a pair that such a release can show, at some epsilon."""
    if not 1e-6 <= part.size <= 100:  # rounding is too large, or the cells are
        return
    if part.kind == "above-threshold":
        moved = part.size * part.share, part.size * (1 - 2 * part.share)  # sensitivity over either noise
        pairs = [_Loss(part.kind, 0.0, shown=one) for one in _searches(*moved, part.queries, part.falls)]
    elif part.rate == 1 and part.kind != "sampled":
        pairs = [_Loss(part.kind, part.size)]
    else:
        size = part.size if part.kind == "pure" or relation == "replace-one" else part.size / 2
        inner = _Loss("pure" if part.kind == "pure" else "gaussian", size)
        pairs = [_Loss("batch", 0.0, part.rate, part.sampling, inner=(inner,))]
    for loss, backward in itertools.product(pairs, (False, True)):
        losses, chances = _pair(loss, relation, backward)
        tried = np.linspace(0, float(np.max(losses[chances > _BEYOND], initial=0.0)), _TRIED)
        shown = np.array([chances @ -np.expm1(np.minimum(epsilon - losses, 0.0)) for epsilon in tried])
        said = curve(part, relation, tried, backward)
        if np.any(said < shown * (1 - _LOOSE) - _BEYOND):
            worst = int(np.argmax(shown - said))
            yield f"delta of {part} at {tried[worst]:.4g} is {shown[worst]:.4g} or more, and {said[worst]:.4g} is said"


def wrong_account(transcript: Transcript, cost: Account, delta: float) -> Iterator[str]:
    """Epsilon of the whole run, if it is accounted below the derivation."""
    delta = max(delta, _LEAST)
    accounted = cost.epsilon(delta) if delta < 1 else math.inf
    if not math.isfinite(accounted):
        return
    common, alternatives = _read(transcript, 1.0 if cost.relation == "replace-one" else 0.5)
    if cost.alternatives == ((),) and (one_way := cost.one_direction(delta)) is not None:
        accounted = min(accounted, one_way)  # as are the pairs that are composed here
    several = {frozenset((common + extra).items()) for extra in alternatives or [Counter()]}  # most batches are alike
    derived = max(_epsilon(dict(one), cost.relation, delta, accounted) for one in several)
    epsilon = derived / (1 + _LOOSE)
    if epsilon > accounted + 1e-9:
        yield f"the releases add up to epsilon {derived:.4g} by a second derivation, and {accounted:.4g} is accounted"
    elif derived > 0 and cost.delta(epsilon) < delta:
        yield f"delta at epsilon {epsilon:.4g} is {delta:.4g} by a second derivation, and less is accounted"


def _read(transcript: Transcript, scale: float) -> tuple[Counter[_Loss], list[Counter[_Loss]]]:
    """What always counts, and what each fresh batch adds."""
    shared: list[Release] = []
    batches: dict[int, list[Release]] = {}
    draws = {draw.number: draw for draw in transcript.draws}
    for release in transcript.releases:
        kinds = {draws[number].kind for number in release.draws}
        if len(release.draws) != 1 and kinds != {"fresh"}:
            shared.append(release)
        else:
            for number in release.draws:
                batches.setdefault(number, []).append(release)
    common, fresh = _losses(shared, scale), []
    for number, releases in batches.items():
        draw = draws[number]
        found = _losses(releases, scale)
        if draw.kind == "fresh":
            fresh.append(found)
        elif draw.rate == 1:
            common += found
        elif found:
            inner = sorted((one for one in found.elements() if not one.shown), key=lambda one: one.size, reverse=True)
            common[_Loss("batch", 0.0, draw.rate, draw.kind, inner=tuple(inner))] += 1
    return common, fresh


def _losses(releases: Iterable[Release], scale: float) -> Counter[_Loss]:
    found: Counter[_Loss] = Counter()
    squares = []
    for release in releases:
        known = size_of(release.law, scale * (release.sensitivity or 0.0))
        if known is None or known[1] == 0:
            continue
        if known[0] == "gaussian":
            squares.append(known[1] ** 2)
        elif isinstance(release.law, AboveThreshold):
            law, moved = release.law, scale * (release.sensitivity or 0.0)
            shown = _searches(moved / law.query_scale, moved / law.threshold_scale, law.count or 0, law.falls)
            found[_Loss(*known, shown=next(shown))] += 1
        else:
            found[_Loss(*known)] += 1
    if squares:
        found[_Loss("gaussian", math.sqrt(math.fsum(squares)))] += 1
    return found


def _searches(query: float, threshold: float, count: int, falls: float) -> Iterator[tuple[tuple[float, float], ...]]:
    """Exact probabilities of line searches on D and D', where the first query, or the last, moves against the others.

    Given are sensitivity over the scale of either noise, the count of queries (0: any), and by what their moves fall.
    """
    count = min(count or _QUERIES, _QUERIES)
    number = np.arange(count)
    for (first, others), turns in itertools.product(_LEVELS, ({count - 1}, {*range(1, count)})):
        queries = np.where(number, others, first) / query
        move = falls**number * np.where(np.isin(number, [*turns]) & (number > 0), -1, 1)
        pair = (AboveThreshold(one, 0.0, 1 / threshold, 1 / query).outcomes() for one in (queries, queries + move))
        yield tuple(zip(*(np.exp(one.log_probabilities).tolist() for one in pair), strict=True))


def _epsilon(losses: Mapping[_Loss, int], relation: Relation, delta: float, near: float) -> float:
    """The larger of the two directions, which are alike for noise whose law is symmetric."""
    if not losses:
        return 0.0
    ways = {False, any(one.shown or one.inner for one in losses)}
    return max(_composed(losses, relation, backward, delta, near) for backward in ways)


def _pair(loss: _Loss, relation: Relation, backward: bool) -> tuple[Array, Array]:
    """Losses and their probabilities, of the pair that one release (or one batch) shows."""
    if loss.shown:
        return _losses_of(*np.array(loss.shown).T[:: -1 if backward else 1], least=_RIGHT)
    if loss.kind == "gaussian":  # also where no float holds one of the two
        x = np.linspace(-14, 14, _CELLS)
        return loss.size * ((x[1:] + x[:-1]) / 2 + loss.size / 2), -np.diff(ndtr(-x))
    if loss.kind != "batch":
        return _losses_of(*_cells(loss, (loss.size, 0.0), _CELLS))
    # the record is in the batch or not, which all releases of the batch have in common; to leave some out shows less
    both_ways = loss.sampling == "poisson" and relation == "replace-one"
    there, absent, other = (np.ones(1),) * 3
    for one in loss.inner:
        shifts = (one.size / 2, 0.0, -one.size / 2) if both_ways else (one.size, 0.0)
        cells = _cells(one, shifts, _CELLS if len(loss.inner) == 1 else _FEWER)
        if there.size * cells[0].size > _MOST:
            break
        pairs = zip((there, absent, other), (cells * 2)[:3], strict=True)
        there, absent, other = (np.outer(*two).ravel() for two in pairs)
    p = (1 - loss.rate) * absent + loss.rate * there
    q = (1 - loss.rate) * absent + loss.rate * other if both_ways else absent
    return _losses_of(*((q, p) if backward else (p, q)))


def _losses_of(p: Array, q: Array, *, least: float = 0.0) -> tuple[Array, Array]:
    # what no quadrature finds is left out, and for less than any float stands the least one: both show less
    there = (p > least) & (q >= least)
    return np.log(p[there]) - np.log(np.maximum(q[there], _SMALLEST)), p[there]


def _cells(loss: _Loss, shifts: tuple[float, ...], cells: int) -> tuple[Array, ...]:
    """Probabilities of some cells where the release is moved by each shift, in scales of its noise."""
    if loss.kind == "pure" and len(shifts) == 2:
        size = min(loss.size, 500.0)
        likely, unlikely = 1 / (1 + math.exp(-size)), 1 / (1 + math.exp(size))
        return np.array([likely, unlikely]), np.array([unlikely, likely])
    more, below = (14, ndtr) if loss.kind == "gaussian" else (0, laplace_below)
    ends = np.concatenate([[-np.inf], np.linspace(min(shifts) - more, max(shifts) + more, cells), [np.inf]])
    # right of a shift by the upper tails, which keep their digits there
    return tuple(
        np.where(ends[1:] <= shift, np.diff(below(ends - shift)), -np.diff(below(shift - ends))) for shift in shifts
    )


def _composed(losses: Mapping[_Loss, int], relation: Relation, backward: bool, delta: float, near: float) -> float:
    pairs = [(*_pair(one, relation, backward), count) for one, count in losses.items()]
    pairs = [one for one in pairs if np.any(one[1] > _SEEN)]
    if not pairs:
        return 0.0
    mean = sum(count * float(p @ x) for x, p, count in pairs)
    spread = math.sqrt(sum(count * float(p @ x**2) for x, p, count in pairs))
    reach = abs(mean) + 12 * spread + 2 * near + max(float(np.max(np.abs(x[p > _SEEN]))) for x, p, _ in pairs)
    step = 2 * reach / _POINTS
    total = np.ones(_POINTS // 2 + 1, dtype=complex)
    for x, p, count in pairs:
        place = np.clip(x / step, -_POINTS // 2 + 1, _POINTS // 2 - 2)
        low = np.floor(place).astype(int)
        one = np.bincount(low % _POINTS, p * (1 - (place - low)), _POINTS)
        one += np.bincount((low + 1) % _POINTS, p * (place - low), _POINTS)
        total *= np.fft.rfft(one) ** count
    masses = np.fft.irfft(total, _POINTS)
    grid = step * ((np.arange(_POINTS) + _POINTS // 2) % _POINTS - _POINTS // 2)
    masses, grid = masses[grid > 0], grid[grid > 0]

    def over(epsilon: float) -> float:
        return float(np.sum(masses * -np.expm1(np.minimum(epsilon - grid, 0.0)))) - delta

    return _root(over, reach)


def _root(over: Callable[[float], float], high: float) -> float:
    from scipy.optimize import brentq  # here: it takes longer to load than an account takes

    return float(brentq(over, 0.0, high)) if over(0.0) > 0 > over(high) else 0.0
