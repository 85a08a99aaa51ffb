"""OpenDP: the noise is drawn in Rust, so its measurements are held to their privacy maps by exact laws.

For each measurement the law that its documentation names is tested against its own draws (they cannot be seeded), and
what that law costs on a pair at the input distance is held against the map. Vectors are products of the same laws.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from dpassay.reference.arrays import Array
from dpassay.reference.laws.categorical import Categorical, exponential, permute_and_flip
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.laws.number import DiscreteGaussian, Geometric, TruncatedGeometric

from .exact import Line, largest_loss, renyi_rho
from .rejected_bingham import SampledBingham

DRAWS = 3000
_WHOLE = np.arange(-200, 201)
_ORDERS = (1.001, 1.1, 1.5, 2.0, 4.0, 8.0, 32.0)


def lines() -> list[Line]:
    """All measurements that are held to their maps."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    return [*_numbers(dp), *_selections(dp), *_thresholds(dp), *_responses(dp), *_eigenvectors(dp)]


def _draws(measurement: Any, value: Any, count: int = DRAWS) -> list[Any]:
    return [measurement(value) for _ in range(count)]


def _chi_square(draws: Sequence[Any], law: Law, values: Iterable[Any]) -> float:
    """p-value that draws follow a law on countably many values; those expected less than five times are joined."""
    seen = Counter(draws)
    chances = {value: math.exp(law.log_density(value)) * len(draws) for value in values}
    common = [value for value, chance in chances.items() if chance >= 5]
    observed = [seen[value] for value in common]
    expected = [chances[value] for value in common]
    rest = len(draws) - sum(observed), len(draws) - sum(expected)
    if rest[1] >= 1:
        observed, expected = [*observed, rest[0]], [*expected, rest[1]]
    elif rest[0] > 20:
        return 0.0
    scaled = np.array(expected) * sum(observed) / sum(expected)
    return float(stats.chisquare(observed, scaled).pvalue)


def _numbers(dp: Any) -> Iterable[Line]:
    whole = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    real = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    at, next_ = np.asarray(3.0), np.asarray(4.0)
    laplace = dp.m.make_laplace(*whole, scale=2.0)
    one, other = Geometric(at, 2.0), Geometric(next_, 2.0)
    p = _chi_square(_draws(laplace, 3), one, _WHOLE)
    yield Line("make_laplace, int", "3 and 4", "epsilon", laplace.map(1), largest_loss(one, other, _WHOLE), p)
    bounded = dp.m.make_geometric(*whole, scale=2.0, bounds=(0, 6))
    one, other = TruncatedGeometric(at, 2.0, 0, 6), TruncatedGeometric(next_, 2.0, 0, 6)
    p = _chi_square(_draws(bounded, 3), one, range(7))
    yield Line("make_geometric, bounds", "3 and 4", "epsilon", bounded.map(1), largest_loss(one, other, range(7)), p)
    gaussian = dp.m.make_gaussian(*whole, scale=2.0)
    here, there = DiscreteGaussian(at, 2.0), DiscreteGaussian(next_, 2.0)
    p = _chi_square(_draws(gaussian, 3), here, _WHOLE)
    rho = renyi_rho(here, there, np.arange(-60, 61), _ORDERS)
    yield Line("make_gaussian, int", "3 and 4", "rho (zCDP)", gaussian.map(1), rho, p)
    # floats: a grid of width 2^-1074, so the continuous law is exact to rounding
    floats = dp.m.make_laplace(*real, scale=2.0)
    p = _ks(_draws(floats, 3.0), lambda x: stats.laplace.cdf(x, 3.0, 2.0))
    loss = largest_loss(Laplace(at, 2.0), Laplace(next_, 2.0), np.linspace(-20, 20, 401))
    yield Line("make_laplace, float", "3 and 4", "epsilon", floats.map(1.0), loss, p)
    normal = dp.m.make_gaussian(*real, scale=2.0)
    p = _ks(_draws(normal, 3.0), lambda x: stats.norm.cdf(x, 3.0, 2.0))
    size = Gaussian(at, 2.0).distance(Gaussian(next_, 2.0)) / 2.0
    yield Line("make_gaussian, float", "3 and 4", "rho (zCDP)", normal.map(1.0), size**2 / 2, p)


def _ks(draws: Sequence[float], cdf: Any) -> float:
    return float(stats.kstest(draws, cdf).pvalue)


def _selections(dp: Any) -> Iterable[Line]:
    """Noisy maximum: exponential noise is permute-and-flip, Gumbel noise the exponential mechanism."""
    scores, worst, up = [1, 2, 3, 2], [2, 1, 2, 1], [2, 3, 3, 2]
    domain = dp.vector_domain(dp.atom_domain(T=int), size=4)
    for monotonic, other in ((False, worst), (True, up)):
        metric = dp.linf_distance(T=int, monotonic=monotonic)
        word = ", monotonic" if monotonic else ""
        for measure, make, unit in (
            (dp.max_divergence(), permute_and_flip, "epsilon"),
            (dp.zero_concentrated_divergence(), exponential, "rho (zCDP)"),
        ):
            chosen = dp.m.make_noisy_max(domain, metric, measure, scale=2.0)
            here, there = (make([float(u) for u in one], 0.5) for one in (scores, other))
            p = _chi_square(_draws(chosen, scores), here, range(4))
            pure = unit == "epsilon"
            cost = largest_loss(here, there, range(4)) if pure else renyi_rho(here, there, np.arange(4), _ORDERS)
            name = f"make_noisy_max, {'max_divergence' if pure else 'zCDP'}{word}"
            yield Line(name, f"{scores} and {other}", unit, chosen.map(1), cost, p)


