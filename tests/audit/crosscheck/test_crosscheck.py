"""Test vectors: what must agree is compared, whatever it is made of; hostile answers are differences, not errors."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest

from dpassay.audit.crosscheck.vectors import FORMAT, compare, events, plain
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.tape import record


def run(tape):
    tape.gaussian("g", np.array([1.0, 2.0]), std=1.0, sensitivity=1.0)
    above = {"threshold": 1.0, "threshold_scale": 2.0, "query_scale": 4.0}
    tape.above_threshold("a", (float(k) for k in range(100)), **above, sensitivity=1.0)
    tape.release("c", Categorical(("x", "y"), np.log([0.25, 0.75])), sensitivity=1.0)
    tape.reveal("r", 3.0)
    return {"w": np.array([1.0, math.inf]), "why": ["end", None, [1, 2]], "best": (1, np.ones(2))}


def vector():
    transcript = record(run, 0)
    found = {"format": FORMAT, "events": events(transcript), "output": plain(transcript.output)}
    return json.loads(json.dumps(found, allow_nan=False))


def test_a_vector_agrees_with_itself():
    assert compare(vector(), vector()) == []


CHANGES = [
    (0, "query", [1.0, 2.1]),
    (0, "query", ["1.0", "2.0"]),
    (0, "query", [1.0, float("nan")]),
    (0, "query", [1.0, 10**400]),
    (0, "query", [[1.0, 2.0]]),
    (0, "query", None),
    (0, "std", True),
    (0, "std", "1.0"),
    (1, "queries", []),
    (1, "threshold", 0.0),
    (1, "threshold_scale", 1.0),
    (1, "query_scale", 2.0),
    (2, "log_probabilities", [math.log(0.5)] * 2),
    (3, "value", 4.0),
]


@pytest.mark.parametrize(("step", "name", "value"), CHANGES)
def test_every_computed_field_is_compared(step, name, value):
    answers = vector()
    assert name in answers["events"][step]
    answers["events"][step][name] = value
    (difference,) = compare(vector(), answers)
    assert difference.startswith(f"step {step}, ") and f", {name}: " in difference


@pytest.mark.parametrize(
    "value", [{"w": [2.0, "inf"]}, {"w": [1.0, 1.0]}, {"why": ["end", None, [1, 3]]}, {"best": [1]}]
)
def test_every_part_of_an_output_is_compared(value):
    answers = vector()
    answers["output"].update(value)
    assert compare(vector(), answers)[0].startswith("output")


@pytest.mark.parametrize("expected", [math.inf, [1.0, math.inf], math.nan])
def test_an_infinity_in_a_vector_is_no_tolerance(expected):
    """JSON has none, but Python reads it: the tolerance, a share of the largest entry, would be infinite."""
    ours, theirs = vector(), vector()
    ours["output"], theirs["output"] = expected, np.zeros_like(expected).tolist()
    assert compare(ours, theirs) and not compare(ours, copy.deepcopy(ours))


@pytest.mark.parametrize("change", ["missing", "extra", "swapped", "renamed"])
def test_events_in_another_number_or_order_differ(change):
    answers = vector()
    found = answers["events"]
    if change == "missing":
        found.pop()
    elif change == "extra":
        found.append({"event": "release", "label": "more"})
    elif change == "swapped":
        found[0], found[1] = found[1], found[0]
    else:
        found[0]["label"] = "h"
    assert compare(vector(), answers)


def test_deep_nesting_is_bad_input():
    deep = []
    for _ in range(5000):
        deep = [deep]
    answers = vector()
    ours = {**vector(), "output": deep}
    with pytest.raises(BadInput, match="nested too deeply"):
        compare(ours, {**answers, "output": [deep]})


def test_only_what_was_evaluated_must_be():
    released = vector()["events"][1]
    assert len(released["queries"]) == released["value"] + 1
