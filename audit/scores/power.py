"""What a test of scores would have seen: the test, simulated on an ideal attack against a worse mechanism.

A law is a pair of score distributions whose scores order outcomes by likelihood ratio, as the best attack would. It
breaks the claim by a stated amount. The test is run on samples of the user's sizes; of the share that it refutes
Clopper-Pearson limits are reported. This is power of the test, not of the attack: how good the attack is that made
the user's scores, nobody knows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpassay.audit.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.reference.arrays import Array
from dpassay.reference.guarantee import Guarantee

REPETITIONS, SMALL = 40, 20_000  # under a second for up to SMALL scores on both sides; fewer repetitions above
FEW, CAP = 24, 100_000  # and of a larger sample only so many scores a side are simulated, which is said
LIMIT_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Law:
    """Scores of an ideal attack: `draw(rng, size_p, size_q)` gives scores on D and on D' (with the record)."""

    statement: str  # the mechanism
    draw: Callable[[np.random.Generator, int, int], tuple[Array, Array]]


@dataclass(frozen=True)
class Power:
    """`refuted` of `repetitions` simulated samples, and what that says about the power."""

    law: str
    sizes: tuple[int, int]  # that were simulated: the user's, or fewer
    whole: bool  # were they the user's?
    repetitions: int
    refuted: int

    @property
    def limits(self) -> tuple[float, float]:
        """Clopper-Pearson limits, each at 95 %."""
        level = 1 - LIMIT_CONFIDENCE
        low = clopper_pearson_lower(self.refuted, self.repetitions, level)
        return float(low), float(clopper_pearson_upper(self.refuted, self.repetitions, level))

    @property
    def evidence(self) -> dict[str, object]:
        """For a JSON report."""
        simulated = {"repetitions": self.repetitions, "refuted": self.refuted, "sizes": self.sizes}
        return {"against": self.law, "power_limits": self.limits, "simulated": simulated}

    @property
    def statement(self) -> str:
        """For a terminal."""
        size = "samples of this size" if self.whole else f"samples of only {self.sizes[0]:,} and {self.sizes[1]:,}"
        low, high = self.limits
        return f"{low:.2f} to {high:.2f} against {self.law} ({self.refuted} of {self.repetitions} {size} refuted)"


def gaussian_law(mu: float, statement: str) -> Law:
    """N(0, 1) against N(mu, 1)."""
    return Law(statement, lambda rng, p, q: (rng.normal(size=p), rng.normal(mu, size=q)))


def laplace_law(epsilon: float, statement: str) -> Law:
    """Laplace noise of scale 1 / epsilon on answers 0 and 1; a score is the privacy loss, by which outputs order."""

    def draw(rng: np.random.Generator, p: int, q: int) -> tuple[Array, Array]:
        x, y = rng.laplace(size=p), rng.laplace(epsilon, size=q)  # |x| - |x - epsilon| would show their last bits
        return np.clip(2 * x - epsilon, -epsilon, epsilon), np.clip(2 * y - epsilon, -epsilon, epsilon)

    return Law(statement, draw)


def extremal_law(curve: Guarantee, statement: str) -> Law:
    """The most revealing pair that obeys `curve`: P uniform on [0, 1], Q with distribution function 1 - f, small first.

    1 - f(a) is the least of the lines delta + e^epsilon a, so a = max over the lines of (u - delta) e^-epsilon is its
    inverse; between the knots it is interpolated, which errs on the less revealing side (a is convex in u).
    """
    edges = np.geomspace(1e-9, 1.0, 512)
    knots = np.unique(np.concatenate([[0.0], edges, 1 - edges, np.linspace(0, 1, 2049), curve.deltas]))
    slopes = np.exp(-np.clip(curve.epsilons, -700, 700))
    inverse = np.zeros(knots.size)
    for delta, slope in zip(curve.deltas, slopes, strict=True):  # one by one: a claim may have thousands of pairs
        inverse = np.maximum(inverse, (knots - delta) * slope)
    inverse = np.minimum(inverse, 1.0)
    return Law(statement, lambda rng, p, q: (-rng.random(p), -np.interp(rng.random(q), knots, inverse)))


def shown_power(
    refuted: Callable[[Array, Array, np.random.Generator], bool], law: Law, sizes: tuple[int, int], seed: int
) -> Power:
    """Simulate a test (`refuted(scores on D, scores on D', rng)`) on `law`; the same seed gives the same figures."""
    small = sum(sizes) <= SMALL
    simulated = sizes if small else (min(CAP, sizes[0]), min(CAP, sizes[1]))
    repetitions = REPETITIONS if small else FEW
    rng = np.random.default_rng([seed, 53])
    count = sum(refuted(*law.draw(rng, *simulated), rng) for _ in range(repetitions))
    return Power(law.statement, simulated, simulated == sizes, repetitions, count)
