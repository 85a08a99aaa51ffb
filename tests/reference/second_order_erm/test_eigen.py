"""Lanczos against the dense eigenvalue, the accuracy of Lemma C.1, products without the Hessian."""

import dataclasses

import numpy as np
import pytest

from dpassay.reference.replay import ReplayTape
from dpassay.reference.second_order_erm import eigen, opt, opt_ls, worst_case
from dpassay.reference.second_order_erm.common import Accuracy, Sensitivities
from dpassay.reference.tape import LiveTape, record


def symmetric(rng, d):
    spread = rng.normal(size=(d, d))
    return (spread + spread.T) / 2


@pytest.mark.parametrize("d", [1, 2, 10, 60])
def test_full_lanczos_equals_the_dense_eigenpair(d):
    rng = np.random.default_rng(31)
    matrix = symmetric(rng, d)
    exact = np.linalg.eigvalsh(matrix)[0]
    value, vector = eigen.lanczos(lambda v: matrix @ v, rng.normal(size=d), d)
    assert value == pytest.approx(exact, abs=1e-10 * max(1, abs(exact)) * d)
    assert np.linalg.norm(matrix @ vector - value * vector) <= 1e-7
    assert np.linalg.norm(vector) == pytest.approx(1)


def test_lemma_c1_reaches_half_the_accuracy():
    """200 matrices, d = 80, failure probability 1e-3 each: 0.2 misses expected, 3 allowed (false alarm 1e-4)."""
    rng, misses = np.random.default_rng(32), 0
    for _ in range(200):
        matrix = symmetric(rng, 80)
        matrix /= np.linalg.norm(matrix, 2)
        count = eigen.iterations(80, 1.0, 0.3, 1e-3)
        assert count < 80
        value, _ = eigen.lanczos(lambda v, m=matrix: m @ v, rng.normal(size=80), count)
        exact = np.linalg.eigvalsh(matrix)[0]
        assert value >= exact - 1e-12
        misses += value > exact + 0.15
    assert misses <= 3


def test_products_need_no_hessian(cancer):
    """The smallest eigenvalue of Hessian plus noise, from Hessian-vector products of the problem and of the noise."""
    rng = np.random.default_rng(33)
    w, noise = rng.normal(size=cancer.d), 0.1 * symmetric(rng, cancer.d)
    value, _ = eigen.lanczos(lambda v: cancer.hessian_vector(w, v) + noise @ v, rng.normal(size=cancer.d), cancer.d)
    assert value == pytest.approx(np.linalg.eigvalsh(cancer.hessian(w) + noise)[0], abs=1e-10)


def test_lanczos_variant_of_algorithm_1(curved):
    start, accuracy = np.full(curved.d, 1.5), Accuracy(gradient=1.0, curvature=0.1)
    schedule = opt.repaired(curved, start, accuracy, epsilon=1.0, delta=1e-5)
    quiet = dataclasses.replace(schedule, sensitivity=Sensitivities(1e-9, 1e-9, 1e-9), eigen=eigen.Lanczos())
    transcript = record(lambda tape: opt.run(curved, quiet, tape), 2)
    assert transcript.output.certified and transcript.output.curvature_steps > 0
    assert np.linalg.eigvalsh(curved.hessian(transcript.output.w))[0] >= -0.1


@pytest.mark.parametrize("module", [opt, opt_ls])
def test_lanczos_steps_begin_at_half_the_curvature_so_more_steps_are_allowed(module, curved):
    """Appendix C: epsilon_H / 2 takes the place of epsilon_H, so MIN_DEC by curvature is an eighth."""
    dense = module.repaired(curved, np.zeros(curved.d), Accuracy(gradient=100.0, curvature=0.1), 1.0, 1e-5)
    lanczos = dataclasses.replace(dense, eigen=eigen.Lanczos())
    assert lanczos.minimum_decrease == pytest.approx(dense.minimum_decrease / 8)


def test_lanczos_variant_replays(cancer, far_start):
    pair = worst_case.aligned_pair(cancer, far_start)
    one, other = pair.here, pair.there
    schedule = opt.repaired(cancer, far_start, Accuracy(0.3, 0.3), 1.0, 1e-5)
    schedule = dataclasses.replace(schedule, eigen=eigen.Lanczos(), accuracy=Accuracy(9.0, 0.3))
    replay = ReplayTape(record(lambda tape: opt.run(one, schedule, tape), 5))
    assert replay.close(opt.run(other, schedule, replay)) == []
    assert any(event.label == "lanczos start" for event in replay.transcript.events)


@pytest.mark.parametrize("kind", ["diagonal", "spread"])
def test_noise_on_the_full_square_is_another_law(kind):
    """Planted: i.i.d. noise on all d^2 entries, symmetrised by averaging: std / sqrt(2) off the diagonal.

    With the Frobenius sensitivity it still costs exactly D / std. Noise calibrated to what the triangle moves, as the
    printed mechanism (i.i.d. on and above the diagonal) allows, is exceeded by up to sqrt(2) off the diagonal.
    """
    d, std = 6, 0.5
    u = np.eye(d)[0] if kind == "diagonal" else np.full(d, 1 / np.sqrt(d))
    change = np.outer(u, u)
    rows, columns = np.triu_indices(d)
    triangle = np.linalg.norm(change[rows, columns]) / std  # mu of the printed noise, exact
    planted = np.linalg.norm(change[rows, columns] / np.where(rows == columns, std, std / np.sqrt(2)))
    assert planted == pytest.approx(np.linalg.norm(change) / std, rel=1e-12)
    assert (planted > 1.3 * triangle) == (kind == "spread")


def test_symmetric_noise_has_the_same_spread_everywhere():
    """4,000 draws: 6 % is five standard errors."""
    tape = LiveTape(3)
    draws = np.array([tape.symmetric_gaussian("H", np.zeros((6, 6)), std=0.5, sensitivity=1.0) for _ in range(4000)])
    assert np.array_equal(draws, np.swapaxes(draws, 1, 2))
    assert draws.std(axis=0) == pytest.approx(np.full((6, 6), 0.5), rel=0.06)
