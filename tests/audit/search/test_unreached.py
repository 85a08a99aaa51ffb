"""What the search does not come to is explained in the case, and no explanation is stale."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpassay.reference.catalogue as catalogue
from dpassay.audit.assaying.searching import search_case
from dpassay.audit.row import Effort
from dpassay.audit.search.coverage import Coverage, reason_for
from dpassay.reference.catalogue import CASES

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
    assert used == set(PLACES)
