"""What a problem and a schedule are told as: every class with its formulas, no function by its name, and back again."""

import json
from dataclasses import dataclass, fields, is_dataclass
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from dpassay.audit.crosscheck.decode import decode
from dpassay.audit.crosscheck.encode import encode
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.domains import Everywhere
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.written import formulas_of

SMALL = [case for case in CASES if case.space is not None]


def first_of(case: Any) -> tuple[Any, Any]:
    """The problem of zeros and the schedule at the first sizes of the case's space."""
    space = case.space()
    sizes = next(
        one
        for one in (dict(zip(space.sizes, values, strict=True)) for values in product(*space.sizes.values()))
        if space.fits(one)
    )
    rows = np.zeros((sizes["n"], space.rows.columns(sizes)))
    if space.rows.labels:
        rows[:, -1] = space.rows.labels[0]
    return space.problem(rows, sizes), space.schedule(sizes)


def formulas_missing(data: Any) -> set[str]:
    """Classes of problems that come without a formula."""
    if isinstance(data, dict):
        found = set().union(*(formulas_missing(one) for one in data.values()))
        bare = "class" in data and not data.get("formulas")
        return found | ({data["class"]} if bare else set())
    return set().union(*(formulas_missing(one) for one in data)) if isinstance(data, list) else set()


def computing_without_formulas(value: Any) -> set[str]:
    """Classes of a schedule and its parts that compute something, and have no formula that says what."""
    if not is_dataclass(value):
        return set()
    kind = type(value)
    computes = [
        name for name, entry in vars(kind).items() if isinstance(entry, property | FunctionType) and name[0] != "_"
    ]
    bare = computes and not formulas_of(kind)
    parts = (computing_without_formulas(getattr(value, one.name)) for one in fields(value))
    return set().union({kind.__qualname__} if bare else set(), *parts)


def test_every_problem_and_schedule_of_the_catalogue_is_told_in_full_and_read_back() -> None:
    for case in SMALL:
        problem, schedule = first_of(case)
        told = encode({"problem": problem, "schedule": schedule})
        text = json.dumps(told, allow_nan=False)
        assert '"function"' not in text and "<lambda>" not in text, case.key
        assert formulas_missing(told["problem"]) == set(), case.key
        assert computing_without_formulas(schedule) == set(), case.key
        again = {name: decode(json.loads(text)[name], name) for name in told}
        assert encode(again) == told, case.key


def test_numbers_round_trip_and_what_is_not_finite_is_spelled_out() -> None:
    values = [0.1, 1e-310, 1 / 3, float("inf"), -float("inf"), float("nan"), -0.0, 2**53]
    told = encode(np.array(values))
    assert told[3:6] == ["infinity", "-infinity", "nan"]
    assert np.array_equal(decode(json.loads(json.dumps(told, allow_nan=False))), values, equal_nan=True)
    assert encode(Everywhere())["largest_norm"] == "infinity"
    assert encode(np.float64(0.5)) == 0.5 and encode(np.int64(3)) == 3 and encode((1, None, True)) == [1, None, True]


def test_derived_constants_are_given_beside_the_fields() -> None:
    game = BilinearLoss(np.ones((2, 1, 1)), np.ones((2, 2)), 3.0, 4.0, 1.0, 2.0)
    told = encode(game)
    assert told["derived"]["lipschitz"] == 2.0 + 1.0 * 5.0  # bound of the linear terms, and of the coupling on (3, 4)
    assert "linear_bound" in told["formulas"]["lipschitz"]
    assert encode(decode(encode(Convex(game)))) == encode(Convex(game))


@dataclass(frozen=True)
class WithAStep:
    """A schedule of one's own that holds a function."""

    step: Any


@pytest.mark.parametrize("value", [len, lambda: 0, object(), WithAStep(len), {"a": [print]}])
def test_a_function_without_formula_is_refused(value: Any) -> None:
    with pytest.raises(BadInput, match="FORMULAS"):
        encode(value)


def test_data_that_contain_themselves_are_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(BadInput, match="contains itself"):
        encode(loop)


BALL = {"class": "problems.domains.Ball", "radius": 2.0}


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
        ({"class": "dro.divergences.Divergence", "name": "kl_cvar(0.2)"}, "divergence"),
        ({"class": "problems.margin_losses.Link", "name": "__class__"}, "link"),
        ([1.0, [2.0]], "shape"),
        ("text", "class"),
    ],
)
def test_what_is_no_problem_of_the_catalogue_is_refused_in_one_line(data: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words) as error:
        decode(data, "problem")
    assert "\n" not in str(error.value)
