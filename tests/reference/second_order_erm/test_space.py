"""Where the claims are searched: a space for every row, schedules that are made of sizes alone, and short searches."""

import numpy as np
import pytest

from dpassay.audit.search.engine import search
from dpassay.audit.search.ground import AllOf
from dpassay.reference.second_order_erm import space
from dpassay.reference.second_order_erm.cases import CASES

# line searches, warm starts that noise has thrown far, and a trust region whose mini-batch version is quick
LONG = ("opt_ls", "two_opt", "two_opt_ls", "two_opt_b", "dp_tr")
REPAIRED = [
    pytest.param(case, id=case.key, marks=pytest.mark.slow if case.id.split("/")[1] in LONG else ())
    for case in CASES
    if case.reading == "repaired" and not case.variant
]


@pytest.mark.some(12)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_every_row_has_a_space_and_its_schedules_exist_for_all_sizes(case):
    where, run = case.space(), case.build().run
    for sizes in AllOf(run, where).combinations[::7]:
        schedule = where.schedule(sizes)
        rows = np.tile(np.append(np.eye(sizes["d"])[0], 1.0), (sizes["n"], 1))
        problem = where.problem(rows, sizes)
        assert (problem.n, problem.d) == (sizes["n"], sizes["d"])
        landmarks = where.landmarks(schedule)
        assert np.isfinite(np.concatenate(list(landmarks.values()))).all()
        # the others are norms; f(w0) is a value, and noise can make it negative
        assert all(min(sizes) >= 0 for label, sizes in landmarks.items() if label != "initial value")
        assert schedule.__class__.__module__ == run.__module__


def test_the_tolerances_fit_the_steps():
    """Repaired, T is about `steps`; printed, f(w0) by its sensitivity moves it by a sixth of them."""
    for steps in (1, 2, 4):
        sizes = {"n": 3, "d": 2, "steps": steps}
        repaired = space.space("opt", "repaired").schedule(sizes)
        risk, start = space.public(sizes)
        assert risk.value_bound(start) / repaired.minimum_decrease < steps
        printed = space.space("opt", "printed").schedule(sizes)
        assert 6 * printed.sensitivity.value / printed.minimum_decrease == pytest.approx(steps)


@pytest.mark.some(1)
@pytest.mark.parametrize("case", REPAIRED)
def test_a_short_search_finds_nothing_in_the_repaired_readings(case):
    found = search(case.build().run, case.space(), case.claim, examples=10, seed=1)
    assert found.findings == [] and not found.raised
    assert found.accounted <= case.claim.epsilon
    assert found.coverage.lines_reached > 0.6 * found.coverage.lines
