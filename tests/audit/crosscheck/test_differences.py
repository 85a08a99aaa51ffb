"""What must agree is compared, whatever it is made of; data are told in full, and read back; hostile files refused."""

import copy
import json
import math
from dataclasses import fields, is_dataclass, make_dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay import reference
from dpassay.audit.commands import crosscheck
from dpassay.audit.crosscheck.differences import compare, unstated
from dpassay.audit.crosscheck.encoding import FAMILIES, decode, encode, formulas_of
from dpassay.audit.crosscheck.recording import RecordingTape, events_of
from dpassay.audit.crosscheck.storage import load, read_vectors
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.files import parse_toml
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.problems.domains import Everywhere
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.problems.saddle_games import BilinearLoss

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


def vector(**more):
    tape = RecordingTape(0)
    output = encode(run(tape))
    found = {"format": 3, "id": "x", "case": "x", "algorithm": "x", "claim": CLAIM, "flags": [], "expect": "run"}
    found |= {"problem": None, "schedule": None, "events": events_of(tape), "output": output}
    return json.loads(json.dumps({**found, "rounding": 0.0, "float32": True}, allow_nan=False)) | more


STATED = ["kind n size", "query std sensitivity law batches", "queries threshold threshold_scale query_scale",
          "log_probabilities", "std", "value"]  # fmt: skip
WRONG = [(step, name, None) for step, names in enumerate(STATED) for name in names.split()]
WRONG += [(1, "query", one) for one in ([1.0, 2.1], ["1.0", "2.0"], [1.0, "nan"], [1.0, 10**400], [[1.0, 2.0]], [1.0])]
WRONG += [(1, "query", {"a": 1}), (1, "std", True), (1, "std", "1.0"), (3, "log_probabilities", [math.log(0.5)] * 2)]


@pytest.mark.parametrize(("step", "name", "value"), WRONG)
def test_every_field_that_is_computed_or_stated_is_compared(step, name, value):
    """None stands for another number, another word, no entries."""
    answers = vector()
    was = answers["events"][step][name]
    other = {int: 6, float: 9.0, str: "other", list: []}[type(was)]
    answers["events"][step][name] = other if value is None else value
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


@pytest.mark.parametrize("name", ["", "sensitivity", "law", "batches"])
def test_a_vector_agrees_with_itself_and_what_is_not_stated_is_not_compared(name):
    answers = vector()
    answers["events"][1].pop(name, None)
    assert compare(vector(), answers) == []
    searched = vector()["events"][2]
    assert len(searched["queries"]) == searched["value"] + 1  # only what was evaluated must be


@pytest.mark.parametrize(
    ("part", "changed", "name"),
    [
        *(("claim", {name: "add-remove" if name == "relation" else 0.5}, f"claim.{name}") for name in CLAIM),
        *(("output", {"w": wrong}, "output") for wrong in ([2.0, "infinity"], [1.0, 1.0])),
        ("output", {"why": ["end", None, [1, 3]]}, "output"),
        ("output", {"best": [1]}, "output"),
    ],
)
def test_a_claim_that_is_made_and_every_part_of_an_output_is_compared(part, changed, name):
    assert str(compare(vector(), vector(**{part: vector()[part] | changed}))[0]).startswith(name)


@pytest.mark.parametrize(
    ("expected", "other"),
    [("infinity", 0.0), ([1.0, "infinity"], [0.0, 0.0]), ("nan", 0.0), (10**400, 1.0), (10**400, -(10**400))],
)
def test_an_infinity_in_a_vector_is_no_tolerance(expected, other):
    """Nor are 400 digits, beyond what a float holds: infinite, on their own side."""
    ours = vector(output=expected)
    assert compare(ours, vector(output=other)) and not compare(ours, vector(output=expected))


def test_the_tolerance_is_rounding_or_a_billionth_of_the_noise_and_no_more():
    def off_by(amount, **how):  # of noise 1 and rounding 1e-14
        ours, theirs = vector(), vector()
        ours["events"][1]["rounding"] = {"query": 1e-14}
        theirs["events"][1]["query"][0] += amount
        return compare(ours, theirs, **how)

    assert not off_by(0.9e-9) and off_by(1.1e-9)
    single = 1e-14 * 2**29
    assert not off_by(0.99 * single, float32=True) and off_by(1.01 * single, float32=True)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda found: found.pop(), id="missing"),
        pytest.param(lambda found: found.append({"event": "release", "label": "more"}), id="extra"),
        pytest.param(lambda found: found.insert(0, found.pop(1)), id="swapped"),
        pytest.param(lambda found: found[1].update(label="h"), id="renamed"),
        pytest.param(lambda found: found.__setitem__(1, {"event": "release", "label": "h"}), id="as a tape notes it"),
    ],
)
def test_events_in_another_number_or_order_differ(change):
    answers = vector()
    change(answers["events"])
    (difference,) = compare(vector(), answers)
    assert difference.name in ("call", "number of events") and not unstated(vector(), answers)


