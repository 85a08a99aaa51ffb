"""Convex-strongly-concave variant of Algorithm 4 (output_perturbation, Section 4.3).

The loss is mu_y-strongly concave by itself, so the phases regularise x alone, and only x is released.
Guarantee: (epsilon, delta)-DP and Corollary 4.9.
The text calls sigma_k a variance; the formula is that of a standard deviation (it scales like a length, and the
algorithms of Sections 3 and 4 use the same expression as one).  Charitable reading: "printed" takes it as a standard
deviation; "as_variance" takes the sentence at its word.
"""

from dataclasses import replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.noise import Printed
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.solvers.gradient_descent import Extragradient
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape

from . import algorithm1, algorithm2, algorithm4
from .algorithm3 import SHARED
from .base_solver import printed_multiplier
from .phased_saddle import Schedule, as_printed, draft

__all__ = ["COMPLETIONS", "REPAIRS", "Schedule", "as_variance", "printed", "repaired", "run"]

CHARITABLE = "sigma_k is a standard deviation although the text says variance"
COMPLETIONS = (*algorithm2.COMPLETIONS, SHARED, CHARITABLE)
LITERAL_COMPLETIONS = (*algorithm2.COMPLETIONS, SHARED)
SHARP = (
    "sensitivity of x alone: 2L/(n_bar mu_k) for mu_k <= 2 mu_y (all of Lemma 4.5's for mu_k <= mu_y), "
    "then L/(n_bar sqrt(mu_y (mu_k - mu_y))), down to half of it"
)
REPAIRS = (*algorithm1.REPAIRS, SHARP)


# SCHEDULE: the numbers are computed in phased_saddle
def printed(problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None) -> Schedule:
    """sigma_k = (4L/(n_bar epsilon)) sqrt(2 log(2.5/delta)/(mu_k min(mu_k, mu_y))) as a standard deviation."""
    curvature = problem.loss.strong_concavity
    require(curvature > 0, "strong_concavity", curvature, "Section 4.3 needs a loss that is strongly concave by itself")
    return as_printed(problem, "x", mu, curvature, printed_multiplier(epsilon, delta), solver, add=False)


def as_variance(problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None) -> Schedule:
    """The word "variance" taken literally: std = sqrt(sigma_k); breaks the claim of the case above 1.68."""
    schedule = printed(problem, mu, epsilon, delta, solver=solver)
    roots = {label: float(np.sqrt(sigma)) for label, sigma in schedule.noise.by_label.items()}
    return replace(schedule, noise=Printed(roots))


def repaired(problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None) -> Schedule:
    """Certified solver, sharp sensitivity, exact noise, projection."""
    exact = noise_for(run, draft(problem, printed(problem, mu, epsilon, delta)), problem, epsilon, delta)
    return replace(exact, solver=solver or Extragradient(), certified=True)


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return x_tilde_K, shape (d,): the loop of Algorithm 4 with mu = 0 on y."""
    # GRADIENT, CLIP, NOISE, STEP: as in Algorithm 4, with the loss's mu_y in place of the regulariser mu
    return algorithm4.run(problem, schedule, tape)
