"""The accountant against a second derivation on the same transcript: plain composition of loss distributions.

What is derived here is a lower bound on what the accountant may say: each pair of laws is one that an adaptive
mechanism with these releases can show.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from dpassay.reference.accounting.cost import Account
from dpassay.reference.arrays import Array
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.categorical import Selection
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.laws.number import (
    BoundedLaplace,
    FoldedGeometric,
    FoldedLaplace,
    Geometric,
    TruncatedGeometric,
    TruncatedLaplace,
)
from dpassay.reference.transcript import Release, Transcript

_LOOSE = 0.001  # by which the derivation may be too high: its grid (4e-5 at most, of what was tried)
_POINTS, _CELLS = 2**18, 6001
_QUERIES = 40  # of a line search; more show hardly more
_ONE_SCALE = (Geometric, TruncatedGeometric, FoldedGeometric, TruncatedLaplace, FoldedLaplace)


@dataclass(frozen=True)
class _Loss:
    """One release, or all of one batch: ``kind``, its size, and at which rate a record takes part."""

    kind: str
    size: float
    rate: float = 1.0
    sampling: str = ""
    shown: tuple[tuple[float, float], ...] = ()  # probabilities on D and on D', of a pair of a law with many forms


def size_of(law: Law, sensitivity: float) -> tuple[str, float] | None:
    """What a release costs by its textbook: ``gaussian`` (mu), ``laplace`` or ``pure`` (epsilon); None: not known."""
    if isinstance(law, Gaussian):
        return ("gaussian", sensitivity / law.std) if law.std > 0 else None
    if isinstance(law, Laplace):
        return "laplace" if law.query.size == 1 else "pure", sensitivity / law.scale
    if isinstance(law, BoundedLaplace):
        return "pure", 2 * sensitivity / law.scale
    if isinstance(law, _ONE_SCALE):
        return "pure", sensitivity / law.scale
    if isinstance(law, Selection):
        return "pure", law.rate * sensitivity * (1 if law.monotonic else 2)
    if isinstance(law, Intervals | Bingham):
        return "pure", 2 * law.rate * sensitivity
    if isinstance(law, AboveThreshold):
        return "above-threshold", sensitivity / law.threshold_scale + 2 * sensitivity / law.query_scale
    return None


def wrong_cost(release: Release) -> Iterator[str]:
    """A law that says it costs less than it does."""
    if not release.sensitivity or release.law.is_bare:
        return
    known, said = size_of(release.law, release.sensitivity), release.law.cost(release.sensitivity)
    if known is not None and said is not None and said.size < known[1] * (1 - 1e-9):
        yield f"{release.label!r} costs {known[1]:.6g} ({known[0]}), and {said.size:.6g} is accounted"


def wrong_account(transcript: Transcript, cost: Account, delta: float) -> Iterator[str]:
    """Epsilon of the whole run, if it is accounted below the derivation."""
    if cost.gap or not 0 < delta < 1:
        return
    accounted = cost.epsilon(delta)
    if not math.isfinite(accounted):
        return
    common, alternatives = _read(transcript, 1.0 if cost.relation == "replace-one" else 0.5)
    derived = max(_epsilon(common + extra, cost.relation, delta, accounted) for extra in alternatives or [Counter()])
    if derived > accounted * (1 + _LOOSE) + 1e-9:
        yield f"the releases add up to epsilon {derived:.4g} by a second derivation, and {accounted:.4g} is accounted"
        return
    epsilon = derived / (1 + _LOOSE)
    if derived > 0 and cost.delta(epsilon) < delta:
        yield f"delta at epsilon {epsilon:.4g} is {delta:.4g} by a second derivation, and less is accounted"


def _read(transcript: Transcript, scale: float) -> tuple[Counter[_Loss], list[Counter[_Loss]]]:
    """What always counts, and what each fresh batch adds."""
    shared: list[Release] = []
    batches: dict[int, list[Release]] = {}
    draws = {draw.number: draw for draw in transcript.draws}
    for release in transcript.releases:
        kinds = {draws[number].kind for number in release.draws}
        alone = len(release.draws) == 1 or kinds == {"fresh"}
        for number in release.draws if alone else ():
            batches.setdefault(number, []).append(release)
        if not alone:
            shared.append(release)
    common, fresh = _losses(shared, scale), []
    for number, releases in batches.items():
        draw = draws[number]
        found = _losses(releases, scale)
        if draw.kind == "fresh":
            fresh.append(found)
        elif draw.rate == 1:
            common += found
        elif {one.kind for one in found} == {"gaussian"}:
            (only,) = found
            common[_Loss("gaussian", only.size / scale, draw.rate, draw.kind)] += 1
        elif "gaussian" not in {one.kind for one in found}:
            total = math.fsum(one.size * count for one, count in found.items() if not one.shown)
            common[_Loss("pure", math.log1p(draw.rate * math.expm1(min(total, 500.0))))] += 1
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
        else:
            shown = _shown(release.law, scale * (release.sensitivity or 0.0))
            found[_Loss(*known, shown=shown)] += 1
    if squares:
        found[_Loss("gaussian", math.sqrt(math.fsum(squares)))] += 1
    return found


def _shown(law: Law, sensitivity: float) -> tuple[tuple[float, float], ...]:
    """Of a line search the exact probabilities where all queries stand at the threshold, and the last one falls."""
    if not isinstance(law, AboveThreshold):
        return ()
    count = min(law.count or _QUERIES, _QUERIES)
    moves = sensitivity * law.falls ** np.arange(count) * np.where(np.arange(count) < count - 1, 1, -1)
    scales = law.threshold_scale, law.query_scale
    pair = (AboveThreshold(one, 0.0, *scales).outcomes() for one in (np.zeros(count), moves))
    return tuple(zip(*(np.exp(one.log_probabilities).tolist() for one in pair), strict=True))


def _epsilon(losses: Counter[_Loss], relation: str, delta: float, near: float) -> float:
    """The larger of the two directions."""
    if not losses:
        return 0.0
    if not ({one.kind for one in losses} == {"gaussian"} and all(one.rate == 1 for one in losses)):
        return max(_composed(losses, relation, backward, delta, near) for backward in (False, True))
    mu = math.sqrt(math.fsum(count * one.size**2 for one, count in losses.items()))

    def over(epsilon: float) -> float:
        """By the definition: the event of the largest difference lies beyond one point."""
        cut = epsilon / mu + mu / 2
        return float(ndtr(mu - cut) - math.exp(min(epsilon, 700)) * ndtr(-cut) - delta)

    return _root(over, mu * mu / 2 + 40 * mu)


def _pair(loss: _Loss, relation: str, backward: bool) -> tuple[Array, Array]:
    """Losses and their probabilities, of the pair that one release (or one batch) shows."""
    a = loss.size
    if loss.shown:
        p, q = np.array(loss.shown).T[:: -1 if backward else 1]
        return np.log(p) - np.log(q), p
    if loss.kind == "pure":
        return np.array([a, -a]), np.array([1.0, math.exp(-a)]) / (1 + math.exp(-a))
    if loss.kind == "laplace":
        cells = np.linspace(0, a, _CELLS)
        middle = (cells[1:] + cells[:-1]) / 2
        masses = np.diff(-np.exp(-cells) / 2)  # of the Laplace law, right of 0
        ends = np.array([a, -a]), np.array([0.5, 0.5 * math.exp(-a)])
        return np.concatenate([ends[0], a - 2 * middle]), np.concatenate([ends[1], masses])
    poisson = loss.sampling == "poisson"
    up, down = (a / 2, -a / 2 if relation == "replace-one" else 0.0) if poisson else (a, 0.0)
    x = np.linspace(-14 + min(down, 0), 14 + up, _CELLS)
    middle = (x[1:] + x[:-1]) / 2
    sides = [(up, loss.rate), (down, loss.rate if poisson and relation == "replace-one" else 0.0)]
    parts = [[(w, m) for w, m in ((rate, shift), (1 - rate, 0.0)) if w] for shift, rate in sides]  # weights and means
    one, other = (
        np.logaddexp.reduce([math.log(w) - (middle - m) ** 2 / 2 for w, m in side])
        for side in (parts[::-1] if backward else parts)
    )
    return one - other, np.asarray(sum(w * np.diff(ndtr(x - m)) for w, m in parts[backward]))


def _composed(losses: Counter[_Loss], relation: str, backward: bool, delta: float, near: float) -> float:
    pairs = [(*_pair(one, relation, backward), count) for one, count in losses.items()]
    mean = sum(count * float(p @ x) for x, p, count in pairs)
    spread = math.sqrt(sum(count * float(p @ x**2) for x, p, count in pairs))
    reach = abs(mean) + 12 * spread + 2 * near + max(float(np.max(np.abs(x[p > 1e-16]))) for x, p, _ in pairs)
    step = 2 * reach / _POINTS
    total = np.ones(_POINTS // 2 + 1, dtype=complex)
    for x, p, count in pairs:
        place = np.clip(x / step, -_POINTS // 2 + 1, _POINTS // 2 - 2)
        low = np.floor(place).astype(int)
        one = np.zeros(_POINTS)
        np.add.at(one, low % _POINTS, p * (1 - (place - low)))
        np.add.at(one, (low + 1) % _POINTS, p * (place - low))
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
