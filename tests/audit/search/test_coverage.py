"""What a search says of the source: lines, both ways of decisions, through greenlets, of the algorithm's own files."""

import sys

import numpy as np

from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.search.coverage import Collector, own_functions
from dpassay.reference.catalogue import find
from dpassay.reference.neighbours import Pair

PAIR = Pair(np.array([[1.0], [0.0]]), np.array([[-1.0], [0.0]]), 0)


def _half(v):
    if v > 1e6:
        return 0.0
    return v / 2


def mean():  # `rows.mean()` is another one
    raise AssertionError


def run(rows, tape):
    total = 0.0
    for _ in range(2):
        v = tape.gaussian("g", rows.mean(), std=5.0, sensitivity=1.0)
        if v > 100:
            tape.gaussian("far", rows.mean(), std=5.0, sensitivity=1.0)
            break
        total += _half(v)
    else:
        total += 1
    return total


def _covered(*choices):
    collector = Collector(run)
    for choice in choices:
        with collector.tracing():
            scripted(run, PAIR, [0], Script({"g": Choice(choice)}))
    return collector.coverage()


def test_own_functions_are_those_that_run_names():
    assert [function.__name__ for function in own_functions(run)] == ["run", "_half"]


def test_releases_decisions_and_ways_that_were_not_reached_are_named():
    found = _covered("zero")
    texts = [text.split(": ", 1)[1] for text in found.missed]
    assert 'tape.gaussian("far", rows.mean(), std=5.0, sensitivity=1.0)' in texts
    assert "break" in texts and "return 0.0" in texts
    assert "if v > 100: (never true)" in texts and "if v > 1e6: (never true)" in texts
    assert found.lines - found.lines_reached == 3 and found.branches - found.branches_reached == 2


def test_dictated_values_reach_the_rest():
    found = _covered("zero", "huge")
    assert [text.split(": ", 1)[1] for text in found.missed] == ["return 0.0", "if v > 1e6: (never true)"]


def test_tracing_ends_with_the_block_and_another_tracer_is_put_back():
    before = sys.gettrace()
    _covered("zero")
    assert sys.gettrace() is before


def test_a_case_counts_its_own_folder_and_no_apparatus():
    (case,) = find("second_order_erm/opt:worst@repaired")
    names = {function.__code__.co_filename for function in own_functions(case.build().mechanism)}
    assert any(name.endswith("second_order_erm/opt.py") for name in names)
    assert not any("tape.py" in name or "/audit/" in name or "problems" in name for name in names)


def test_code_without_a_text_is_counted_by_lines():
    names = {}
    exec(
        compile(
            "def run(rows, tape):\n    v = 1\n    return tape.gaussian('g', v, std=1.0, sensitivity=0.0)",
            "shell",
            "exec",
        ),
        names,
    )
    collector = Collector(names["run"])
    with collector.tracing():
        scripted(names["run"], PAIR, [0], Script())
    assert (collector.coverage().lines, collector.coverage().lines_reached) == (2, 2)


def test_plain_numpy_code_is_counted_too():
    def mechanism(rows, rng):
        total = rows.sum()
        return total + rng.normal(scale=5.0)

    from dpassay.audit import on_tape

    assert [function.__name__ for function in own_functions(on_tape(mechanism))] == ["mechanism"]
