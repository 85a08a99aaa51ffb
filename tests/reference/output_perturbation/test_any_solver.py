"""Bring your own algorithm: stochastic solvers, black boxes, mirrors; what must not be published."""

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.gdp import gdp_mu
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.output_perturbation import (
    algorithm1,
    algorithm2,
    algorithm3,
    algorithm4,
    algorithm5,
    strongly_concave,
)
from dpassay.reference.output_perturbation.base_solver import printed_multiplier
from dpassay.reference.problems.auc import AUCLoss
from dpassay.reference.problems.domains import Ball
from dpassay.reference.problems.finite_sum import Convex, FiniteSum, Regulariser
from dpassay.reference.problems.real_data import breast_cancer
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.problems.strongly_convex import LogisticLoss, regularised
from dpassay.reference.solvers.exact import closed_form
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.scikit_learn import ScikitLearn
from dpassay.reference.tape import record
from tests.reference.games import box_game, boxes

EPSILON, DELTA = 0.9, 1e-4


def real_pair(size=80):
    features, labels = breast_cancer()
    sides = []
    for sign in (1.0, -1.0):
        y = labels[:size].copy()
        y[0] *= sign
        sides.append(regularised(LogisticLoss(features[:size], y), 0.1, 4.0))
    return Pair(sides[0], sides[1], 0)


@pytest.mark.parametrize("solver", [ScikitLearn(), ScikitLearn("saga"), GradientDescent()], ids=lambda s: s.name)
def test_any_solver_keeps_the_sensitivity_on_real_data(solver):
    """No finding: the solution never goes through the tape, only the seed; the pair moves less than is claimed."""
    pair = real_pair()
    schedule = algorithm1.repaired(pair.here, EPSILON, DELTA, solver=solver)
    seen = lockstep(lambda p, t: algorithm1.run(p, schedule, t), pair, (5,))
    assert seen.complete
    assert not seen.findings
    assert 0 < seen.movements["output"].moved <= schedule.sensitivity


def test_a_saddle_solver_on_real_ranking():
    """AUC maximisation, breast cancer: the closed form of the saddle point to the certified accuracy."""
    features, labels = (part[:60] for part in breast_cancer())
    loss = AUCLoss(features, labels, 0.6, 1.0, 1.0)
    problem = FiniteSum(loss, Regulariser(2.0, 2.0), *loss.domains)
    schedule = algorithm3.repaired(problem, EPSILON, DELTA, solver=Extragradient(), lipschitz=loss.lipschitz)
    seen = record(lambda tape: algorithm3.run(problem, schedule, tape), 2)
    own = seen.releases[0].law.query / np.sqrt(problem.weights)
    assert np.linalg.norm(np.sqrt(problem.weights) * (own - closed_form(problem))) <= schedule.target


@pytest.mark.parametrize("solver", [ScikitLearn("saga"), GradientDescent()], ids=lambda s: s.name)
def test_the_gradient_count_must_not_be_published(solver):
    """How long a certified solver ran depends on the data: revealing it is found.

    Here: every record twice with both labels, so the start solves it and no step is needed.  There: one label flipped.
    """
    twice = np.repeat(breast_cancer()[0][:6], 2, axis=0)
    both = np.tile([1.0, -1.0], 6)
    other = both * np.where(np.arange(12) == 0, -1.0, 1.0)
    pair = Pair(*(regularised(LogisticLoss(twice, labels), 0.1, 4.0) for labels in (both, other)), target=0)

    def talkative(problem, tape):
        tape.reveal("gradient count", solver(problem, 1e-6, np.random.default_rng(0)).evaluations)

    kinds = [finding.kind for finding in lockstep(talkative, pair, (1,)).findings]
    assert kinds == [Kind.REVEALED_VALUE]


def mirrored(game):
    """The game whose y is the x of this one, and the other way round: f'(x, y) = -f(y, x)."""
    d, matrices = game.d, -np.swapaxes(game.matrices, 1, 2)
    linear = np.hstack([game.linear[:, d:], game.linear[:, :d]])
    return BilinearLoss(matrices, linear, game.y_bound, game.x_bound, game.matrix_bound, game.linear_bound)


def stds(schedule):
    return [schedule.noise.std(f"{schedule.block}/{k}", s) for k, s in enumerate(schedule.sensitivities, start=1)]


def test_algorithm5_is_algorithm4_in_the_mirror():
    game = box_game(np.random.default_rng(4), 64, 3, 2, 0.5)
    problem = Convex(game, *boxes(game))
    mirror = Convex(mirrored(game), problem.domain_y, problem.domain_x)
    for make in ("printed", "repaired"):
        here = getattr(algorithm5, make)(problem, 0.3, EPSILON, DELTA)
        there = getattr(algorithm4, make)(mirror, 0.3, EPSILON, DELTA)
        assert stds(here) == pytest.approx(stds(there))
        y = record(lambda tape, s=here: algorithm5.run(problem, s, tape), 7).output
        x = record(lambda tape, s=there: algorithm4.run(mirror, s, tape), 7).output
        close = 4 * max(here.targets) / np.sqrt(0.3) if make == "printed" else 1e-2
        assert np.linalg.norm(x - y) <= close


def test_section_4_3_needs_curvature_on_the_block_that_stays_secret():
    game = box_game(np.random.default_rng(4), 64, 3, 2, 0.5)
    with pytest.raises(BadInput, match="strong_concavity"):
        strongly_concave.printed(Convex(game, *boxes(game)), 0.3, EPSILON, DELTA)


def test_definition_2_needs_epsilon_below_one_or_so():
    """The printed noise formula covers its claim for epsilon < 1, at 1e-5 up to 8, and no longer at 12 or 20."""
    for epsilon in (0.01, 0.1, 0.5, 0.99):
        for delta in (1e-3, 1e-6, 1e-10):
            assert printed_multiplier(epsilon, delta) > 1 / gdp_mu(epsilon, delta / 2)
    assert printed_multiplier(8.0, 1e-5) > 1 / gdp_mu(8.0, 0.5e-5)
    assert printed_multiplier(12.0, 1e-5) < 1 / gdp_mu(12.0, 1e-5)
    assert printed_multiplier(20.0, 1e-6) < 1 / gdp_mu(20.0, 1e-6)


def test_phases_use_disjoint_records_and_leave_a_few_unused():
    problem = Convex(LogisticLoss(*breast_cancer()), Ball(2.0))
    schedule = algorithm2.repaired(problem, 0.2, EPSILON, DELTA)
    transcript = record(lambda tape: algorithm2.run(problem, schedule, tape), 1)
    used = np.concatenate(transcript.batches)
    assert len(np.unique(used)) == len(used) == 9 * (569 // 9)
    assert not any(draw.hidden for draw in transcript.draws)
