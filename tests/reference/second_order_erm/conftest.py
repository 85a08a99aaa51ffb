"""Small problems shared by the tests of `second_order_erm`."""

import numpy as np
import pytest
from hypothesis import strategies as st

from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import LOGISTIC, Loss, loss_a, saturating
from dpassay.reference.second_order_erm import worst_case
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.second_order_erm.eigen import Dense


@pytest.fixture(scope="session")
def cancer():
    """100 records of the breast-cancer set, loss A."""
    return worst_case.first_records(ErmProblem(*real_data.breast_cancer(), loss_a()), 100)


@pytest.fixture(scope="session")
def far_start(cancer):
    """A public start away from zero, so that f(w0) moves when a record is replaced."""
    start = np.zeros(cancer.d)
    start[0] = 6.0
    return start


@pytest.fixture(scope="session")
def curved():
    """A problem with strong negative curvature near |w_i| = 1: loss A with weight 1, in four dimensions."""
    rng = np.random.default_rng(8)
    x = real_data.into_unit_ball(rng.normal(size=(60, 4)))
    return ErmProblem(x, rng.choice([-1.0, 1.0], 60), Loss("curved", LOGISTIC, saturating(1.0)))


@pytest.fixture(scope="session")
def noisy(curved):
    """Draws a tolerance, a point, gradient and Hessian with noise inside eq. (9), and the smallest eigenpair."""

    def draw(data):
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        accuracy = Accuracy(gradient=data.draw(st.floats(0.01, 2.0)), curvature=data.draw(st.floats(0.01, 0.4)))
        w, k = rng.uniform(-2, 2, curved.d), curved.constants()
        room = min(accuracy.c1 * accuracy.gradient, accuracy.c2 / k.hessian_lipschitz * accuracy.curvature**2)
        noise, spread = rng.normal(size=curved.d), rng.normal(size=(curved.d, curved.d))
        spread += spread.T
        g = curved.gradient(w) + room * noise / np.linalg.norm(noise)
        H = curved.hessian(w) + accuracy.c * accuracy.curvature * spread / np.linalg.norm(spread, 2)
        return accuracy, w, g, *Dense().pair(H, 1.0, None)

    return draw
