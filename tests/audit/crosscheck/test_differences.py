"""What must agree is compared, whatever it is made of; hostile answers are differences or bad input."""

import copy
import json
import math

import numpy as np
import pytest

from dpassay.audit.crosscheck.differences import compare
from dpassay.audit.crosscheck.encode import encode
from dpassay.audit.crosscheck.recording import RecordingTape, events_of
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.categorical import Categorical

CLAIM = {"epsilon": 1.0, "delta": 1e-5, "relation": "replace-one"}


def run(tape):
    batch = tape.batch("records", 5, 2)
    tape.gaussian("g", np.array([1.0, 2.0]), std=1.0, sensitivity=1.0, batch=batch)
    above = {"threshold": 1.0, "threshold_scale": 2.0, "query_scale": 4.0}
    tape.above_threshold("a", (float(k) for k in range(100)), **above, sensitivity=1.0)
    tape.release("c", Categorical(("x", "y"), np.log([0.25, 0.75])), sensitivity=1.0)
    tape.noise("z", 3.0, 2)
    tape.reveal("r", 3.0)
    return {"w": np.array([1.0, math.inf]), "why": ["end", None, [1, 2]], "best": (1, np.ones(2))}


def vector():
    tape = RecordingTape(0)
    output = encode(run(tape))
    found = {"format": 3, "id": "x", "case": "x", "algorithm": "x", "claim": CLAIM, "flags": [], "expect": "run"}
    found |= {"problem": None, "schedule": None, "events": events_of(tape), "output": output}
    return json.loads(json.dumps({**found, "rounding": 0.0, "float32": True}, allow_nan=False))


def test_a_vector_agrees_with_itself():
    assert compare(vector(), vector()) == []


CHANGES = [
    (0, "kind", "poisson"),
    (0, "n", 6),
    (0, "size", 3),
    (1, "query", [1.0, 2.1]),
    (1, "query", ["1.0", "2.0"]),
    (1, "query", [1.0, "nan"]),
    (1, "query", [1.0, 10**400]),
    (1, "query", [[1.0, 2.0]]),
    (1, "query", [1.0]),
    (1, "query", None),
    (1, "query", {"a": 1}),
    (1, "std", True),
    (1, "std", "1.0"),
    (1, "std", 2.0),
    (1, "sensitivity", 123),
    (1, "law", "Laplace"),
    (1, "batches", []),
    (2, "queries", []),
    (2, "threshold", 0.0),
    (2, "threshold_scale", 1.0),
    (2, "query_scale", 2.0),
    (3, "log_probabilities", [math.log(0.5)] * 2),
    (4, "std", 1.5),
    (5, "value", 4.0),
]


@pytest.mark.parametrize(("step", "name", "value"), CHANGES)
def test_every_field_that_is_computed_or_stated_is_compared(step, name, value):
    answers = vector()
    assert name in answers["events"][step]
    answers["events"][step][name] = value
    (difference,) = compare(vector(), answers)
    assert (difference.step, difference.name) == (step, name)
    assert str(difference).startswith(f"step {step}, ") and f", {name}" in str(difference)


def test_a_difference_says_where_in_a_long_query_by_what_ratio_and_length():
    ours, theirs = vector(), vector()
    ours["events"][1]["query"] = [1.0] * 1000
    theirs["events"][1]["query"] = [1.0] * 700 + [2.0] * 300
    (one,) = compare(ours, theirs)
    assert (one.index, one.expected, one.got, one.ratio, one.differing) == ((700,), 1.0, 2.0, 2.0, 300)
    assert "query[700]: expected 1.0, got 2.0 (ratio 2, 300 entries differ" in str(one)
    theirs["events"][1]["query"] = [1.0] * 999
    (one,) = compare(ours, theirs)
    assert one.length == (1000, 999) and "999 numbers where 1000 are expected" in str(one)


@pytest.mark.parametrize("name", ["sensitivity", "law", "batches"])
def test_what_is_not_stated_is_not_compared(name):
    answers = vector()
    del answers["events"][1][name]
    assert compare(vector(), answers) == []


@pytest.mark.parametrize("name", list(CLAIM))
def test_a_claim_is_compared_where_it_is_made(name):
    answers = {**vector(), "claim": {**CLAIM, name: "add-remove" if name == "relation" else 0.5}}
    (difference,) = compare(vector(), answers)
    assert difference.name == f"claim.{name}"


@pytest.mark.parametrize(
    "value", [{"w": [2.0, "infinity"]}, {"w": [1.0, 1.0]}, {"why": ["end", None, [1, 3]]}, {"best": [1]}]
)
def test_every_part_of_an_output_is_compared(value):
    answers = vector()
    answers["output"].update(value)
    assert str(compare(vector(), answers)[0]).startswith("output")


def off_by(amount, *, float32=False):
    """Differences when one entry of a query with noise 1 and rounding 1e-14 is off by this."""
    ours, theirs = vector(), vector()
    ours["events"][1]["rounding"] = {"query": 1e-14}
    theirs["events"][1]["query"][0] += amount
    return compare(ours, theirs, float32=float32)


def test_the_tolerance_is_rounding_or_a_billionth_of_the_noise_and_no_more():
    assert not off_by(0.9e-9) and off_by(1.1e-9)
    single = 1e-14 * 2**29
    assert not off_by(0.99 * single, float32=True) and off_by(1.01 * single, float32=True)


@pytest.mark.parametrize("expected", ["infinity", [1.0, "infinity"], "nan"])
def test_an_infinity_in_a_vector_is_no_tolerance(expected):
    ours, theirs = vector(), vector()
    ours["output"], theirs["output"] = expected, [0.0] * len(expected) if isinstance(expected, list) else 0.0
    assert compare(ours, theirs) and not compare(ours, copy.deepcopy(ours))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda found: found.pop(), id="missing"),
        pytest.param(lambda found: found.append({"event": "release", "label": "more"}), id="extra"),
        pytest.param(lambda found: found.insert(0, found.pop(1)), id="swapped"),
        pytest.param(lambda found: found[1].update(label="h"), id="renamed"),
    ],
)
def test_events_in_another_number_or_order_differ(change):
    answers = vector()
    change(answers["events"])
    (difference,) = compare(vector(), answers)
    assert difference.name in ("call", "number of events")


def test_deep_nesting_is_bad_input():
    deep = []
    for _ in range(5000):
        deep = [deep]
    ours = {**vector(), "output": deep}
    with pytest.raises(BadInput, match="nested too deeply"):
        compare(ours, {**vector(), "output": [deep]})


def test_only_what_was_evaluated_must_be():
    released = vector()["events"][2]
    assert len(released["queries"]) == released["value"] + 1
