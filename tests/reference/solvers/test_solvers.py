"""Every base solver: certified solution, linear rate as proved (or faster), gradient counts, refusal."""

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.problems.bent_game import BentGame, BentGameSolver
from dpassay.reference.problems.domains import Box
from dpassay.reference.problems.finite_sum import FiniteSum, Regulariser
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.scikit_learn import ScikitLearn
from tests.reference.games import box_game

MINIMISERS = [
    GradientDescent(),
    GradientDescent(accelerated=True),
    ScikitLearn(),
]


def weighted(problem, difference):
    return float(np.linalg.norm(np.sqrt(problem.weights) * difference))


@pytest.mark.parametrize("solver", MINIMISERS, ids=lambda s: s.name)
@pytest.mark.parametrize("kind", ["ridge", "logistic"])
def test_minimisers_reach_the_solution_and_certify_it(solver, kind, request):
    problem = request.getfixturevalue(kind)()
    exact = Exact()(problem, 1e-9, np.random.default_rng(0))
    found = solver(problem, 1e-5, np.random.default_rng(1))
    assert found.certificate.holds
    assert weighted(problem, found.point - exact.point) <= found.certificate.distance + 1e-9
    assert found.evaluations >= 2 * problem.n


@pytest.mark.parametrize("spread", [1.0, 40.0])
def test_the_saddle_solver_reaches_the_saddle_point_and_certifies_it(spread, game):
    problem = game(spread=spread)
    exact = Exact()(problem, 1e-9, np.random.default_rng(0)).point
    found = Extragradient()(problem, 1e-5, np.random.default_rng(1))
    assert found.certificate.holds
    assert weighted(problem, found.point - exact) <= found.certificate.distance + 1e-9


@pytest.mark.parametrize("kappa", [3.0, 8.0])
def test_extragradient_converges_at_the_proved_rate_or_faster(kappa, game):
    """As above: the squared distance falls by 1 - 1/(4 kappa) a step of two passes (seed 4)."""
    problem = game(kappa=kappa)
    evaluations = [Extragradient()(problem, t, np.random.default_rng(4)).evaluations for t in (1e-2, 1e-6)]
    steps = np.log(1e8) / -np.log(1 - 1 / (4 * problem.relative_smoothness))
    assert evaluations[1] - evaluations[0] <= 3 * steps * 2 * problem.n


def test_solvers_say_what_they_cannot_do(game, logistic):
    with pytest.raises(BadInput, match="BilinearLoss"):
        ScikitLearn()(game(), 1e-3, np.random.default_rng(0))
    with pytest.raises(BadInput, match="target"):
        GradientDescent()(logistic(), 0.0, np.random.default_rng(0))


# The game whose coupling changes sign: gradients, saddle points by cases, and what the solver refuses.
HALF_LINE = Box(0.0, np.inf, 1)


def bent(drift, centre=(0.0, 0.0), seed=1):
    rng = np.random.default_rng(seed)
    linear = rng.normal(size=(5, 2))
    linear /= np.linalg.norm(linear, axis=1)[:, None]
    loss = BentGame(linear, coupling=0.8, bend=0.5, drift=drift)
    return FiniteSum(loss, Regulariser(0.4, 0.2, np.array(centre)), domain_y=HALF_LINE)


# drift and centre: right of the bend, left of it, held at it, and with y at the edge of its domain
PLACES = [(-3.0, (0.0, 0.0)), (3.0, (0.0, 0.0)), (0.1, (0.0, 4.0)), (0.0, (0.0, -9.0))]


@pytest.mark.parametrize(("drift", "centre"), PLACES)
def test_no_better_reply(drift, centre):
    """400 random replies of either player (seed 2)."""
    problem, rng = bent(drift, centre), np.random.default_rng(2)
    x, y = BentGameSolver()(problem, 1e-9, rng).point if centre != (0.0, 4.0) else at_the_bend(problem)
    value = problem.value(np.array([x, y]))
    for other_x, other_y in zip(rng.normal(scale=5, size=400), abs(rng.normal(scale=5, size=400)), strict=True):
        assert problem.value(np.array([x, other_y])) <= value + 1e-9
        assert problem.value(np.array([other_x, y])) >= value - 1e-9


def at_the_bend(problem):
    return problem.loss.bend, 4.0 - problem.loss.linear[:, 1].mean() / 0.2


def test_a_solution_at_the_bend_is_not_certified():
    """The operator jumps there, so nothing bounds the distance; the solver says so instead of guessing."""
    found = BentGameSolver()(bent(0.1, (0.0, 4.0)), 1e-9, np.random.default_rng(0))
    assert not found.certificate.holds


def test_bad_input_is_named():
    with pytest.raises(BadInput, match="linear"):
        BentGame(np.array([[2.0, 0.0]]), 1.0, 0.0, 0.0)
    other = FiniteSum(box_game(np.random.default_rng(0), 3, 1, 1), Regulariser(1.0, 1.0))
    with pytest.raises(BadInput, match="BilinearLoss"):
        BentGameSolver()(other, 1e-3, np.random.default_rng(0))
