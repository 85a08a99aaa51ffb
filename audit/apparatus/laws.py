"""A law against its description: what is drawn, and the density that the exact losses are made of.

Laws are described by their distribution functions, written anew with `scipy.stats`: what samplers and densities must
follow. Nobody has described a law of one's own a second time, and everything else that is computed of a release
believes its density. Finitely many outcomes are counted. Else a shift of the law is weighed: for a density p on all of
space ``E p(x - v) / p(x) = 1`` whatever v is, and noise that is missing, too small by half, or the same on two numbers
gives another mean.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from scipy.special import bdtr, bdtrc

from dpassay.reference.arrays import Array
from dpassay.reference.laws import number
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.categorical import Categorical, Selection
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law, query_of
from dpassay.reference.laws.objective_perturbation import ObjectivePerturbation

from .uniform import LEAST, not_uniform, surprise, tails

Function = Callable[[Array], Array]
_IMAGES = np.arange(-60, 61)  # of a folded value
_FINE = 1e-9  # of a scale: the probability of so short a stretch is no rounding, wherever draws fall
_FAR = 1e4  # scales of the noise: six more than these lose four digits of a density's difference quotient
_FLAT = 5.0  # times the interval: larger noise has too many images to add up, and falls anywhere
_LEVELS = (np.arange(20_000) + 0.5) / 20_000
_UNLIKE = np.array([0.0, 1.0, -1.0])  # log heights


@dataclass(frozen=True)
class Described:
    """The distribution function of a law, and how its values become numbers."""

    below: Function  # probability of values up to a number, for each coordinate
    law: Law  # the one that is sampled: with queries that decide, where the law of a row has some that say nothing
    whole: bool = False  # values are whole numbers, so that the one before is one less
    unit: int = 1  # in place of one, where rounding eats the probability of a single number: then none is compared
    scale: float = 0.0  # of a continuous law, for the step of a derivative; 0: there is no density to compare
    number: Callable[[Any], float] | None = None  # of a value; None: it is a number, or an array of numbers
    continuous: bool = False  # no value comes twice
    draws: int = 20_000  # how many are made, coordinates counted

    def numbers(self, value: Any) -> Array:
        """All coordinates of one value, shape (coordinates,)."""
        return np.atleast_1d(np.asarray(value if self.number is None else self.number(value), dtype=float)).ravel()


def described(law: Law) -> list[Described]:
    """A law at its own query, or at those that decide; nothing of one that somebody else wrote, or without noise."""
    return [] if law.is_bare else [make(_near(law)) for make in _TABLE.get(type(law), ())]


def _near(law: Law) -> Law:
    """The same noise on a query that is not so far from zero that rounding eats it: a row's data may be anywhere."""
    far = np.max(np.abs(law.query), initial=0.0) if isinstance(law, Gaussian | Laplace) else 0.0
    return law.changed(1.0, _FAR * law.scale / far) if far > _FAR * law.scale else law


def _array(noise: str) -> Callable[[Any], Described]:
    def make(law: Any) -> Described:
        query, known = law.query.ravel(), getattr(scipy.stats, noise)  # asked for late: it takes a second to load
        return Described(lambda x: known.cdf(x, query, law.scale), law, scale=law.scale, continuous=True)

    return make


def _laplace(x: Array, law: Any) -> Array:
    return np.asarray(scipy.stats.laplace.cdf(x, law.at, law.scale))


def _geometric(x: Array, law: Any) -> Array:
    reach = 700 * law.scale + 1  # beyond, a probability is no float
    with np.errstate(over="ignore"):
        return np.asarray(scipy.stats.dlaplace.cdf(np.clip(np.floor(x) - law.at, -reach, reach), 1 / law.scale))


def _number(below: Callable[[Array, Any], Array], where: str = "query", **how: Any) -> Callable[[Any], Described]:
    def make(law: Any) -> Described:
        at = float(getattr(law, where))
        at = law.possible(at if abs(at) <= _FAR * law.scale else 0.0)  # as `_near` does
        wide = _FLAT * (law.upper - law.lower) if isinstance(law, number.NumberBetween) else math.inf
        law = replace(law, query=at, scale=min(law.scale, wide))
        scales = {"unit": math.ceil(_FINE * law.scale)} if law.whole else {"scale": law.scale}
        return Described(lambda x: below(x, law), law, law.whole, **scales, **how)

    return make


def _between(below: Callable[[Array, Any], Array], **how: Any) -> tuple[Callable[[Any], Described], ...]:
    """At the query, and at either end, where most of the noise falls outside."""
    return tuple(_number(below, where, **how) for where in ("query", "lower", "upper"))


