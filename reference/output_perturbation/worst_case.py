"""For each algorithm the neighbouring datasets that attain its stability bound, in closed form.

In every pair the records are zero but one, which turns from +g to -g (with a coupling that all records share).
The record belongs to phase `phase` of the phased algorithms (1 = first).  What all records share, the coupling, is
public and belongs to the regulariser of Lemma 4.5, so L is that of the records' own terms.  On real data the one
record is replaced that pulls the solution hardest.
"""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.auc import AUCLoss
from dpassay.reference.problems.bent_game import BentGame
from dpassay.reference.problems.domains import Box
from dpassay.reference.problems.finite_sum import Convex, FiniteSum, Regulariser
from dpassay.reference.problems.real_data import breast_cancer
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.problems.strongly_convex import LinearLoss, LogisticLoss, regularised
from dpassay.reference.solvers.exact import Exact

from .phases import Phases

RECORDS, RADIUS = 200, 4.0  # of the pairs on real data
BOTH_PHASE = 2  # the phase of the pair for Algorithms 4 and 5 together: mu_2 = 4 mu suits it best


def for_algorithm1(n: int, d: int, strong_convexity: float) -> Pair[FiniteSum]:
    """Mean estimation: n/(n+1) of the bound of Lemma 3.3.

    The domain is the smallest ball that holds both solutions, so that Assumption 3.2 is met with L = 1 + 1/n.
    """
    radius, sides = 1 / (strong_convexity * n), _turned_rows(n, 0, np.eye(d)[0])
    one, other = (regularised(LinearLoss(rows), strong_convexity, radius) for rows in sides)
    return Pair(one, other, 0, "one record turns from +e1 to -e1, all others are zero")


def for_early_stop(n: int, d: int, strong_convexity: float) -> Pair[FiniteSum]:
    """Mean estimation on R^d (L of the data part, Lemma 3.5); the LAST record turns: a lazy solver overrates it."""
    one, other = (regularised(LinearLoss(rows), strong_convexity) for rows in _turned_rows(n, n - 1, np.eye(d)[0]))
    return Pair(one, other, n - 1, "the last record turns from +e1 to -e1, all others are zero")


def for_algorithm2(n: int, d: int, plan: Phases, phase: int = 1) -> Pair[Convex]:
    """Linear losses on R^d: the whole bound of Lemma 3.5 in the chosen phase."""
    target = _target(plan, phase)
    one, other = (Convex(LinearLoss(rows)) for rows in _turned_rows(n, target, np.eye(d)[0]))
    return Pair(one, other, target, f"one record of phase {phase} turns from +e1 to -e1, all others are zero")


def for_algorithm3(n: int, mu_x: float, mu_y: float) -> Pair[FiniteSum]:
    """Linear terms on the block with the smaller modulus: the whole bound of Lemma 4.3 (data part, Lemma 4.5)."""
    sides = []
    for linear in _turned_rows(n, 0, np.array([0.0, 1.0] if mu_y < mu_x else [1.0, 0.0])):
        loss = BilinearLoss(np.zeros((n, 1, 1)), linear, np.inf, np.inf, 0.0, 1.0, True)
        sides.append(FiniteSum(loss, Regulariser(mu_x, mu_y)))
    return Pair(sides[0], sides[1], 0, "one record's linear term turns round, along the block with the smaller modulus")


def for_algorithm3_apart(n: int, mu_x: float, mu_y: float) -> Pair[FiniteSum]:
    """The coupling that moves the block with the larger modulus most: the other one is moved by `for_algorithm3`."""
    losses = _turned(n, 0, max(mu_x, mu_y), min(mu_x, mu_y), mu_x > mu_y, 0.0)
    one, other = (FiniteSum(loss, Regulariser(mu_x, mu_y)) for loss in losses)
    return Pair(one, other, 0, f"one linear term turns round; public coupling {losses[0].matrices[0, 0, 0]:.4g}")


def for_algorithm4(
    n: int, plan: Phases, mu: float, phase: int = 1, *, primal: bool = True, curvature: float = 0.0
) -> Pair[Convex]:
    """The coupling that moves x most at modulus mu_k against mu (`sharp_stability`), or y where not ``primal``.

    ``curvature`` of the loss itself is added to mu (Section 4.3).
    """
    target = _target(plan, phase)
    losses = _turned(n, target, plan.regularisers[phase - 1], mu + curvature, primal, curvature)
    how = f"one linear term of phase {phase} turns round; public coupling {losses[0].matrices[0, 0, 0]:.4g}"
    return Pair(Convex(losses[0]), Convex(losses[1]), target, how)


for_algorithm5 = partial(for_algorithm4, primal=False)


