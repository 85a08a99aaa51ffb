"""A claimed guarantee as a person states it: (epsilon, delta), mu-GDP, a PLD of DP-SGD, or a file of pairs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpassay.audit.plain import is_float
from dpassay.audit.scores.power import Law, extremal_law, gaussian_law, laplace_law
from dpassay.reference.accounting.gdp import gdp_mu
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json
from dpassay.reference.guarantee import Guarantee, approx_dp, from_pairs, from_pld, gdp

_FINEST, _POINTS, _LONGEST = 1e-3, 50_000, 10**7  # grid of losses: step, points of a curve, points while composing
_STAGE = 1000  # steps composed at once
_MOST = 5e5  # epsilon


@dataclass(frozen=True)
class Claim:
    """A claim, its epsilon at the delta in question, and mechanisms that break it by a factor of two."""

    guarantee: Guarantee
    epsilon: float | None
    worse: Callable[[], list[Law]]


def read_claim(
    epsilon: float | None, delta: float, mu: float | None, sampled: str | None, pairs: Path | None
) -> Claim | None:
    """The claim of the options, or None when nothing is claimed; two of them, or one without sense, are BadInput.

    What breaks it is an ideal attack on a mechanism twice as bad: twice mu, twice epsilon (0: one), half the noise.
    """
    given = [name for name, value in (("--epsilon", epsilon), ("--gdp", mu), ("--sampled-gaussian", sampled),
             ("--curve", pairs)) if value is not None]  # fmt: skip
    require(len(given) <= 1, "claim", given, "give one of --epsilon, --gdp, --sampled-gaussian, --curve")
    require(0 <= delta < 1, "--delta", delta, "must lie in [0, 1)")
    if epsilon is not None:
        require(0 <= epsilon < float("inf"), "--epsilon", epsilon, "must be finite and not negative")
        return Claim(approx_dp(epsilon, delta), epsilon, partial(_twice_epsilon, epsilon, delta))
    if mu is not None:
        require(0 < mu <= 1e4, "--gdp", mu, "must lie in (0, 1e4]")
        guarantee, words = gdp(mu), f"a {2 * mu:g}-GDP mechanism (twice the mu)"
        return Claim(guarantee, guarantee.epsilon(delta), lambda: [gaussian_law(2 * mu, words)])
    if sampled is not None:
        noise, rate, steps = _noise_rate_steps(sampled)
        spends = _most(noise, rate, steps)
        why = f"spends up to epsilon {spends:.2g}: nothing that scores could refute (at most {_MOST:g})"
        require(spends <= _MOST, "--sampled-gaussian", sampled, why)
        guarantee = _dp_sgd(noise, rate, steps)

        def worse() -> list[Law]:
            half = _dp_sgd(noise / 2, rate, steps)
            return [extremal_law(half, f"the most revealing mechanism within the curve of {half.name}: half the noise")]

        return Claim(guarantee, guarantee.epsilon(delta), worse)
    if pairs is None:
        return None
    found = _pairs(pairs)
    guarantee, doubled = from_pairs(found, pairs.stem), [(2 * e if e > 0 else 1.0, d) for e, d in found]
    words = "the most revealing mechanism within twice the claimed epsilons"
    return Claim(guarantee, guarantee.epsilon(delta), lambda: [extremal_law(from_pairs(doubled), words)])


def _twice_epsilon(epsilon: float, delta: float) -> list[Law]:
    """The most revealing mechanism of twice the epsilon, and plain noise calibrated to it."""
    more = 2 * epsilon if epsilon > 0 else 1.0
    most = extremal_law(approx_dp(more, delta), f"the most revealing ({more:g}, {delta:g})-DP mechanism")
    if delta == 0:
        return [most, laplace_law(more, f"Laplace noise that is exactly ({more:g}, 0)-DP")]
    return [most, gaussian_law(gdp_mu(more, delta), f"Gaussian noise that is exactly ({more:g}, {delta:g})-DP")]


def _noise_rate_steps(text: str) -> tuple[float, float, int]:
    try:
        noise, rate, steps = (kind(part) for kind, part in zip((float, float, int), text.split(":"), strict=True))
    except ValueError:
        raise BadInput("--sampled-gaussian", text, "must be NOISE:RATE:STEPS, for instance 1.1:0.01:1000") from None
    good = 0.01 <= noise <= 1e6 and 1e-15 <= rate <= 1 and 1 <= steps <= 10**7
    require(good, "--sampled-gaussian", text, "NOISE in [0.01, 1e6], RATE in [1e-15, 1], STEPS in 1..1e7")
    return float(noise), float(rate), int(steps)


def _dp_sgd(noise: float, rate: float, steps: int) -> Guarantee:
    """The PLD's curve; its grid is as fine as about 50,000 points allow (pessimistic on any grid, hence sound)."""
    name = f"DP-SGD, noise {noise:g}, rate {rate:g}, {steps} steps (PLD)"
    if rate == 1:  # one release with less noise is the same
        noise, steps = noise / math.sqrt(steps), 1
    grid = max(_FINEST, _most(noise, rate, 1) / _POINTS, _most(noise, rate, steps) / _LONGEST)
    found = _composed(noise, rate, steps, grid)
    reaches = float(found.get_epsilon_for_delta(1e-12))
    if grid * 2 * _POINTS < reaches < math.inf:  # reading a curve off takes a loop over the points
        found = _composed(noise, rate, steps, reaches / _POINTS)
    return from_pld(found, name, "add-remove")


def _composed(noise: float, rate: float, steps: int, grid: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution  # slow to import, and few claims need it

    one = privacy_loss_distribution.from_gaussian_mechanism(
        noise, value_discretization_interval=grid, sampling_prob=rate
    )
    # in two stages: while there are few different losses, dp-accounting composes them step by step
    rest, stages = steps % _STAGE, steps // _STAGE
    found = one.self_compose(rest) if rest else privacy_loss_distribution.identity(grid)
    return found.compose(one.self_compose(_STAGE).self_compose(stages)) if stages else found


def _most(noise: float, rate: float, steps: int) -> float:
    """About the epsilon that the steps may add up to, from above: as many as a record takes part in, un-sampled."""
    often = min(steps, steps * rate + 8 * math.sqrt(steps * rate) + 8)
    return often / (2 * noise**2) + 12 * math.sqrt(often) / noise


def _pairs(path: Path) -> list[tuple[float, float]]:
    document = read_json(path, "--curve")
    try:
        pairs = [(epsilon, delta) for epsilon, delta in document]
    except (TypeError, ValueError):
        raise BadInput(str(path), document, "must be a list of [epsilon, delta] pairs") from None
    good = bool(pairs) and all(is_float(e) and e >= 0 and is_float(d) and 0 <= d <= 1 for e, d in pairs)
    require(good, str(path), pairs, "needs pairs with epsilon >= 0 and delta in [0, 1]")
    return [(float(epsilon), float(delta)) for epsilon, delta in pairs]
