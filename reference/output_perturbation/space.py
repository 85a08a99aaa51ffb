"""Where the claims of `output_perturbation` must hold: every data set within the assumptions, small and awkward sizes.

Records have norm at most 1. Numbers of records are powers of two and not, with one phase and with several, with records
that no phase uses. Whatever the data, the target's position and the noisy centres are, no query may move by more than
its declared sensitivity. Schedules are made for the sizes: the template that they are made from holds no records.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.case import Reading
from dpassay.reference.problems.auc import AUCLoss
from dpassay.reference.problems.domains import Ball
from dpassay.reference.problems.finite_sum import Convex, FiniteSum, Regulariser
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.problems.strongly_convex import LinearLoss, LogisticLoss, regularised
from dpassay.reference.solvers.early_stop import UndecayedPasses
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.space import Rows, Sizes, Space

from . import algorithm1, algorithm2, algorithm3, algorithm4, algorithm5, algorithms4and5, strongly_concave

ONE_SHOT = {"n": (1, 2, 3, 5, 8), "d": (1, 2, 3)}
PHASED = {"n": (2, 3, 4, 7, 9, 16), "d": (1, 2)}  # K = 1, 1, 2, 2, 3, 4; 7 and 9 leave a record unused or none
GAMES = {"n": (2, 3, 7, 9), "d": (2, 4), "suits": (1, 2, 3)}  # d numbers in (p, q): half for x, half for y
RADIUS = 40.0  # of the phased algorithms' balls: solutions lie inside unless a centre is near the boundary
MU = 0.1  # of the couplings
CONCAVITY, SHARE = 0.5, 0.5
LABELS = (-1.0, 1.0)
ON_GAMES = {
    "algorithm4": algorithm4,
    "algorithm5": algorithm5,
    "algorithms4and5": algorithms4and5,
    "strongly_concave": strongly_concave,
}
Make = Callable[[Array, Sizes], Any]


def ridge(bounded: bool, mu: float, rows: Array, sizes: Sizes) -> FiniteSum:
    """Mean estimation with a regulariser, on the smallest ball that holds the worst pair, or on R^d."""
    return regularised(LinearLoss(rows), mu, 1.0 / (mu * sizes["n"]) if bounded else None)


def logistic_ridge(radius: float, mu: float, rows: Array, sizes: Sizes) -> FiniteSum:
    """Regularised logistic regression; the last column is the label."""
    return regularised(LogisticLoss(rows[:, :-1], rows[:, -1]), mu, radius)


def linear(rows: Array, sizes: Sizes) -> Convex:
    """Linear losses on a ball."""
    return Convex(LinearLoss(rows), Ball(RADIUS))


def ranking(mu: float, rows: Array, sizes: Sizes) -> FiniteSum:
    """Regularised AUC maximisation with a public share of positives; the last column is the label."""
    loss = AUCLoss(rows[:, :-1], rows[:, -1], SHARE, 1.0, 1.0)
    return FiniteSum(loss, Regulariser(mu, mu), *loss.domains)


def game(concavity: float, rows: Array, sizes: Sizes) -> Convex:
    """Linear terms (p, q) of the records and one coupling that all share, on two balls.

    The coupling is the one that moves x or y most in the phase that it "suits" (``worst_case``), none for the first.
    """
    n, half = len(rows), sizes["d"] // 2
    coupling = MU * float(np.sqrt(2.0 ** sizes.get("suits", 2) - 2))
    matrices = np.tile(coupling * np.eye(half), (n, 1, 1))
    loss = BilinearLoss(matrices, rows, RADIUS, RADIUS, coupling, 1.0, True, concavity)
    return Convex(loss, Ball(RADIUS), Ball(RADIUS))


def regularised_game(mu_x: float, mu_y: float, rows: Array, sizes: Sizes) -> FiniteSum:
    """The same with a regulariser on both blocks."""
    convex = game(0.0, rows, sizes)
    return FiniteSum(convex.loss, Regulariser(mu_x, mu_y), convex.domain_x, convex.domain_y)


def one_shot(reading: Reading, epsilon: float, delta: float, mu: float) -> Space:
    """Algorithm 1 on mean estimation: L of the full f on a ball."""
    problem = partial(ridge, True, mu)
    schedule = partial(_made, algorithm1, reading, problem, (epsilon, delta))
    return Space(Rows(), ONE_SHOT, problem, schedule, landmarks=lambda made: {"output": (1 / (mu * made.n),)})


def lazy(reading: Reading, epsilon: float, delta: float, mu: float, residual: float) -> Space:
    """Algorithm 1 with a solver that stops early, on R^d: L of the data part."""
    options: dict[str, Any] = {"solver": UndecayedPasses(residual), "lipschitz": 1.0}
    problem = partial(ridge, False, mu)
    return Space(Rows(), ONE_SHOT, problem, partial(_made, algorithm1, reading, problem, (epsilon, delta), **options))


def logistic(reading: Reading, epsilon: float, delta: float, mu: float, radius: float) -> Space:
    """Algorithm 1 on logistic regression, labels included; L of the full f as printed, else of the data part."""
    problem, rows = partial(logistic_ridge, radius, mu), Rows(labels=LABELS)
    schedule = partial(_made, algorithm1, reading, problem, (epsilon, delta), own=reading == "repaired", labelled=True)
    return Space(rows, ONE_SHOT, problem, schedule, landmarks=lambda _: {"output": (radius,)})


def phased(reading: Reading, epsilon: float, delta: float, mu: float) -> Space:
    """Algorithm 2 on linear losses."""
    schedule = partial(_made, algorithm2, reading, linear, (mu, epsilon, delta))
    return Space(Rows(), PHASED, linear, schedule, landmarks=_ball)


def saddle(reading: Reading, epsilon: float, delta: float, mu_x: float, mu_y: float) -> Space:
    """Algorithm 3 on games with a public coupling; L of the records' own terms."""
    problem = partial(regularised_game, mu_x, mu_y)
    schedule = partial(_made, algorithm3, reading, problem, (epsilon, delta), own=True, solver=Exact())
    return Space(Rows(), {"n": (1, 2, 3, 8), "d": (2, 4)}, problem, schedule)


