"""The largest share of their declared sensitivity that the queries of `output_perturbation` can move by.

The bounds on the stability of a solution hold for every L-Lipschitz loss and are attained by some. For a loss of one
kind the supremum may be less; with a certified solver the sensitivity also has room for errors that an exact one has
not.
"""

from __future__ import annotations

from math import cos, exp, pi, sin, sqrt

from dpassay.reference.attainable import Reasons

from .base_solver import RESIDUAL_FRACTION
from .phases import Phases

AUC_SHARE = 0.28  # by numeric maximisation over all data of large n (``tests``): the largest found is 0.2796
_STEPS = 80  # of a bisection, or of a search by thirds: to the last digit


def sigmoid(value: float) -> float:
    """1 / (1 + exp(-value)); zero far below."""
    return 1.0 / (1.0 + exp(min(-value, 700.0)))


def largest_push(length: float) -> float:
    """max over t in [0, 1] of t sigmoid(-length t): how hard one record can push w, of that length, outwards."""
    low, high = 0.0, 1.0  # the function rises to one top, or to the end
    for _ in range(_STEPS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (one, high) if one * sigmoid(-length * one) < two * sigmoid(-length * two) else (low, two)
    return high * sigmoid(-length * high)


def longest_solution(mu: float, radius: float) -> float:
    """No regularised logistic regression on records of norm 1 at most has a longer solution.

    At the solution w, mu |w| is the mean over the records of sigmoid(-m_i) y_i <x_i, w> / |w|, m_i = y_i <x_i, w>: at
    most ``largest_push(|w|)``. The left side grows with |w|, the right side falls.
    """
    low, high = 0.0, 1.0 / mu
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if mu * middle < largest_push(middle) else (low, middle)
    return min(high, radius)


def logistic_share(mu: float, radius: float) -> float:
    """Bound on how far replacing a record moves the solution, over the 2 / (mu n) of Lemma 3.3 with L = 1.

    Strong convexity, tested at the one solution w: mu n |w - w'| <= |g(w) - g'(w)|, the gradients of the two records.
    With u = -y x and u' = -y' x' they are sigmoid(<u, w>) u and sigmoid(<u', w>) u', where <u, w> <= |w| <u, w/|w|>.
    Two unit vectors at angles s and t to w, on both sides of it, differ the most; the maximum lies at s = t, where it
    is 2 sin(s) sigmoid(|w| cos(s)) (`logistic_difference` has both angles). It grows with |w|.
    """
    length = longest_solution(mu, radius)
    low, high = 0.0, pi / 2
    for _ in range(_STEPS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        first, second = logistic_difference(length, one, one), logistic_difference(length, two, two)
        low, high = (one, high) if first < second else (low, two)
    return sin(high) * sigmoid(length * cos(high))


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


def of_printed(blocks: str, plan: Phases, mu: float = 0.0) -> Reasons:
    """The printed sensitivities with an exact solver: Definition 2 covers the data's part twice, for a solver's error.

    Args:
        blocks: letters of the labels.
        mu: weight of the other block's regulariser, which makes the released block alone move by
            L/(n_bar sqrt(mu (mu_k - mu))) (``sharp_stability``), of 4L/(n_bar sqrt(mu mu_k)); 0: there is none.
    """
    found: dict[str, str] = {}
    for k, mu_k in enumerate(plan.regularisers, start=1):
        share = sqrt(mu_k / (mu_k - mu)) / 4 if mu else 0.5
        why = f"{share:.4f} with an exact solver, attained: half is declared for a solver's error"
        why += ", and one block alone moves less than both" if mu else ""
        found |= {f"{block}/{k}": why for block in blocks}
    return found
