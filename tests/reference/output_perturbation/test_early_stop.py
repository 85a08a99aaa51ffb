"""A solver that stops early in silence: epsilon grows as printed, the certified reading mends or refuses."""

import inspect
from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.findings import Kind
from dpassay.reference.output_perturbation import (
    algorithm1,
    algorithm2,
    algorithm4,
    algorithm5,
    strongly_concave,
    worst_case,
)
from dpassay.reference.output_perturbation.phases import phases
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


# Every phase is noised: neighbours that differ in any phase, the last one too, see nothing but the releases.
COUNT, STRONG = 16, 0.1
PLAN = phases(COUNT, STRONG)
EVERY = range(1, PLAN.count + 1)
PAIRS = {
    algorithm2: lambda phase: worst_case.for_algorithm2(COUNT, 2, PLAN, phase),
    algorithm4: lambda phase: worst_case.for_algorithm4(COUNT, PLAN, STRONG, phase),
    algorithm5: lambda phase: worst_case.for_algorithm5(COUNT, PLAN, STRONG, phase),
    strongly_concave: lambda phase: worst_case.for_strongly_concave(COUNT, PLAN, 0.5, phase),
}
ALGORITHMS = pytest.mark.parametrize("algorithm", PAIRS, ids=lambda module: module.__name__.split(".")[-1])


def seen(algorithm, run, reading, phase):
    pair = PAIRS[algorithm](phase)
    schedule = getattr(algorithm, reading)(pair.here, STRONG, 0.9, 1e-5, solver=Exact())
    return lockstep(lambda problem, tape: run(problem, schedule, tape), pair, (1,))


@ALGORITHMS
@pytest.mark.parametrize("reading", ["printed", "repaired"])
def test_no_phase_shows_more_than_its_release(algorithm, reading):
    for phase in EVERY:
        found = seen(algorithm, algorithm.run, reading, phase)
        assert found.complete and not found.findings, (phase, found.findings)
        moved = {label for label, movement in found.movements.items() if movement.moved > 0}
        assert {label.split("/")[1] for label in moved} == {str(phase)}


@pytest.mark.parametrize("algorithm", [algorithm2, algorithm4], ids=["algorithm2", "algorithm4"])
def test_a_last_phase_without_noise_is_caught(algorithm):
    """The mutant gives the last solution away; only neighbours that differ in the last phase see it."""
    source = inspect.getsource(algorithm.run)
    line = next(line for line in source.splitlines() if "tape.gaussian(" in line)
    solution = line.split("tape.gaussian(")[1].split(", ")[1]
    bare = line.replace("tape.gaussian(", f"{solution} if k == schedule.plan.count else tape.gaussian(")
    names = dict(vars(algorithm))
    exec(source.replace(line, bare), names)
    kinds = [{finding.kind for finding in seen(algorithm, names["run"], "repaired", k).findings} for k in EVERY]
    assert Kind.OUTPUT in kinds[-1]
    assert not any(kinds[:-1])
