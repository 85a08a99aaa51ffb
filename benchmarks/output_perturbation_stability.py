"""How much of the stability bounds an adversarial search attains (differential evolution over all records, n = 20).

Run: python benchmarks/output_perturbation_stability.py [--quick] [--write]
"""

from dataclasses import dataclass

import audit_figures as figures
import numpy as np
from scipy.optimize import differential_evolution

from dpassay.reference.output_perturbation import worst_case
from dpassay.reference.problems.finite_sum import FiniteSum, Regulariser
from dpassay.reference.problems.saddle_games import BilinearLoss, sharp_stability
from dpassay.reference.problems.strongly_convex import LogisticLoss, SquaredLoss, regularised
from dpassay.reference.solvers.exact import Exact

N, SEED = 20, 0


@dataclass(frozen=True)
class Shares:
    """Distances between exact solutions as shares of what is proved (1 = attained)."""

    weighted: float  # of Lemma 3.3/4.3: sqrt(mu_x |dx|^2 + mu_y |dy|^2) against 2L/(n sqrt(mu))
    x: float  # |dx| against the paper's 2L/(n sqrt(mu_x mu))
    x_sharp: float  # |dx| against `sharp_stability`


def shares(here: FiniteSum, there: FiniteSum, lipschitz: float | None = None) -> Shares:
    """Compare the exact solutions of two neighbours; L is the full f's unless given."""
    bound = max(here.lipschitz, there.lipschitz) if lipschitz is None else lipschitz
    before, after = (Exact()(problem, 1e-8, np.random.default_rng(0)).point for problem in (here, there))
    moved, n, d_x = before - after, here.n, here.loss.d
    joint = float(2 * bound / (n * np.sqrt(here.modulus)))
    x = float(np.linalg.norm(moved[:d_x]))
    other = here.strong_concavity if here.loss.d_y else np.inf
    return Shares(
        weighted=float(np.linalg.norm(np.sqrt(here.weights) * moved)) / joint,
        x=x / (joint / float(np.sqrt(here.strong_convexity))),
        x_sharp=x / sharp_stability(bound, n, here.strong_convexity, other),
    )


def search(family, ranges, generations, lipschitz=None):
    """The largest share of x found by differential evolution over the family's parameters."""
    rng = np.random.default_rng(SEED)
    found = differential_evolution(
        lambda p: -shares(*family(p), lipschitz).x,
        ranges, rng=rng, maxiter=generations, popsize=8, polish=False, tol=1e-8,
    )  # fmt: skip
    return shares(*family(found.x), lipschitz)


def unit(v):
    return v / max(float(np.linalg.norm(v)), 1.0)


def ridge(mu, radius):
    def family(p):
        common, pair = np.tile(unit(p[:2]), (N, 1)), []
        for w, b in ((p[3:5], p[5]), (p[6:8], p[8])):
            features, targets = common.copy(), np.full(N, p[2])
            features[0], targets[0] = unit(w), b
            pair.append(regularised(SquaredLoss(features, targets, radius), mu, radius))
        return pair[0], pair[1]

    return family, [(-1.0, 1.0)] * 9


def logistic(mu, radius):
    """Records in the plane, labels +1 (a record -w with label +1 is w with label -1)."""

    def family(p):
        common, pair = np.tile(unit(p[:2]), (N, 1)), []
        for w in (p[2:4], p[4:6]):
            features = common.copy()
            features[0] = unit(w)
            pair.append(regularised(LogisticLoss(features, np.ones(N)), mu, radius))
        return pair[0], pair[1]

    return family, [(-1.0, 1.0)] * 6


