"""Pairs on which a run shows (nearly) all that its repaired accounting allows.

The problem is `WaveRisk`: replacing one sign moves f(w0), every gradient and every Hessian by their sensitivities. The
tolerances are chosen such that a run takes a given number of steps and that noise, not curvature, makes each noisy
Hessian look indefinite, so that (almost) no run ends early: the regime n < n_min of Theorem 4. What is then missing
from the accounted epsilon is the accountant's or the auditor's. It is the accountant's for line searches: a search
leaks far less than the 1/lambda it counts for, and its steps here go across the gradient, which does not move it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.reference.accounting.cost import Account
from dpassay.reference.case import Instance
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.waves import WaveRisk

from . import opt_b, opt_ls, short_step, trust_region, two_phase
from .common import Accuracy
from .eigen import Lanczos

DIMENSION, LARGE = 12, 1e9
DATA = "signs (worst case)"


def pair(n: int) -> Pair[WaveRisk]:
    """All records are -1, but one is +1 in D: it pulls the other way, so a batch shows whether it is in it."""
    there = WaveRisk(-np.ones(n), DIMENSION)
    return Pair(there.replace(0, 1.0), there, 0, "record 0 is the sign +1 or -1: value, gradient and Hessian opposed")


def accuracy_for(problem: WaveRisk, module: Any, gap: float, steps: int) -> Accuracy:
    """Tolerances for which the bound (6) is `steps`: epsilon_g passes every gradient, epsilon_H sets MIN_DEC."""
    k, search = problem.constants(), (opt_ls.LineSearch(),) if module is opt_ls else ()
    unit = module.minimum_decrease(Accuracy(LARGE, 1.0), *search, k.smoothness, k.hessian_lipschitz)
    return Accuracy(gradient=LARGE, curvature=(gap / ((steps - 0.5) * unit)) ** (1 / 3))


def facts(problem: WaveRisk, schedule: Any) -> dict[str, float | int | str]:
    """Sizes and constants."""
    k, dec = problem.constants(), schedule.minimum_decrease
    return {"n": problem.n, "d": problem.d, "G": k.smoothness, "M": k.hessian_lipschitz, "MIN_DEC": dec}


def build(module: Any, epsilon: float, delta: float, steps: int = 4) -> Instance:
    """OPT or OPT-LS."""
    both, w0 = pair(2), np.zeros(DIMENSION)
    accuracy = accuracy_for(both.here, module, both.here.value_bound(w0), steps)
    schedule = module.repaired(both.here, w0, accuracy, epsilon, delta)
    return _without_searches(Instance(module.run, schedule, both, facts=facts(both.here, schedule)), delta)


def build_lanczos(epsilon: float, delta: float, steps: int = 4) -> Instance:
    """OPT with the eigenpair by Lanczos, whose steps begin at epsilon_H / 2."""
    both, w0, eigen = pair(2), np.zeros(DIMENSION), Lanczos()
    dense = accuracy_for(both.here, short_step, both.here.value_bound(w0), steps)
    accuracy = replace(dense, curvature=dense.curvature / eigen.margin)
    schedule = replace(short_step.repaired(both.here, w0, accuracy, epsilon, delta), eigen=eigen)
    return Instance(short_step.run, schedule, both, facts=facts(both.here, schedule))


def _without_searches(instance: Instance, delta: float) -> Instance:
    """Name the cost of the Gaussian releases alone: the pair hardly moves the searches, which step across it."""
    parts = instance.accounted().common
    gaussian = Account(tuple(part for part in parts if part[0].kind == "gaussian"))
    if len(gaussian.common) == len(parts):
        return instance
    return replace(instance, facts={**instance.facts, "epsilon without line searches": gaussian.epsilon(delta)})


def build_batches(epsilon: float, delta: float, steps: int = 4) -> Instance:
    """OPT-B: batches of 1 out of 10."""
    both, w0 = pair(10), np.zeros(DIMENSION)
    accuracy = accuracy_for(both.here, short_step, both.here.value_bound(w0), steps)
    schedule = opt_b.repaired(both.here, w0, accuracy, epsilon, delta, batch_size=1)
    return Instance(opt_b.run, schedule, both, facts=facts(both.here, schedule))


def build_two_phase(inner: Any, epsilon: float, delta: float, steps: int = 4) -> Instance:
    """2OPT or 2OPT-LS: phase one hopes for twice the decrease, so for half the steps."""
    both, w0 = pair(2), np.zeros(DIMENSION)
    accuracy = accuracy_for(both.here, inner, both.here.value_bound(w0), steps)
    base = inner.repaired(both.here, w0, accuracy, epsilon, delta)
    schedule = two_phase.Schedule(base, hope=2.0)
    return _without_searches(Instance(two_phase.run, schedule, both, facts=facts(both.here, base)), delta)


def build_two_phase_batches(epsilon: float, delta: float, steps: int = 4) -> Instance:
    """2OPT-B: batches of 1 out of 10, 3/4 of (epsilon, delta) on half the steps."""
    inner = build_batches(epsilon, delta, steps)
    base = inner.schedule
    return replace(inner, run=two_phase.run, schedule=two_phase.Schedule(base, hope=2.0))


def build_baseline(
    module: Any, epsilon: float, delta: float, *, steps: int = 4, batch_size: int | None = None
) -> Instance:
    """DP-TR, TR-B or DP-GD from w0 = 0."""
    both, w0 = pair(10 if batch_size else 2), np.zeros(DIMENSION)
    k, gap = both.here.constants(), both.here.value_bound(w0)
    if module is trust_region:  # T = 6 sqrt(M) gap / alpha^1.5; curvature so tight that nothing passes
        alpha = (6 * k.hessian_lipschitz**0.5 * gap / (steps - 0.5)) ** (2 / 3)
        options: dict[str, Any] = {"batch_size": batch_size}
    else:  # T = 2 G gap / alpha^2
        alpha, options = (2 * k.smoothness * gap / (steps - 0.5)) ** 0.5, {}
    accuracy = Accuracy(gradient=alpha, curvature=1e-3)
    schedule = module.make("repaired", both.here, w0, accuracy, epsilon, delta, **options)
    sizes: dict[str, float | int | str] = {"n": both.here.n, "T": schedule.steps, "sigma": schedule.sigma}
    return Instance(module.run, schedule, both, facts=sizes)
