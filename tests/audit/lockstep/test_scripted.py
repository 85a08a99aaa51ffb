"""Dictated values and batches: the run gets exactly what the script says, and its laws allow."""

import json
import math

import numpy as np
import pytest
from pydantic import TypeAdapter

from dpassay.audit.lockstep.hub import rounding
from dpassay.audit.lockstep.outcome import NotJudged
from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import DRAWN, Choice, Script, dictated
from dpassay.audit.mutate.planted import MutantTape, Mutation
from dpassay.audit.plain import checked
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.law import Law, other_law
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape

ROWS = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
THERE = np.vstack([-ROWS[:1], ROWS[1:]])
PAIR = Pair(ROWS, THERE, 0)
LAW = Gaussian(np.array([3.0, 4.0]), 2.0)
SCRIPT = Script(
    {"a": Choice("zero"), "b": Choice("norm", size=0.25, along="axis"), "c": Choice("index", index=-1)},
    {"a": {1: DRAWN, 2: Choice("huge")}},
    (True, False),
    False,
)


# A law that nobody has heard of is dictated and mutated through its own methods: a new law is one file.
class Colours(Law):
    """One of three colours; the noise is a share of wrong answers."""

    is_finite = True
    names = ("red", "green", "blue")

    def __init__(self, best, wrong):
        self.best, self.wrong = best, wrong

    def sample(self, rng):
        return self.names[self.best]

    def log_density(self, value):
        return math.log(self.wrong if value != self.names[self.best] else 1 - 2 * self.wrong)

    def public_difference(self, other):
        return None if isinstance(other, Colours) else other_law(self, other)

    def moved(self):
        return np.array([float(self.best)])

    def nth(self, index):
        return self.names[index % 3]

    def changed(self, noise, query):
        return Colours(self.best, noise * self.wrong)


RED, LINE = Colours(0, 0.1), AboveThreshold([0.0, 1.0], 0.5, 1.0, 1.0)
CERTAIN = Categorical(("x", "y"), np.array([0.0, -np.inf]))


@pytest.mark.parametrize(
    ("choice", "law", "before", "value"),
    [
        (Choice("query"), LAW, None, [3, 4]),
        (Choice("zero"), LAW, None, [0, 0]),
        (Choice("opposite"), LAW, None, [-3, -4]),
        (Choice("norm", size=10.0), LAW, None, [6, 8]),
        (Choice("norm", size=10.0, along="axis"), LAW, None, [10, 0]),
        (Choice("norm", size=10.0, along="last"), LAW, None, [0, 10]),
        (Choice("norm", size=-10.0), LAW, None, [-6, -8]),
        (Choice("norm", size=10.0, along="aside"), LAW, None, [8, -6]),
        (Choice("repeat"), LAW, np.array([7.0, 7.0]), [7, 7]),
        # without noise nothing but the query; an outcome without probability is drawn
        (Choice("huge"), Gaussian(LAW.query, 0.0), None, [3, 4]),
        (Choice("index", index=1), CERTAIN, None, "x"),
        *((Choice("index", index=k), LINE, None, value) for k, value in ((0, 0), (1, 1), (2, None), (-1, None))),
        *((Choice("index", index=k), RED, None, value) for k, value in ((0, "red"), (2, "blue"), (-1, "blue"))),
        (Choice("repeat"), RED, "green", "green"),
        (Choice("zero"), RED, None, "red"),
    ],
)
def test_values(choice, law, before, value):
    found = dictated(choice, law, before, np.random.default_rng(0))
    assert found == pytest.approx(value) if isinstance(value, list) else found == value


def test_a_law_is_mutated_and_moves_by_rounding():
    tape = LiveTape(0)
    MutantTape(tape, Mutation(noise=0.5)).release("colour", RED, sensitivity=None)
    assert tape.transcript.releases[0].law.wrong == 0.05 and rounding(RED, Colours(2, 0.1)) == 2e-12


