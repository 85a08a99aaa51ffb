"""What is said of Appendix B.2's differences: only one of x and y moves at a time, and no record bends by more."""

from math import sqrt

import numpy as np
import pytest

from dpassay.reference.catalogue import find
from dpassay.reference.minimax_sosp import dp_rgda
from dpassay.reference.minimax_sosp.space import BOX
from dpassay.reference.problems.pulls import Pulls
from dpassay.reference.reasons import reason
from dpassay.reference.tape import LiveTape


@pytest.mark.parametrize("label", ["step/v", "step/u"])
def test_the_share_of_the_differences_is_told(label):
    cases = [one for one in find("minimax_sosp/dp_rgda") if one.variant.startswith("appendixB2")]
    assert len(cases) == 2 and all(f"{BOX / sqrt(2):.3f}" in reason(label, one.attainable) for one in cases)


def test_x_and_y_never_move_at_once(monkeypatch):
    """Every difference of a run, and of two records at the corners of the box: 0.283 of the declared at most."""
    moves, declared = [], dp_rgda.Schedule.step_sensitivity

    def noted(problem, s, tape, now, before):
        apart = [float(np.linalg.norm(one - other)) for one, other in zip(now, before, strict=True)]
        moves.append(apart)
        both = np.arange(2)
        for gradients in (problem.gradients_x, problem.gradients_y):
            change = gradients(*now, both) - gradients(*before, both)
            claim = declared(s, float(np.hypot(*apart))) * s.step_batch  # of one record
            assert np.linalg.norm(change[0] - change[1]) <= BOX / sqrt(2) * claim + 1e-15
        return difference(problem, s, tape, now, before)

    difference = dp_rgda._difference
    monkeypatch.setattr(dp_rgda, "_difference", noted)
    (case, _) = [one for one in find("minimax_sosp/dp_rgda") if one.variant.startswith("appendixB2")]
    space = case.space()
    sizes = {name: values[-1] for name, values in space.sizes.items()}
    rows = np.tile([BOX, -BOX, BOX, BOX], (sizes["n"], 1))
    rows[1] *= -1
    assert isinstance(space.problem(rows, sizes), Pulls)
    dp_rgda.run(space.problem(rows, sizes), space.schedule(sizes), LiveTape(0))
    assert {(one > 0, other > 0) for one, other in moves} <= {(True, False), (False, True), (False, False)}
    assert any(one > 0 for one, _ in moves) and any(other > 0 for _, other in moves)
