"""Gradient counts of Algorithms 2 and 4 with different base solvers: growth exponent over n, against Remarks 2 and 4.

The privacy budget is wide (epsilon = 1000), so that the regulariser is the one that 1/sqrt(n) asks for, as in the
remarks.  Counts include certificates.  Median over two seeds.  The remarks hide log(n/delta): a factor log(n) adds
1/log(n), about 0.14 here, to an exponent.

Run: python benchmarks/output_perturbation_counts.py [--quick] [--write]
"""

from __future__ import annotations

from dataclasses import dataclass, field

import keep
import numpy as np

from dpassay.reference.output_perturbation import (
    algorithm2,
    algorithm4,
    inexact_proximal,
    noisy_extragradient,
    noisy_gradient,
)
from dpassay.reference.output_perturbation.phases import convex_concave_regulariser, convex_regulariser
from dpassay.reference.problems.domains import Ball
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.problems.strongly_convex import LogisticLoss
from dpassay.reference.solvers.catalyst import accelerated_saddle_svrg
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.katyusha import Katyusha
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.solvers.saddle_variance_reduced import PrimalDual, SaddleSVRG
from dpassay.reference.solvers.variance_reduced import SAGA, SARAH, SVRG
from dpassay.reference.tape import LiveTape

EPSILON, DELTA = 1000.0, 1e-9
SIZES = (256, 1024, 4096)


@dataclass
class Counting:
    """Adds up the evaluations of a solver."""

    inner: Solver
    counts: list[int] = field(default_factory=list)

    def __call__(self, problem, target, rng):
        found = self.inner(problem, target, rng)
        self.counts.append(found.evaluations)
        return found


def logistic(n, seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 5))
    features /= np.linalg.norm(features, axis=1)[:, None]
    return Convex(LogisticLoss(features, np.sign(features @ np.ones(5) + 0.3 * rng.normal(size=n))), Ball(1.0))


def game(n, seed):
    rng = np.random.default_rng(seed)
    matrices = np.tile(0.25 * np.eye(2), (n, 1, 1))
    matrices[:, 1, 1] *= np.where(rng.permutation(n) % 2, 1.0, -1.0)
    linear = rng.normal(size=(n, 4))
    linear /= np.linalg.norm(linear, axis=1)[:, None]
    return Convex(BilinearLoss(matrices, linear, 1.0, 1.0, 0.25, 1.0), Ball(1.0), Ball(1.0))


def total(make, module, rule, solver, n):
    sums = []
    for seed in (1, 2):
        problem, counting = make(n, seed), Counting(solver)
        d = max(problem.loss.d, problem.loss.d_y)
        mu = rule(n, d, problem.loss.lipschitz, 1.0, EPSILON, DELTA)
        module.run(problem, module.printed(problem, mu, EPSILON, DELTA, solver=counting), LiveTape(seed))
        sums.append(sum(counting.counts))
    return float(np.median(sums))


def measure(quick):
    sizes = SIZES[:2] if quick else SIZES
    print(f"{'':34s}" + "".join(f"{f'n = {n}':>12s}" for n in sizes) + f"{'exponent':>10s}  paper")
    rows = [
        ("Algorithm 2", logistic, algorithm2, convex_regulariser, solver, paper)
        for solver, paper in (
            (GradientDescent(), "-"),
            (GradientDescent(accelerated=True), "-"),
            (SVRG(), "n + sqrt(n) ell: 1"),
            (SARAH(), "n + sqrt(n) ell: 1"),
            (SAGA(), "-"),
            (Katyusha(), "n + n^(3/4) sqrt(ell): 1"),
        )
    ] + [
        ("Algorithm 4", game, algorithm4, convex_concave_regulariser, solver, paper)
        for solver, paper in (
            (Extragradient(), "n^(3/2) ell + n^2: 2; n^(3/2) ell in the metric of mu_k and mu"),
            (SaddleSVRG(), "n + n ell^2: 1"),
            (accelerated_saddle_svrg(), "n + n ell: 1"),
            (PrimalDual(), "n + n ell: 1"),
        )
    ]
    for name, make, module, rule, solver, paper in rows:
        counts = [total(make, module, rule, solver, n) for n in sizes]
        exponent = np.polyfit(np.log(sizes), np.log(counts), 1)[0]
        line = "".join(f"{count:12.0f}" for count in counts)
        print(f"{name + ', ' + solver.name:34s}{line}{exponent:10.2f}  {paper}", flush=True)
    comparators(sizes)


def comparators(sizes):
    """Table 1's other rows: gradients that the reconstructed schedules evaluate, epsilon = 0.5."""
    budget = (0.5, 1e-9)
    rows = {
        "DP-SGDA": lambda p: (s := noisy_gradient.calibrated(p, 1.0, *budget)).steps * s.batch_size,
        "NSEG, many passes": lambda p: gradients(noisy_extragradient.calibrated(p, 1.0, *budget, single_pass=False)),
        "NSEG, single pass": lambda p: gradients(noisy_extragradient.calibrated(p, 1.0, *budget)),
        "NISPP, extragradient inside": proximal_count,
    }
    paper = {
        "DP-SGDA": "n^1.5 sqrt(eps); n^2 while privacy limits the steps",
        "NSEG, many passes": "n^2",
        "NISPP, extragradient inside": "n^1.5 log n; one pass here",
    }
    for name, count in rows.items():
        counts = [float(count(game(n, 1))) for n in sizes]
        exponent = np.polyfit(np.log(sizes), np.log(counts), 1)[0]
        line = "".join(f"{count:12.0f}" for count in counts)
        print(f"{name:34s}{line}{exponent:10.2f}  {paper.get(name, '-')}", flush=True)


def gradients(schedule):
    return 2 * schedule.steps * schedule.batch


def proximal_count(problem):
    counting = Counting(Extragradient())
    schedule = inexact_proximal.calibrated(problem, 1.0, 0.5, 1e-9, solver=counting)
    inexact_proximal.run(problem, schedule, LiveTape(1))
    return sum(counting.counts)


if __name__ == "__main__":
    keep.main(__file__, __doc__, measure)