def _given_inside(x: Array, law: number.BoundedLaplace) -> Array:
    low, high = (_laplace(np.array(end), law) for end in (law.lower, law.upper))
    return np.asarray((_laplace(np.clip(x, law.lower, law.upper), law) - low) / (high - low))


def _clamped(noisy: Callable[[Array, Any], Array]) -> Callable[[Array, number.NumberBetween], Array]:
    def below(x: Array, law: number.NumberBetween) -> Array:
        return np.where(x < law.lower, 0.0, np.where(x >= law.upper, 1.0, noisy(x, law)))

    return below


def _folded(noisy: Callable[[Array, Any], Array]) -> Callable[[Array, number.NumberBetween], Array]:
    def below(x: Array, law: number.NumberBetween) -> Array:
        """The probability of all images of what lies below ``x``: intervals around the lower end, or its images."""
        before = 1.0 if law.whole else 0.0
        inside = np.clip(x, law.lower - before, law.upper)
        if math.isinf(law.lower):
            beyond = 1 - noisy(2 * law.upper - inside - before, law)
            return np.where(x >= law.upper, 1.0, noisy(inside, law) + beyond)
        period = 2 * (law.upper - law.lower)
        shifts = _IMAGES * period if math.isfinite(period) else np.zeros(1)
        ends = inside[..., None] + shifts, 2 * law.lower - inside[..., None] + shifts - before
        found = np.sum(np.maximum(noisy(ends[0], law) - noisy(ends[1], law), 0), axis=-1)
        return np.where(x >= law.upper, 1.0, np.where(x < law.lower, 0.0, found))

    return below


def _whole_gaussian(law: Any) -> Described:
    reach = math.ceil(40 * law.scale) + 1
    support = np.arange(-reach, reach + 1)
    sums = np.cumsum(scipy.stats.norm.pdf(support, 0, law.scale))

    def below(x: Array) -> Array:
        place = np.floor(x - law.at).astype(int) + reach
        return np.where(place < 0, 0.0, sums[np.clip(place, 0, 2 * reach)] / sums[-1])

    return Described(below, law, whole=True)


def _listed(probabilities: Array, law: Law, number: Callable[[Any], float]) -> Described:
    sums = np.concatenate([[0.0], np.cumsum(probabilities) / np.sum(probabilities)])
    return Described(lambda x: sums[np.clip(np.floor(x).astype(int) + 1, 0, len(sums) - 1)], law, True, number=number)


def _categorical(law: Any) -> Described:
    return _listed(np.exp(law.log_probabilities), law, law.support.index)


def selected(mechanism: str, utilities: Array, rate: float) -> Array:
    """Textbook probabilities of the exponential mechanism, or of permute-and-flip."""
    flips = np.exp(rate * (utilities - np.max(utilities)))
    if mechanism == "exponential":
        return np.asarray(flips / flips.sum())
    stays = 1 - _LEVELS[:, None] * flips
    return np.array([flips[r] * np.mean(np.prod(np.delete(stays, r, axis=1), axis=1)) for r in range(len(flips))])


def _intervals(law: Any) -> Described:
    """Between the same ends, with pieces of other lengths and heights: those of a row's data may be alike."""
    near = Intervals(np.interp([0.0, 0.1, 0.5, 1.0], [0, 1], law.edges[[0, -1]]), _UNLIKE / law.rate, law.rate)
    sums = np.concatenate([[0.0], np.cumsum(np.exp(_UNLIKE) * np.diff(near.edges))])
    scale = float(np.ptp(near.edges))
    return Described(lambda x: np.interp(x, near.edges, sums / sums[-1]), near, scale=scale, continuous=True)


def _above_threshold(law: Any) -> Described:
    """The same noise, with four queries that decide."""
    queries = [law.threshold + one * law.query_scale for one in (-1.5, 0.0, -3.0, 1.0)]
    near = AboveThreshold(queries, law.threshold, law.threshold_scale, law.query_scale)
    level = scipy.stats.laplace.ppf(_LEVELS, near.threshold, near.threshold_scale)[:, None]
    stays = scipy.stats.laplace.cdf(level, near.all_queries(), near.query_scale)
    so_far = np.cumprod(np.concatenate([np.ones_like(level), stays], axis=1), axis=1)
    probabilities = np.append(np.mean(so_far[:, :-1] * (1 - stays), axis=0), np.mean(so_far[:, -1]))
    return _listed(probabilities, near, lambda value: 4 if value is None else value)