def game(mu_x, mu_y):
    """A shared public coupling up to 10 and one linear term that changes; L = 1 (data part)."""

    def family(p):
        pair = []
        for g in (p[1:3], p[3:5]):
            linear = np.zeros((N, 2))
            linear[0] = unit(g)
            loss = BilinearLoss(np.full((N, 1, 1), p[0]), linear, np.inf, np.inf, abs(float(p[0])), 1.0, True)
            pair.append(FiniteSum(loss, Regulariser(mu_x, mu_y)))
        return pair[0], pair[1]

    return family, [(0.0, 10.0)] + [(-1.0, 1.0)] * 4


def attained(pair, *lipschitz):
    return shares(pair.here, pair.there, *lipschitz)


def show(name, found):
    print(f"{name:44s}{found.weighted:10.4f}{found.x:10.4f}{found.x_sharp:10.4f}", flush=True)


def together(ratio, p):
    """Joint move of x in Algorithm 4 and of y in Algorithm 5, in units of 2L/(n mu), for one linear term that turns.

    What the other records share may be nonlinear, so each saddle point has curvatures and a coupling of its own.
    """
    curve_4, couple_4, flat_4, curve_5, couple_5, flat_5, angle = p
    at_4 = np.array([[ratio + curve_4, couple_4], [-couple_4, 1 + flat_4]])
    at_5 = np.array([[1 + curve_5, couple_5], [-couple_5, ratio + flat_5]])
    turn = np.array([np.cos(angle), np.sin(angle)])
    return np.hypot(np.linalg.solve(at_4, turn)[0], np.linalg.solve(at_5, turn)[1])


def both(quick):
    print("\nAlgorithms 4 and 5 together, mu_k/mu: joint move over sqrt(2) times the sharp bound of one block")
    for ratio in (2, 4, 8) if quick else (2, 4, 8, 16, 64, 256):
        bound = np.sqrt(2) * (1 / ratio if ratio <= 2 else 0.5 / np.sqrt(ratio - 1))
        reach = 3 * np.sqrt(ratio) + 2
        ranges = [*(2 * [(0, 2), (-reach, reach), (0, 2)]), (0, np.pi)]
        rng = np.random.default_rng(SEED)
        found = differential_evolution(lambda p, r=ratio: -together(r, p), ranges, rng=rng, maxiter=400, tol=1e-10)
        closed = 0.5 / (np.sqrt(1 + ratio) - 1) / bound
        line = f"{ratio:6d}: searched {-found.fun / bound:.4f}, opposite couplings in closed form {closed:.4f}"
        print(line, flush=True)


def measure(quick):
    shift, turn, couple = (5, 5, 10) if quick else (25, 15, 40)  # generations
    print(f"{'share of the bound attained':44s}{'weighted':>10s}{'x':>10s}{'x sharp':>10s}")
    show("mean estimation, closed form, n = 20", attained(worst_case.for_algorithm1(N, 2, 0.1)))
    show("mean estimation, closed form, n = 10000", attained(worst_case.for_algorithm1(10_000, 2, 0.1)))
    for mu, radius in ((1.0, 1.0), (0.1, 1.0), (0.1, 0.2), (0.01, 1.0)):
        family, ranges = ridge(mu, radius)
        show(f"ridge, mu = {mu}, radius {radius}", search(family, ranges, shift))
    for mu, radius in ((1.0, 1.0), (0.1, 1.0)):
        family, ranges = logistic(mu, radius)
        show(f"logistic, mu = {mu}, radius {radius}", search(family, ranges, turn))
    for mu_x in (1.0, 2.0, 4.0, 16.0, 0.25):
        family, ranges = game(mu_x, 1.0)
        show(f"game, mu_x = {mu_x}, mu_y = 1, searched for x", search(family, ranges, couple, lipschitz=1.0))
        hardest = worst_case.for_algorithm3_apart if mu_x > 1 else worst_case.for_algorithm3
        show(f"game, mu_x = {mu_x}, mu_y = 1, closed form", attained(hardest(N, mu_x, 1.0), 1.0))
    both(quick)


if __name__ == "__main__":
    figures.keep_printed(__file__, __doc__, measure)
