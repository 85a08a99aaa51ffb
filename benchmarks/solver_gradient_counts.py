"""Gradient counts of the base solvers as growth exponents over n and kappa, against Tables 1 and 2 of the paper.

For each solver: evaluations to take the certified distance from 1e-1 to 1e-4 of the starting certificate (to 1e-10
when n is above kappa: a pass or two would do for less), on random problems with prescribed kappa, least-squares slope
in log-log.  Two regimes: n above kappa (slope in n) and kappa above n (slopes in kappa and in n).  Medians over three
seeds.

Run: python benchmarks/solver_gradient_counts.py [--quick] [--write]
"""

from __future__ import annotations

import keep
import numpy as np

from dpassay.reference.problems.finite_sum import FiniteSum, Regulariser
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.problems.strongly_convex import SquaredLoss, regularised
from dpassay.reference.solvers.catalyst import accelerated_saddle_svrg, accelerated_svrg
from dpassay.reference.solvers.extragradient import Extragradient, GradientDescentAscent
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.katyusha import Katyusha
from dpassay.reference.solvers.protocol import Oracle, certify
from dpassay.reference.solvers.saddle_variance_reduced import PrimalDual, SaddleSAGA, SaddleSVRG
from dpassay.reference.solvers.variance_reduced import SAGA, SARAH, SVRG

SEEDS = (1, 2, 3)


def ridge(n, kappa, seed):
    """Least squares with two flat directions: condition ell/mu = kappa and an error that lives where it is flat."""
    rng = np.random.default_rng(seed)
    scales = np.array([1.0, 0.3, np.sqrt(1 / kappa), np.sqrt(0.5 / kappa)])
    features = rng.choice([-1.0, 1.0], size=(n, 4)) * scales
    features /= np.linalg.norm(scales)
    targets = np.clip(features @ rng.normal(size=4) * 0.3, -1, 1)
    return regularised(SquaredLoss(features, targets, 50.0), 1.0 / kappa)


def game(n, kappa, seed):
    """Unconstrained game, B_xi = diag(1, +-1) with balanced signs: one strong and one flat coupling, ||B_xi|| = 1."""
    rng = np.random.default_rng(seed)
    matrices = np.tile(np.eye(2), (n, 1, 1))
    matrices[:, 1, 1] = np.where(rng.permutation(n) % 2, 1.0, -1.0)
    linear = rng.normal(size=(n, 4))
    linear /= np.linalg.norm(linear, axis=1)[:, None]
    loss = BilinearLoss(matrices, linear + 0.5, np.inf, np.inf, 1.0, 2.0)
    return FiniteSum(loss, Regulariser(1.0 / kappa, 1.0 / kappa))


def cost(solver, problem, seed, last):
    _, start = certify(Oracle(problem), problem.project(problem.centre), 1.0)
    counts = [solver(problem, start.distance * t, np.random.default_rng(seed)).evaluations for t in (1e-1, last)]
    return max(counts[1] - counts[0], 1)


def median_cost(make, solver, n, kappa, last=1e-4):
    return float(np.median([cost(solver, make(n, kappa, seed), seed, last) for seed in SEEDS]))


def slope(x, y):
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def exponents(make, solver, grids):
    (n_long, kappa_low), (n_short, kappas), (ns, kappa_high) = grids
    in_n = slope(n_long, [median_cost(make, solver, n, kappa_low, 1e-10) for n in n_long])
    in_kappa = slope(kappas, [median_cost(make, solver, n_short, k) for k in kappas])
    in_n_ill = slope(ns, [median_cost(make, solver, n, kappa_high) for n in ns])
    return in_n, in_kappa, in_n_ill


# solver, proved exponents: of n when n >> kappa, of kappa when kappa >> n, of n when kappa >> n
MINIMISERS = [
    (GradientDescent(), (1, 1, 1)),
    (GradientDescent(accelerated=True), (1, 0.5, 1)),
    (SVRG(), (1, 1, 0)),
    (SARAH(), (1, 1, 0)),
    (SAGA(), (1, 1, 0)),
    (Katyusha(), (1, 0.5, 0.5)),
    (accelerated_svrg(), (1, 0.5, 0.5)),
]
SADDLES = [
    (GradientDescentAscent(), (1, 2, 1)),
    (Extragradient(), (1, 1, 1)),
    (SaddleSVRG(), (1, 2, 0)),
    (SaddleSAGA(), (1, 2, 0)),
    (accelerated_saddle_svrg(), (1, 1, 0.5)),
    (PrimalDual(), (1, 1, 0.5)),
]


def measure(quick):
    wide = (800, 1600) if quick else (1000, 2000, 4000)
    grids = ((wide, 2.0), (8, (100.0, 400.0) if quick else (100.0, 200.0, 400.0)), ((4, 16), 400.0))
    saddle_grids = ((wide, 2.0), (8, (8.0, 24.0) if quick else (8.0, 16.0, 32.0)), ((4, 32), 24.0))
    print(f"{'solver':28s}{'n | n>>k':>16s}{'kappa | k>>n':>16s}{'n | k>>n':>16s}   measured (proved)")
    for make, rows, used in ((ridge, MINIMISERS, grids), (game, SADDLES, saddle_grids)):
        for solver, proved in rows:
            found = exponents(make, solver, used)
            cells = "".join(f"{f:10.2f} ({p:g})".rjust(16) for f, p in zip(found, proved, strict=True))
            print(f"{solver.name:28s}{cells}", flush=True)


if __name__ == "__main__":
    keep.main(__file__, __doc__, measure)