def _bingham(law: Any) -> Described:
    """In the plane, by the angle, for a matrix that decides."""
    plane = replace(law, query=np.array([[15.0, 5.0], [5.0, -5.0]]) / law.rate)
    angles = np.linspace(0, 2 * np.pi, 8193)
    points = np.stack([np.cos(angles), np.sin(angles)])
    heights = np.exp(law.rate * (np.sum(points * (plane.query @ points), axis=0) - np.linalg.eigvalsh(plane.query)[-1]))
    sums = scipy.integrate.cumulative_trapezoid(heights, angles, initial=0)
    return Described(
        lambda x: np.interp(x, angles, sums / sums[-1]),
        plane,
        number=lambda v: float(np.arctan2(v[1], v[0]) % (2 * np.pi)),
        continuous=True,
        draws=2_000,  # each takes a millisecond
    )


def _perturbed(law: Any) -> Described:
    """The noise of the objective is minus its gradient at the minimiser, and its length follows a gamma law."""
    return Described(
        lambda x: scipy.stats.gamma.cdf(x, law.dimension, scale=law.noise_scale),
        law,
        number=lambda w: float(np.linalg.norm(law.gradient(w))),
        continuous=True,
        draws=FEWEST,  # each is a minimisation
    )


def _direction(law: Any) -> Described:
    """The first number of the direction of the noise, for the objective whose minimiser is minus the noise."""
    dimension = max(law.dimension, 3)  # of two numbers are the densities of a ball and of a cube too much alike
    flat = replace(law, gradient=lambda w: w, hessian=lambda w: np.eye(dimension), dimension=dimension)
    return Described(
        lambda x: scipy.special.betainc((dimension - 1) / 2, (dimension - 1) / 2, (x + 1) / 2),
        flat,
        number=lambda w: float(w[0] / np.linalg.norm(w)),
        continuous=True,
    )


_TABLE: dict[type[Law], tuple[Callable[[Any], Described], ...]] = {
    Gaussian: (_array("norm"),),
    Laplace: (_array("laplace"),),
    number.BoundedLaplace: _between(_given_inside, continuous=True),
    number.TruncatedLaplace: _between(_clamped(_laplace)),
    number.FoldedLaplace: _between(_folded(_laplace), continuous=True),
    number.Geometric: (_number(_geometric),),
    number.TruncatedGeometric: _between(_clamped(_geometric)),
    number.FoldedGeometric: _between(_folded(_geometric)),
    number.DiscreteGaussian: (_whole_gaussian,),
    Categorical: (_categorical,),
    Selection: (_categorical,),
    Intervals: (_intervals,),
    AboveThreshold: (_above_threshold,),
    Bingham: (_bingham,),
    ObjectivePerturbation: (_perturbed, _direction),
}


DRAWS = 1024
_SHIFT = 0.7  # of a shift, in noise scales: larger ones weigh a few draws too much
_ERRORS = 6.0  # standard errors by which a mean may be off: one in 1e8 by chance, and the seed is fixed
_RARE = 1e-9  # likewise, of a count
_NEAR = 1e6  # times its noise a query may be large: beyond, rounding moves what is drawn
_MOST = 1000  # numbers of a law: a larger one is left alone


def wrong_draws(law: Law, seed: int) -> Iterator[str]:
    """What is wrong with the values that the law draws."""
    if not _fits(law):
        return
    rng, outcomes = np.random.default_rng([seed, 31]), law.outcomes() if law.is_finite else None
    values = [law.sample(rng) for _ in range(DRAWS)]
    for value in outcomes.support if outcomes is not None else ():
        chance = min(1.0, math.exp(law.log_density(value)))
        count = sum(one == value for one in values)
        if min(bdtr(count, DRAWS, chance), bdtrc(count - 1, DRAWS, chance)) < _RARE:
            yield f"outcome {value} came {count} times in {DRAWS}, its probability is {chance:.3g}"
            return
    for shift in () if law.is_finite else _shifts(law):
        logs = [law.log_density(np.asarray(value) - shift) - law.log_density(value) for value in values]
        error = math.sqrt((_second_moment(law, shift) - 1) / DRAWS)
        if not abs(float(np.mean(np.exp(logs))) - 1) <= _ERRORS * error:
            yield "the values that it draws are not those of its density"
            return


def _fits(law: Law) -> bool:
    if not isinstance(law, Gaussian | Laplace):
        return law.is_finite
    largest = float(np.max(np.abs(law.query), initial=0.0))
    return 0 < law.query.size <= _MOST and not law.is_bare and largest <= _NEAR * law.scale


