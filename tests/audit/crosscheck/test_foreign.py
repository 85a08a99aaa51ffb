"""Twins in plain Python, made from the vectors' formulas alone: they agree, in single precision too.

Planted bugs do not, and the diagnosis names them.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache, partial

import numpy as np
import pytest

from dpassay.audit.crosscheck.adapter import judged
from dpassay.audit.crosscheck.afterwards import afterwards
from dpassay.audit.crosscheck.causes import case_of, fitted, run_of
from dpassay.audit.crosscheck.changes import Change
from dpassay.audit.crosscheck.diagnosis import diagnose
from dpassay.audit.crosscheck.kinds import Kind
from dpassay.audit.crosscheck.mutants import Mutant
from dpassay.audit.crosscheck.planting import source
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.crosscheck.worker import answer
from dpassay.reference.blocks.clipping import clip_rows

from .foreign import adapter
from .planted import MISNAMED, PLANTED


@lru_cache(maxsize=8)
def vectors(algorithm):
    """The committed ones of one algorithm."""
    return tuple(load(algorithm))


def results(algorithm, run, *, float32=False):
    """Every vector with the answers and the result; those that are not judged in single precision are left out."""
    found = []
    for vector in vectors(algorithm):
        if float32 and not vector["float32"]:
            continue
        given = json.loads(json.dumps(answer(run, vector)))
        found.append((vector, given, judged(vector, given, float32)))
    return found


def told(found):
    """Outcomes, with what is wrong."""
    return [(result.id, result.message) for _, _, result in found if result.outcome not in ("pass", "unsupported")]


@pytest.mark.parametrize("algorithm", adapter.ALGORITHMS)
def test_a_correct_twin_passes_every_vector(algorithm):
    found = results(algorithm, adapter.run)
    assert told(found) == []
    assert (
        Counter(result.outcome for _, _, result in found)["unsupported"] <= 1
    )  # one worst pair with a loss of its own


@pytest.mark.parametrize("algorithm", adapter.ALGORITHMS)
def test_a_correct_twin_in_single_precision_passes_what_is_judged(algorithm):
    found = results(algorithm, adapter.single, float32=True)
    assert told(found) == [] and len(found) > 10
    in_double = [judged(vector, given, False) for vector, given, _ in found if vector["expect"] == "run"]
    assert any(result.outcome == "fail" for result in in_double)  # it is another tolerance


def named(algorithm, bug, mutants=True):
    """The diagnosis of a planted bug, from the first vector that it fails."""
    found = [one for one in results(algorithm, partial(adapter.run, bug=bug)) if one[0]["expect"] == "run"]
    red = [one for one in found if one[2].outcome == "fail"]
    assert red, f"{bug} changes nothing"
    (vector, given, _), rest = red[0], red[1:]
    green = [one for one in found if one[2].outcome == "pass"]
    others = [(one[0], one[1]) for one in (*rest, *green)]
    return diagnose(vector, given, others=others, mutants=mutants)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "bug", "kind"), PLANTED)
def test_a_planted_bug_is_named(algorithm, bug, kind):
    assert (named(algorithm, bug).kind.value == kind) != ((algorithm, bug) in MISNAMED)


def test_of_the_planted_bugs_more_than_nine_in_ten_are_named_rightly():
    assert len(PLANTED) >= 20 and len(MISNAMED) / len(PLANTED) < 0.1


SLOWER = pytest.param("clipped after averaging", marks=pytest.mark.slow)


@pytest.mark.parametrize("bug", [SLOWER, "goes on with the query", "noise of the libraries"])
def test_a_diagnosis_says_step_kind_change_and_epsilon(bug):
    found = named("baselines/dp_sgd", bug)
    assert found.kind.value == {one: kind for _, one, kind in PLANTED}[bug]
    assert "reference/" in found.mutant and "line" in found.mutant
    assert "for the vector's run, " in found.effect and "for yours" in found.effect
    assert found.as_data()["kind"] == found.kind.value
    shown = {"clipped after averaging": "times as far as it declares", "goes on with the query": "leaks (output)"}
    assert shown.get(bug, "") in found.effect


def test_without_mutants_the_numbers_alone_name_signs_factors_and_scales():
    assert named("baselines/dp_sgd", "sign", mutants=False).kind.value == "sign"
    assert named("baselines/dp_sgd", "variance", mutants=False).kind.value == "noise scale"
    assert named("baselines/dp_sgd", "goes on with the query", mutants=False).mutant == ""


def test_the_reference_is_itself_again_after_every_diagnosis():
    """Changed code is lent for one run: nothing of it stays, even where a run was stopped."""
    before = results("baselines/dp_sgd", adapter.run)
    named("baselines/dp_sgd", "no clipping")
    rows = np.array([[3.0, 4.0], [0.3, 0.4]])
    assert np.allclose(clip_rows(rows, 1.0), [[0.6, 0.8], [0.3, 0.4]])
    assert [one[2].outcome for one in before] == [one[2].outcome for one in results("baselines/dp_sgd", adapter.run)]


@pytest.mark.slow  # every edit is tried: seconds
def test_a_difference_that_nothing_explains_is_unknown():
    """Queries of random numbers: no kind may be made up."""
    vector = next(one for one in vectors("baselines/dp_sgd") if one["id"].endswith("full-batch@baseline/ordinary"))
    given = {"events": [dict(event) for event in vector["events"]], "output": vector["output"]}
    for position, event in enumerate(given["events"]):
        event["query"] = [0.1 + position, -0.3, 0.7 * position]
    assert diagnose(vector, given).kind.value == "unknown"


def test_where_nothing_differs_the_diagnosis_says_so():
    vector = vectors("baselines/dp_sgd")[0]
    found = diagnose(vector, {"events": vector["events"], "output": vector["output"]})
    assert found.kind.value == "no difference" and "agree" in str(found) and found.mutant == ""


@pytest.mark.parametrize(("line", "late"), [("w - s.learning_rate * released", True), ("2 * s.clip / size", False)])
def test_what_works_on_released_values_alone_is_told_from_a_bound(line, late):
    vector = next(one for one in vectors("baselines/dp_sgd") if one["id"].endswith("full-batch@baseline/ordinary"))
    text = source("baselines/dp_sgd.py")
    first = text.encode().index(line.encode())
    number = text[: text.index(line)].count("\n") + 1
    change = Change(Kind.FACTOR, "twice", number, first, first + len(line), f"2 * ({line})")
    assert afterwards(run_of(vector), vector, Mutant("baselines/dp_sgd.py", change)) is late


def test_a_factor_of_no_list_is_fitted():
    """The output 1.37 times as large: the number is found."""
    vector = next(one for one in vectors("baselines/dp_sgd") if one["id"].endswith("full-batch@baseline/ordinary"))
    case = case_of([(vector, {"events": vector["events"], "output": [1.37 * one for one in vector["output"]]})], False)
    found = fitted(case).found
    assert any("1.37 times" in one.change.name for one in found)