# data and back -------------------------------------------------------------------------------------------------------
def first_of(case: Any) -> dict[str, Any]:
    """The problem of zeros and the schedule at the first sizes of the case's space."""
    space = case.space()
    every = (dict(zip(space.sizes, values, strict=True)) for values in product(*space.sizes.values()))
    sizes = next(one for one in every if space.fits(one))
    rows = np.zeros((sizes["n"], space.rows.columns(sizes)))
    if space.rows.labels:
        rows[:, -1] = space.rows.labels[0]
    return {"problem": space.problem(rows, sizes), "schedule": space.schedule(sizes)}


def without_formulas(data: Any) -> list[str]:
    """Classes of encoded problems that come without a formula."""
    parts = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    bare = isinstance(data, dict) and "class" in data and not data.get("formulas")
    return [*([data["class"]] if bare else []), *(name for one in parts for name in without_formulas(one))]


def computing_without_formulas(value: Any) -> list[str]:
    """Classes of a schedule and its parts that compute something, and have no formula that says what."""
    if not is_dataclass(value):
        return []
    kind = type(value)
    computes = any(isinstance(one, property | FunctionType) and name[0] != "_" for name, one in vars(kind).items())
    found = [kind.__qualname__] if computes and not formulas_of(kind) else []
    return [*found, *(name for one in fields(value) for name in computing_without_formulas(getattr(value, one.name)))]


def test_every_problem_and_schedule_of_the_catalogue_is_told_in_full_and_read_back():
    for case in CASES:
        if case.space is not None:
            data = first_of(case)
            told = encode(data)
            text = json.dumps(told, allow_nan=False)
            assert '"function"' not in text and "<lambda>" not in text, case.key
            assert [*without_formulas(told["problem"]), *computing_without_formulas(data["schedule"])] == [], case.key
            assert encode({name: decode(one, name) for name, one in json.loads(text).items()}) == told, case.key


def test_every_table_of_formulas_is_about_something_that_there_is():
    home, families = Path(reference.__file__).parent, {name for known in FAMILIES.values() for name in known}
    for path in home.rglob("formulas.toml"):
        package = ".".join((reference.__name__, *path.parent.relative_to(home).parts))
        for module, tables in parse_toml(path.read_text(), path.name).items():
            names = vars(import_module(f"{package}.{module}"))
            assert all(one in families or isinstance(names.get(one), type) for one in tables), module


def test_numbers_round_trip_and_what_is_not_finite_is_spelled_out():
    values = [0.1, 1e-310, 1 / 3, float("inf"), -float("inf"), float("nan"), -0.0, 2**53]
    told = encode(np.array(values))
    assert told[3:6] == ["infinity", "-infinity", "nan"]
    assert np.array_equal(decode(json.loads(json.dumps(told, allow_nan=False))), values, equal_nan=True)
    assert encode(Everywhere())["largest_norm"] == "infinity"
    assert encode(np.float64(0.5)) == 0.5 and encode(np.int64(3)) == 3 and encode((1, None, True)) == [1, None, True]


def test_derived_constants_are_given_beside_the_fields():
    game = BilinearLoss(np.ones((2, 1, 1)), np.ones((2, 2)), 3.0, 4.0, 1.0, 2.0)
    told = encode(game)
    assert told["derived"]["lipschitz"] == 2.0 + 1.0 * 5.0  # bound of the linear terms, and of the coupling on (3, 4)
    assert "linear_bound" in told["formulas"]["lipschitz"]
    assert encode(decode(encode(Convex(game)))) == encode(Convex(game))


SCHEDULE = make_dataclass("WithAStep", ["step"], frozen=True)(len)  # one's own, that holds a function
LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize("value", [len, lambda: 0, object(), SCHEDULE, {"a": [print]}, LOOP])
def test_what_nobody_could_compute_with_is_refused(value):
    with pytest.raises(BadInput, match="contains itself" if value is LOOP else "FORMULAS"):
        encode(value)


