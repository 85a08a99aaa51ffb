"""scikit-learn's estimators as base solvers: the same solution, certified; what stops early is refused or polished."""

from dataclasses import replace

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.output_perturbation import algorithm1
from dpassay.reference.problems.finite_sum import FiniteSum, Regulariser
from dpassay.reference.problems.strongly_convex import LogisticLoss, regularised
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.polished import Polished, steps_needed
from dpassay.reference.solvers.protocol import Certificate, CertificateError, Solution
from dpassay.reference.solvers.scikit_learn import LOGISTIC, RIDGE, ScikitLearn, ScikitLearnSGD
from dpassay.reference.tape import LiveTape

MU = 0.1


def exact(problem):
    return Exact()(problem, 1e-9, np.random.default_rng(0)).point


def distance(problem, point):
    """To the solution, in the unit of certificates."""
    return float(np.sqrt(problem.strong_convexity) * np.linalg.norm(point - exact(problem)))


def small(labels):
    rows = np.random.default_rng(3).normal(size=(len(labels), 2))
    return regularised(LogisticLoss(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.array(labels)), MU)


@pytest.mark.parametrize("solver", RIDGE)
def test_every_solver_of_ridge_reaches_its_solution(solver, ridge):
    found = ScikitLearn(solver)(ridge(), 1e-4, np.random.default_rng(1))
    assert found.certificate.holds and distance(ridge(), found.point) <= 1e-4


@pytest.mark.parametrize("solver", LOGISTIC)
@pytest.mark.parametrize("labels", [[1.0, -1.0, 1.0, 1.0, -1.0], [1.0] * 5], ids=["two classes", "one class"])
def test_every_solver_of_logistic_regression_reaches_its_solution(solver, labels):
    """Data of one class as well, which the estimator itself refuses: a refusal would show the last record's label."""
    problem = small(labels)
    found = ScikitLearn(solver, tol=1e-9)(problem, 1e-4, np.random.default_rng(1))
    assert found.certificate.holds and distance(problem, found.point) <= 1e-4


def test_ridge_shrinks_towards_any_centre_and_the_others_refuse_to(ridge):
    problem = replace(ridge(), regulariser=Regulariser(MU, centre=np.full(ridge().d, 0.2)))
    assert ScikitLearn()(problem, 1e-6, np.random.default_rng(1)).certificate.holds
    with pytest.raises(BadInput, match="centre"):
        ScikitLearnSGD()(problem, 1e-6, np.random.default_rng(1))
    shifted = FiniteSum(small([1.0, -1.0]).loss, Regulariser(MU, centre=np.ones(2)))
    with pytest.raises(BadInput, match="centre"):
        ScikitLearn()(shifted, 1e-6, np.random.default_rng(1))


def test_a_solver_that_the_estimator_does_not_have_is_refused(ridge):
    with pytest.raises(BadInput, match="solver"):
        ScikitLearn("newton")
    with pytest.raises(BadInput, match="Ridge knows"):
        ScikitLearn("lbfgs")(ridge(), 1e-3, np.random.default_rng(0))
    with pytest.raises(BadInput, match="LogisticRegression knows"):
        ScikitLearn("svd")(small([1.0, -1.0]), 1e-3, np.random.default_rng(0))


EARLY = [
    ScikitLearn("lbfgs", tol=0.1),
    ScikitLearn("sag", iterations=1),
    ScikitLearnSGD(iterations=1),
    ScikitLearnSGD(rate="constant", start=3.0),
]


@pytest.mark.parametrize("solver", EARLY, ids=lambda s: s.name)
def test_what_stops_early_is_refused_and_what_is_polished_is_not(solver):
    problem = small([1.0, -1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0])
    schedule = algorithm1.repaired(problem, 0.9, 1e-5, solver=solver, lipschitz=1.0)
    with pytest.raises(CertificateError, match="release refused"):
        algorithm1.run(problem, schedule, LiveTape(1))
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


def test_polishing_refuses_what_it_cannot_promise(game):
    with pytest.raises(BadInput, match="saddle"):
        Polished(ScikitLearn())(game(), 1e-3, np.random.default_rng(0))
    with pytest.raises(BadInput, match="target"):
        Polished(ScikitLearn())(small([1.0, -1.0]), 0.0, np.random.default_rng(0))
