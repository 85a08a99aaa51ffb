"""What a search says of the source: lines, both ways of decisions, through greenlets, of the algorithm's own files."""

import sys
from pathlib import Path

import numpy as np
import pytest

import dpassay.reference.catalogue as catalogue
from dpassay.audit.assaying.assay import search_case
from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.row import Effort
from dpassay.audit.search.coverage import Collector, Coverage, own_functions, reason_for
from dpassay.reference.catalogue import CASES
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


def test_releases_decisions_and_ways_that_were_not_reached_are_named():
    """Of the functions that run names; and another tracer is put back."""
    before = sys.gettrace()
    assert [function.__name__ for function in own_functions(run)] == ["run", "_half"]
    collector = Collector(run)
    with collector.tracing():
        scripted(run, PAIR, [0], Script({"g": Choice("zero")}))
    found = collector.coverage()
    assert sorted(text.split(": ", 1)[1] for text in found.missed) == [
        "break",
        "if v > 100: (never true)",
        "if v > 1e6: (never true)",
        "return 0.0",
        'tape.gaussian("far", rows.mean(), std=5.0, sensitivity=1.0)',
    ]
    assert found.lines - found.lines_reached == 3 and found.branches - found.branches_reached == 2
    assert sys.gettrace() is before


def test_code_without_a_text_is_counted_by_lines():
    names, text = {}, "def run(rows, tape):\n    v = 1\n    return tape.gaussian('g', v, std=1.0, sensitivity=0.0)"
    exec(compile(text, "shell", "exec"), names)
    collector = Collector(names["run"])
    with collector.tracing():
        scripted(names["run"], PAIR, [0], Script())
    assert (collector.coverage().lines, collector.coverage().lines_reached) == (2, 2)


# What the search does not come to is explained in the case, and no explanation is stale.
REFERENCE = Path(catalogue.__file__).resolve().parent
PLACES = sorted({place for case in CASES for place in case.unreached})
SLOW = (  # rows beside the quick ones that have explanations of their own
    "second_order_erm/opt_b:worst@repaired",
    "second_order_erm/opt_b:shared-batch@printed",
    "second_order_erm/two_opt_ls@printed",
    "second_order_erm/two_opt_ls:worst@repaired",
    "second_order_erm/tr_b@printed",
    "second_order_erm/tr_b:worst@repaired",
    "dro/double_spider:each record clipped, c = 4@printed",
    "dro/composite_spider@baseline",
    "minimax_sosp/dp_spider:exact-full@baseline",
    "output_perturbation/algorithm3@printed",
)


def test_a_place_is_named_without_the_number_of_its_line():
    reasons = {"opt.py: if s.reading": "decided by the reading"}
    assert reason_for('opt.py:137: if s.reading == "printed": (never true)', reasons) == "decided by the reading"
    assert reason_for("opt_b.py:137: if s.reading", reasons) == reason_for("opt.py:137: top = 1", reasons) == ""
    found = Coverage(missed=("opt.py:1: if s.reading", "opt.py:2: break")).explained_by(reasons)
    assert found.missed == ("opt.py:2: break",)
    assert found.explained == {"opt.py:1: if s.reading": "decided by the reading"}


@pytest.mark.parametrize("place", PLACES)
def test_an_explained_place_is_still_there(place):
    """A line that has changed needs its explanation looked at again."""
    file, _, start = place.partition(": ")
    texts = [path.read_text(encoding="utf-8") for path in REFERENCE.rglob(file)]
    assert any(line.strip().startswith(start) for text in texts for line in text.splitlines())


#: decisions inside of an expression, which only certificates follow
IN_EXPRESSIONS = {
    "escape.py: batch=saddle.batches or None",
    "tree.py: bare = [] if covered == t",
    "tree.py: batch=tuple(",
    "tree.py: covered = intervals[-1][1]",
    "tree.py: sensitivity=(max if once",
}


@pytest.mark.slow
def test_nothing_is_missed_that_is_not_explained_and_every_explanation_is_used():
    """Default effort, seed 0, the rows of `dpassay audit` and those that have explanations of their own."""
    left, used = {}, set()
    for case in CASES:
        if case.quick or case.key in SLOW:
            coverage = search_case(case, case.build(), Effort()).coverage
            if coverage.missed:
                left[case.key] = coverage.missed
            used |= {
                start for start in case.unreached for place in coverage.explained if reason_for(place, {start: "x"})
            }
    assert left == {}
    assert {place for place in PLACES if place not in used} == IN_EXPRESSIONS
