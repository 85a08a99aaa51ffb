"""Base solvers, scikit-learn's among them: certified, as fast as proved, and what they refuse."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.output_perturbation import algorithm1
from dpassay.reference.problems.bent_game import BentGame, BentGameSolver
from dpassay.reference.problems.domains import Box
from dpassay.reference.problems.finite_sum import FiniteSum, Regulariser
from dpassay.reference.problems.strongly_convex import LogisticLoss, SquaredLoss, regularised
from dpassay.reference.solvers.early_stop import UndecayedPasses
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.gradient_descent import Extragradient, GradientDescent
from dpassay.reference.solvers.polished import Polished, steps_needed
from dpassay.reference.solvers.protocol import Certificate, CertificateError, Solution
from dpassay.reference.solvers.scikit_learn import LOGISTIC, RIDGE, ScikitLearn, ScikitLearnSGD
from dpassay.reference.tape import LiveTape
from tests.reference.problems.made import box_game, boxes


def unit_rows(rng, n=60, d=4):
    rows = rng.normal(size=(n, d))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def ridge():
    rng = np.random.default_rng(1)
    features = unit_rows(rng)
    return regularised(SquaredLoss(features, np.clip(features @ rng.normal(size=4), -1, 1), 5.0), 1 / 20)


def logistic():
    rng = np.random.default_rng(2)
    features = unit_rows(rng)
    return regularised(LogisticLoss(features, np.sign(features @ rng.normal(size=4))), 1 / 80)


def game(kappa=8.0, spread=1.0):
    loss = box_game(np.random.default_rng(3), 40, 4, 3)
    return FiniteSum(loss, Regulariser(spread / kappa, 1.0 / kappa), *boxes(loss))


@pytest.mark.parametrize("kappa", [3.0, 8.0])
def test_extragradient_converges_at_the_proved_rate_or_faster(kappa):
    """The squared distance falls by 1 - 1/(4 kappa) a step of two passes (seed 4)."""
    problem = game(kappa=kappa)
    evaluations = [Extragradient()(problem, t, np.random.default_rng(4)).evaluations for t in (1e-2, 1e-6)]
    steps = np.log(1e8) / -np.log(1 - 1 / (4 * problem.relative_smoothness))
    assert evaluations[1] - evaluations[0] <= 3 * steps * 2 * problem.n


# The game whose coupling changes sign: gradients, saddle points by cases, and what the solver refuses.
def bent(drift, centre):
    loss = BentGame(unit_rows(np.random.default_rng(1), 5, 2), coupling=0.8, bend=0.5, drift=drift)
    return FiniteSum(loss, Regulariser(0.4, 0.2, np.array(centre)), domain_y=Box(0.0, np.inf, 1))


@pytest.mark.parametrize(  # right of the bend, left of it, held at it, and with y at the edge of its domain
    ("drift", "centre"), [(-3.0, (0.0, 0.0)), (3.0, (0.0, 0.0)), (0.1, (0.0, 4.0)), (0.0, (0.0, -9.0))]
)
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


# Every solver on its problems, what it refuses, and what polishing mends.
MU = 0.1


def distance(problem, point):
    """To the solution, in the unit of certificates."""
    exact = Exact()(problem, 1e-9, np.random.default_rng(0)).point
    return float(np.linalg.norm(np.sqrt(problem.weights) * (point - exact)))


def small(labels):
    return regularised(LogisticLoss(unit_rows(np.random.default_rng(3), len(labels), 2), np.array(labels)), MU)


def shifted(problem):
    """Towards another centre."""
    return replace(problem, regulariser=Regulariser(MU, centre=np.full(problem.d, 0.2)))


SOLVED = [
    *((GradientDescent(accelerated=fast), make) for fast in (False, True) for make in (ridge, logistic)),
    *((Extragradient(), partial(game, spread=spread)) for spread in (1.0, 40.0)),
    *((ScikitLearn(), make) for make in (ridge, logistic)),
    *((ScikitLearn(solver), ridge) for solver in RIDGE),
    (ScikitLearn(), lambda: shifted(ridge())),
    # of one class as well, which the estimator itself refuses: a refusal would show the last record's label
    *(
        (ScikitLearn(solver, tol=1e-9), partial(small, labels))
        for solver in LOGISTIC
        for labels in ([1.0, -1.0, 1.0, 1.0, -1.0], [1.0] * 5)
    ),
]


@pytest.mark.parametrize(("solver", "make"), SOLVED)
def test_solvers_reach_the_solution_and_certify_it(solver, make):
    problem = make()
    found = solver(problem, 1e-5, np.random.default_rng(1))
    assert found.certificate.holds and found.evaluations >= 2 * problem.n
    assert distance(problem, found.point) <= found.certificate.distance + 1e-9


TWO = [1.0, -1.0]


@pytest.mark.parametrize(
    ("solver", "make", "target", "why"),
    [
        (ScikitLearn(), game, 1e-3, "BilinearLoss"),
        (BentGameSolver(), game, 1e-3, "BilinearLoss"),
        (ScikitLearn("lbfgs"), ridge, 1e-3, "Ridge knows"),
        (ScikitLearn("svd"), lambda: small(TWO), 1e-3, "LogisticRegression knows"),
        (ScikitLearnSGD(), lambda: shifted(ridge()), 1e-6, "centre"),
        (ScikitLearn(), lambda: shifted(small(TWO)), 1e-6, "centre"),
        (Polished(ScikitLearn()), game, 1e-3, "saddle"),
        (Polished(ScikitLearn()), lambda: small(TWO), 0.0, "target"),
        (GradientDescent(), logistic, 0.0, "target"),
        (lambda *_: ScikitLearn("newton"), ridge, 1e-3, "solver"),
        (lambda *_: BentGame(np.array([[2.0, 0.0]]), 1.0, 0.0, 0.0), ridge, 1e-3, "linear"),
    ],
)
def test_solvers_say_what_they_cannot_do(solver, make, target, why):
    with pytest.raises(BadInput, match=why):
        solver(make(), target, np.random.default_rng(0))


EARLY = [
    UndecayedPasses(),
    ScikitLearn("lbfgs", tol=0.1),
    ScikitLearn("sag", iterations=1),
    ScikitLearnSGD(iterations=1),
    ScikitLearnSGD(rate="constant", start=3.0),
]


@pytest.mark.parametrize("solver", EARLY, ids=lambda s: s.name)
def test_what_stops_early_is_refused_and_what_is_polished_is_not(solver):
    problem = small([1.0, -1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0])
    schedule = algorithm1.repaired(problem, 0.9, 1e-5, solver=solver, lipschitz=1.0)
    refused = LiveTape(1)
    with pytest.raises(CertificateError, match=r"certified distance .* exceeds the required .* release refused"):
        algorithm1.run(problem, schedule, refused)
    assert not refused.transcript.releases
    polished = algorithm1.repaired(problem, 0.9, 1e-5, solver=Polished(solver), lipschitz=1.0)
    tape = LiveTape(1)
    algorithm1.run(problem, polished, tape)
    assert distance(problem, tape.transcript.releases[0].law.query) <= polished.target


@pytest.mark.parametrize("point", [[np.nan, 0.0], [1e300, -1e300], [5.0, 5.0]])
def test_polishing_needs_at_most_the_public_number_of_steps(point):
    """Whatever the start is; two passes compare the starts, three and two certify, each step costs three."""
    problem = small([1.0, -1.0, 1.0])

    def lying(problem, target, rng):
        return Solution(np.array(point), Certificate(0.0, target), 0)

    for target in (1e-1, 1e-8):
        found = Polished(lying)(problem, target, np.random.default_rng(0))
        assert found.certificate.holds and distance(problem, found.point) <= target + 1e-9
        assert found.evaluations <= problem.n * (4 + 3 * steps_needed(problem, target))
