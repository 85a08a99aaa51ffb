"""diffprivlib's mechanisms one by one: the exact cost of values that are one sensitivity apart."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .diffprivlib import LAWS, minimisers
from .exact import Line, delta, largest_loss

_GRID = np.arange(-60.0, 60.0, 0.001)


def lines() -> list[Line]:
    """All mechanisms of numbers and of finite sets, pure ones by their loss, the others by their delta."""
    from diffprivlib import mechanisms as m

    return [*_pure(m), *_finite(m), *_approximate(m), *_directions(m), _objective(m)]


def _law(mech: Any, value: Any) -> Any:
    owner = next(one.__name__ for one in type(mech).__mro__ if one.__name__ in LAWS and "randomise" in vars(one))
    return LAWS[owner](mech, value)


def _pure(m: Any) -> Iterable[Line]:
    real, whole = np.linspace(-3, 8, 1101), np.arange(-40, 40)
    cases: list[tuple[str, Any, float, Any]] = [
        ("Laplace", m.Laplace(epsilon=0.5, sensitivity=1), 1.0, real),
        ("LaplaceTruncated, [0, 5]", m.LaplaceTruncated(epsilon=0.5, sensitivity=1, lower=0, upper=5), 1.0, real),
        ("LaplaceFolded, [0, 5]", m.LaplaceFolded(epsilon=0.5, sensitivity=1, lower=0, upper=5), 1.0, real),
        (
            "LaplaceBoundedDomain, [0, 5]",
            m.LaplaceBoundedDomain(epsilon=0.5, sensitivity=1, lower=0, upper=5),
            1.0,
            real,
        ),
        ("Geometric", m.Geometric(epsilon=0.5, sensitivity=1), 1.0, whole),
        ("GeometricTruncated, [0, 5]", m.GeometricTruncated(epsilon=0.5, lower=0, upper=5), 1.0, whole),
        ("GeometricFolded, [0.5, inf]", m.GeometricFolded(epsilon=0.5, lower=0.5, upper=math.inf), 1.0, whole),
    ]
    for name, mech, gap, values in cases:
        worst = 0.0
        for start in (0.0, 1.0, 2.0, 4.0):
            one, other = (_law(mech, int(v) if values is whole else v) for v in (start, start + gap))
            worst = max(worst, largest_loss(one, other, [one.possible(v) for v in values]))
        yield Line(name, "values one sensitivity apart", "epsilon", 0.5, worst)


def _finite(m: Any) -> Iterable[Line]:
    here, there = [0.0, 1.0, 2.0], [1.0, 0.0, 1.0]
    up = [1.0, 2.0, 2.0]
    for name, kind in (("Exponential", m.Exponential), ("PermuteAndFlip", m.PermuteAndFlip)):
        for monotonic, other in ((False, there), (True, up)):
            mechs = [kind(epsilon=0.5, sensitivity=1, utility=u, monotonic=monotonic) for u in (here, other)]
            first, second = (_law(mech, None) for mech in mechs)
            text = f"{name}, monotonic" if monotonic else name
            yield Line(text, f"utilities {here} and {other}", "epsilon", 0.5, largest_loss(first, second, range(3)))
    binary = m.Binary(epsilon=0.5, value0="a", value1="b")
    yield Line("Binary", "a and b", "epsilon", 0.5, largest_loss(_law(binary, "a"), _law(binary, "b"), "ab"))
    tree = m.ExponentialHierarchical(epsilon=0.5, hierarchy=[["a", "b"], ["c", "d"]])
    worst = max(largest_loss(_law(tree, x), _law(tree, y), "abcd") for x in "abcd" for y in "abcd")
    yield Line("ExponentialHierarchical", "any two leaves", "epsilon", 0.5, worst)
    far = m.ExponentialCategorical(epsilon=0.5, utility_list=[["a", "b", 1], ["a", "c", 2], ["b", "c", 3]])
    worst = max(largest_loss(_law(far, x), _law(far, y), "abc") for x in "abc" for y in "abc")
    yield Line("ExponentialCategorical", "any two of three values", "epsilon", 0.5, worst)


def _approximate(m: Any) -> Iterable[Line]:
    numbers: list[tuple[str, Any, float, Any, float]] = [
        ("Laplace, delta", m.Laplace(epsilon=0.5, delta=0.1, sensitivity=1), 0.5, _GRID, 0.001),
        ("Gaussian", m.Gaussian(epsilon=0.5, delta=0.01, sensitivity=1), 0.5, _GRID, 0.001),
        ("GaussianAnalytic", m.GaussianAnalytic(epsilon=0.5, delta=0.01, sensitivity=1), 0.5, _GRID, 0.001),
        ("GaussianDiscrete", m.GaussianDiscrete(epsilon=0.5, delta=0.01), 0.5, np.arange(-200, 200), 1.0),
    ]
    for name, mech, epsilon, values, step in numbers:
        one, other = _law(mech, 0), _law(mech, 1)
        found, error = delta(one, other, epsilon, values, step), 0.0 if step == 1 else step  # densities are below one
        measure = f"delta at epsilon {epsilon:g}"
        yield Line(name, "values one sensitivity apart", measure, mech.delta, found, error=error)


def _directions(m: Any) -> Iterable[Line]:
    """Bingham: a record of length one is replaced by one at a right angle to it."""
    for d in (2, 3, 4):
        mech = m.Bingham(epsilon=3.0)
        first, second = np.diag(np.eye(d)[0]), np.diag(np.eye(d)[1])
        worst = 0.0
        for others in (1.0, 2.0, 4.0):  # what the other records add along the second axis
            one, other = (_law(mech, others * second + mine) for mine in (first, second))
            worst = max(worst, *(abs(one.log_density(v) - other.log_density(v)) for v in np.eye(d)))
        yield Line(f"Bingham, {d} dimensions", "a record replaced by one at a right angle", "epsilon", 3.0, worst)


def _objective(m: Any) -> Line:
    """Vector: a logistic loss in one dimension; what its minimiser costs where one record is replaced."""
    rows, weights = (-1.0, 0.0, 1.0), np.linspace(-40.0, 40.0, 801)

    def law(*data: float) -> Any:
        def mean(w: Any) -> Any:
            margins = np.outer(data, w).sum(axis=1)
            slope = w - np.array([(data / (1 + np.exp(margins))).sum()])
            return (np.logaddexp(0.0, -margins).sum() + 0.5 * float(w @ w)) / 2, slope / 2

        mech = m.Vector(epsilon=1.0, function_sensitivity=0.25, dimension=1, alpha=1.0, n=2)
        return minimisers(m.Vector.randomise, mech, mean)()

    laws = {(one, other): law(one, other) for one in rows for other in rows}
    values = [np.array([w]) for w in weights]
    pairs = [(laws[a, c], laws[b, c]) for a in rows for b in rows for c in rows if a < b]
    worst = max(largest_loss(one, other, values) for one, other in pairs)
    return Line("Vector, 1 dimension", "one of two records replaced, logistic loss", "epsilon", 1.0, worst)
