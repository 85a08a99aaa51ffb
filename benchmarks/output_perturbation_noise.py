"""How much noise the printed schedules add beyond what exact accounting asks for, and what the certificate saves.

Run: python benchmarks/output_perturbation_noise.py [--quick] [--write]   (a second either way)
"""

from dataclasses import replace

import audit_figures as figures
import numpy as np

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.gdp import gdp_epsilon, gdp_mu
from dpassay.reference.output_perturbation import (
    algorithm1,
    algorithm2,
    algorithm3,
    algorithm4,
    algorithms4and5,
    strongly_concave,
    worst_case,
)
from dpassay.reference.output_perturbation.base_solver import printed_multiplier
from dpassay.reference.output_perturbation.phases import phases
from dpassay.reference.problems.strongly_convex import LogisticLoss, regularised
from dpassay.reference.solvers.early_stop import UndecayedPasses
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.scikit_learn import ScikitLearn

N, MU = 256, 0.1


def std(schedule, label="output"):
    return schedule.noise.std(label, schedule.sensitivity)


def stds(schedule):
    block, moves = getattr(schedule, "block", "x"), schedule.sensitivities
    return [schedule.noise.std(f"{block}/{k}", moved) for k, moved in enumerate(moves, start=1)]


def noise():
    print("printed std / repaired std (n = 256, mu = 0.1), and calibrated std per unit of L/(mu n)")
    heads = ("epsilon", "delta", "Alg 1", "Alg 2", "Alg 3", "4, k=1", "4, k=8", "4+5")
    print("".join(f"{head:>8s}" for head in heads) + f"{'4.3 k=8':>9s}{'exact mult':>12s}{'printed mult':>14s}")
    plan = phases(N, MU)
    for epsilon in (0.1, 0.5, 0.9):
        for delta in (1e-3, 1e-5, 1e-8):
            b = (epsilon, delta)
            one = worst_case.for_algorithm1(N, 2, MU).here
            two = worst_case.for_algorithm2(N, 2, plan).here
            three = worst_case.for_algorithm3(N, MU, MU).here
            four = worst_case.for_algorithm4(N, plan, MU).here
            curved = worst_case.for_strongly_concave(N, plan, 0.2).here
            half = (epsilon / 2, delta / 2)
            first, second = stds(algorithm4.printed(four, MU, *b)), stds(algorithm4.repaired(four, MU, *half))
            pair = algorithms4and5.repaired(four, MU, *b)
            both = stds(replace(pair.x_half, noise=pair.noise))
            third = [stds(make(curved, MU, *b)) for make in (strongly_concave.printed, strongly_concave.repaired)]
            joint = std(algorithm3.repaired(three, *b, lipschitz=1.0), "pair")
            x_std = joint / np.sqrt(MU)
            ratios = (
                std(algorithm1.printed(one, *b)) / std(algorithm1.repaired(one, *b)),
                stds(algorithm2.printed(two, MU, *b))[0] / stds(algorithm2.repaired(two, MU, *b))[0],
                std(algorithm3.printed(three, *b, lipschitz=1.0), "x") / x_std,
                first[0] / second[0],
                first[-1] / second[-1],
                first[-1] / both[-1],
            )
            print(f"{epsilon:8.2f}{delta:8.0e}" + "".join(f"{r:8.2f}" for r in ratios), end="")
            print(f"{third[0][-1] / third[1][-1]:9.2f}{1 / gdp_mu(*b):12.3f}{printed_multiplier(*b):14.3f}")


def early_stop():
    print("\nsolver residual (units of the required L/(mu n)) against epsilon of Algorithm 1 as printed, claimed 0.9")
    budget = (0.9, 1e-5)
    for residual in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0):
        pair = worst_case.for_early_stop(N, 2, MU)
        epsilons = []
        for make in (algorithm1.printed, algorithm1.repaired):
            schedule = make(pair.here, *budget, solver=UndecayedPasses(residual), lipschitz=1.0)
            seen = lockstep(lambda p, t, s=schedule: algorithm1.run(p, s, t), pair, (1,))
            epsilons.append(gdp_epsilon(seen.movements["output"].moved / std(schedule), budget[1]))
        print(f"residual {residual:5.1f}: printed {epsilons[0]:.3f}, certified {epsilons[1]:.3f}")


def certificate():
    print("\ngradient passes for line 1 of Algorithm 1: certified at L/(mu n), against Markov at delta/4 of it")
    rng = np.random.default_rng(3)
    features = rng.normal(size=(500, 5))
    features /= np.linalg.norm(features, axis=1)[:, None]
    problem = regularised(LogisticLoss(features, np.sign(features @ np.ones(5))), 0.01, 20.0)
    target = problem.lipschitz / (problem.n * np.sqrt(problem.strong_convexity))
    for solver in (GradientDescent(accelerated=True), ScikitLearn("newton-cholesky"), Exact()):
        counts = [solver(problem, target * f, np.random.default_rng(1)).evaluations for f in (1.0, 0.01, 1e-6 / 4)]
        passes = ", ".join(f"{count / problem.n:.0f}" for count in counts)
        print(f"{solver.name:32s} at 1, 0.01 and (delta = 1e-6)/4 of L/(mu n): {passes}")


def measure(quick):
    noise()
    early_stop()
    certificate()


if __name__ == "__main__":
    figures.keep_printed(__file__, __doc__, measure)