def _thresholds(dp: Any) -> Iterable[Line]:
    """A key that only one record has: it may not come out with more than delta."""
    for kind in (int, float):
        atom = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)
        domain, one = dp.map_domain(dp.atom_domain(T=str), atom), kind(1)
        threshold = kind(4)
        for name, make, metric, noise in (
            ("make_laplace_threshold", dp.m.make_laplace_threshold, dp.l01inf_distance, LAPLACE[kind]),
            ("make_gaussian_threshold", dp.m.make_gaussian_threshold, dp.l02inf_distance, GAUSSIAN[kind]),
        ):
            chosen = make(domain, metric(dp.absolute_distance(T=kind)), scale=1.0, threshold=threshold)
            claimed = chosen.map((1, one, one))[1]
            exact = noise(3)
            shown = sum(bool(out) for out in _draws(chosen, {"a": one}))
            p = float(stats.binomtest(shown, DRAWS, exact).pvalue)
            pair = "a key with count 1, or no such key; threshold 4"
            yield Line(f"{name}, {kind.__name__}", pair, "delta", claimed, exact, p)


def _at_least(law: Law, gap: int) -> float:
    """``P(noise >= gap)``: what is at the threshold is released."""
    return math.fsum(math.exp(law.log_density(k)) for k in range(gap, 60))


ZERO = np.asarray(0.0)
LAPLACE: dict[type, Callable[[int], float]] = {  # P(noise of scale 1 >= gap), for counts of a type
    float: lambda gap: float(stats.laplace.sf(gap)),
    int: lambda gap: _at_least(Geometric(ZERO, 1.0), gap),
}
GAUSSIAN: dict[type, Callable[[int], float]] = {
    float: lambda gap: float(stats.norm.sf(gap)),
    int: lambda gap: _at_least(DiscreteGaussian(ZERO, 1.0), gap),
}


def _responses(dp: Any) -> Iterable[Line]:
    coin = dp.m.make_randomized_response_bool(prob=0.75)
    laws = [Categorical((True, False), np.log(np.abs(np.array([0.0, 1.0]) - p))) for p in (0.75, 0.25)]
    p = _chi_square(_draws(coin, True), laws[0], (True, False))
    loss = largest_loss(laws[0], laws[1], (True, False))
    yield Line("make_randomized_response_bool", "True and False", "epsilon", coin.map(1), loss, p)
    names = ["a", "b", "c"]
    die = dp.m.make_randomized_response(categories=names, prob=0.75)
    pair = [Categorical(tuple(names), np.log(w)) for w in ([0.75, 0.125, 0.125], [0.125, 0.75, 0.125])]
    p = _chi_square(_draws(die, "a"), pair[0], names)
    loss = largest_loss(pair[0], pair[1], names)
    yield Line("make_randomized_response", "a and b of three", "epsilon", die.map(1), loss, p)
    canonical = dp.m.make_canonical_noise(
        dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), d_in=1.0, d_out=(1.0, 0.01)
    )
    draws = np.sort(_draws(canonical, 0.0, 2 * DRAWS))
    found, p = _tulap(draws, 1.0, 0.01)
    yield Line("make_canonical_noise", "0 and 1", "delta at epsilon 1", canonical.map(1.0)[1], found, p)


def _tulap(draws: Array, epsilon: float, delta_: float) -> tuple[float, float]:
    """The Tulap law (Awan and Vadhan 2023): discrete Laplace plus uniform, cut where a share of delta remains."""
    b = math.exp(-epsilon)
    q = 2 * delta_ * b / (1 - b + 2 * delta_ * b)

    def below(x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        whole = np.round(x)
        left = b ** (-whole) / (1 + b) * (b + (x - whole + 0.5) * (1 - b))
        right = 1 - b**whole / (1 + b) * (b + (whole - x + 0.5) * (1 - b))
        raw = np.where(x <= 0, left, right)
        return np.clip((raw - q / 2) / (1 - q), 0.0, 1.0)

    grid = np.linspace(-12, 13, 50_001)
    one, other = np.diff(below(grid)), np.diff(below(grid - 1))
    found = max(np.maximum(x - math.exp(epsilon) * y, 0).sum() for x, y in ((one, other), (other, one)))
    return float(found), _ks(list(draws), below)


def _eigenvectors(dp: Any) -> Iterable[Line]:
    """Needs numpy, scikit-learn and randomgen beside OpenDP."""
    try:
        from opendp.extras.numpy import _sscp_domain
        from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector

        maps = [
            make_private_eigenvector(_sscp_domain(norm=1.0, p=2, num_features=d), dp.symmetric_distance(), 3.0)
            for d in (2, 3, 4)
        ]
    except ImportError:
        return
    for d, vector in zip((2, 3, 4), maps, strict=True):
        added, base = np.zeros((d, d)), np.zeros((d, d))
        added[0, 0] = base[1, 1] = 1.0
        one, other = SampledBingham(base + added, 0.75), SampledBingham(base, 0.75)
        worst = max(abs(one.log_density(v) - other.log_density(v)) for v in np.eye(d))
        rng = np.random.default_rng(d)
        theirs = [float(vector(base)[1] ** 2) for _ in range(400)]
        p = float(stats.ks_2samp(theirs, [float(other.sample(rng)[1] ** 2) for _ in range(4000)]).pvalue)
        pair = "one record along the second axis; one along the first more"
        yield Line(f"make_private_eigenvector, {d} columns", pair, "epsilon", vector.map(1), worst, p)
