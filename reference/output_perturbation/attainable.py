"""The largest share of their declared sensitivity that the queries of `output_perturbation` can move by.

The bounds on the stability of a solution hold for every L-Lipschitz loss and are attained by some. For a loss of one
kind the supremum may be less; with a certified solver the sensitivity also has room for errors that an exact one has
not.
"""

from __future__ import annotations

from math import cos, inf, sqrt

from dpassay.reference.problems.saddle_games import sharp_stability
from dpassay.reference.reasons import STEPS, Reasons, opposed_logistic, sigmoid

from .base_solver import RESIDUAL_FRACTION
from .phases import Phases

AUC_SHARE = 0.28  # by numeric maximisation over all data of large n (``tests``): the largest found is 0.2796
TOP = 1.2784645427610738  # where u sigmoid(-u) is largest: u sigmoid(u) = 1


def largest_push(length: float) -> float:
    """max over t in [0, 1] of t sigmoid(-length t): how hard one record can push w, of that length, outwards."""
    t = min(1.0, TOP / length)
    return t * sigmoid(-length * t)


def longest_solution(mu: float, radius: float) -> float:
    """No regularised logistic regression on records of norm 1 at most has a longer solution.

    At the solution w, mu |w| is the mean over the records of sigmoid(-m_i) y_i <x_i, w> / |w|, m_i = y_i <x_i, w>: at
    most ``largest_push(|w|)``. The left side grows with |w|, the right side falls.
    """
    low, high = 0.0, 1.0 / mu
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if mu * middle < largest_push(middle) else (low, middle)
    return min(high, radius)


def logistic_share(mu: float, radius: float) -> float:
    """Bound on how far replacing a record moves the solution, over the 2 / (mu n) of Lemma 3.3 with L = 1.

    Strong convexity, tested at the one solution w: mu n |w - w'| <= |g(w) - g'(w)|, the gradients of the two records:
    twice ``opposed_logistic`` at most, which grows with |w| (`logistic_difference` has both angles).
    """
    return opposed_logistic(longest_solution(mu, radius))


def logistic_difference(length: float, first: float, second: float) -> float:
    """|g - g'| for unit records at these angles to a solution of this length, on both sides of it."""
    one, other = sigmoid(length * cos(first)), sigmoid(length * cos(second))
    return sqrt(one**2 + other**2 - 2 * one * other * cos(first + second))


def of_logistic(mu: float, radius: float) -> Reasons:
    """Algorithm 1 on logistic regression."""
    share = logistic_share(mu, radius) / (1 + RESIDUAL_FRACTION)
    why = (
        f"at most {share:.3f} for logistic regression at mu = {mu:g}, approached for many records: one w must be wrong "
        f"on both records, and none is longer than {longest_solution(mu, radius):.3g}"
    )
    return {"output": why}


def of_auc() -> Reasons:
    """Algorithm 3 on AUC maximisation."""
    why = (
        f"at most about {AUC_SHARE:g} for this loss (a numeric maximisation over all data): L adds up bounds that no "
        "record attains together, and the solution stays well inside the domain for which they are made"
    )
    return {"pair": why}


def of_phases(block: str) -> Reasons:
    """Algorithms 4 and 5: what `sharp_stability` bounds is attained with the coupling that suits the phase."""
    least = 1 / (1 + 2 * RESIDUAL_FRACTION)
    why = (
        f"at most {least:.3f} to {1 / (1 + RESIDUAL_FRACTION):.3f} with an exact solver: the bound on the stability is "
        "attained in every phase (saddle_pair), the rest is room for the solver's error on both sides"
    )
    return dict.fromkeys(block, why)


def printed_share(own: float, other: float = inf) -> float:
    """How far a block of modulus ``own`` moves beside one of modulus ``other``, over the 4L/(n sqrt(own min)) declared.

    The movement is ``sharp_stability`` (attained); without another block it is 2L/(n own), half of what is declared.
    """
    return sharp_stability(1.0, 1, own, other) * sqrt(own * min(own, other)) / 4


def of_printed(blocks: str, plan: Phases, other: float = inf) -> Reasons:
    """The printed sensitivities with an exact solver: Definition 2 covers the data's part twice, for a solver's error.

    Args:
        blocks: letters of the labels.
        other: the modulus on the other block: its regulariser, or the loss's own curvature.
    """
    return {
        f"{block}/{k}": _with_an_exact_solver(printed_share(mu_k, other), mu_k <= 2 * other)
        for block in blocks
        for k, mu_k in enumerate(plan.regularisers, start=1)
    }


def of_one_shot() -> Reasons:
    """Algorithm 1 on mean estimation: Lemma 3.3, L of the full f on the smallest domain: (n + 1)/n of the data's."""
    why = "at most 0.5 with an exact solver, n/(n + 1) of it attained: half is declared for a solver's error"
    return {"output": f"{why}, and another row has a solver that uses it"}


def of_saddle(mu_x: float, mu_y: float) -> Reasons:
    """Algorithm 3, x and y released apart, on games with the couplings of its space and of its row."""
    return {
        "x": _with_an_exact_solver(printed_share(mu_x, mu_y), mu_x <= 2 * mu_y),
        "y": _with_an_exact_solver(printed_share(mu_y, mu_x), mu_y <= 2 * mu_x),
    }


def _with_an_exact_solver(share: float, whole: bool) -> str:
    why = f"{share:.4f} with an exact solver, attained: half is declared for a solver's error"
    return why if whole else why + ", and one block alone moves less than both"


def of_printed_logistic(mu: float, radius: float) -> Reasons:
    """Algorithm 1 on logistic regression, L of the full f on the ball: 1 of the data and mu times the radius."""
    share = logistic_share(mu, radius) / (2 * (1 + mu * radius))
    why = (
        f"at most {share:.3f} with an exact solver: half is declared for a solver's error, L counts the regulariser, "
        "which cancels, and one w must be wrong on both records"
    )
    return {"output": why}


def of_printed_auc(data_share: float) -> Reasons:
    """Algorithm 3 on AUC maximisation: |x| and |y| alone are at most the pair's movement.

    Args:
        data_share: L of the records' own terms over L of the full f on the domain.
    """
    share = AUC_SHARE * (2 + 2 * RESIDUAL_FRACTION) / 4 * data_share
    why = (
        f"at most about {share:.3f}, for x and y together: half is declared for a solver's error, L counts the "
        f"regulariser, which cancels, and of what is left the loss attains {AUC_SHARE:g} (a numeric maximisation)"
    )
    return {"x": why, "y": why}
