"""Edits that exchange whole values, compute gradients anew, take another draw's records, or clip in other ways."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from dpassay.audit.crosscheck.agreeing import to_the_first
from dpassay.audit.crosscheck.changes import Change
from dpassay.audit.crosscheck.diagnosis import diagnose
from dpassay.audit.crosscheck.edited import Edited
from dpassay.audit.crosscheck.edits import Scope, edits
from dpassay.audit.crosscheck.elsewhere import from_elsewhere
from dpassay.audit.crosscheck.kinds import Kind
from dpassay.audit.crosscheck.mutants import Mutant
from dpassay.audit.crosscheck.planting import source
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.crosscheck.together import together
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.tape import LiveTape

SMALL = """def run(problem, x, s, batch, index, beta):
    noisy = tape.gaussian("g", problem.gradients(x, batch.indices).mean(axis=0), std=s.scale)
    if index is None:
        return x
    step = min(s.rate, s.cap / norm(noisy))
    return x - step * beta**index * noisy
"""
SCOPE = Scope(
    {"x": (3,), "noisy": (3,), "step": (), "beta": (), "index": (), "half": (2,)},
    {"s": {"rate": float, "cap": float}},
    whole={"index"},
    problems={"problem"},
    records={"batch.indices"},
)
ROWS = np.array([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])


def everywhere(first, last):
    return True


def changed(made):
    raw = SMALL.encode()
    for kind, _, _, first, last, text in made:
        found = (raw[:first] + text.encode() + raw[last:]).decode()
        ast.parse(found)
        yield kind, found


def test_what_people_write_in_their_place():
    texts = list(changed(edits(SMALL, everywhere, lambda function: SCOPE)))
    for kind, line in (
        (Kind.UN_NOISED, "norm(_edit.exact(problem, noisy, [x], batch.indices))"),
        (Kind.UN_NOISED, "norm(_edit.exact(problem, noisy, [x], None))"),
        (Kind.BATCH, "problem.gradients(x, _edit.drawn_last(batch.indices))"),
        (Kind.SIGN, "_edit.turned_block(noisy, -2)"),
        (Kind.BRANCH, "if (not (index)):"),
        (Kind.INDEX_SHIFT, "((beta) ** (index + 1))"),
        (Kind.FACTOR, "step = ((s.rate) * min(1.0, s.cap / norm(noisy)))"),
        (Kind.FACTOR, "_edit.clipped_again(noisy, s.cap, 'each coordinate')"),
    ):
        assert any(one is kind and line in text for one, text in texts), line


def test_each_value_for_any_other_one_of_the_function():
    texts = [text for _, text in changed(from_elsewhere(SMALL, everywhere, lambda function: SCOPE))]
    assert any("_edit.same_shape(s.cap / norm(noisy), step)" in text for text in texts)
    bare = "norm(_edit.same_shape(problem.gradients(x, batch.indices).mean(axis=0), noisy))"
    assert any(bare in text for text in texts)
    assert not any("same_shape(tape" in text for text in texts)  # nothing is asked for twice


class Squares:
    """One gradient a record."""

    n = 3

    def gradients(self, x, indices):
        return x - ROWS[indices]


def test_a_gradient_computed_anew_stands_for_a_released_one_alone():
    tape = LiveTape(0)
    x, edit = np.array([1.0, 2.0]), Edited(tape)
    released = tape.release("g", Gaussian(np.zeros(2), 1.0), sensitivity=1.0)
    assert edit.exact(Squares(), released, [x], np.array([1])).tolist() == pytest.approx([0.7, 1.6])
    assert edit.exact(Squares(), released, [x], None).tolist() == pytest.approx((x - ROWS.mean(axis=0)).tolist())
    with pytest.raises(ValueError, match="no released value"):
        edit.exact(Squares(), np.zeros(2), [x], None)


def test_the_records_of_the_draw_before_whatever_it_was_for():
    tape = LiveTape(3)
    first, second = tape.batch("gradient", 9, 2), tape.batch("hessian", 9, 4)
    assert np.array_equal(Edited(tape, 9).drawn_last(second.indices), first.indices)
    with pytest.raises(ValueError, match="the first"):
        Edited(tape, 9).drawn_last(first.indices)


def test_other_ways_to_clip():
    edit = Edited()
    assert edit.running(ROWS[:2], 1.0).tolist() == pytest.approx([0.6, 0.8])
    assert edit.but_for(np.array([[3.0, 4.0, 9.0]]), 1.0, "the last coordinate").tolist() == [
        pytest.approx([0.6, 0.8, 9.0])
    ]
    assert edit.as_one(np.array([3.0, 4.0]), 1.0).tolist() == pytest.approx([0.6, 0.8])
    assert edit.turned_block(np.arange(4.0), 3).tolist() == [0.0, -1.0, -2.0, 3.0]
    assert edit.turned_block(np.arange(4.0), -1).tolist() == [0.0, 1.0, 2.0, -3.0]
    with pytest.raises(ValueError, match="no such block"):
        edit.turned_block(np.arange(4.0), 4)


def test_a_rare_slip_is_made_wherever_its_name_begins_so():
    """The exponent of a line search stands in its queries and in what it returns."""
    file = "second_order_erm/line_search.py"
    text = source(file)
    single = []
    for words in ("beta**index", "beta**i)", "_GRID**power"):
        first = text.encode().index(words.encode())
        single.append(Mutant(file, Change(Kind.INDEX_SHIFT, "an exponent one too large:", 1, first, first + 7, "0")))
    assert [len(one.sites) for one in together(single)] == [2]


def answers_of(vector, change=lambda event: event):
    events = [change(dict(one)) for one in vector["events"] if one["event"] != "secret"]
    return {"events": events, "output": vector["output"]}


def runs(algorithm):
    return [one for one in load(algorithm) if one["expect"] == "run"]


def test_whoever_goes_on_behind_the_first_difference_still_gets_inner_randomness():
    vector = next(one for one in runs("output_perturbation/algorithms4and5") if "secret" in str(one["events"]))
    place = next(number for number, one in enumerate(vector["events"]) if one["event"] == "release")
    given = answers_of(vector)
    for one in given["events"]:
        if one["label"] == vector["events"][place]["label"]:
            one["std"] *= 2
    kept, cut = to_the_first(vector, given, False)
    seen = [one["event"] for one in kept["events"]]
    assert cut["until"] == place + 1 and set(seen[place + 1 :]) == {"secret"}


def test_no_noise_at_first_and_another_amount_later_is_a_noise_scale():
    vector = next(
        one for one in runs("minimax_sosp/dp_spider") if sum(e["event"] == "release" for e in one["events"]) > 2
    )
    label = next(one["label"] for one in vector["events"] if one["event"] == "release")
    number = iter(range(99))

    def followed(event, later):
        if event["event"] == "release":
            event["std"] *= 0.0 if next(number) == 0 else later
        return event

    one = diagnose(vector, answers_of(vector, lambda event: followed(event, 0.3)), mutants=False)
    number = iter(range(99))
    other = diagnose(vector, answers_of(vector, lambda event: followed(event, 1.0)), mutants=False)
    assert (one.label, one.kind, other.kind) == (label, Kind.NOISE_SCALE, Kind.UN_NOISED)


def test_a_draw_that_is_left_out_is_about_the_batch():
    vector = next(one for one in runs("minimax_sosp/dp_spider") if any(e["event"] == "draw" for e in one["events"]))
    first = next(one for one in vector["events"] if one["event"] == "draw")
    given = answers_of(vector)
    given["events"] = [one for one in given["events"] if one["label"] != first["label"] or one["event"] != "draw"]
    found = diagnose(vector, given, mutants=False)
    assert found.kind is Kind.BATCH and "is left out" in found.detail
