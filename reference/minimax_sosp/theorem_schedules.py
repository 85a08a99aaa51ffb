"""The schedule of Theorem 1 (Appendix B.1) of minimax_sosp.

Constants that the text hides in O(.) are one; the schedule is checked against the inequalities that its proof uses, and
refused with the name of the first one that fails.
"""

from dataclasses import dataclass
from math import ceil, floor, log, sqrt

from dpassay.reference.errors import require, require_at_least, require_budget, require_positive

from .dp_rgda import SILENT, Schedule, printed

# Completions beside those of dp_rgda: L_Phi = (1 + kappa) L and rho_Phi = 4 sqrt(2) kappa^3 rho (Luo et al. 2022; the
# text gives neither). S2 is the larger of Theorem 1's and its proof's bound: they differ by epsilon^(2/3) in the second
# entry. T uses 1/eps_bar = n eps / sqrt(d log(1/delta)) as in the proof; Lemma 5 prints sqrt(d) log(1/delta). K = 1,
# lambda = 1/(6 L) (printed for the population case only). t_thres is the printed 2 log(.)/eta_H; the
# O~(1/(eta_H alpha_H)) beside it has another factor 1/alpha_H. eta_H also at most 1/L_Phi, r the largest of Lemma 7.


@dataclass(frozen=True)
class Constants:
    """Constants of the problem and of the claim, in the paper's letters at the line ends."""

    n: int
    d: int
    epsilon: float
    delta: float
    lipschitz: float = 1.0  # M
    smoothness: float = 1.0  # L
    concavity: float = 1.0  # mu
    hessian_lipschitz: float = 1.0  # rho
    initial_gap: float = 1.0  # F_0
    perturbation_failure: float = 0.1  # delta_2

    def __post_init__(self) -> None:
        require_budget(self.epsilon, self.delta)
        require_at_least(1, self, "n", "d")
        require_positive(self, "lipschitz", "smoothness", "concavity", "hessian_lipschitz", "initial_gap", finite=True)
        require(self.concavity <= self.smoothness, "concavity", self.concavity, "Definition 5 needs mu <= L")
        require(0 < self.perturbation_failure < 1, "delta_2", self.perturbation_failure, "must lie in (0, 1)")
        require(self.privacy_error < 1, "eps_bar", self.privacy_error, "needs sqrt(d log(1/delta)) / (n epsilon) < 1")

    @property
    def privacy_error(self) -> float:
        """eps_bar = sqrt(d log(1/delta)) / (n epsilon)."""
        return sqrt(self.d * log(1 / self.delta)) / (self.n * self.epsilon)


def escape_parameters(c: Constants, tolerance: float) -> tuple[float, float, int, float]:
    """Lemma 7: eta_H <= eps_bar^(-4/3) r_0 / 2, r, t_thres and D bar."""
    factor = c.privacy_error ** (-4 / 3)
    kappa = c.smoothness / c.concavity  # Definition 5
    smooth, rho = (1 + kappa) * c.smoothness, 4 * sqrt(2) * kappa**3 * c.hessian_lipschitz  # L_Phi, rho_Phi
    tilt = sqrt(rho * tolerance)  # alpha_H
    spread = c.perturbation_failure / sqrt(c.d)  # r_0 / r
    slope = 0.5 * factor * spread  # eta_H / r when Lemma 7 is tight
    room = smooth * tilt * slope / rho  # r <= L_Phi eta_H alpha_H / (C rho_Phi), divided by r
    require(room >= 1, "Lemma 7: r <= L_Phi eta_H alpha_H / (C rho_Phi)", room, "right side over r must be >= 1")
    radius = min(1 / (slope * smooth), sqrt(1 / (2 * smooth * slope)))  # eta_H <= 1/L_Phi, r <= R
    step = slope * radius
    growth = room / spread  # eta_H alpha_H L_Phi / (C rho_Phi r_0)
    require(growth > 1, "Lemma 7: eta_H alpha_H L_Phi / (C rho_Phi r_0)", growth, "must exceed 1 for t_thres > 0")
    steps = ceil(2 * log(growth) / step)
    reach = 1 / (2 * smooth * step)  # R
    return step, radius, steps, (reach / steps) ** 2


def empirical_schedule(c: Constants) -> Schedule:
    """Theorem 1 and Appendix B.1, noise of Algorithm 3."""
    e, n, M, L, F0 = c.privacy_error, c.n, c.lipschitz, c.smoothness, c.initial_gap
    second = M ** (1 / 3) * n * e ** (2 / 3) / (L * F0) ** (1 / 6)  # the proof's; Theorem 1's is epsilon^(2/3) of it
    batch = ceil(max((M / (sqrt(F0 * L) * e)) ** (2 / 3), second, second * c.epsilon ** (2 / 3)))
    require(batch <= n, "S2", batch, f"Theorem 1 needs S2 <= n = {n}")
    steps = ceil(max(((L * F0) ** 0.25 / (sqrt(M) * e)) ** (4 / 3), 1 / e))  # Lemma 5
    period = floor(1 / (L**2 * steps * e**2) + 1e-9)
    require(period >= 1, "q", 1 / (L**2 * steps * e**2), "Lemma 5 needs n^2 eps^2 / (L^2 T d log(1/delta)) >= 1")
    require(steps >= period, "T", steps, f"the proof of Lemma 5 needs T >= q = {period}")
    require(steps * batch**2 >= n**2, "T", steps, f"the proof of Lemma 5 needs T >= n^2/S2^2 = {n**2 / batch**2:.4g}")
    tolerance = e ** (2 / 3)
    escape_step, radius, threshold, movement = escape_parameters(c, tolerance)
    require(threshold <= steps, "t_thres", threshold, f"Algorithm 2 can return only if t_thres <= T = {steps}")
    silent = Schedule(
        n=n,
        steps=steps,
        inner_steps=1,
        period=period,
        refresh_batch=n,
        step_batch=batch,
        descent_step=1 / (2 * L),
        escape_step=escape_step,
        ascent_step=1 / (6 * L),
        tolerance=tolerance,
        perturbation_radius=radius,
        escape_threshold=threshold,
        average_movement=movement,
        clip_refresh=M,
        clip_step=M,
        noise=SILENT,
    )
    return printed(silent, c.epsilon, c.delta)
