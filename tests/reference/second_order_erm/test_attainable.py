"""What is said of shares that stay below one: pairs that move a line search by all that it declares, exact ratios."""

import numpy as np
import pytest

from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.lockstep.scripted import scripted
from dpassay.audit.search.ground import AllOf, data_of
from dpassay.reference.attainable import reason
from dpassay.reference.catalogue import find

BY_GRADIENT = {
    "initial value": Choice("norm", size=128.6, along="axis"),
    "gradient": Choice("norm", size=8.24, along="last"),
    "line search/gradient": Choice("index", index=0),
}
BY_CURVATURE = {
    "initial value": Choice("zero"),
    "gradient": Choice("norm", size=10.8, along="last"),
    "hessian": Choice("norm", size=-1.7, along="last"),  # it bends down there
}


@pytest.mark.parametrize("key", ["opt_ls:worst", "two_opt_ls:worst"])
def test_a_line_search_along_the_gradient_can_be_moved_by_all_that_it_declares(key):
    assert 0.998 < share_of(key, "line search/gradient", {"n": 8, "d": 3, "steps": 1}, BY_GRADIENT) <= 1.0


def test_a_line_search_along_a_curvature_can_be_moved_by_all_that_it_declares():
    assert 0.998 < share_of("opt_ls:worst", "line search/curvature", {"n": 2, "d": 3, "steps": 2}, BY_CURVATURE) <= 1.0


def share_of(key, label, sizes, values):
    """Rows that are mirror images but for 0.04, once the first released gradient has led far along the first axis."""
    (case,) = [one for one in find(f"second_order_erm/{key}") if one.reading == "repaired"]
    assert "0.999" in reason(label, case.attainable)
    rows = np.tile([0.0, 0.0, 0.0, 1.0], (sizes["n"], 1))
    rows[-1], there = (np.array([0.04, 0.0, sign * 0.9991, 1.0]) for sign in (1, -1))
    ground = AllOf(case.build().run, case.space())
    setting = ground.setting(data_of(case.space(), sizes, rows, there, sizes["n"] - 1))
    script = Script(values, exceptions={"gradient": {0: Choice("huge", along="axis")}}, beyond=True)
    return scripted(setting.mechanism, setting.pair, [0], script).shares[label]


def test_the_printed_hessian_bound_is_told_with_what_can_move():
    """sqrt(2)/4 of one record's curvature, over 2 B_H sqrt(d) with B_H = 0.252; no row's own pair moves more."""
    cases = [one for one in find("second_order_erm") if "hessian" in one.attainable]
    assert {one.reading for one in cases} == {"printed"} and len(cases) > 5
    for case in cases:
        for d in (1, 2, 3):
            assert f"{2**0.5 / 4 / (2 * 0.252 * d**0.5):.3f} for d = {d}" in case.attainable["hessian"]
