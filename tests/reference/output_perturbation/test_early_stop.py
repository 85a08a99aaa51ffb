"""A solver that stops early in silence: epsilon grows as printed, the certified reading mends or refuses."""

from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.reference.output_perturbation import algorithm1, algorithm2, worst_case
from dpassay.reference.problems.domains import Ball
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.problems.strongly_convex import LogisticLoss, regularised
from dpassay.reference.solvers.early_stop import UndecayedPasses
from dpassay.reference.solvers.exact import Exact, closed_form
from dpassay.reference.solvers.protocol import Certificate, CertificateError, Solution
from dpassay.reference.tape import LiveTape

EPSILON, DELTA = 0.9, 1e-5
SIZE, MU = 64, 0.1


def test_the_planted_residual_is_what_it_says():
    problem = worst_case.for_early_stop(SIZE, 2, MU).here
    found = UndecayedPasses(10.0)(problem, 1e-3, np.random.default_rng(0))
    distance = np.linalg.norm(found.point - closed_form(problem))
    assert distance * MU * SIZE == pytest.approx(10.0, rel=1e-3)
    assert found.certificate.holds  # and it says that all is well


def logistic():
    rng = np.random.default_rng(2)
    features = rng.normal(size=(SIZE, 4))
    features /= np.linalg.norm(features, axis=1)[:, None]
    return LogisticLoss(features, np.sign(features @ np.ones(4)))


def test_certified_reading_refuses_where_it_cannot_mend():
    """... with the numbers in the message, and before anything is released."""
    problem, tape = regularised(logistic(), 0.01, 10.0), LiveTape(1)
    schedule = algorithm1.repaired(problem, EPSILON, DELTA, solver=UndecayedPasses())
    with pytest.raises(CertificateError, match=r"solver: certified distance .* exceeds the required .* refused"):
        algorithm1.run(problem, schedule, tape)
    assert not tape.transcript.releases


@dataclass
class Tires:
    """Solves well, but for one call, where it stops at the centre."""

    at: int
    calls: int = 0

    def __call__(self, problem, target, rng):
        self.calls += 1
        centre = problem.project(problem.centre)
        lazy = Solution(centre, Certificate(0.0, target), 0)
        return lazy if self.calls == self.at else Exact()(problem, target, rng)


@pytest.mark.parametrize("phase", [1, 3])
def test_a_phase_is_refused_before_its_own_release(phase):
    problem, tape = Convex(logistic(), Ball(2.0)), LiveTape(1)
    schedule = algorithm2.repaired(problem, 0.01, EPSILON, DELTA, solver=Tires(phase))
    with pytest.raises(CertificateError, match=f"solver/{phase}"):
        algorithm2.run(problem, schedule, tape)
    assert [release.label for release in tape.transcript.releases] == [f"x/{k}" for k in range(1, phase)]


def test_printed_reading_releases_what_a_tired_solver_gives():
    problem, tape = Convex(logistic(), Ball(2.0)), LiveTape(1)
    algorithm2.run(problem, algorithm2.printed(problem, 0.01, EPSILON, DELTA, solver=Tires(1)), tape)
    assert not tape.transcript.releases[0].law.query.any()
