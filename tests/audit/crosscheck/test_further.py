"""Further vectors: the reference passes them, and they are what they say; what runs on them is in the right order."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from dpassay.audit.crosscheck.adapter import judged
from dpassay.audit.crosscheck.causes import run_of
from dpassay.audit.crosscheck.further import EVERY, MOST, _all_varied, asked_again, further
from dpassay.audit.crosscheck.making import run_again
from dpassay.audit.crosscheck.recording import VectorTape, events_of
from dpassay.audit.crosscheck.storage import load

ALGORITHM = "dp_ftrl/dp_ftrl"


@pytest.fixture(scope="module")
def runs():
    return [one for one in load(ALGORITHM) if one["expect"] == "run"]


@pytest.fixture(scope="module")
def made(runs):
    return list(further(runs))


def result(vector, scale=1.0):
    tape = VectorTape(vector["events"])
    output = partial(run_again, run_of(vector))(vector, tape)
    events = [{**one, "std": scale * one["std"]} if "std" in one else one for one in events_of(tape)]
    return judged(vector, {"kind": "returned", "events": events, "output": output.tolist()}, False)


def far(vector):
    return max(np.abs(np.subtract(one["value"], one["query"])).max() for one in vector["events"] if "query" in one)


def test_the_reference_passes_them_and_another_noise_does_not(made):
    assert {result(one).outcome for one in made} == {"pass"}
    assert {result(one, 2.0).outcome for one in made} == {"fail"}


def test_there_is_a_hundredth_of_the_noise_in_some(made):
    plain = {one["id"].partition(", ")[0]: far(one) for one in made if one["id"].endswith("noise times 1")}
    little = {one["id"].partition(", ")[0]: far(one) for one in made if one["id"].endswith("noise times 0.01")}
    assert len(plain) == len(little) == MOST
    assert all(little[name] < 0.2 * plain[name] for name in plain)


def test_one_constant_is_another_one_in_some(runs, made):
    known = {one["id"]: one["schedule"] for one in runs}
    for one in made:
        name, _, said = one["id"].partition(", ")
        differ = [key for key, value in one["schedule"].items() if value != known[name][key]]
        assert len(differ) > 1 if EVERY in said else len(differ) == (said.count(",") > 0), one["id"]
    assert sum(one["id"].count(",") > 1 for one in made) > 4


def test_what_fails_comes_first_and_refusals_do_not_come(runs):
    known = [result(one, 2.0 if number == 2 else 1.0) for number, one in enumerate(runs[:4])]
    by_id = {one["id"]: one for one in runs}
    found = asked_again(known, by_id, lambda vectors: [result(one) for one in vectors])
    assert found[0][0]["id"] == runs[2]["id"]
    assert {one["id"] for one, _ in found} > {one["id"] for one in runs[:4]}
    assert [one["id"] for one, _ in asked_again(known, by_id)] == [runs[place]["id"] for place in (2, 0, 1, 3)]


def test_what_lies_between_0_and_1_stays_there_and_every_algorithm_is_varied():
    told = {"share": 0.999, "beta": 0.5, "rate": 3.0, "steps": 4, "inside": {"delta": 1e-9}}
    for seed in range(50):
        found = _all_varied(told, np.random.default_rng(seed), 3.0)
        assert 0 < found["inside"]["delta"] < 1 and 0 < found["beta"] < 1 and 0 < found["share"] < 1
        assert found["steps"] == 4 and found["rate"] != 3.0


@pytest.mark.parametrize("algorithm", ["second_order_erm/opt_b", "second_order_erm/opt_ls"])
def test_constants_that_make_no_sense_are_left_out(algorithm, monkeypatch):
    """A delta above 2 has no logarithm, and the shares of a line search must add up: less is varied then."""
    monkeypatch.setattr("dpassay.audit.crosscheck.further.MOST", 1)
    monkeypatch.setattr(
        "dpassay.audit.crosscheck.further.rounding", lambda again, told: ([{}] * len(told["events"]), 0.0, False)
    )
    made = [one for one in further(load(algorithm)) if EVERY in one["id"]]
    assert len(made) >= 4