def for_algorithms4and5(n: int, plan: Phases, mu: float) -> Pair[Convex]:
    """Moves x in Algorithm 4 and y in Algorithm 5 by 0.99 of `sharp_stability` each, in phase 2.

    With mu_2 = 4 mu and the coupling beta mu on one side of the bend, -beta mu on the other, a linear term turned along
    (1, -1) moves x here and y there by (1 + beta)/(4 + beta^2) of sqrt(2) 2L/(n_bar mu): largest at sqrt(5) - 1.
    Bend and drift put the two saddle points on the two sides, some thousand times as far apart as they move.
    """
    target = _target(plan, BOTH_PHASE)
    unit = 1000 * 2 / (plan.length * mu)
    sides = []
    for linear in _turned_rows(n, target, np.array([1.0, -1.0]) / np.sqrt(2)):
        loss = BentGame(linear, coupling=(np.sqrt(5) - 1) * mu, bend=-96.5 * unit, drift=100 * unit * mu)
        sides.append(Convex(loss, domain_y=Box(0.0, np.inf, 1)))
    return Pair(sides[0], sides[1], target, "one linear term of phase 2 turns round; public coupling with a bend")


def for_strongly_concave(n: int, plan: Phases, curvature: float, phase: int = 1) -> Pair[Convex]:
    """Section 4.3: the loss has curvature of its own in y; the coupling moves x most at mu_k against it."""
    return for_algorithm4(n, plan, 0.0, phase, curvature=curvature)


def _turned(n: int, target: int, modulus: float, fixed: float, primal: bool, curvature: float) -> list[BilinearLoss]:
    """The coupling that moves the block of this modulus the most, beside one of modulus ``fixed``; one term turns."""
    coupling = float(np.sqrt(max(0.0, fixed * (modulus - 2 * fixed))))
    own, other = np.array([fixed, -coupling]) / np.hypot(fixed, coupling)
    direction = np.array([own, other]) if primal else np.array([-other, own])
    matrices, sides = np.full((n, 1, 1), coupling), _turned_rows(n, target, direction)
    return [BilinearLoss(matrices, linear, np.inf, np.inf, coupling, 1.0, True, curvature) for linear in sides]


def _turned_rows(n: int, target: int, direction: Array) -> list[Array]:
    """Zero but for one row, which is the direction on D and its opposite on D': shapes (n, d)."""
    sides = []
    for sign in (1.0, -1.0):
        rows = np.zeros((n, direction.size))
        rows[target] = sign * direction
        sides.append(rows)
    return sides


def _target(plan: Phases, phase: int) -> int:
    require(1 <= phase <= plan.count, "phase", phase, f"must lie in 1..{plan.count}")
    return (phase - 1) * plan.length


@lru_cache(maxsize=8)
def for_logistic(strong_convexity: float) -> Pair[FiniteSum]:
    """Regularised logistic regression on the first records of the breast-cancer set."""
    return _hardest(lambda features, labels: regularised(LogisticLoss(features, labels), strong_convexity, RADIUS))


@lru_cache(maxsize=8)
def for_ranking(mu: float) -> Pair[FiniteSum]:
    """Regularised AUC maximisation on the same records; the share of positives is public and stays."""
    share = float((breast_cancer()[1][:RECORDS] > 0).mean())

    def make(features: Array, labels: Array) -> FiniteSum:
        loss = AUCLoss(features, labels, share, 1.0, 1.0)
        return FiniteSum(loss, Regulariser(mu, mu), *loss.domains)

    return _hardest(make)


def _hardest(make: Callable[[Array, Array], FiniteSum]) -> Pair[FiniteSum]:
    """Real records but one, and for that one the two records that pull the solution farthest apart.

    To first order a record with operator F at the solution pulls by J^-1 F / n, J the Jacobian of the whole operator.
    Candidates are the real records and the unit vectors along the singular directions of J^-1, with either label.
    """
    features, labels = (part[:RECORDS] for part in breast_cancer())
    whole = make(features, labels)
    z = Exact()(whole, 1e-6, np.random.default_rng(0)).point
    pull = np.sqrt(whole.weights)[:, None] * np.linalg.inv(_jacobian(whole, z))
    columns = features.shape[1]
    directions = np.linalg.svd(pull[:, :columns])[2]
    records = np.vstack([features, directions, -directions])
    records, signs = np.vstack([records, records]), np.repeat([1.0, -1.0], len(records))
    images = make(records, signs).loss.rows(z, np.arange(len(records))) @ pull.T
    squares = (images**2).sum(axis=1)
    first, second = np.unravel_index(np.argmax(squares[:, None] + squares - 2 * images @ images.T), (len(records),) * 2)
    sides = []
    for chosen in (second, first):
        own, signs_of = features.copy(), labels.copy()
        own[0], signs_of[0] = records[chosen], signs[chosen]
        sides.append(make(own, signs_of))
    return Pair(sides[0], sides[1], 0, f"record 0 is replaced; the other {RECORDS - 1} are real")


def _jacobian(problem: FiniteSum, z: Array) -> Array:
    """Of the operator, by central differences."""
    step = 1e-5
    return np.stack(
        [(problem.operator(z + e) - problem.operator(z - e)) / (2 * step) for e in step * np.eye(len(z))], axis=1
    )
