"""Answers that share the noise of a threshold: what they cost bounds what they tell, and who keeps to it passes."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.audit import Effort, assay
from dpassay.audit.plain_numpy.answers import NoisyAnswer, largest
from dpassay.audit.plain_numpy.compared import Comparison, compared
from dpassay.reference import PrivacyClaim
from dpassay.reference.space import Space

_spec = importlib.util.spec_from_file_location("sparse_vectors", Path(__file__).with_name("sparse_vectors.py"))
s = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(s)
CLAIM = PrivacyClaim(1.0, 1e-5)
MOVES = st.floats(-1, 1)
WIDE = Space.matrix(n=(1, 3), d=(2, 8))
QUICK = Effort(runs=100, pilot=100, examples=30)


def laws(queries, answers, shared, own):
    """The law of each answer given those before; variable 0 is the threshold's."""
    kinds = ["laplace"] * (len(queries) + 1)
    past, found = [], []
    for number, (query, answer) in enumerate(zip(queries, answers, strict=True), start=1):
        found.append(compared(past, Comparison(query, {0: -shared, number: own}, True), kinds))
        past.append(Comparison(query, {0: -shared, number: own}, answer))
    return found


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(-4, 4), MOVES, st.booleans()), min_size=1, max_size=5),
    st.floats(0.5, 4),
    st.floats(0.5, 4),
)
def test_what_the_answers_cost_bounds_what_they_tell(rounds, shared, own):
    queries, moves, answers = (list(column) for column in zip(*rounds, strict=True))
    here = laws(queries, answers, shared, own)
    there = laws([q + m for q, m in zip(queries, moves, strict=True)], answers, shared, own)
    both = list(zip(here, there, answers, strict=True))
    told = abs(sum(one.log_density(a) - other.log_density(a) for one, other, a in both))
    of_pair = sum(one.between(other, a) for one, other, a in both)
    of_any = sum(one.cost_of(a, 1.0).size for one, _, a in both)
    assert told <= of_pair + 1e-9
    assert of_pair <= of_any + 1e-9


def test_it_is_the_bound_of_the_sparse_vector():
    """Threshold Lap(2), rounds Lap(4): with one answer above 0.5 + 2 / 4; the fourth of Lyu et al. 0.25 + 4 * 3 / 4."""
    below = laws([0.0] * 9, [False] * 9, 2.0, 4.0)
    assert sum(one.cost_of(False, 1.0).size for one in below) == pytest.approx(0.5)
    assert sum(one.cost_of(n == 8, 1.0).size for n, one in enumerate(below)) == pytest.approx(1.0)
    answers = [False] * 6 + [True] * 2
    fourth = laws([0.0] * 8, answers, 4.0, 4 / 3)
    assert sum(one.cost_of(a, 1.0).size for one, a in zip(fourth, answers, strict=True)) == pytest.approx(3.25)
    assert below[3].cost(1.0).size == max(below[3].cost_of(a, 1.0).size for a in (False, True))


def test_no_cost_is_known_without_noise_of_each_round():
    kinds = ["laplace"]
    one = Comparison(0.0, {0: 1.0}, True)
    law = compared([one], one, kinds)
    assert law.cost_of(True, 1.0) is None
    assert law.cost(1.0) is None


def test_an_answer_that_could_not_have_been_given_leaves_no_nan():
    up, down = Comparison(1.0, {0: 1.0}, True), Comparison(1.0, {0: 1.0}, False)
    law = compared([up, down], up, ["laplace"])
    assert np.isfinite(law.log_probabilities).all()


@given(st.lists(st.tuples(st.floats(-4, 4), st.floats(0, 1)), min_size=2, max_size=6), st.sampled_from([0.5, 1.0, 3.0]))
def test_the_largest_of_counts_that_only_rise_tells_half_as_much(both, scale):
    queries, moves = (np.array(column) for column in zip(*both, strict=True))
    scales = np.full(len(queries), scale)
    here, there = largest("laplace", queries, scales), largest("laplace", queries + moves, scales)
    cost = here.cost(here.distance(there)).size
    told = np.max(np.abs(here.log_probabilities - there.log_probabilities))
    assert told <= cost + 1e-6
    assert cost <= 1 / scale + 1e-12


def test_no_cost_is_known_for_the_largest_under_noise_whose_tail_falls_fast():
    law = NoisyAnswer((0, 1), np.log([0.5, 0.5]), "uniform", 1.0, np.zeros(2))
    assert law.cost(0.1) is None


@pytest.mark.slow  # an audit each: seconds
@pytest.mark.parametrize(
    ("mechanism", "failed"),
    [(s.first, False), (s.second, False), (s.third, True), (s.fourth, True), (s.fifth, True), (s.sixth, True)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_sparse_vectors(mechanism, failed):
    found = assay(mechanism, WIDE, CLAIM, effort=QUICK)
    assert found.verdict.failed == failed, found.why
    assert failed or np.isfinite(found.accounted)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [s.most_common, s.first_above], ids=lambda one: one.__name__)
def test_counts_that_only_rise(mechanism):
    lacking = replace(CLAIM, relation="add-remove")
    found = assay(mechanism, replace(WIDE, relation="add-remove", absent=np.zeros(1)), lacking, effort=QUICK)
    assert not found.verdict.failed, found.why
    assert found.accounted <= 1 + 1e-6
    assert assay(mechanism, WIDE, CLAIM, effort=QUICK).verdict.failed