def auc(reading: Reading, epsilon: float, delta: float, mu: float) -> Space:
    """Algorithm 3 on AUC maximisation, labels included; L of the full f as printed, else of the data part."""
    problem, own = partial(ranking, mu), reading == "repaired"
    schedule = partial(_made, algorithm3, reading, problem, (epsilon, delta), own=own, labelled=True, solver=Exact())
    return Space(Rows(labels=LABELS), {"n": (1, 2, 5), "d": (1, 2)}, problem, schedule)


def literal_variance(reading: Reading, epsilon: float, delta: float, mu: float) -> Space:
    """Section 4.3 with its word "variance" taken literally."""
    return phased_game("as_variance", epsilon, delta, mu, "strongly_concave")


def phased_game(reading: str, epsilon: float, delta: float, mu: float, algorithm: str) -> Space:
    """Algorithms 4, 5, both, or Section 4.3 (with its word "variance" if ``reading`` says so) on games.

    (epsilon, delta) is what ``printed`` or ``repaired`` of that algorithm takes.
    """
    problem = partial(game, CONCAVITY if algorithm == "strongly_concave" else 0.0)
    schedule = partial(_made, ON_GAMES[algorithm], reading, problem, (mu, epsilon, delta), solver=Exact())
    return Space(Rows(), GAMES, problem, schedule, lambda sizes: bool(2 ** sizes["suits"] <= sizes["n"]), _ball)


def _made(
    algorithm: Any,
    reading: str,
    problem: Make,
    numbers: tuple[float, ...],
    sizes: Sizes,
    *,
    own: bool = False,
    labelled: bool = False,
    **options: Any,
) -> Any:
    """The schedule for a problem of these sizes without any records, all zero; ``own``: with L of the data part."""
    rows = np.zeros((sizes["n"], sizes["d"]))
    template = problem(np.column_stack([rows, np.ones(len(rows))]) if labelled else rows, sizes)
    lipschitz = {"lipschitz": template.loss.lipschitz} if own else {}
    return getattr(algorithm, reading)(template, *numbers, **lipschitz, **options)


def _ball(schedule: Any) -> Mapping[str, Sequence[float]]:
    """Released points are projected from here on."""
    return dict.fromkeys(schedule.noise.by_label, (RADIUS,))
