"""What is said of shares that stay below one: pairs that move a line search by all that it declares, exact ratios."""

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep, scripted
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.search.ground import AllOf, data_of
from dpassay.reference.catalogue import find
from dpassay.reference.second_order_erm import space
from dpassay.reference.written import reason
from tests.reference.logistic import opposed

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
    rows = [one for one in find("second_order_erm") if "at most" in one.attainable.get("hessian", "")]
    assert {one.reading for one in rows} == {"printed"} and len(rows) > 5
    for case in rows:
        for d in (1, 2, 3):
            assert f"{2**0.5 / 4 / (2 * 0.252 * d**0.5):.3f} for d = {d}" in case.attainable["hessian"]


def test_two_gradients_are_opposed_as_far_as_is_said_and_no_further():
    """A scan of pairs of unit vectors, and shorter ones, on both sides of a w of this length and on one."""
    grid, sizes = np.linspace(0, np.pi, 61), (0.7, 1.0)
    for length in (0.0, 1.0, 6.0, 12.2):
        one = [r * np.array([np.cos(t), np.sin(t)]) for t in grid for r in sizes]
        pushes = np.array([u / (1 + np.exp(-length * u[0])) for u in one])
        mirrored = pushes * [1.0, -1.0]
        apart = [np.linalg.norm(pushes[:, None] - other, axis=2).max() / 2 for other in (pushes, mirrored)]
        assert max(apart) <= opposed(length) + 1e-12 and max(apart) > 0.998 * opposed(length)


def test_the_gradient_of_two_steps_comes_near_the_bound_that_is_told():
    """One step of a radius away from zero, then two records on both sides of it."""
    (case,) = [one for one in find("second_order_erm/tr_b") if (one.reading, one.variant) == ("printed", "")]
    sizes, ground = {"n": 20, "d": 2, "batch": 1, "steps": 2}, case.space()
    assert max(ground.sizes["steps"]) == 2, "each step but the last one is a radius at most"
    most = opposed(space.START + ground.schedule(sizes).radius)
    assert f"{most:.3f}" in reason("gradient", case.attainable)
    rows = np.tile([0.0, 0.0, 1.0], (20, 1))
    angle = 1.28  # where opposed is largest at this length
    rows[0], there = (np.array([np.cos(angle), sign * np.sin(angle), -1.0]) for sign in (1, -1))
    setting = AllOf(case.build().run, ground).setting(data_of(ground, sizes, rows, there, 0))
    values = {"gradient": Choice("huge", along="axis"), "hessian": Choice("zero")}
    for sign in (1, -1):  # away from zero or towards it
        script = Script({**values, "gradient": Choice("norm", size=-sign * 1e6, along="axis")})
        share = scripted(setting.mechanism, setting.pair, [0], script).shares["gradient"]
        assert share <= most
        if sign == 1:
            assert share > 0.99 * most


@pytest.mark.parametrize("key", ["opt", "two_opt_ls", "dp_tr", "tr_b"])
def test_the_pairs_of_a_row_move_the_hessian_by_all_that_a_repaired_reading_declares(key):
    (case,) = [one for one in find(f"second_order_erm/{key}") if (one.reading, one.variant) == ("repaired", "")]
    instance = case.build()
    (pair,) = instance.others
    values = {"gradient": Choice("zero")}
    assert scripted(instance.mechanism, pair, [0], Script(values)).shares["hessian"] == pytest.approx(1.0)
    if key == "dp_tr":  # the row's own pair does not
        assert lockstep(instance.mechanism, instance.pair, (1,)).movements["hessian"].share < 0.5


def test_in_one_dimension_a_hessian_moves_less():
    """Records of rank one: the square root of one half of what two directions can show."""
    problem, start = space.public({"n": 3, "d": 1})
    one, other = (problem.replace(0, np.array([x]), 1.0).hessian(0 * start) for x in (1.0, 0.0))
    assert np.abs(one - other).max() / problem.hessian_sensitivity() == pytest.approx(0.5**0.5)
