"""Small problems shared by the tests of `second_order_erm`."""

import numpy as np
import pytest

from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import LOGISTIC, Loss, loss_a, saturating
from dpassay.reference.second_order_erm import worst_case


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
