"""What Lemmas 3.13 to 3.16, Theorem 3.17 and Appendix C of adaptive_batch set and predict, as numbers.

Constants hidden in O(.) are one, log factors of O~(.) are dropped where no proof gives them; what is
impossible is refused with the name of the first inequality that fails.
"""

from dataclasses import dataclass
from math import ceil, log, sqrt

from dpassay.reference.errors import require, require_at_least, require_budget, require_positive

SOURCES = ("Lemma 3.13", "Lemma 3.14", "Theorem 3.17")  # statements that set the noise


@dataclass(frozen=True)
class Constants:
    """Constants of Assumption 3.1 and of the claim, in the paper's letters at the line ends."""

    n: int
    d: int
    epsilon: float
    delta: float
    lipschitz: float = 1.0  # G
    smoothness: float = 1.0  # M
    hessian_lipschitz: float = 1.0  # rho
    initial_gap: float = 1.0  # B
    failure: float = 0.1  # iota, omega

    def __post_init__(self) -> None:
        require_budget(self.epsilon, self.delta)
        require(self.epsilon <= 1, "epsilon", self.epsilon, "Theorem 3.17 needs epsilon <= O(1); the constant is one")
        require_at_least(1, self, "n", "d")
        require_positive(self, "lipschitz", "smoothness", "hessian_lipschitz", "initial_gap", finite=True)
        require(0 < self.failure < 1, "failure", self.failure, "must lie in (0, 1)")

    @property
    def privacy_error(self) -> float:
        """sqrt(d) / (n epsilon)."""
        return sqrt(self.d) / (self.n * self.epsilon)

    def accuracy(self) -> float:
        """alpha of Lemma 3.16 and Theorem 3.17, all eight terms."""
        n, G, M, rho, B = self.n, self.lipschitz, self.smoothness, self.hessian_lipschitz, self.initial_gap
        first = ((B * G * M) ** (1 / 3) + sqrt(B * M)) * sqrt(self.privacy_error)
        cubic = B ** (2 / 9) * M ** (2 / 9) * G ** (5 / 9) + B ** (4 / 9) * M ** (4 / 9) * G ** (1 / 9)
        roots = sqrt(M * B / n) + sqrt(B * M**2) / (rho * sqrt(n))
        roots += B ** (1 / 3) * M ** (4 / 3) / (G ** (1 / 6) * sqrt(rho * n))
        roots += B ** (2 / 3) * G ** (1 / 6) * sqrt(rho) / (M ** (1 / 3) * sqrt(n))
        return float(first + cubic / n ** (1 / 3) + roots + B * rho * self.privacy_error / M)


def oracle_count(c: Constants, gamma: float, kappa: float, batch: float) -> float:
    """Total number of functions used, Lemma 3.15 with constant one and without logs."""
    B, M, d, rho = c.initial_gap, c.smoothness, c.d, c.hessian_lipschitz
    adaptive = sqrt(d) / (gamma**2 * c.epsilon) + kappa / gamma**3 + rho * kappa / (M**2 * gamma**2) + 1 / gamma**2
    return batch * B * M / (kappa * gamma) + B * M * adaptive


@dataclass(frozen=True)
class Sizes:
    """The parameters of a schedule that Theorem 3.17 and the lemmas before it set, at accuracy alpha."""

    threshold: float  # alpha
    step_size: float  # eta
    batch: int  # b
    drift_limit: float  # kappa
    batch_slope: float  # b_t = max(slope |g_t|, 1)
    escape_radius: float  # Xi
    escape_limit: float  # tau
    escape_steps: int  # Gamma
    steps: int  # T


def sizes(c: Constants, alpha: float) -> Sizes:
    """Everything but the noise, at accuracy `alpha`; BadInput where that is none, or a batch needs over n records."""
    G, M, rho, B, d, a = c.lipschitz, c.smoothness, c.hessian_lipschitz, c.initial_gap, c.d, alpha
    require(a > 0, "alpha", a, "must be positive")
    require(a < G, "alpha", a, f"Theorem 3.17 says nothing unless alpha < G = {G:.4g}: every point is an alpha-FOSP")
    gamma, eta = a, 1 / M
    batch = ceil(G * sqrt(d) / (c.epsilon * a) + G**2 / a**2 + M * sqrt(d) / (rho * c.epsilon) + M**2 / (rho * a))
    require(batch <= c.n, "b", batch, f"Lemma 3.14 needs b <= n = {c.n}")
    kappa = max(a * sqrt(d) / c.epsilon, (B * G * M) ** (1 / 3))
    slope = max(sqrt(d) / (a * c.epsilon), kappa / a**2, rho * kappa / (M**2 * a))
    radius, limit = sqrt(gamma / rho), a**1.5 / (M * sqrt(rho))  # Xi, tau
    tilt = c.failure**2 / (16 * sqrt(d))  # mu of Lemma 3.9
    growth = 2 * radius / (tilt * eta * gamma)
    escape_steps = max(1, ceil(2 * M / sqrt(rho * gamma) * max(1.0, log(growth))))  # Gamma
    return Sizes(a, eta, batch, kappa, slope, radius, limit, escape_steps, ceil(B / (eta * gamma**2)))


def noise_stds(c: Constants, source: str, p: Sizes) -> tuple[float, float]:
    """sigma_tree and sigma_t; the three statements differ, see the branches."""
    require(source in SOURCES, "source", source, f"must be one of {', '.join(SOURCES)}")
    logarithm = log(1 / c.delta)
    if source == "Theorem 3.17":
        return p.threshold / sqrt(c.d), p.threshold / sqrt(c.d)
    if source == "Lemma 3.14":
        return 2 * logarithm * p.threshold / sqrt(c.d), 2 * logarithm * p.threshold / sqrt(c.d)
    per_gradient = c.lipschitz / p.batch + 1 / p.batch_slope
    per_hessian = c.smoothness / p.batch + c.hessian_lipschitz / (c.smoothness * p.batch_slope)
    reach = 2 * p.escape_radius * sqrt(p.escape_steps * p.escape_limit * logarithm) / c.epsilon
    return per_gradient * logarithm / c.epsilon, per_hessian * reach