def test_what_cannot_be_judged_is_no_end_of_a_run():
    """On both sides alike it would pass."""

    def run(rows, tape):
        raise NotJudged("program", "mine", "says what the protocol does not know")

    with pytest.raises(NotJudged):
        scripted(run, PAIR, [0], Script())


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"values": {"a": {"how": "evil"}}}, "how"),
        ({"values": {"a": {"how": "norm", "size": 1e301}}}, "size"),
        ({"values": {"a": {"how": "index", "index": 1.5}}}, "index"),
        ({"values": {"a": {"how": "zero", "code": "x"}}}, "code"),
        ({"exceptions": {"a": {"-1": {"how": "zero"}}}}, "exceptions"),
        ({"more": 1}, "script: more"),
    ],
)
def test_a_script_survives_json_and_a_damaged_one_is_one_line(change, field):
    kept = json.loads(json.dumps(SCRIPT.as_dict()))
    assert checked(TypeAdapter(Script), kept, "script") == SCRIPT
    with pytest.raises(BadInput, match=field):
        checked(TypeAdapter(Script), kept | change, "script")


def test_values_and_occurrences_as_dictated():
    def run(rows, tape):
        return [tape.gaussian("a", rows.mean(axis=0), std=1.0, sensitivity=5.0) for _ in range(3)]

    script = Script({"a": Choice("zero")}, {"a": {1: Choice("query")}})
    found = scripted(run, PAIR, [0], script)
    np.testing.assert_array_equal(found.output, [[0, 0], ROWS.mean(axis=0), [0, 0]])
    assert found.complete and not found.findings


def test_the_target_is_where_the_script_puts_it():
    """Sampled twice: in the first batch, out of the second; one query that mixes them up is noticed."""
    batches = []

    def run(rows, tape):
        one, two = tape.batch("one", 4, 2), tape.batch("two", 4, 2)
        batches.append((0 in one.indices, 0 in two.indices))
        tape.gaussian("right", rows[one.indices].mean(axis=0), std=1.0, sensitivity=5.0, batch=one)
        return tape.gaussian("wrong", rows[one.indices].mean(axis=0), std=1.0, sensitivity=5.0, batch=two)

    found = scripted(run, PAIR, [0], Script(participation=(True, False)), hidden=True)
    assert sorted(batches) == [(False, False)] * 2 + [(True, False)] * 2
    assert [(one.kind, one.label) for one in found.findings] == [(Kind.WRONG_BATCH, "wrong")]
    assert found.shares["right"] == pytest.approx(1.0)


def test_a_pass_over_the_data_uses_every_record_once_in_every_world():
    seen = []

    def run(rows, tape):
        seen.append(np.concatenate([tape.fresh("f", 4, 2).indices for _ in range(2)]))

    scripted(run, PAIR, [0], Script(participation=(True,)), hidden=True)
    assert [sorted(order) for order in seen] == [[0, 1, 2, 3]] * 4
    assert [0 in order[:2] for order in seen] == [False, True, False, True]


@pytest.mark.parametrize("size", [1, 2])
def test_what_is_certain_is_no_secret(size):
    """A batch of everything has the target whatever the script says, and that accuses nobody."""
    rows = ROWS[:size]
    pair = Pair(rows, THERE[:size], 0)

    def run(rows, tape):
        batch = tape.batch("b", size, size)
        return tape.gaussian("g", rows[batch.indices].mean(axis=0), std=1.0, sensitivity=10.0 / size, batch=batch)

    assert scripted(run, pair, [0], Script(participation=(False,)), hidden=True).findings == []


@pytest.mark.parametrize(("limit", "leaks"), [(0, True), (-9, False)])
def test_one_side_that_raises_is_a_leak_and_both_alike_are_none(limit, leaks):
    def run(rows, tape):
        tape.gaussian("g", rows.mean(axis=0), std=1.0, sensitivity=5.0)
        if rows[0, 0] > limit:
            raise RuntimeError("refused")

    found = scripted(run, PAIR, [0], Script())
    assert [(one.kind, "RuntimeError" in one.detail) for one in found.findings] == [(Kind.OUTPUT, True)] * leaks
    assert "refused" in found.raised
