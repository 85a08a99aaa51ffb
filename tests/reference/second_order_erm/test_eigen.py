"""Lanczos against the dense eigenvalue, the accuracy of Lemma C.1, products without the Hessian."""

import dataclasses

import numpy as np
import pytest

from dpassay.reference.second_order_erm import eigen, opt, opt_ls
from dpassay.reference.second_order_erm.common import Accuracy, Sensitivities
from dpassay.reference.tape import record


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
