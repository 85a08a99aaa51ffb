"""A law against its description: what is drawn, and the density that the exact losses are made of.

Does a law of one's own draw what its density says? Everything else that is computed of a release believes it.

Nobody has described such a law a second time. Finitely many outcomes are counted. Else a shift of the law is weighed:
for a density p on all of space ``E p(x - v) / p(x) = 1`` whatever v is, and noise that is missing, too small by half,
or the same on two numbers gives another mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc

from dpassay.reference.arrays import Array
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law, query_of

from .described import Described, described, selected
from .uniform import not_uniform, tails

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
_MOST_IN_TAILS = 4_000_000
_SEEN = 30.0  # expected draws in a tail that is looked at
_POINTS, _STEP, _CLOSE = 100, 1e-5, 1e-3  # of the comparison of densities


def wrong_sampler(law: Law, seed: int) -> Iterator[str]:
    """What is wrong with the values that the law draws."""
    known = described(law)
    if known is None:
        yield from wrong_draws(law, seed)
        return
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


def wrong_tails(law: Law, delta: float, seed: int) -> Iterator[str]:
    """Are the tails of a law of arrays there, down to the claim's delta? On one wide draw, whatever the query is."""
    if type(law) not in (Gaussian, Laplace) or law.is_bare or not delta > 0:
        return
    size = int(min(_MOST_IN_TAILS, _SEEN / delta))
    kind: Any = type(law)
    wide: Law = kind(np.zeros(size), law.scale)
    known = described(wide)
    assert known is not None
    values = np.asarray(wide.sample(np.random.default_rng([seed, 4])))
    yield from tails(known.below(values), (1e-4, max(delta, _SEEN / size)))


def wrong_density(law: Law, seed: int) -> Iterator[str]:
    """Where the density, or the probability, is not the derivative of the distribution function."""
    known = described(law)
    if known is None or not (known.whole or known.scale):
        return
    rng = np.random.default_rng([seed, 3])
    drawn = [known.law.sample(rng) for _ in range(_POINTS)]
    for value in drawn:
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
            return


def wrong_selection(make: Callable[..., Law], rate: float) -> Iterator[str]:
    """Where the probabilities of a choice, at utilities that decide, are not those of the mechanism of this name."""
    utilities = np.array([0.0, 1.0, 2.5]) / max(rate, 1e-6)
    law = make(utilities, rate)
    found = np.exp([law.log_density(number) for number in range(utilities.size)])
    expected = selected(make.__name__, utilities, rate)
    if not np.allclose(found, expected, atol=1e-6):
        yield f"the probabilities are {np.round(found, 4).tolist()}, and should be {np.round(expected, 4).tolist()}"


def _before(known: Described, numbers: Array) -> Array:
    return numbers - 1 if known.whole else np.nextafter(numbers, -np.inf)
