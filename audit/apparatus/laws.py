"""A law against its description: what is drawn, and the density that the exact losses are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law

from .described import Described, described, selected
from .own_laws import wrong_draws
from .uniform import not_uniform, tails

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
    yield from not_uniform(_transformed(known, values, np.random.default_rng([seed, 2])), known.continuous)


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


def _transformed(known: Described, values: Array, rng: np.random.Generator) -> Array:
    """Uniform where the law is right: within the probability of a value the place is drawn."""
    low, high = known.below(_before(known, values)), known.below(values)
    if known.whole and np.any(high <= low):
        return np.full_like(low, -1.0)  # a value that has no probability
    return np.asarray(low + rng.random(values.shape) * (high - low))
