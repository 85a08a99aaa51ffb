"""What no sound bound of epsilon can exceed: the most powerful test against one pair that obeys the claim.

    python benchmarks/scores_ceiling.py      (the table)

A sound bound exceeds epsilon with probability 5 % at most on EVERY pair of laws that is (epsilon, delta)-DP. So on the
true pair it cannot exceed epsilon more often than the most powerful 5 % test of one such pair against the true one
rejects (Neyman and Pearson). Where this power is one half, the median of every sound bound ends, whatever it knows. The
pair is the one that is nearest to the true one in relative entropy: as it is where the log odds of D' lie within
epsilon, cut to epsilon beyond, with the mass delta put where it hides most. Any such pair gives a valid ceiling.

Laws are symmetric (a shift), in bins fine enough that finer ones change nothing; the power is simulated.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import laplace, norm

from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.arrays import Array

LEVEL, DRAWS, HALVINGS = 0.05, 8000, 9
BINS, REACH = 600, 9.0


@dataclass(frozen=True)
class Pair:
    """Probabilities of the bins on D and on D', mirror images of each other."""

    on_d: Array
    on_e: Array


def shifted(law: str, shift: float) -> Pair:
    """Scores of this law around -shift/2 on D and shift/2 on D'; 'randomised response' has epsilon = shift."""
    if law == "randomised response":
        low = float(expit(-shift))
        return Pair(np.array([1 - low, low]), np.array([low, 1 - low]))
    family = {"Gaussian": norm, "Laplace": laplace}[law]
    edges = np.linspace(-REACH, REACH, BINS + 1) * (1.0 if law == "Gaussian" else 3.0)
    edges = np.concatenate([[-np.inf], edges, [np.inf]])
    low, high = edges[:-1] - shift / 2, edges[1:] - shift / 2
    on_e = np.where(low > 0, family.sf(low) - family.sf(high), family.cdf(high) - family.cdf(low))
    return Pair(on_e[::-1], on_e)


def nearest_private(pair: Pair, epsilon: float, delta: float) -> Pair:
    """The (epsilon, delta)-DP pair with the same sum in every bin that is hardest to tell from `pair`."""
    both = pair.on_d + pair.on_e
    odds, limit = pair.on_e / both, float(expit(epsilon))
    above = odds > limit

    def shares(log_slack: float) -> Array:
        """Share of D' where it is cut: each further step saves as much relative entropy for its mass of delta."""
        slack = np.exp(log_slack)
        half = 1 + slack
        root = (half - np.sqrt(np.maximum(half**2 - 4 * slack * odds, 0.0))) / (2 * slack)
        return np.where(above, np.clip(root, limit, odds), odds)

    def mass(found: Array) -> float:
        return float((both * (found - np.exp(epsilon) * (1 - found)))[above].sum())

    if mass(odds) <= delta:
        return pair
    found = np.where(above, limit, odds)
    if delta > 0 and mass(shares(60.0)) < delta:
        found = shares(brentq(lambda slack: mass(shares(slack)) - delta, -20.0, 60.0))
    found = np.where(odds < 1 - limit, 1 - found[::-1], found)
    return Pair(both * (1 - found), both * found)


def power(pair: Pair, private: Pair, size: int, rng: np.random.Generator) -> float:
    """Of the most powerful test of `private` against `pair` from `size` scores a side."""
    logs = np.log(pair.on_d / private.on_d), np.log(pair.on_e / private.on_e)
    used = (np.abs(logs[0]) > 1e-12) | (np.abs(logs[1]) > 1e-12)

    def statistic(laws: Pair) -> Array:
        found = np.zeros(DRAWS)
        for law, log in zip((laws.on_d, laws.on_e), logs, strict=True):
            rest = np.append(law[used], max(0.0, 1 - law[used].sum()))
            found += rng.multinomial(size, rest / rest.sum(), size=DRAWS)[:, :-1] @ log[used]
        return found

    null, alternative = statistic(private), statistic(pair)
    bar = float(np.quantile(null, 1 - LEVEL))
    above, at = float((null > bar).mean()), float((null == bar).mean())
    tied = (LEVEL - above) / at if at else 0.0  # a randomised test has the whole level
    return float((alternative > bar).mean() + max(0.0, tied) * (alternative == bar).mean())


def ceiling(law: str, shift: float, delta: float, size: int, truth: float) -> float:
    """The epsilon that the median of no sound bound from `size` scores a side can exceed."""
    pair, low, high = shifted(law, shift), 0.0, truth
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        found = power(pair, nearest_private(pair, middle, delta), size, np.random.default_rng([13, size]))
        low, high = (middle, high) if found >= 0.5 else (low, middle)
    return high


def main() -> None:
    """The Gaussian ceilings at delta = 1e-5."""
    for truth in (1.0, 2.0, 4.38, 8.0):
        mu = brentq(lambda mu, truth=truth: gdp_epsilon(mu, 1e-5) - truth, 0.05, 5.0)
        for size in (1000, 10_000, 100_000, 1_000_000):
            found = ceiling("Gaussian", mu, 1e-5, size, truth)
            print(f"true epsilon {truth:g}  scores a side {size:,}  ceiling {found:.3f}")


if __name__ == "__main__":
    main()
