"""Where a run begins: a start of another shape would be stretched by broadcasting, without a word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.space import begin_at
from dpassay.reference.tape import LiveTape

STARTS = ("start", "start_x")
ROWS = {
    case.id: case
    for case in reversed(CASES)
    if case.id.split("/")[0] in ("baselines", "minimax_sosp", "dro", "adaptive_batch")
}


def test_a_start_is_copied_and_none_is_the_problems_own():
    own, start = np.zeros(2), np.ones(2)
    assert begin_at(None, own) is own
    found = begin_at(start, own)
    found[0] = 5.0
    assert start[0] == 1.0


@pytest.mark.parametrize("bad", [np.ones(1), np.ones((2, 1)), 1.0, [np.nan, 0.0]])
def test_other_shapes_are_refused(bad):
    with pytest.raises(BadInput, match="start"):
        begin_at(bad, np.zeros(2))


def test_every_algorithm_refuses_a_start_of_another_shape():
    refused, long = [], np.ones(1000)
    for algorithm, case in ROWS.items():
        instance = case.build()
        for name in STARTS:
            if hasattr(instance.schedule, name):
                kind = str(type(instance.schedule).__annotations__[name])
                bad = replace(instance.schedule, **{name: (long, long) if "tuple" in kind else long})
                with pytest.raises(BadInput, match=f"{name}.*must have the shape"):
                    instance.run(instance.pair.here, bad, LiveTape(0))
                refused.append(algorithm)
    assert len(refused) >= 9, refused