def _shifts(law: Law) -> Iterator[Array]:
    """Along the first number, the last one, all of them, and all with turns of sign; each of the same length."""
    query = query_of(law)
    turns = (-1.0) ** np.arange(query.size)
    axis = (np.arange(query.size) == 0).astype(float)
    for direction in (axis, axis[::-1], np.ones(query.size), turns) if query.size > 1 else (axis,):
        yield (_SHIFT * law.scale * direction / np.linalg.norm(direction)).reshape(query.shape)


def _second_moment(law: Law, shift: Array) -> float:
    """``E (p(x - v) / p(x))^2`` in closed form."""
    lengths = np.abs(shift.ravel()) / law.scale
    if law.is_normal:
        return math.exp(float(lengths @ lengths))
    return float(np.prod(2 / 3 * np.exp(lengths) + np.exp(-2 * lengths) / 3))


FEWEST = 500  # draws of a law, however many coordinates it has
_ROUNDING = 1e-13  # of a probability near 1
_WIDE, _RARE_LEVELS = 500_000, (1e-2, 1e-3, 1e-4)  # numbers of a long array, and the tails that are counted
_USUAL, _TINY = 48, 1e-5  # draws that are compared with the rarest ones; a probability
_POINTS, _STEP, _CLOSE = 100, 1e-5, 1e-3  # of the comparison of densities


def wrong_sampler(law: Law, seed: int) -> Iterator[str]:
    """What is wrong with the values that the law draws."""
    several = described(law)
    yield from itertools.chain(*(_wrong_values(one, seed) for one in several)) if several else wrong_draws(law, seed)


