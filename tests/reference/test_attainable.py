"""Data that move a query nearly as far as is written of it (``reference/written.toml``), where a search may stay short.

That nothing moves further is what the searches of ``test_spaces.py`` are held against.
"""

import numpy as np
import pytest

from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.search.ground import AllOf, data_of
from dpassay.reference.catalogue import find


def along(size):
    return Choice("norm", size=size, along="axis")


def shares(case, sizes, rows, target, there, script):
    """How far each query moves where the row of the target is another one, over what it declares."""
    setting = AllOf(case.build().run, case.space()).setting(data_of(case.space(), sizes, rows, there, target))
    return scripted(setting.mechanism, setting.pair, [0], script).shares


HUGE = {"gradient": {0: Choice("huge", along="axis")}}  # leads far along the first axis
BY_GRADIENT = {"initial value": along(128.6), "gradient": Choice("norm", size=8.24, along="last")}
BY_CURVATURE = {
    "initial value": Choice("zero"),
    "gradient": Choice("norm", size=10.8, along="last"),
    "hessian": Choice("norm", size=-1.7, along="last"),  # it bends down there
}


@pytest.mark.parametrize(("key", "label", "sizes", "record", "least", "script"), [
    ("opt_ls:worst@repaired", "line search/gradient", {"n": 8, "d": 3, "steps": 1}, (0.04, 0, 0.9991, 1), 0.998,
     Script({**BY_GRADIENT, "line search/gradient": Choice("index", index=0)}, exceptions=HUGE, beyond=True)),
    ("opt_ls:worst@repaired", "line search/curvature", {"n": 2, "d": 3, "steps": 2}, (0.04, 0, 0.9991, 1), 0.998,
     Script(BY_CURVATURE, exceptions=HUGE, beyond=True)),
    # a radius away from zero two gradients are opposed by 0.930 of what is declared, at this angle
    ("tr_b@printed", "gradient", {"n": 20, "d": 2, "batch": 1, "steps": 2}, (0.2867, 0.9580, -1), 0.99 * 0.930,
     Script({"gradient": along(-1e6), "hessian": Choice("zero")})),
])  # fmt: skip
def test_records_that_are_mirror_images_move_a_query_by_what_is_told(key, label, sizes, record, least, script):
    (case,) = find(f"second_order_erm/{key}")
    rows, mirror = np.tile([*np.zeros(sizes["d"]), 1.0], (sizes["n"], 1)), np.ones(sizes["d"] + 1)
    mirror[sizes["d"] - 1] = -1
    rows[-1] = record
    assert least < shares(case, sizes, rows, sizes["n"] - 1, mirror * record, script)[label] <= 1.0


@pytest.mark.parametrize(("node", "step"), [("(1,4)", None), ("(3,3)", "(1,2)"), ("(7,7)", "(5,6)")])
def test_nodes_of_the_bare_reading_are_moved_by_all_but_a_hundredth(node, step):
    """The target is read at a node's first step, after a move."""
    (case,) = find("adaptive_batch/stochastic_spider:bare-refresh")
    sizes = {"n": 60, "d": 1, "steps": 7, "eager": 1}
    schedule, first = case.space().schedule(sizes), int(node[1])
    target = 0 if first == 1 else 2 * schedule.batch + 2 * (first - 2)  # O1 and O3, then O2 and O4 one by one
    rows = np.zeros((60, 2))
    rows[target] = (0.0, 1.0) if first == 1 else (np.cos(0.1), np.sin(0.1))  # steepest at 0; bent most half way
    nodes = ["(1,2)", "(3,3)", "(1,4)", "(5,5)", "(5,6)", "(7,7)"]
    values = {"refresh/bare": along(1e-9), **{f"tree/{one}": along(1e-9) for one in nodes}}  # at zero escapes begin
    if step:
        values[f"tree/{step}"] = along(0.2 / schedule.step_size)
    assert 0.99 < shares(case, sizes, rows, target, -rows[target], Script(values))[f"tree/{node}"] <= 1 + 1e-9


@pytest.mark.parametrize(("d", "told"), [(1, 0.973), (4, 0.992)])
def test_an_escape_is_moved_by_the_chord_of_the_longest_step_with_a_batch_of_one(d, told):
    """The target is read by O4 at step 1, and its wave is bent most in the middle of the step."""
    (case,) = find("adaptive_batch/stochastic_spider:escape@printed")
    sizes = {"n": max(case.space().sizes["n"]), "d": d, "steps": 7, "eager": 2}
    schedule = case.space().schedule(sizes)
    step, target = schedule.step_size / schedule.batch_slope, 2 * schedule.batch + 1
    rows = np.tile([0.0, step], (sizes["n"], 1))
    rows[target] = np.cos(np.pi / 2 + step / 2), np.sin(np.pi / 2 + step / 2)
    values = {"escape/gradient": along(1e-3), **dict.fromkeys(("refresh/bare", "tree/(1,1)"), Choice("query"))}
    found = shares(case, sizes, rows, target, -rows[target], Script(values))["escape/gradient"]
    assert found == pytest.approx(told, abs=6e-4) and f"{told} for d = {d}" in case.attainable["escape"]
