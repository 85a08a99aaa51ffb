"""Runnable instances of every algorithm on its pair: what `cases` lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.reference.case import Instance, Reading
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.bent_game import BentGameSolver
from dpassay.reference.solvers.early_stop import UndecayedPasses
from dpassay.reference.solvers.exact import Exact

from . import algorithm1, algorithm2, algorithm3, algorithm5, real_pairs, strongly_concave, worst_pairs
from .budget import Budget
from .phases import phases

BUDGET = Budget(0.9, 1e-5)  # the paper wants epsilon < 1 and delta < 1/n
HALF = Budget(BUDGET.epsilon / 2, BUDGET.delta / 2)
SIZE, MU = 256, 0.1
PHASED_SIZE = 64
PLAN = phases(PHASED_SIZE, MU)
PHASE = 3
Facts = dict[str, float | int | str]


def first(variant: str, reading: Reading) -> Instance:
    """Algorithm 1: worst pair, real data ("logistic"), or with a lazy solver.

    "early-stop": ten times the error that line 1 allows; "worst-solver": exactly that error, in the worst direction.
    """
    lazy = {"early-stop": 10.0, "worst-solver": 1.0}.get(variant)
    if lazy:
        pair, lipschitz = worst_pairs.for_early_stop(SIZE // 8, 2, MU), 1.0
    elif variant == "logistic":
        pair = real_pairs.logistic(MU)
        lipschitz = pair.here.lipschitz if reading == "printed" else pair.here.loss.lipschitz  # Lemma 3.5
    else:
        pair = worst_pairs.for_algorithm1(SIZE, 2, MU)
        lipschitz = pair.here.lipschitz
    solver = UndecayedPasses(lazy) if lazy else None
    schedules = [make(pair.here, BUDGET, solver, lipschitz) for make in (algorithm1.printed, algorithm1.repaired)]
    facts: Facts = {
        "n": pair.here.size,
        "d": pair.here.loss.primal,
        "mu": MU,
        "L": lipschitz,
        "stability bound 2L/(mu n)": 2 * lipschitz / (MU * pair.here.size),
        **_noise(schedules[0].noise_std, schedules[1].noise_std),
    }
    return Instance(algorithm1.run, schedules[reading == "repaired"], pair, facts=facts)


def second(reading: Reading) -> Instance:
    """Algorithm 2 on its worst pair."""
    pair = worst_pairs.for_algorithm2(PHASED_SIZE, 2, PLAN, PHASE)
    schedules = [make(pair.here, BUDGET, MU) for make in (algorithm2.printed, algorithm2.repaired)]
    stds = [schedule.noise_stds[PHASE - 1] for schedule in schedules]
    return Instance(algorithm2.run, schedules[reading == "repaired"], pair, facts=_phased(stds))


def third(variant: str, reading: Reading) -> Instance:
    """Algorithm 3: worst pair, or AUC maximisation on real data ("auc")."""
    real = variant == "auc"
    pair = real_pairs.ranking(3 * MU) if real else worst_pairs.for_algorithm3(SIZE, MU, 4 * MU)
    lipschitz = pair.here.lipschitz if real and reading == "printed" else pair.here.loss.lipschitz  # Lemma 4.5
    schedules = [make(pair.here, BUDGET, Exact(), lipschitz) for make in (algorithm3.printed, algorithm3.repaired)]
    facts: Facts = {
        "n": pair.here.size,
        "mu_x": pair.here.strong_convexity,
        "mu_y": pair.here.strong_concavity,
        "L": lipschitz,
        "joint stability bound 2L/(n sqrt(mu))": 2 * lipschitz / (pair.here.size * np.sqrt(pair.here.modulus)),
        **_noise(schedules[0].x_std, schedules[1].x_std),
    }
    return Instance(algorithm3.run, schedules[reading == "repaired"], pair, facts=facts)


def side(module: Any, worst: Callable[..., Pair[Any]], reading: Reading) -> Instance:
    """Algorithm 4 or 5 on its worst pair, each with its half of the budget."""
    pair = worst(PHASED_SIZE, PLAN, MU, PHASE)
    schedules = [module.printed(pair.here, BUDGET, MU, Exact()), module.repaired(pair.here, HALF, MU, Exact())]
    stds = [schedule.noise_stds[PHASE - 1] for schedule in schedules]
    return Instance(module.run, schedules[reading == "repaired"], pair, facts=_phased(stds))


def both(reading: Reading) -> Instance:
    """Algorithms 4 and 5 composed, on the pair that moves both."""
    pair = worst_pairs.for_algorithms4and5(PHASED_SIZE, PLAN, MU)
    makers = (algorithm5.both_printed, algorithm5.both_repaired)
    schedules = [make(pair.here, BUDGET, MU, BentGameSolver()) for make in makers]
    stds = [schedule[0].noise_stds[worst_pairs.BOTH_PHASE - 1] for schedule in schedules]
    return Instance(algorithm5.run_both, schedules[reading == "repaired"], pair, facts=_phased(stds))


def curved(variant: str, reading: Reading) -> Instance:
    """Section 4.3, with sigma_k as a standard deviation, or as the variance it is called ("as-variance")."""
    literal = variant == "as-variance"
    mu = 0.1 * MU if literal else MU  # a smaller mu makes sigma_k larger than 1
    phase = 1 if literal else PHASE
    pair = worst_pairs.for_strongly_concave(PHASED_SIZE, phases(PHASED_SIZE, mu), 0.5, phase)
    makers = (strongly_concave.as_variance if literal else strongly_concave.printed, strongly_concave.repaired)
    schedules = [make(pair.here, BUDGET, mu, Exact()) for make in makers]
    stds = [schedule.noise_stds[phase - 1] for schedule in schedules]
    return Instance(strongly_concave.run, schedules[reading == "repaired"], pair, facts=_phased(stds, mu=mu))


def _phased(stds: list[float], mu: float = MU) -> Facts:
    return {"n": PHASED_SIZE, "K": PLAN.count, "n_bar": PLAN.length, "mu": mu, **_noise(*stds)}


def _noise(printed: float, calibrated: float) -> Facts:
    """The paper's noise and the least that exact accounting asks for, at the target's phase."""
    return {
        "printed noise std": printed,
        "calibrated noise std": calibrated,
        "printed over calibrated": round(printed / calibrated, 3),
    }