BALL = {"class": "problems.domains.Ball", "radius": 2.0}
CVAR = {"class": "dro.divergences.Divergence", "name": "kl_cvar(0.2)"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"class": "os.system"}, "not a class"),
        ({**BALL, "class": "problems.domains.np"}, "not a class"),
        ({**BALL, "class": "problems.erm.ErmProblem.Ball"}, "not a class"),
        ({"class": "tape.LiveTape", "seed": 1}, "not a class"),  # no dataclass
        ({"class": "transcript.Transcript"}, "not a class"),  # no frozen one
        ({"class": "problems.checks.Array"}, "not a class"),  # of another module
        ({"class": "...tests.conftest.Ball"}, "not a class"),
        ({"radius": 2.0}, '"class"'),
        ({"class": "problems.domains.Ball"}, "needs"),
        ({**BALL, "centre": 1}, "no such field"),
        ({**BALL, "radius": "two"}, "radius"),
        ({**BALL, "radius": -1.0}, "positive radius"),
        ({**BALL, "radius": 10**400}, "digits"),
        ({"class": "problems.linear.LinearLosses", "rows": [[1.0], [1.0, 2.0]]}, "rows"),
        ({"class": "problems.linear.LinearLosses", "rows": {"class": "problems.domains.Ball"}}, "rows"),
        (CVAR, "refuses these fields"),
        ({**CVAR, "constants": {"alpha": "x"}}, "must be a number"),
        ({"class": "dro.divergences.Divergence", "name": "kl", "constants": [1]}, "constants"),
        ({"class": "problems.margin_losses.Link", "name": "logistic(9)"}, "must be 'logistic'"),
        ({"class": "problems.margin_losses.Link", "name": "__class__"}, "known: logistic"),
        ([1.0, [2.0]], "shape"),
        ("text", "class"),
    ],
)
def test_what_is_no_problem_of_the_catalogue_is_refused_in_one_line(data, words):
    with pytest.raises(BadInput, match=words) as error:
        decode(data, "problem")
    assert "\n" not in str(error.value)


# hostile files: a place of a vector or of answers is changed to anything ---------------------------------------------
VECTOR = next(one for one in load("baselines/dp_sgd") if one["id"] == "baselines/dp_sgd:fixed-size@baseline/smallest")
ANYTHING = (None, True, 0, -1, 10**400, 1e308, -1e308, "nan", "infinity", "x", "\x1b[2J", [], [1], [[1], [1, 2]], {},
            {"class": "os.system"}, {"class": "problems.domains.Ball"})  # fmt: skip


def places(document, place=()):
    """Every place, as keys and indices."""
    names = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for name in names:
        yield (*place, name)
        yield from places(document[name], (*place, name))


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """What ``crosscheck compare`` does with the vector and a changed one: its exit code, or the line that refuses."""
    folder = tmp_path_factory.mktemp("hostile")
    there = folder / "vector.json"
    there.write_text(json.dumps(VECTOR))

    def both(changed):
        found, path = [], folder / "changed.json"
        path.write_text(json.dumps(changed))
        for files in ((path, there), (there, path)):
            try:
                crosscheck.compare_(*files, False, False, False)
            except BadInput as error:
                found.append(str(error))
            except typer.Exit as stop:
                found.append(stop.exit_code)
        return found

    return both


@settings(max_examples=60, deadline=None, derandomize=True)
@given(place=st.sampled_from(sorted(places(VECTOR), key=repr)), value=st.sampled_from(ANYTHING))
def test_a_changed_file_is_never_a_traceback(compared, place, value):
    changed = copy.deepcopy(VECTOR)
    inner = changed
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    for said in compared(changed):
        assert said in (0, 1) or (len(said.splitlines()) == 1 and "\x1b" not in said)


@pytest.mark.parametrize("case", [["c"], {"c": 1}, 3, None, "other", "odd"])
def test_a_file_of_vectors_whose_cases_are_none(tmp_path, case):
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps({"cases": {"c": {}, "odd": "text"}, "vectors": [{"case": case}]}))
    with pytest.raises(BadInput, match=r"vectors\[0\]\.case"):
        read_vectors(path)


def test_deep_nesting_is_bad_input():
    deep = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(BadInput, match="nested too deeply"):
        compare(vector(output=deep), vector(output=[deep]))
