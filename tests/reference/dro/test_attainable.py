"""What is said of the printed Algorithm 2 where its assumptions hold: exact shares that no data exceed."""

import numpy as np

from dpassay.reference.catalogue import find
from dpassay.reference.dro.divergences import chi_square
from dpassay.reference.dro.double_spider import Threshold
from dpassay.reference.dro.objective import DualObjective
from dpassay.reference.dro.space import Waves


def test_the_dual_gradients_of_two_records_differ_as_far_as_is_said():
    """Random waves, places and moves (seed 0): a third of 2 C_1, and half of 2 C_2; both are come upon."""
    (case,) = [one for one in find("dro/double_spider") if one.variant == "assumptions hold"]
    assert "0.333" in case.attainable["eta/refresh"] and "0.5" in case.attainable["eta/difference"]
    made = case.build().schedule
    assert made.eta_clip == 1.5 and made.eta_threshold == Threshold(per_x=1.0, per_eta=1.0)
    rng = np.random.default_rng(0)
    most = {"refresh": 0.0, "difference": 0.0}
    for _ in range(4000):
        angles = rng.uniform(0, 2 * np.pi, 2)
        rows = np.column_stack([np.cos(angles), np.sin(angles)]) * (1 if rng.random() < 0.7 else rng.random((2, 1)))
        problem = DualObjective(Waves(rows, 1), chi_square(), 1.0)
        x, eta = rng.uniform(0, np.pi, 1), rng.uniform(-1, 3)
        move = 0.1 * rng.standard_normal(2) * [1, rng.choice([0, 1, 1e-3])]
        here, there = problem.eta_gradients(x, eta), problem.eta_gradients(x + move[:1], eta + move[1])
        change = there - here
        most["refresh"] = max(most["refresh"], abs(here[0] - here[1]) / 3)
        clip = made.eta_threshold.after(abs(move[0]), abs(move[1]))
        most["difference"] = max(most["difference"], abs(change[0] - change[1]) / (2 * clip))
    assert 0.33 < most["refresh"] <= 1 / 3 + 1e-12
    assert 0.49 < most["difference"] <= 0.5 + 1e-9