def _wrong_values(known: Described, seed: int) -> Iterator[str]:
    rng = np.random.default_rng([seed, 1])
    first = known.numbers(known.law.sample(rng))
    draws = max(FEWEST, known.draws // first.size)
    values = np.stack([known.numbers(known.law.sample(rng)) for _ in range(draws)])
    if known.whole and not np.array_equal(values, np.round(values)):
        yield "some values are no whole numbers"
        return
    low, high = known.below(_before(known, values)), known.below(values)
    if known.whole and np.any(high <= low):  # a value that has no probability
        yield "some values lie outside the support"
        return
    # uniform where the law is right: within the probability of a value the place is drawn
    places = low + np.random.default_rng([seed, 2]).random(values.shape) * (high - low)
    yield from not_uniform(np.asarray(places), known.continuous)


def wrong_wide(law: Law, seed: int) -> Iterator[str]:
    """Are tails as heavy as they should be, in a long array?"""
    if isinstance(law, Gaussian | Laplace):
        known = _TABLE[type(law)][0](type(law)(np.zeros(_WIDE), 1.0))
        yield from tails(known.below(known.law.sample(np.random.default_rng([seed, 8]))), _RARE_LEVELS)


class _Rarest(np.random.Generator):
    """Draws what comes once in 1e15 draws, at the upper end of a law or at the lower one."""

    def __init__(self, upper: bool) -> None:
        super().__init__(np.random.PCG64(0))
        self._sign = 1 if upper else -1

    def standard_normal(self, size: Any = None, *_: Any, **how: Any) -> Any:
        """Eight standard deviations."""
        return self._sign * np.full(() if size is None else size, 8.0)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As rare."""
        return loc + self._sign * scale * np.full(() if size is None else size, 34.0)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """The first number, or the second one, at the upper end, and the other one as usual."""
        far = 34 / -math.log1p(-min(p, 1 - 2.0**-53))
        return np.array([max(far, 1), 1][:: self._sign], dtype=int)

    def choice(self, a: Any, *_: Any, p: Any = None, **how: Any) -> Any:
        """The last value that has a probability, or the first one."""
        return np.asarray(a)[np.flatnonzero(p)[-1 if self._sign > 0 else 0]]


def wrong_tails(law: Law, delta: float) -> Iterator[str]:
    """Has what lies beyond the rarest value that can be drawn a probability below delta, a share of the claim's?"""
    if type(law) not in (Gaussian, Laplace, number.Geometric, number.DiscreteGaussian) or not described(law):
        return
    known = described(law)[0]
    rarest = [known.numbers(known.law.sample(_Rarest(upper))) for upper in (True, False)]
    rng = np.random.default_rng(0)
    usual = [known.numbers(known.law.sample(rng)) for _ in range(_USUAL)]
    for name, extreme in (("above", np.max), ("below", np.min)):
        value = extreme(rarest, axis=0)
        if np.any(extreme([value, *usual], axis=0) != value):
            continue  # it is made of other draws than `_Rarest` knows
        beyond = np.max(1 - known.below(value) if name == "above" else known.below(_before(known, value)), initial=0.0)
        if beyond > max(delta, _ROUNDING):
            yield f"no value is {name} {value[0]:.6g}, where the probability is {beyond:.2g}"


def wrong_choice(law: Law, seed: int) -> Iterator[str]:
    """Are outcomes drawn whose probabilities are tiny, of which there are so many that half of the draws show one?"""
    if not isinstance(law, Categorical):
        return
    few, many = (int(share / _TINY) for share in (2 / 3, 2.0))
    chances = np.repeat([0.75 * _TINY, 0.25 * _TINY], [few, many])
    near = replace(law, support=tuple(range(chances.size)), log_probabilities=np.log(chances / chances.sum()))
    rng = np.random.default_rng([seed, 7])
    count = sum(near.sample(rng) >= few for _ in range(_USUAL))
    if surprise(count, _USUAL, 0.5) < LEAST:
        yield f"{count} of {_USUAL} draws have a probability of {_TINY / 4:.2g} each, and half of them should"


def wrong_density(law: Law, seed: int) -> Iterator[str]:
    """Where the density, or the probability, is not the derivative of the distribution function."""
    known = next(iter(described(law)), None)
    if known is None or known.unit > 1 or not (known.whole or known.scale):
        return
    rng = np.random.default_rng([seed, 3])
    for value in (known.law.sample(rng) for _ in range(_POINTS)):
        numbers = known.numbers(value)
        here, before = known.below(numbers), known.below(_before(known, numbers))
        mass = here - before
        if known.whole or np.all(mass > 1e-9):
            expected = np.log(mass)
        else:
            step = _STEP * known.scale
            right, left = known.below(numbers + step) - here, here - known.below(numbers - step)
            if np.any(np.abs(right - left) > _CLOSE * 30 * (right + left)):
                continue  # at a kink, or an edge
            expected = np.log((right + left) / (2 * step))
        found = known.law.log_density(value)
        if np.min(mass if known.whole else numbers * 0 + 1) < 1e-9:
            continue
        if not abs(found - float(np.sum(expected))) <= _CLOSE * numbers.size:
            yield f"its log density at a drawn value is {found:.6g}, and should be {float(np.sum(expected)):.6g}"


def _moved(law: Any, scales: float = 1.0) -> Any:
    """The law of a neighbour: every number is moved, by so many noise scales in all."""
    size = law.query.size
    move = (-0.5) ** np.arange(size) / (2 - 0.5 ** (size - 1)) * scales * law.scale
    move = np.ceil(move) if getattr(law, "whole", False) else move
    return replace(law, query=law.query + move.reshape(law.query.shape))


def wrong_distance(law: Law) -> Iterator[str]:
    """Does a move show more, exactly, than one of the distance that is measured costs?"""
    if not isinstance(law, Gaussian | Laplace | number.Number) or law.is_bare or not query_of(law).size:
        return
    near: Any = _near(law)
    other, at = _moved(near), near.possible(near.query)
    cost = law.cost(near.distance(other))
    loss = near.log_density(at) - other.log_density(at)
    shown = math.sqrt(2 * max(loss, 0.0)) if law.is_normal else loss
    if cost is not None and shown > cost.size * (1 + 1e-6):
        yield f"a move is measured as one that costs {cost.size:.6g}, and shows {shown:.6g}"


def wrong_tilts(law: Law, seed: int) -> Iterator[str]:
    """Are tilted values, of which the lower bound is made, those of the density that weighs them?"""
    if not isinstance(law, Laplace) or not law.query.size:
        return
    near: Any = _near(law)
    other, rng = _moved(near, 3.0), np.random.default_rng([seed, 6])
    for tilted in (near.tilted(other, 0.25), near.tilted(other, 1.0)):
        values = [tilted.sample(rng) for _ in range(DRAWS)]
        weights = np.exp([near.log_density(one) - tilted.log_density(one) for one in values])
        if abs(np.mean(weights) - 1) > _ERRORS * np.std(weights) / math.sqrt(DRAWS):
            yield "the values that it draws are not those of the density that weighs them"


def wrong_selection(make: Callable[..., Law], rate: float, count: int) -> Iterator[str]:
    """Where the probabilities of a choice, at utilities that decide, are not those of the mechanism of this name."""
    utilities = 2.5 * np.linspace(0, 1, count) ** 1.3 / max(rate, 1e-6)
    law = make(utilities, rate)
    found = np.exp([law.log_density(number) for number in range(utilities.size)])
    expected = selected(make.__name__, utilities, rate)
    if not np.allclose(found, expected, atol=1e-6):
        yield f"the probabilities are {np.round(found, 4).tolist()}, and should be {np.round(expected, 4).tolist()}"


def _before(known: Described, numbers: Array) -> Array:
    return numbers - known.unit if known.whole else np.nextafter(numbers, -np.inf)
